package atomicfile

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// A file is written whole or stays as it was, whatever fails, and nothing is left
// beside it.
func TestWrite(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	text := func(s string, err error) func(io.Writer) error {
		return func(w io.Writer) error {
			_, werr := io.WriteString(w, s)
			return errors.Join(werr, err)
		}
	}
	over, stop := context.WithCancel(context.Background())
	stop()
	for _, c := range []struct {
		ctx   context.Context
		write func(io.Writer) error
		want  string
		fails bool
	}{
		{context.Background(), text("first", nil), "first", false},
		{context.Background(), text("half", errors.New("no more")), "first", true},
		{over, text("late", nil), "first", true},
		{context.Background(), text("second", nil), "second", false},
	} {
		if err := Write(c.ctx, path, c.write); (err != nil) != c.fails {
			t.Errorf("error %v, expected one: %v", err, c.fails)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != c.want {
			t.Errorf("found %q, %v, want %q", got, err, c.want)
		}
		if list, err := os.ReadDir(dir); err != nil || len(list) != 1 {
			t.Errorf("found %v, %v, want one file", list, err)
		}
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	if err := Write(context.Background(), link, text("third", nil)); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(path); string(got) != "third" {
		t.Errorf("through a link: found %q", got)
	}
}

// What is no regular file is written in place and never removed.
func TestWriteToADevice(t *testing.T) {
	write := func(w io.Writer) error { _, err := w.Write(make([]byte, 1<<17)); return err }
	if err := Write(context.Background(), os.DevNull, write); err != nil {
		t.Error(err)
	}
	full := "/dev/full"
	if _, err := os.Stat(full); err != nil {
		t.Skip("there is no /dev/full")
	}
	if err := Write(context.Background(), full, write); err == nil {
		t.Error("wrote to a device that is full")
	}
	if _, err := os.Stat(full); err != nil {
		t.Error("the device is gone:", err)
	}
}

// A named pipe that nobody reads holds nothing up once the context has ended: what is
// being made ends at once, a finished answer a second later.
func TestWriteToAPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := exec.Command("mkfifo", path).Run(); err != nil {
		t.Skip("there is no mkfifo:", err)
	}
	text := func(w io.Writer) error { _, err := w.Write(make([]byte, 1<<20)); return err }
	ends := func(how string, write func(context.Context, string, func(io.Writer) error) error) {
		ctx, stop := context.WithTimeout(context.Background(), 20*time.Millisecond)
		defer stop()
		if err := write(ctx, path, text); !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%s: %v, expected that it ends with the context", how, err)
		}
	}
	ends("no reader", Write)
	ends("no reader of an answer", Finish)

	// A reader that takes nothing, then one that takes all.
	reader, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	ends("a full pipe", Write)
	ends("a full pipe for an answer", Finish)
	go io.Copy(io.Discard, reader)
	if err := Finish(context.Background(), path, text); err != nil {
		t.Error(err)
	}
}

// A slow file is one whose disk holds writes, or the wait for the disk, up until the test ends.
type slow struct {
	taken  bytes.Buffer
	writes chan struct{} // a write waits for this; nil: none does
	syncs  chan struct{}
	waits  chan struct{} // told of a wait
}

func (s *slow) Write(p []byte) (int, error) {
	if s.writes != nil {
		s.waits <- struct{}{}
		<-s.writes
	}
	return s.taken.Write(p)
}

func (s *slow) settle(context.Context) error {
	s.waits <- struct{}{}
	<-s.syncs
	return nil
}

func (s *slow) Close() error { return nil }

// A disk holds no interruption up: what has been written whole is kept without waiting for the disk, what has not is an error.
func TestSlowDisk(t *testing.T) {
	text := func(w io.Writer) error { _, err := w.Write(make([]byte, 1<<20)); return err }
	never := make(chan struct{})
	t.Cleanup(func() { close(never) })
	for name, c := range map[string]struct {
		disk *slow
		want error
	}{
		"a wait for the disk": {&slow{syncs: never}, nil},
		"a write":             {&slow{writes: never, syncs: never}, context.Canceled},
	} {
		c.disk.waits = make(chan struct{}, 1)
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- writeSynced(ctx, c.disk, text) }()
		select {
		case err := <-ended:
			t.Errorf("%s: ended with %v before the interruption", name, err)
		case <-c.disk.waits:
		}
		stop()
		select {
		case err := <-ended:
			if !errors.Is(err, c.want) {
				t.Errorf("%s: %v, expected %v", name, err, c.want)
			}
		case <-time.After(time.Second):
			t.Errorf("%s: no end within a second of the interruption", name)
		}
	}
	if err := waitBriefly(func() error { <-never; return nil }); err != nil {
		t.Errorf("a removal that waits for the disk: %v", err)
	}
	fast := &slow{syncs: make(chan struct{}), waits: make(chan struct{}, 1)}
	close(fast.syncs)
	if err := writeSynced(t.Context(), fast, text); err != nil || fast.taken.Len() != 1<<20 {
		t.Errorf("%d bytes, %v", fast.taken.Len(), err)
	}
}

// All pieces of a large file reach the disk before the file takes its place.
func TestLargeFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "large")
	text := bytes.Repeat([]byte("0123456789abcde\n"), (9<<20)/16)
	if err := Finish(t.Context(), path, func(w io.Writer) error { _, err := w.Write(text); return err }); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, text) {
		t.Errorf("found %d bytes, %v, expected %d", len(got), err, len(text))
	}
}
