package ranks

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"coalesce/internal/cli/atomicfile"
)

// A Folder keeps the results of several instances, a file each: the result of FILE has the name of
// FILE with .json behind. Each file is written whole or not at all.
type Folder string

// Open makes the folder if it is missing, and returns an error if two instances have the same name.
func (f Folder) Open(paths []string) error {
	seen := map[string]string{}
	for _, path := range paths {
		name := filepath.Base(path)
		if other, ok := seen[name]; ok {
			return fmt.Errorf("results in %s are named after their instances: found %s and %s, expected different names", f, other, path)
		}
		seen[name] = path
	}
	return os.MkdirAll(string(f), 0o777)
}

func (f Folder) file(path string) string {
	return filepath.Join(string(f), filepath.Base(path)+".json")
}

// HasResult reports whether the result of an instance is there, and no older than the instance.
func (f Folder) HasResult(path string) bool {
	result, err := os.Stat(f.file(path))
	if err != nil || !result.Mode().IsRegular() || result.Size() == 0 {
		return false
	}
	inst, err := os.Stat(path)
	return err == nil && !result.ModTime().Before(inst.ModTime())
}

// Write writes the result of an instance, also where the context has ended: the result exists.
func (f Folder) Write(ctx context.Context, path string, text []byte) error {
	return atomicfile.Finish(ctx, f.file(path), func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}

// LongestFirst are the numbers of files in the order in which they are solved: files of unknown size,
// then the largest first; files of one size keep their order.
func LongestFirst(paths []string) []int {
	order, size := make([]int, len(paths)), make([]int64, len(paths))
	for k, path := range paths {
		order[k], size[k] = k, 1<<62
		if info, err := os.Stat(path); err == nil {
			size[k] = info.Size()
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(size[b], size[a]) })
	return order
}
