//go:build !linux

package host

// addressSpace is known on Linux alone.
func addressSpace() (left int64, ok bool) { return 0, false }
