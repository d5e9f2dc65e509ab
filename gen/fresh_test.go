package main

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"coalesce/gen/manifest"
)

// committed generates in memory what generated/ has to be.
func committed(t *testing.T) *Output {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", manifest.File))
	if err != nil {
		t.Fatal(err)
	}
	spaces, err := manifest.Parse(manifest.File, data)
	if err != nil {
		t.Fatal(err)
	}
	out, err := generate(os.DirFS(filepath.Join("..", "templates")), spaces, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestFresh: generated/ is what go.generate, templates/ and this generator
// make. It regenerates in memory.
func TestFresh(t *testing.T) {
	out := committed(t)
	changes, err := changesOf("..", out.Files, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range changes {
		if i == 5 {
			t.Errorf("and %d more files", len(changes)-i)
			break
		}
		t.Errorf("%s is stale", c.Path)
	}
	if len(changes) > 0 {
		t.Log("run: go generate ./...   (go run ./gen diff shows the changes)")
	}
}

// TestBodiesAreUsed: every header and body is part of a variant.
func TestBodiesAreUsed(t *testing.T) {
	used := map[string]bool{}
	for _, f := range committed(t).Families {
		if f.CUDA == nil {
			continue
		}
		for _, v := range f.CUDA.Variants {
			for _, h := range v.Headers {
				used[h.Name] = true
			}
		}
	}
	templates := os.DirFS(filepath.Join("..", "templates"))
	for _, pattern := range []string{"*/*.cuh", "*/*/*.cuh"} {
		names, err := fs.Glob(templates, pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			if !used[name] {
				t.Errorf("templates/%s is part of no variant", name)
			}
		}
	}
}

// TestHeaders: every file below generated/ says in its first line that it was
// generated, in the form that Go's tools know.
func TestHeaders(t *testing.T) {
	count := 0
	err := filepath.WalkDir(filepath.Join("..", folder), func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		count++
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if !marker.Match(text) {
			t.Errorf("%s: the first line does not match %v", name, marker)
		}
		if ext := filepath.Ext(name); ext != ".go" && ext != ".cu" {
			t.Errorf("%s: expected .go and .cu files only", name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if count == 0 {
		t.Error("generated/ is empty: run go generate ./...")
	}
}

// TestWinnersAreNoStudies: shipped binaries need what tuning chose.
func TestWinnersAreNoStudies(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", manifest.File))
	if err != nil {
		t.Fatal(err)
	}
	spaces, err := manifest.Parse(manifest.File, data)
	if err != nil {
		t.Fatal(err)
	}
	studies := map[string]bool{}
	for _, s := range spaces {
		points, err := s.Enumerate()
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range points {
			studies[p.Family+" "+p.Label()] = p.Study
		}
	}
	text, err := os.ReadFile("../autotune/tuned/tuned.json")
	if err != nil {
		t.Fatal(err)
	}
	var tuned struct {
		Entries []struct{ Family, Winner string }
	}
	if err := json.Unmarshal(text, &tuned); err != nil {
		t.Fatal(err)
	}
	if len(tuned.Entries) == 0 {
		t.Error("tuned.json has no entry")
	}
	for _, e := range tuned.Entries {
		if studies[e.Family+" "+e.Winner] {
			t.Errorf("%s %s won, and go.generate marks it as a study", e.Family, e.Winner)
		}
	}
}
