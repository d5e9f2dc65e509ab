package rules

import (
	"path"
	"strings"
	"testing"
)

// A package is small enough to hold in mind: at most 25 files and 4,000 lines besides
// tests.
func TestPackagesAreSmall(t *testing.T) {
	files, lines := map[string]int{}, map[string]int{}
	for _, x := range texts(t, ".go") {
		if x.generated() || strings.HasSuffix(x.path, "_test.go") {
			continue
		}
		files[path.Dir(x.path)]++
		lines[path.Dir(x.path)] += x.lines()
	}
	if len(files) < 40 {
		t.Fatalf("found %d packages, expected the module's", len(files))
	}
	for dir := range files {
		if files[dir] > 25 || lines[dir] > 4000 {
			t.Errorf("%s has %d files and %d lines, want at most 25 and 4000", dir, files[dir], lines[dir])
		}
	}
}
