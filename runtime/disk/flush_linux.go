package disk

import (
	"os"

	"golang.org/x/sys/unix"
)

// flushRange waits until some bytes of a file from a place on are on the disk, though the file's length may not be. Sync tells of
// errors.
func flushRange(f *os.File, at, bytes int64) {
	unix.SyncFileRange(int(f.Fd()), at, bytes, unix.SYNC_FILE_RANGE_WAIT_BEFORE|unix.SYNC_FILE_RANGE_WRITE|unix.SYNC_FILE_RANGE_WAIT_AFTER)
}
