//go:build cuda

package driver

// #include <cuda.h>
import "C"

import (
	"fmt"
	"unsafe"
)

// This file holds what gorgonia.org/cu v0.9.6 lacks.

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

// result names a driver error as cuda.h does.
func result(r C.CUresult) error {
	var name *C.char
	if C.cuGetErrorName(r, &name) != C.CUDA_SUCCESS || name == nil {
		return fmt.Errorf("CUDA error %d", int(r))
	}
	return fmt.Errorf("%s", C.GoString(name))
}
