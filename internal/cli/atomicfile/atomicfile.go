// Package atomicfile writes files whole or not at all.
package atomicfile

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"coalesce/runtime/disk"
	"coalesce/solvers/formats/packed"
)

// Write writes a file whole or not at all: it writes a temporary file in the same folder and renames
// that. Until then, and after an interruption, the old file stays. A pipe, or anything else that is no
// regular file, is written in place.
func Write(ctx context.Context, path string, write func(io.Writer) error) error {
	return put(ctx, path, write)
}

// CheckWritable returns the error with which Write of a file would begin: a folder that is not there or takes no files, or a
// directory in the file's place. Solves of hours ask before they begin.
func CheckWritable(path string) error {
	switch info, err := os.Stat(path); {
	case err == nil && info.IsDir():
		return fmt.Errorf("write %s: a directory, expected a file", path)
	case err == nil && !info.Mode().IsRegular(): // a pipe may have no reader yet
		return nil
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	part := fmt.Sprintf("%s.%d.part", path, os.Getpid())
	f, err := os.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err == nil {
		err = errors.Join(f.Close(), os.Remove(part))
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// CheckOutput is CheckWritable for --output, which must not be one of a command's inputs either; mistake makes an error of the
// command line.
func CheckOutput(path string, inputs []string, mistake func(format string, args ...any) error) error {
	if path == "" {
		return mistake("--output is empty, expected a FILE")
	}
	if err := CheckUncompressed(path, mistake); err != nil {
		return err
	}
	if folder, err := os.Stat(filepath.Dir(path)); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	} else if !folder.IsDir() {
		return fmt.Errorf("write %s: %s is no directory", path, filepath.Dir(path))
	}
	if err := CheckWritable(path); err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil // a new file
	}
	for _, arg := range inputs {
		if in, err := os.Stat(arg); err == nil && os.SameFile(in, info) {
			return mistake("--output is %s, which is the instance", path)
		}
	}
	return nil
}

// CheckUncompressed returns an error if a file's name promises compression, which no command writes.
func CheckUncompressed(path string, mistake func(format string, args ...any) error) error {
	if bare := packed.TrimExtension(path); bare != path {
		return mistake("--output is %s: files are written plain, without %s", path, strings.ToLower(path[len(bare):]))
	}
	return nil
}

// grace is the time that a file or a pipe has for an answer that exists when the context ends.
const grace = 350 * time.Millisecond

// Finish is Write for an answer that exists when the context ends.
func Finish(ctx context.Context, path string, write func(io.Writer) error) error {
	longer, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(grace, stop) })()
	return put(longer, path, write)
}

// put writes a file until the context ends.
func put(ctx context.Context, path string, write func(io.Writer) error) (err error) {
	defer func() {
		if err != nil && !strings.HasPrefix(err.Error(), "write "+path+": ") { // as the system's errors of writes do
			err = fmt.Errorf("write %s: %w", path, err)
		}
	}()
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	mode := os.FileMode(0o666)
	if info, err := os.Stat(path); err == nil {
		if !info.Mode().IsRegular() {
			return writeInPlace(ctx, path, write)
		}
		mode = info.Mode().Perm()
	}
	part := fmt.Sprintf("%s.%d.part", path, os.Getpid())
	f, err := os.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	if err = writeSynced(ctx, onDisk{f}, write); err == nil {
		err = os.Rename(part, path)
	}
	if err != nil {
		return errors.Join(err, waitBriefly(func() error { return os.Remove(part) }))
	}
	return nil
}

// A file takes bytes that reach the disk later.
type file interface {
	io.WriteCloser
	settle(ctx context.Context) error // returns when all bytes are on the disk or the context has ended
}

type onDisk struct{ *os.File }

func (f onDisk) settle(ctx context.Context) error { return disk.WaitWritten(ctx, f.File, 0) }

// writeSynced writes a file, waits until its bytes are on the disk, and closes it. Both waits end with the context, whatever holds the
// system up: the first one with the context's error; the second one without an error, as the system has all bytes then, and
// writes them after the process has ended.
func writeSynced(ctx context.Context, f file, write func(io.Writer) error) error {
	written, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		err := writeAll(ctx, f, write)
		if err == nil {
			close(written)
			err = f.settle(ctx)
		}
		ended <- errors.Join(err, f.Close())
	}()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	select {
	case <-written:
		return nil
	default:
		return ctx.Err()
	}
}

// waitBriefly calls do, and waits for its end a tenth of a second at most.
func waitBriefly(do func() error) error {
	done := make(chan error, 1)
	go func() { done <- do() }()
	select {
	case err := <-done:
		return err
	case <-time.After(time.Second / 10):
		return nil
	}
}

// writeInPlace writes to a pipe or a device. Opening a named pipe waits for its reader,
// and writing for room: both end with the context.
func writeInPlace(ctx context.Context, path string, write func(io.Writer) error) error {
	type opening struct {
		f   *os.File
		err error
	}
	opened := make(chan opening, 1)
	go func() {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		opened <- opening{f, err}
	}()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case o := <-opened:
		if o.err != nil {
			return o.err
		}
		stop := context.AfterFunc(ctx, func() { o.f.SetWriteDeadline(time.Now()) })
		defer stop()
		return errors.Join(writeAll(ctx, o.f, write), o.f.Close())
	}
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

// ContextWriter returns a writer to w, such as standard output, that does not wait for a reader any longer once the context has ended
// and a little time for the answer is over. Its error is then the context's.
func ContextWriter(ctx context.Context, w io.Writer) io.Writer { return patient{ctx, w} }

type patient struct {
	ctx context.Context
	w   io.Writer
}

func (p patient) Write(text []byte) (int, error) {
	type outcome struct {
		n   int
		err error
	}
	done := make(chan outcome, 1)
	go func() {
		n, err := p.w.Write(text)
		done <- outcome{n, err}
	}()
	select {
	case o := <-done:
		return o.n, o.err
	case <-p.ctx.Done():
	}
	select {
	case o := <-done:
		return o.n, o.err
	case <-time.After(grace):
		return 0, p.ctx.Err()
	}
}
