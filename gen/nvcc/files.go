package nvcc

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// expandIncludes writes a file's text and, once each, the texts it includes in
// quotes. An include that is not found is left to nvcc: it may be the
// toolkit's.
func expandIncludes(w io.Writer, file string, include []string, seen map[string]bool) error {
	if seen[file] {
		return nil
	}
	seen[file] = true
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "\x00%d\n", len(text))
	w.Write(text)
	for line := range strings.Lines(string(text)) {
		rest, ok := strings.CutPrefix(strings.TrimLeft(line, " \t"), "#")
		if !ok {
			continue
		}
		rest, ok = strings.CutPrefix(strings.TrimLeft(rest, " \t"), "include")
		if !ok {
			continue
		}
		_, rest, ok = strings.Cut(rest, `"`)
		name, _, closed := strings.Cut(rest, `"`)
		if !ok || !closed {
			continue
		}
		for _, d := range slices.Concat([]string{filepath.Dir(file)}, include) {
			if path := filepath.Join(d, filepath.FromSlash(name)); isFile(path) {
				if err := expandIncludes(w, path, include, seen); err != nil {
					return err
				}
				break
			}
		}
	}
	return nil
}

// keepObjects is the time for which the cache keeps objects that no build uses: long enough to
// return to another branch.
const keepObjects = 30 * 24 * time.Hour

// pruneCache deletes reports of packs that are gone and cached images that were
// not used for long.
func (b *build) pruneCache() error {
	want := map[string]bool{}
	for _, p := range b.job.Packs {
		want[reportPath(b.job.Cache, p.Hash)] = true
	}
	for _, dir := range []string{filepath.Join(b.job.Cache, "reports"), b.tk.objectFolder(b.job)} {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return fmt.Errorf("prune the cache: %w", err)
		}
		for _, e := range entries {
			path := filepath.Join(dir, e.Name())
			info, err := e.Info()
			if err != nil || want[path] || filepath.Base(dir) == "nvcc" && time.Since(info.ModTime()) < keepObjects {
				continue
			}
			if err := os.Remove(path); err != nil {
				return fmt.Errorf("prune the cache: %w", err)
			}
		}
	}
	return nil
}

// replaceFile writes a file so that no reader sees half of it.
func replaceFile(path string, text []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".part-")
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Chmod(f.Name(), 0o644)
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}

func isFile(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.Mode().IsRegular()
}
