package tuned

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Save replaces a file and never writes into it: who reads it meanwhile, here under a
// second name, has the old document whole.
func TestSaveReplaces(t *testing.T) {
	folder := t.TempDir()
	path, second := filepath.Join(folder, "a.json"), filepath.Join(folder, "b.json")
	db := &Database{}
	if err := db.Save(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(path, second); err != nil {
		t.Skipf("the file system has no hard links: %v", err)
	}
	before := string(db.Encode())
	if err := db.Put(Entry{Family: "toy/k", Class: "host", Size: 1, Protocol: Protocol, Winner: "a", Results: []Result{{Variant: "a", Nanos: 1}}}); err != nil {
		t.Fatal(err)
	}
	if err := db.Save(path); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(second); err != nil || string(got) != before {
		t.Errorf("the old document is %q now, %v", got, err)
	}
	if got, err := Load(path); err != nil || got.Len() != 1 {
		t.Errorf("the new document: %v", err)
	}
	left, err := filepath.Glob(filepath.Join(folder, ".tuned-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// A pipe, a device or a folder stays what it is.
func TestSaveRefuses(t *testing.T) {
	folder := t.TempDir()
	if err := (&Database{}).Save(folder); err == nil {
		t.Error("a folder: saved")
	}
	if info, err := os.Stat(os.DevNull); err != nil || info.Mode().IsRegular() {
		t.Skip("there is no device")
	}
	if err := os.Symlink(os.DevNull, filepath.Join(folder, "null")); err != nil {
		t.Skipf("no links: %v", err)
	}
	if err := (&Database{}).Save(filepath.Join(folder, "null")); err == nil || !strings.Contains(err.Error(), "no regular file") {
		t.Errorf("a link to a device: found %v", err)
	}
}
