package rules

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

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
