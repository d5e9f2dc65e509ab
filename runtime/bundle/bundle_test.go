package bundle

import (
	"errors"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
)

func TestRead(t *testing.T) {
	fsys := fstest.MapFS{
		"images/00000000000000ab.fatbin": {Data: []byte("image")},
		"images/README":                  {Data: []byte("talk")},
	}
	got, err := read(fsys, 0xab)
	if err != nil || string(got) != "image" {
		t.Fatalf("read: %q, %v; want the image", got, err)
	}
	_, err = read(fsys, 0xac)
	if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "scripts/build-cuda") {
		t.Errorf("read of an absent image: %v; want fs.ErrNotExist and what to run", err)
	}
	_, err = read(nil, 0xab)
	if !errors.Is(err, ErrNone) || !strings.Contains(err.Error(), "scripts/build-cuda") {
		t.Errorf("read without images: %v; want ErrNone and what to run", err)
	}
}
