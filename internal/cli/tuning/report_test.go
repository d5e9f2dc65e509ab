package tuning

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestReport(t *testing.T) {
	dir := t.TempDir()
	in, page, table, figures := filepath.Join(dir, "x.jsonl"), filepath.Join(dir, "x.html"), filepath.Join(dir, "x.csv"), filepath.Join(dir, "svg")
	run := func(args ...string) (string, error) {
		var out bytes.Buffer
		e := Env{Out: &out, Usage: fmt.Errorf}
		cmd := e.reportCommand()
		cmd.SetArgs(args)
		cmd.SetOut(&out)
		cmd.SetErr(&out)
		err := cmd.ExecuteContext(t.Context())
		return out.String(), err
	}
	line := `{"schema":"trial/1","family":"toy/k","variant":"a=%d","class":"host","fixed":{},"size":4,"action":"measure","status":"ok","hot":{"n":3,"med_ns":%d}}` + "\n"
	if err := os.WriteFile(in, fmt.Appendf(nil, line+line, 1, 20, 2, 10), 0o644); err != nil {
		t.Fatal(err)
	}
	said, err := run(in, "-o", page, "--csv", table, "--svg", figures)
	if want := page + ": 2 trials of 1 workload\n" + table + ": 2 trials\n" + figures + ": 2 figures\n"; err != nil || said != want {
		t.Errorf("%v, said %q, want %q", err, said, want)
	}
	if text, err := os.ReadFile(page); err != nil || !strings.Contains(string(text), "<code>a=2</code>") {
		t.Errorf("the page: %v\n%s", err, text)
	}
	if _, err := run(in); err == nil || !strings.Contains(err.Error(), "expected --output, --csv or --svg") {
		t.Errorf("nothing to write: %v", err)
	}
	if err := os.WriteFile(in, []byte("\n{}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := run(in, "-o", page); err == nil || !strings.Contains(err.Error(), "x.jsonl:2:") {
		t.Errorf("a broken file: %v", err)
	}
	if _, err := run(filepath.Join(dir, "none"), "-o", page); err == nil {
		t.Error("a file that is not there: no error")
	}
}
