package nvcc

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// An image unpacks to what was compressed, by zstd's own program, by the library, and from the cache.
func TestCompressed(t *testing.T) {
	code := bytes.Repeat([]byte("add-max over the halves of a coalition; "), 3000)
	unpacks := func(packed []byte) {
		t.Helper()
		z, err := zstd.NewReader(nil)
		if err != nil {
			t.Fatal(err)
		}
		defer z.Close()
		if got, err := z.DecodeAll(packed, nil); err != nil || !bytes.Equal(got, code) {
			t.Errorf("unpacks to %d bytes, expected the %d compressed (%v)", len(got), len(code), err)
		}
	}
	object := filepath.Join(t.TempDir(), "image.fatbin")
	want := []string{object + ".zst"}
	if _, err := exec.LookPath("zstd"); err == nil {
		want = []string{object + ".19.zst", object + ".zst"}
	}
	for _, path := range []string{os.Getenv("PATH"), t.TempDir()} {
		t.Setenv("PATH", path)
		packed, err := compressCached(t.Context(), object, code)
		if err != nil {
			t.Fatal(err)
		}
		unpacks(packed)
		again, err := compressCached(t.Context(), object, nil) // from the cache
		if err != nil || !bytes.Equal(again, packed) {
			t.Errorf("the cache has %d bytes, expected the %d made before (%v)", len(again), len(packed), err)
		}
	}
	if files, err := filepath.Glob(object + "*"); err != nil || !slices.Equal(files, want) {
		t.Errorf("the cache has %q (%v), expected %q", files, err, want)
	}
}

// A program that fails, or writes something else, makes no image.
func TestCompressedByABadProgram(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the program is a script")
	}
	for script, want := range map[string]string{
		"echo no room >&2; exit 1": "no room",
		"cat":                      "what it wrote unpacks to",
	} {
		dir := t.TempDir()
		program := filepath.Join(dir, "zstd")
		if err := os.WriteFile(program, []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
		object := filepath.Join(dir, "image.fatbin")
		if _, err := compressCached(t.Context(), object, []byte("code")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, expected %q", script, err, want)
		}
		if files, _ := filepath.Glob(object + "*"); len(files) > 0 {
			t.Errorf("%s: the cache has %q", script, files)
		}
	}
}
