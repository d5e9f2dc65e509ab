package templates

import (
	"errors"
	"io/fs"
	"slices"
	"testing"
	"testing/fstest"
)

func TestLayers(t *testing.T) {
	own := fstest.MapFS{"toy/scale/scale.cuh": {Data: []byte("own")}, "cuda/prelude.cuh": {Data: []byte("own prelude")}}
	l := Layers{own, Files}
	for name, want := range map[string]string{"toy/scale/scale.cuh": "own", "cuda/prelude.cuh": "own prelude"} {
		if text, err := fs.ReadFile(l, name); err != nil || string(text) != want {
			t.Errorf("%s: %q, %v, want %q", name, text, err, want)
		}
	}
	if text, err := fs.ReadFile(l, "cuda/variant.cuh"); err != nil || len(text) == 0 {
		t.Errorf("a shared header: %d bytes, %v", len(text), err)
	}
	if _, err := l.Open("cuda/none.cuh"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no such file: %v", err)
	}
	names, err := fs.Glob(l, "cuda/*.cuh")
	if err != nil || !slices.Contains(names, "cuda/variant.cuh") || !slices.IsSorted(names) || len(slices.Compact(slices.Clone(names))) != len(names) {
		t.Errorf("glob: %v, %v", names, err)
	}
}
