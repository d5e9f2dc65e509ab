package device

import (
	"fmt"
	"math"
	"unsafe"
)

// Bytes are the bytes of a slice in the order of this machine, which is that of
// devices; not a copy.
func Bytes[T any](s []T) []byte {
	var zero T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(zero)))
}

// Size writes a number of bytes for people, in binary units: 512 B, 1.5 KiB, 139 GiB.
func Size[N int | int64 | float64](bytes N) string {
	x, unit := float64(bytes), "B"
	for _, u := range []string{"KiB", "MiB", "GiB", "TiB", "PiB"} {
		if x < 1024 {
			break
		}
		x, unit = x/1024, u
	}
	if unit == "B" || x >= 100 || x == math.Trunc(x) {
		return fmt.Sprintf("%.0f %s", x, unit)
	}
	return fmt.Sprintf("%.1f %s", x, unit)
}

// FormatByteSizes writes the bytes that something takes and the lesser number that is there. Where both would read alike in the same
// unit, they are written in bytes.
func FormatByteSizes[N, M int | int64 | float64](need N, have M) (string, string) {
	long, short := Size(need), Size(have)
	if long == short {
		long, short = fmt.Sprintf("%.0f bytes", float64(need)), fmt.Sprintf("%.0f bytes", float64(have))
	}
	return long, short
}
