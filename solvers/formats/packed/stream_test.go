package packed

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"

	"coalesce/solvers/formats"
)

// What is cut off says so, and goes on saying so after a look ahead.
func TestCutOff(t *testing.T) {
	text := strings.Repeat("a coalition and its value\n", 999)
	for ext, data := range pack(t, text) {
		if ext == "" {
			continue
		}
		for _, left := range []int{len(data) - 1, len(data) / 2, 13} {
			s, err := OpenLimited(bytes.NewReader(data[:left]), -1, "a"+ext, 0)
			if err == nil {
				s.Peek(1 << 16)
				_, err = io.ReadAll(s)
				s.Close()
			}
			if err == nil || !strings.Contains(err.Error(), "the file is truncated") || !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("%s cut to %d bytes: %v", ext, left, err)
			}
		}
		wrong := bytes.Clone(data)
		wrong[len(wrong)/2] ^= 0x55
		if _, _, err := readAll(wrong, "a"+ext); err == nil || !strings.Contains(err.Error(), "found broken") && !strings.Contains(err.Error(), "truncated") {
			t.Errorf("%s with a wrong byte: %v", ext, err)
		}
	}
}

// A stream of unknown length ends at the limit, one of known length does not.
func TestLimit(t *testing.T) {
	var bomb bytes.Buffer
	w := gzip.NewWriter(&bomb)
	for range 1 << 10 {
		w.Write(make([]byte, 1<<10))
	}
	w.Close()
	path := filepath.Join(t.TempDir(), "bomb.gz")
	if err := os.WriteFile(path, bomb.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	read := func(limit int64) (int, error) {
		s, err := OpenFile(path, limit)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		all, err := io.ReadAll(s)
		return len(all), err
	}
	var long *formats.LimitError
	if k, err := read(1000); k != 1000 || !errors.As(err, &long) || long.Limit != 1000 {
		t.Errorf("%d bytes, %v", k, err)
	}
	for _, limit := range []int64{0, 1 << 20} {
		if k, err := read(limit); k != 1<<20 || err != nil {
			t.Errorf("%d bytes, %v", k, err)
		}
	}
	for size, want := range map[int64]bool{-1: true, 5: false} {
		s, err := OpenLimited(strings.NewReader("1,2\n3"), size, "a", 3)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadAll(s); errors.As(err, &long) != want || s.Size != size {
			t.Errorf("size %d: %v, %d", size, err, s.Size)
		}
	}
}

func TestOpenFile(t *testing.T) {
	dir := t.TempDir()
	if _, err := OpenFile(dir, 0); err == nil || !strings.Contains(err.Error(), dir+" is a directory, expected a file") {
		t.Error(err)
	}
	if _, err := OpenFile(dir+"/none", 0); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	path := dir + "/a.csv"
	if err := os.WriteFile(path, []byte("1,2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := OpenFile(path, 1)
	if err != nil || s.Size != 4 {
		t.Fatalf("%v %v", s, err)
	}
	if text, err := io.ReadAll(s); string(text) != "1,2\n" || err != nil {
		t.Errorf("%q %v", text, err)
	}
	s.Close()
	if s, err = OpenFile("/dev/zero", 1<<20); err != nil {
		t.Skipf("there is no endless file here: %v", err)
	}
	defer s.Close()
	var long *formats.LimitError
	if k, err := io.Copy(io.Discard, s); k != 1<<20 || !errors.As(err, &long) {
		t.Errorf("%d bytes, %v", k, err)
	}
}

// Close while a read is under way neither waits for the read nor races with it.
func TestCloseDuringRead(t *testing.T) {
	r, w := io.Pipe()
	data := pack(t, "0123456789abcdefghijklmnopqrstuvwxyz+/,;")[".zst"]
	s, err := OpenLimited(io.MultiReader(bytes.NewReader(data), r), -1, "a.zst", 0)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		io.Copy(io.Discard, s)
	}()
	s.Close()
	w.Close()
	<-done
}
