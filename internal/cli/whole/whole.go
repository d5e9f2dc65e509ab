// Package whole writes files whole or not at all.
package whole

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Write writes a file whole or not at all: beside its place first, from where
// it is moved. What was there stays until then, and where the command is
// interrupted. What is no regular file, such as a pipe, is written in place.
func Write(ctx context.Context, path string, write func(io.Writer) error) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("write %s: %w", path, err)
		}
	}()
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	mode := os.FileMode(0o666)
	if info, err := os.Stat(path); err == nil {
		if !info.Mode().IsRegular() {
			f, err := os.OpenFile(path, os.O_WRONLY, 0)
			if err != nil {
				return err
			}
			return errors.Join(writeAll(ctx, f, write), f.Close())
		}
		mode = info.Mode().Perm()
	}
	part := fmt.Sprintf("%s.%d.part", path, os.Getpid())
	f, err := os.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	if err = errors.Join(writeAll(ctx, f, write), f.Sync(), f.Close()); err == nil {
		err = os.Rename(part, path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(part))
	}
	return nil
}

func writeAll(ctx context.Context, w io.Writer, write func(io.Writer) error) error {
	b := bufio.NewWriterSize(&until{ctx, w}, 1<<16)
	return errors.Join(write(b), b.Flush())
}

// until is a writer that fails when a context ends.
type until struct {
	ctx context.Context
	w   io.Writer
}

func (u *until) Write(p []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.w.Write(p)
}
