package ui

import (
	"bytes"
	"os"
	"runtime"
	"testing"
)

// A pipe is unread once its reader has closed it; files and other writers are not.
func TestUnread(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the system is not asked about pipes here")
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if ReaderClosed(w) {
		t.Error("a pipe with a reader: found unread")
	}
	r.Close()
	if !ReaderClosed(w) {
		t.Error("a pipe without a reader: found read")
	}
	f, err := os.Create(t.TempDir() + "/file")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if ReaderClosed(f) || ReaderClosed(&bytes.Buffer{}) {
		t.Error("no pipe: found unread")
	}
}
