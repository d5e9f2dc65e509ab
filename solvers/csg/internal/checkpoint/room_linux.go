package checkpoint

import "syscall"

// room is how many bytes a folder's disk has free, where the system tells.
func room(folder string) (int64, bool) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(folder, &s); err != nil {
		return 0, false
	}
	return int64(s.Bavail) * s.Bsize, true
}
