package whole

import (
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
