//go:build unix

package trial

import (
	"errors"
	"os"
	"syscall"
)

// lockFile takes the file, or the folder, for this process until it is closed. Where
// another process holds it, lock waits, or else returns ErrLocked.
func lockFile(f *os.File, wait bool) error {
	how := syscall.LOCK_EX
	if !wait {
		how |= syscall.LOCK_NB
	}
	for {
		err := syscall.Flock(int(f.Fd()), how)
		switch {
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.EWOULDBLOCK):
			return ErrLocked
		case errors.Is(err, syscall.ENOTSUP), errors.Is(err, syscall.ENOLCK):
			return nil // the file system has no locks
		default:
			return err
		}
	}
}
