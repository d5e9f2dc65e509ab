package result_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"coalesce/bench/result"
)

// rewrite loads a committed file, with no field unknown, and returns it as Write writes it.
func rewrite[R any](t *testing.T, text []byte) []byte {
	t.Helper()
	var f result.Experiment[R]
	read := json.NewDecoder(bytes.NewReader(text))
	read.DisallowUnknownFields()
	if err := read.Decode(&f); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := f.Write(dir, "x"); err != nil {
		t.Fatal(err)
	}
	out, err := os.ReadFile(filepath.Join(dir, "x.json"))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Every committed file of a program's experiments is read whole, and written with the same values.
func TestCommittedResultsAreRewritten(t *testing.T) {
	for _, x := range []struct {
		files   string
		rewrite func(*testing.T, []byte) []byte
	}{
		{"csg-*.json", rewrite[result.Row]},
		{"qubo-*.json", rewrite[result.Binary]},
		{"auction-*.json", rewrite[result.Auction]},
		{"assignment-[a-rt]*.json", rewrite[result.Solve]},
		{"assignment-scaling*.json", rewrite[result.Solve]},
		{"assignment-small.json", rewrite[result.Small]},
		{"tuning-sizes*.json", rewrite[result.Choice]},
		{"tuning-workloads-h200*.json", rewrite[result.Choice]},
		{"tuning-replay.json", rewrite[result.Replay]},
		{"kernel-tuner*.json", rewrite[result.Mistake]},
	} {
		list, err := filepath.Glob("../results/" + x.files)
		if err != nil || len(list) == 0 {
			t.Fatalf("%s: %d files, %v", x.files, len(list), err)
		}
		for _, path := range list {
			t.Run(filepath.Base(path), func(t *testing.T) {
				text, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				var want, got any
				if err := errors.Join(json.Unmarshal(text, &want), json.Unmarshal(x.rewrite(t, text), &got)); err != nil {
					t.Fatal(err)
				}
				if !reflect.DeepEqual(got, want) {
					t.Error("it is written with other values")
				}
			})
		}
	}
}
