//go:build !amd64 && !arm64

package host

// instructions are none that kernels are written for.
func instructions() string { return "none" }
