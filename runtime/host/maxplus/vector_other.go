//go:build !amd64

package maxplus

// vectorUnit knows no vector registers on this architecture.
func vectorUnit[T Value]() *unit[T] { return nil }
