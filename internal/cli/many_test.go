package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"coalesce/internal/cli/run"
	"coalesce/runtime/device"
	"coalesce/runtime/emulated"
)

// Every problem takes several files and answers in their order, a JSON object a line,
// which verify accepts. Small assignments of one type are solved in one launch, unless
// a flag asks for what a launch of several has not.
func TestManyFiles(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Setenv("COALESCE_NO_HANDOVER", "1")
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	var (
		square = file("square.csv", "7,3,9\n2,8,6\n5,1,4\n")
		wide   = file("wide.csv", "7,3,9\n2,8,6\n")
		tall   = file("tall.csv", "7.5,3\n2,8\n5,1.25\n")
		tenths = file("tenths.csv", "0.1,0.7,1e18\n0.3,0.2,1e17\n1e16,0.9,0.6\n")
		hall   = file("hall.csv", "1,inf\n2,inf\n")
		sparse = file("sparse.asn", "p asn 4 3\nn 1\nn 2\na 1 3 5\na 1 4 2\na 2 4 7\n")
		broken = file("broken.csv", "1,2\n3\n")
		three  = file("three.csv", "1,3\n2,4\n3,5\n1 2,9\n1 3,8\n2 3,9\n1 2 3,13\n")
		two    = file("two.json", `{"1": 1, "2": 1, "1,2": 3}`)
		bans   = file("bans.csv", "1,-inf\n2,3\n1 2,-inf\n")
		binary = file("binary.txt", "1\n2 2\n1 1 3\n1 2 -5\n")
		other  = file("other.txt", "1\n3 2\n1 2 3\n2 3 -5\n")
		few    = file("few.txt", "goods 2\nbids 2\ndummy 0\n0 10 0 1 #\n1 6.5 0 #\n")
	)
	devices := []string{device.Host, device.Emulated}
	if d, err := emulated.Open(emulated.Options{}); errors.Is(err, emulated.ErrNoCompiler) {
		devices = devices[:1]
	} else if err == nil {
		d.Close()
	}
	for _, c := range []struct {
		problem string
		files   []string
		flags   []string
		code    int
		fails   []string // files without an object
		batch   string   // in the reason of those that were solved together
	}{
		{problem: "csg", files: []string{three, two, bans, three}, code: run.ExitFailed},
		{problem: "csg", files: []string{two, broken, three}, code: run.ExitFailed, fails: []string{broken}},
		{problem: "auction", files: []string{few, "../../examples/auction.txt", few}},
		{problem: "qubo", files: []string{binary, broken, other}, code: run.ExitFailed, fails: []string{broken}},
		{problem: "assignment", files: []string{square, wide, square}, flags: []string{"--duals"}, batch: "batch"},
		{problem: "assignment", files: []string{square, tall, tenths, hall, broken, wide, sparse, tall}, flags: []string{"--duals"}, code: run.ExitFailed, fails: []string{broken}, batch: "batch"},
		{problem: "assignment", files: []string{square, wide}, flags: []string{"--duals", "--algorithm", "reference"}},
		{problem: "assignment", files: []string{square, wide}, flags: []string{"--duals", "--verify"}},
	} {
		for _, d := range devices {
			if d == device.Emulated && c.batch == "" {
				continue // nothing of its own
			}
			args := slices.Concat([]string{"solve", c.problem}, c.files, c.flags, []string{"--json", "--device", d})
			var out, talk bytes.Buffer
			if code := Main(args, nil, &out, &talk); code != c.code {
				t.Errorf("%v: exit code %d, expected %d: %s", args, code, c.code, talk.String())
			}
			expected := slices.DeleteFunc(slices.Clone(c.files), func(path string) bool { return slices.Contains(c.fails, path) })
			lines := strings.SplitAfter(out.String(), "\n")
			if len(lines) != len(expected)+1 {
				t.Errorf("%v: found %d lines, expected %d: %s", args, len(lines)-1, len(expected), out.String())
				continue
			}
			launched := 0
			for k, path := range expected {
				var x struct{ Instance, Algorithm, Reason string }
				if err := json.Unmarshal([]byte(lines[k]), &x); err != nil || x.Instance != path {
					t.Errorf("%v: line %d is of %s, expected %s: %v", args, k, x.Instance, path, err)
				}
				if x.Algorithm == "batch" || strings.Contains(x.Reason, "the method of a host, which needs no kernels") {
					launched++
				}
				var told, talk bytes.Buffer
				if code := Main([]string{"verify", "-", path}, strings.NewReader(lines[k]), &told, &talk); code != run.ExitOK {
					t.Errorf("verify %s: exit code %d: %s%s in %s", path, code, told.String(), talk.String(), lines[k])
				} else if c.problem == "assignment" && !strings.Contains(told.String(), "and is proven") {
					t.Errorf("verify %s: %s", path, told.String())
				}
			}
			if (launched >= 2) != (c.batch != "") {
				t.Errorf("%v: %d were solved together", args, launched)
			}
			for _, path := range c.fails {
				if !strings.Contains(talk.String(), "coalesce: "+path) {
					t.Errorf("%v: nothing is said of %s: %s", args, path, talk.String())
				}
			}
		}
	}
}

// Standard input among several files is read in its turn.
func TestManyFilesAndStandardInput(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Setenv("COALESCE_NO_HANDOVER", "1")
	var out, talk bytes.Buffer
	code := Main([]string{"solve", "assignment", "../../examples/tasks.csv", "-", "--device", "host"}, strings.NewReader("1,2\n2,5\n"), &out, &talk)
	if code != run.ExitOK || !strings.Contains(out.String(), "standard input (2 x 2, int32, minimised)") || strings.Index(out.String(), "total") > strings.Index(out.String(), "standard input") {
		t.Errorf("exit code %d, %s%s", code, out.String(), talk.String())
	}
}
