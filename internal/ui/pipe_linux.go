package ui

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// ReaderClosed reports whether a writer is a pipe whose readers have all closed it.
func ReaderClosed(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	if info, err := f.Stat(); err != nil || info.Mode()&(os.ModeNamedPipe|os.ModeSocket) == 0 {
		return false
	}
	list := []unix.PollFd{{Fd: int32(f.Fd())}}
	n, err := unix.Poll(list, 0)
	return err == nil && n == 1 && list[0].Revents&unix.POLLERR != 0
}
