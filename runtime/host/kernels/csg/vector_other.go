//go:build !amd64

package csg

// vectorUnit knows no vector registers on this architecture.
func vectorUnit[T Value]() *unit[T] { return nil }
