//go:build !cuda

package devices

// gpuKinds is empty: a plain build links nothing of CUDA.
func gpuKinds() List { return nil }
