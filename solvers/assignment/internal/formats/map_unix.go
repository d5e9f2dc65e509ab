//go:build unix

package formats

import (
	"os"
	"syscall"
)

// mapFile maps the first size bytes of a file, to be read only.
func mapFile(f *os.File, size int64) ([]byte, func() error, error) {
	memory, err := syscall.Mmap(int(f.Fd()), 0, int(size), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return nil, nil, os.NewSyscallError("mmap", err)
	}
	return memory, func() error { return os.NewSyscallError("munmap", syscall.Munmap(memory)) }, nil
}
