package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"coalesce/bench/paper"
)

// No cell of a paper's page is empty, whether its experiments were run or not, and every test that a
// row names is there.
func TestPapersHaveNoEmptyCell(t *testing.T) {
	run, err := loadMeasured(filepath.Join(root, "bench", "results"))
	if err != nil {
		t.Fatal(err)
	}
	for about, m := range map[string]paperResults{"committed results": run, "no results": {results{}, solveResults{}, binaryResults{}}} {
		items := paperItems(m)
		for _, p := range paper.All() {
			if len(items[p.Name]) < 10 {
				t.Errorf("%s: %d rows of %s", about, len(items[p.Name]), p.Name)
			}
			for _, i := range items[p.Name] {
				for _, cell := range []string{i.what, i.printed, i.ours, i.where, i.command} {
					if strings.TrimSpace(cell) == "" || strings.Contains(strings.ReplaceAll(cell, `\|`, ""), "|") {
						t.Errorf("%s, %s: a cell of %q is %q", about, p.Name, i.what, cell)
					}
				}
				named(t, i)
			}
		}
	}
}

var testCommand = regexp.MustCompile(`go test \./(\S+) -run (\w+)`)

// named looks for the test that a row's command runs, and for the first file that it names.
func named(t *testing.T, i paperRow) {
	if m := testCommand.FindStringSubmatch(i.command); m != nil {
		files, err := filepath.Glob(filepath.Join(root, m[1], "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, path := range files {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			found = found || strings.Contains(string(text), "func "+m[2])
		}
		if !found {
			t.Errorf("%q: %s names no test", i.what, i.command)
		}
	}
	path := strings.FieldsFunc(i.where, func(r rune) bool { return r == ',' || r == ' ' })[0]
	if path == "none" || strings.HasPrefix(path, "[") {
		return
	}
	if _, err := os.Stat(filepath.Join(root, path)); err != nil {
		t.Errorf("%q: %v", i.what, err)
	}
}

// A page of results that are not there says so, and is a page.
func TestPagesWithoutResults(t *testing.T) {
	for _, p := range paper.All() {
		files, err := paperPages(p.Name, t.TempDir())
		if err != nil || !strings.Contains(files[p.Name+".md"], "not measured here") {
			t.Errorf("%s: %v, %.200s", p.Name, err, files[p.Name+".md"])
		}
	}
	if _, err := paperPages("nothing", t.TempDir()); err == nil {
		t.Error("a page of no paper")
	}
}
