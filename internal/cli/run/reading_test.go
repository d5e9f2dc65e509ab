package run

import (
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

func TestShareRead(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("Linux alone has /proc/self/fdinfo")
	}
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, make([]byte, 1000), 0o644); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := shareRead(path); got >= 0 {
		t.Errorf("before the first byte: %g", got)
	}
	if _, err := io.CopyN(io.Discard, file, 250); err != nil {
		t.Fatal(err)
	}
	if got := shareRead(path); got != 0.25 {
		t.Errorf("after 250 of 1,000 bytes: %g", got)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{path, Dash, t.TempDir()} {
		if got := shareRead(path); got >= 0 {
			t.Errorf("%s: %g", path, got)
		}
	}
}
