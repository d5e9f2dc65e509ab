package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// A Change is a change that generate would make to a file.
type Change struct {
	Path     string // from the module's root, with slashes
	Old, New []byte // nil when the file is to be made, or deleted
}

// marker is the line that Go asks of generated files, first in each of ours.
var marker = regexp.MustCompile(`\A// Code generated .* DO NOT EDIT\.\n`)

// partial ends the name of a file that is being written.
const partial = ".partial~"

// changesOf compares files with what stands below generated/, in order of
// paths. With families in only, files of other families are left alone.
func changesOf(root string, files map[string][]byte, only []string) ([]Change, error) {
	var changes []Change
	seen := map[string]bool{}
	err := filepath.WalkDir(filepath.Join(root, folder), func(name string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		old, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		want, keep := files[rel]
		seen[rel] = true
		switch {
		case keep && bytes.Equal(old, want):
		case keep:
			changes = append(changes, Change{rel, old, want})
		case !ours(rel, only):
		case !marker.Match(old) && !strings.HasSuffix(rel, partial):
			return fmt.Errorf("%s was not generated (its first line does not say so), and everything else in %s/ is: move it", rel, folder)
		default:
			changes = append(changes, Change{rel, old, nil})
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("compare %s: %w", folder, err)
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if seen[name] {
			continue
		}
		old, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name))) // of files outside generated/
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		if err != nil || !bytes.Equal(old, files[name]) {
			changes = append(changes, Change{name, old, files[name]})
		}
	}
	slices.SortFunc(changes, func(a, b Change) int { return strings.Compare(a.Path, b.Path) })
	return changes, nil
}

// ours reports whether a path belongs to one of the families, or to any when
// none is named.
func ours(name string, only []string) bool {
	if len(only) == 0 {
		return true
	}
	for _, family := range only {
		base := path.Join(folder, family)
		if name == base+".go" || strings.HasPrefix(name, base+"_") || strings.HasPrefix(name, base+"/") {
			return true
		}
	}
	return false
}

// applyChanges makes the changes. Every file is written whole beside its place and
// renamed; folders that become empty go.
func applyChanges(root string, changes []Change) error {
	for _, c := range changes {
		name := filepath.Join(root, filepath.FromSlash(c.Path))
		if c.New == nil {
			if err := os.Remove(name); err != nil {
				return fmt.Errorf("delete stale %s: %w", c.Path, err)
			}
			for dir := filepath.Dir(name); dir != root && os.Remove(dir) == nil; dir = filepath.Dir(dir) {
			}
			continue
		}
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			return fmt.Errorf("write %s: %w", c.Path, err)
		}
		if err := os.WriteFile(name+partial, c.New, 0o666); err != nil {
			os.Remove(name + partial)
			return fmt.Errorf("write %s: %w", c.Path, err)
		}
		if err := os.Rename(name+partial, name); err != nil {
			return fmt.Errorf("write %s: %w", c.Path, err)
		}
	}
	return nil
}
