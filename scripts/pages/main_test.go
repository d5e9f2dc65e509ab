package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestPages(t *testing.T) {
	out := t.TempDir()
	if err := run("../..", out); err != nil {
		t.Fatal(err)
	}
	for page, words := range map[string][]string{
		"commands/index.md":         {"[solve](solve.md)"},
		"commands/solve-csg.md":     {"# coalesce solve csg\n", "| `--plot` |"},
		"go/index.md":               {"[solvers/csg](solvers-csg.md)"},
		"go/solvers-csg.md":         {"### Solve\n", "func Solve(ctx context.Context", "#### Result.Certify\n"},
		"go/solvers-csg-problem.md": {"### Structure\n", "type Structure []uint64"},
	} {
		text, err := os.ReadFile(filepath.Join(out, page))
		if err != nil {
			t.Fatal(err)
		}
		for _, word := range words {
			if !strings.Contains(string(text), word) {
				t.Errorf("%s: no %q in\n%.2000s", page, word, text)
			}
		}
	}
	if _, err := os.Stat(filepath.Join(out, "go", "solvers-csg-internal-price.md")); err == nil {
		t.Error("an internal package has a page")
	}
}
