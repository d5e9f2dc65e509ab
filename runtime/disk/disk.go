// Package disk waits until the system has written files to a disk, so that the wait can be ended.
package disk

import (
	"context"
	"os"
)

// piece is how much of a file a call of the system waits for, in bytes.
const piece = 4 << 20

// WaitWritten waits until a file and its bytes from a place on are on the disk, or the context ends; then there is no error. A
// process ends when its calls of the system have returned, which a wait for a whole file of gigabytes would hold up for many
// seconds: the wait is one of many calls, each for a piece.
func WaitWritten(ctx context.Context, f *os.File, from int64) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	for at := from; at < info.Size() && ctx.Err() == nil; at += piece {
		flushRange(f, at, piece)
	}
	if ctx.Err() != nil {
		return nil
	}
	return f.Sync()
}
