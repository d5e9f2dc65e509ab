package host

import (
	"unsafe"

	"coalesce/runtime/device"
)

// WrapSlice is an argument that stands for values which some other code owns:
// kernels see them in place. To free the buffer frees no memory. T must hold no pointers.
func WrapSlice[T any](values []T) device.Arg {
	b := &buffer{device: &owner, words: borrowed}
	if len(values) > 0 {
		var zero T
		b.data = unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(values))), len(values)*int(unsafe.Sizeof(zero)))
	}
	return device.Ptr(b)
}

// What wrapped buffers have for a device and its memory.
var (
	owner    hostDevice
	borrowed = []uint64{}
)
