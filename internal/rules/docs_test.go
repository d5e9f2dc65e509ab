package rules

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// Pages are read to their end: those under docs are short, but for results, which are
// generated tables for the most part, and notes.
func TestPagesAreShort(t *testing.T) {
	limits := map[string]int{"docs/performance.md": 200, "docs/architecture.md": 250}
	count := 0
	for _, x := range texts(t, ".md") {
		dir := path.Dir(x.path)
		if dir != "docs" && dir != "docs/results" && dir != "docs/notes" && x.path != "README.md" {
			continue
		}
		count++
		limit := 150
		switch {
		case limits[x.path] > 0:
			limit = limits[x.path]
		case x.path == "README.md":
			limit = 250
		case dir != "docs":
			limit = 800
		}
		if x.lines() > limit {
			t.Errorf("%s has %d lines, want at most %d", x.path, x.lines(), limit)
		}
		inside := false
		for k, line := range strings.Split(string(x.data), "\n") {
			inside = inside && !strings.HasPrefix(line, "<!-- end") || strings.HasPrefix(line, "<!-- begin")
			if n := utf8.RuneCountInString(line); n > 200 && !inside && !strings.HasPrefix(line, "|") {
				t.Errorf("%s:%d has %d characters, want at most 200", x.path, k+1, n)
			}
		}
	}
	if count < 8 {
		t.Errorf("found %d pages", count)
	}
}

// Links between pages lead somewhere.
func TestLinksOfPages(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#\s]+)(#[^)]*)?\)`)
	count := 0
	for _, x := range texts(t, ".md") {
		for _, m := range link.FindAllSubmatch(x.data, -1) {
			to := string(m[1])
			if strings.Contains(to, "://") || strings.HasPrefix(to, "mailto:") {
				continue
			}
			count++
			if _, err := os.Stat(filepath.Join(root, path.Dir(x.path), to)); err != nil {
				t.Errorf("%s links to %s: %v", x.path, to, err)
			}
		}
	}
	if count < 20 {
		t.Errorf("found %d links", count)
	}
}
