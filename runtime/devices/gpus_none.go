//go:build !cuda

package devices

// gpus is empty: a plain build links nothing of CUDA.
func gpus() List { return nil }
