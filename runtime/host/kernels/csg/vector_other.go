//go:build !amd64 && !arm64

package csg

// sets has no kernels for this architecture: the plain loops of the generated kernels run.
var sets []set
