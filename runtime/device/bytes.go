package device

import "unsafe"

// Bytes are the bytes of a slice in the order of this machine, which is that of
// devices; not a copy.
func Bytes[T any](s []T) []byte {
	var zero T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(zero)))
}
