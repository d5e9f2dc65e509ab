package disk

import (
	"context"
	"os"
	"path/filepath"
	"testing"
)

// A file of several pieces settles from any place, and a file that is closed is an error unless the context has ended.
func TestSettle(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "a"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write(make([]byte, 2*piece+1)); err != nil {
		t.Fatal(err)
	}
	for _, from := range []int64{0, 1, piece, 2*piece + 1, 9 * piece} {
		if err := WaitWritten(t.Context(), f, from); err != nil {
			t.Errorf("from %d: %v", from, err)
		}
	}
	over, stop := context.WithCancel(t.Context())
	stop()
	read, write, err := os.Pipe() // which no disk takes
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	defer write.Close()
	if WaitWritten(t.Context(), write, 0) == nil {
		t.Error("a pipe settled")
	}
	if err := WaitWritten(over, write, 0); err != nil {
		t.Errorf("after the end of the context: %v", err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if WaitWritten(t.Context(), f, 0) == nil {
		t.Error("a closed file settled")
	}
}
