package run

import (
	"fmt"
	"os"
	"path/filepath"

	"coalesce/internal/ui"
)

// ShowReading says on the progress line that a file is read, with the share of its bytes that were.
func ShowReading(p *ui.Progress, path string) {
	p.SetMeasured(func() float64 { return shareRead(path) }, "reading %s", NameOf(path))
}

// shareRead is the share of a file's bytes that this process has read: the place of its descriptor, by Linux's /proc; below 0 where
// that is not known, as of files that are mapped.
func shareRead(path string) float64 {
	path, err := filepath.Abs(path)
	if err != nil {
		return -1
	}
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return -1
	}
	const descriptors = "/proc/self/fd"
	open, _ := os.ReadDir(descriptors)
	for _, d := range open {
		if other, err := os.Stat(filepath.Join(descriptors, d.Name())); err != nil || !os.SameFile(info, other) {
			continue
		}
		text, _ := os.ReadFile(filepath.Join("/proc/self/fdinfo", d.Name()))
		var at int64
		if _, err := fmt.Sscanf(string(text), "pos: %d", &at); err == nil && at > 0 {
			return float64(at) / float64(info.Size())
		}
	}
	return -1
}
