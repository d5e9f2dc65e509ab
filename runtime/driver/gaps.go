//go:build cuda

package driver

/*
#include <cuda.h>
#undef cuInit

static CUresult launch(CUfunction f, unsigned blocks, unsigned threads, unsigned shared, unsigned cluster, int cooperative,
		CUstream s, unsigned long long *slots, size_t n) {
	void *argv[n + 1];
	for (size_t i = 0; i < n; i++) argv[i] = &slots[i];
	if (cooperative) return cuLaunchCooperativeKernel(f, blocks, 1, 1, threads, 1, 1, shared, s, argv);
	if (cluster < 2) return cuLaunchKernel(f, blocks, 1, 1, threads, 1, 1, shared, s, argv, NULL);
	CUlaunchAttribute of = {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, .value.clusterDim = {cluster, 1, 1}};
	CUlaunchConfig c = {blocks, 1, 1, threads, 1, 1, shared, s, &of, 1};
	return cuLaunchKernelEx(&c, f, argv, NULL);
}

static CUresult maxClusters(int *most, CUfunction f, unsigned cluster, unsigned threads) {
	CUlaunchAttribute of = {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, .value.clusterDim = {cluster, 1, 1}};
	CUlaunchConfig c = {cluster, 1, 1, threads, 1, 1, 0, NULL, &of, 1};
	return cuOccupancyMaxActiveClusters(most, f, &c);
}
*/
import "C"

import (
	"fmt"
	"unsafe"

	"gorgonia.org/cu"

	"coalesce/runtime/device"
)

// This file holds what gorgonia.org/cu v0.9.6 lacks, or does wrongly.

// initialize reports whether CUDA could be initialized and shows a GPU: include/cuda.h
// keeps from cu that it failed.
func initialize() (shown bool, err error) {
	switch r := C.cuInit(0); r {
	case C.CUDA_SUCCESS:
		return true, nil
	case C.CUDA_ERROR_NO_DEVICE:
		return false, nil
	default:
		return false, result(r)
	}
}

// hostAlloc returns n bytes of pinned memory, which the GPU copies to and from
// without a detour. The context must be current.
func hostAlloc(n int) ([]byte, error) {
	var p unsafe.Pointer
	if r := C.cuMemHostAlloc(&p, C.size_t(n), C.CU_MEMHOSTALLOC_PORTABLE); r != C.CUDA_SUCCESS {
		return nil, fmt.Errorf("pin %d bytes of host memory: %w", n, result(r))
	}
	return unsafe.Slice((*byte)(p), n), nil
}

func hostFree(b []byte) error {
	if r := C.cuMemFreeHost(unsafe.Pointer(unsafe.SliceData(b))); r != C.CUDA_SUCCESS {
		return fmt.Errorf("unpin host memory: %w", result(r))
	}
	return nil
}

// handle is the C handle of one of cu's types, which keep theirs unexported as
// their only field.
func handle[C, T any](x *T) C { return *(*C)(unsafe.Pointer(x)) }

// launch launches a grid: blocks that are all resident at once where it is cooperative, in clusters where
// these have more than one block. The context must be current; slots hold 8 bytes an argument.
//
// cu.Function.Launch stores pointers from Go in memory fresh from malloc. While the garbage collector marks,
// such a store hands it the word that was there before, and the process ends where that word, of whatever
// was freed there, looks like an address within Go's heap.
func launch(fn cu.Function, g device.Grid, s cu.Stream, slots []uint64) error {
	cooperative := C.int(0)
	if g.Cooperative {
		cooperative = 1
	}
	return outcome(C.launch(handle[C.CUfunction](&fn), C.uint(g.Blocks), C.uint(g.Threads), C.uint(g.Shared), C.uint(g.Cluster),
		cooperative, handle[C.CUstream](&s), (*C.ulonglong)(unsafe.Pointer(unsafe.SliceData(slots))), C.size_t(len(slots))))
}

// clusters is the number of clusters of blocks of fn, with threads threads a block and no dynamic
// shared memory, that the device holds at once. It allows sizes above 8, which some devices lack.
func clusters(fn cu.Function, cluster, threads int) (int, error) {
	f := handle[C.CUfunction](&fn)
	if r := C.cuFuncSetAttribute(f, C.CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1); cluster > 8 && r != C.CUDA_SUCCESS {
		return 0, outcome(r)
	}
	var n C.int
	r := C.maxClusters(&n, f, C.uint(cluster), C.uint(threads))
	return int(n), outcome(r)
}

// allowShared lets launches of fn have bytes of dynamic shared memory; without it static and
// dynamic memory together are at most 48 KB.
func allowShared(fn cu.Function, bytes int) error {
	return outcome(C.cuFuncSetAttribute(handle[C.CUfunction](&fn), C.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, C.int(bytes)))
}

// outcome is nil for success, else cu's error of the same number, so that explain knows it.
func outcome(r C.CUresult) error {
	if r == C.CUDA_SUCCESS {
		return nil
	}
	return like(cu.Success, int(r))
}

// like converts to a type that cu does not export.
func like[T ~int](_ T, n int) T { return T(n) }

// result names a driver error as cuda.h does.
func result(r C.CUresult) error {
	var name *C.char
	if C.cuGetErrorName(r, &name) != C.CUDA_SUCCESS || name == nil {
		return fmt.Errorf("CUDA error %d", int(r))
	}
	return fmt.Errorf("%s", C.GoString(name))
}
