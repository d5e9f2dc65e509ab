//go:build !amd64 && !arm64

package host

// instructionSet says that kernels are written for no vector instructions of this architecture.
func instructionSet() string { return "none" }
