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

func TestDescribe(t *testing.T) {
	if _, err := describe(nil); !errors.Is(err, ErrNone) {
		t.Errorf("describe without images: %v; want ErrNone", err)
	}
	if _, err := describe(fstest.MapFS{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("describe without a description: %v; want fs.ErrNotExist", err)
	}
	d, err := describe(fstest.MapFS{"images/build.json": {Data: []byte(`{"cuda":"13.0.88","architectures":["sm_80","sm_90"],"flags":["-O3","-std=c++17"]}`)}})
	if err != nil || d.CUDA != "13.0.88" || d.Compiler() != "nvcc 13.0.88 -O3 -std=c++17" || len(d.Architectures) != 2 || d.Architectures[1] != "sm_90" {
		t.Errorf("describe: %+v, %v", d, err)
	}
}
