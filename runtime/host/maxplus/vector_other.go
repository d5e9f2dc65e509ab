//go:build !amd64

package maxplus

// vectorUnit knows no vector registers on this architecture.
func vectorUnit[T Value]() *unit[T] { return nil }

// Vectors says which vector registers the kernels use; "" where none.
func Vectors() string { return "" }
