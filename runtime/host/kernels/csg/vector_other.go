//go:build !amd64

package csg

// vectorUnits knows no vector registers on this architecture: the plain loops of the
// generated kernels run.
func vectorUnits[T Value]() []*unit[T] { return nil }
