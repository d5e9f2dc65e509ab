//go:build !cuda

package cli

// gpus is empty: the plain build links nothing of CUDA.
func gpus(func(string)) []opener { return nil }
