package checkpoint

import "syscall"

// freeSpace is the number of bytes that a folder's disk has free, where the system says.
func freeSpace(folder string) (int64, bool) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(folder, &s); err != nil {
		return 0, false
	}
	return int64(s.Bavail) * s.Bsize, true
}
