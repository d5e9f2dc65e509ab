package ranks

import (
	"bufio"
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"coalesce/runtime/collective"
	"coalesce/runtime/collective/collectivetest"
)

// TestJob solves files alone, into a folder: the largest first, what fails costs itself,
// and again only what is missing or older than its instance.
func TestJob(t *testing.T) {
	dir := t.TempDir()
	var paths []string
	for name, size := range map[string]int{"small": 1, "large": 300, "bad": 20} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, make([]byte, size), 0o666); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	folder := Folder(filepath.Join(dir, "out"))
	run := func(expected ...string) {
		t.Helper()
		var order, failed []string
		var talk bytes.Buffer
		j := Job{Folder: folder, Talk: &talk}
		err := j.Run(t.Context(), paths, func(path string) Outcome {
			name := filepath.Base(path)
			order = append(order, name)
			if name == "bad" {
				return Outcome{Code: 3, Talk: "coalesce: bad: so it is\n"}
			}
			return Outcome{Text: []byte(name + "\n")}
		}, func(path string, code int) {
			if failed = append(failed, filepath.Base(path)); code != 3 {
				t.Errorf("exit code %d", code)
			}
		})
		if err != nil || !slices.Equal(order, expected) || !slices.Equal(failed, []string{"bad"}) || !strings.Contains(talk.String(), "bad: so it is") {
			t.Errorf("solved %v, expected %v; failed %v, %v, %s", order, expected, failed, err, talk.String())
		}
	}
	run("large", "bad", "small")
	run("bad")
	text, err := os.ReadFile(filepath.Join(string(folder), "large.json"))
	if err != nil || string(text) != "large\n" {
		t.Errorf("%q, %v", text, err)
	}
	later := time.Now().Add(time.Minute)
	if err := os.Chtimes(filepath.Join(dir, "small"), later, later); err != nil {
		t.Fatal(err)
	}
	run("bad", "small")

	if err := folder.Open([]string{"a/x", "b/x"}); err == nil || !strings.Contains(err.Error(), "found a/x and b/x") {
		t.Errorf("two instances of a name: %v", err)
	}
	var out bytes.Buffer
	j := Job{Out: bufio.NewWriter(&out), Talk: &out}
	if err := j.Run(t.Context(), []string{"x", "y"}, func(path string) Outcome { return Outcome{Text: []byte(path + "\n")} }, nil); err != nil || out.String() != "x\n\ny\n" {
		t.Errorf("%q, %v", out.String(), err)
	}
}

// TestSame names the rank that differs.
func TestSame(t *testing.T) {
	for k, sums := range [][]uint32{{7, 7, 7}, {7, 7, 8}} {
		ranks := collectivetest.Ranks(3)
		err := collective.OnAll(3, func(r int) error { return CheckSame(ranks[r], "another file", sums[r]) })
		if k == 0 && err != nil || k == 1 && (err == nil || strings.Count(err.Error(), "rank 2 has another file than rank 0") != 3) {
			t.Errorf("%v: %v", sums, err)
		}
	}
}

func TestOnline(t *testing.T) {
	for list, want := range map[string]int{"0": 1, "0-3": 4, "0-3,8": 5, "0,2-3": 3} {
		if got := countCores(list); got != want {
			t.Errorf("%s: %d cores, want %d", list, got, want)
		}
	}
}

// Some ranks are bound by a launcher to fewer cores than their part, some share a container's cores, and
// some have a container each, on one host or several. All are distinguished.
func TestBound(t *testing.T) {
	for _, c := range []struct {
		ranks []cores
		bound bool
	}{
		{[]cores{{1, 32, 7, 5}, {1, 32, 8, 5}}, true},
		{[]cores{{1, 32, 7, 5}, {1, 32, 7, 5}}, false},
		{[]cores{{1, 2, 7, 5}, {1, 2, 8, 5}}, false},
		{[]cores{{16, 32, 7, 5}, {16, 32, 8, 5}}, false},
		{[]cores{{8, 32, 7, 5}, {8, 32, 8, 5}}, true},
		{[]cores{{32, 32, 7, 5}, {32, 32, 7, 5}}, false},
		{[]cores{{4, 64, 7, 5}, {4, 64, 8, 6}}, false},
		{[]cores{{4, 64, 7, 5}, {4, 64, 9, 6}, {4, 64, 8, 5}, {4, 64, 7, 6}}, true},
		{[]cores{{32, 64, 7, 5}, {32, 64, 9, 6}, {32, 64, 8, 5}, {32, 64, 7, 6}}, false},
	} {
		if got := boundToCores(c.ranks); got != c.bound {
			t.Errorf("%v: bound %t, expected %t", c.ranks, got, c.bound)
		}
	}
}
