package main

import (
	"bytes"
	"io"
	"path/filepath"
	"testing"

	"coalesce/solvers/formats/packed"
)

// The committed T4 files are the records, and the replay reads the variants and medians of them again.
func TestT4OfRecords(t *testing.T) {
	list, err := records("../results")
	dir := t.TempDir()
	if err == nil {
		err = exportT4(dir, list)
	}
	if err != nil {
		t.Fatal(err)
	}
	text := func(path string) []byte {
		f, err := packed.OpenFile(path, 1<<30)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		b, err := io.ReadAll(f)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	for _, name := range []string{"csg-splits/NVIDIA-H200-int32_T4.json.gz", "csg-tiles/NVIDIA-H200-int32_T4.json.gz"} {
		if !bytes.Equal(text(filepath.Join(dir, name)), text(filepath.Join("../results/t4", name))) {
			t.Errorf("bench/results/t4/%s is stale: run go run ./bench/replay -t4 bench/results/t4", name)
		}
	}
	spaces, err := hubSpaces(dir)
	if err != nil || len(spaces) != len(list) {
		t.Fatalf("%d spaces, %v; expected %d", len(spaces), err, len(list))
	}
	for i, s := range spaces { // both are in the order of families and sizes
		if want := 1e3 * list[i].best; len(s.rows) != len(list[i].family.Variants) || s.optimum < want*0.999999 || s.optimum > want*1.000001 {
			t.Errorf("%s: %d variants, the best takes %v ms; expected %d, %v", s.name(), len(s.rows), s.optimum, len(list[i].family.Variants), want)
		}
	}
}
