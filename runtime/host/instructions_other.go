//go:build !amd64 && !arm64

package host

// instructions says that kernels are written for no vector instructions of this architecture.
func instructions() string { return "none" }
