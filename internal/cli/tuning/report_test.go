package tuning

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"coalesce/autotune"
	"coalesce/autotune/subject"
	"coalesce/runtime/device"
)

// named is the subject of a family, and nothing else.
type named struct {
	subject.Subject
	family *device.Family
}

func (n named) Family() *device.Family { return n.family }

func TestReport(t *testing.T) {
	dir := t.TempDir()
	in, page, table, figures, exchange := filepath.Join(dir, "x.jsonl"), filepath.Join(dir, "x.html"), filepath.Join(dir, "x.csv"), filepath.Join(dir, "svg"), filepath.Join(dir, "x.json")
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
	line := `{"schema":"trial/1","family":"toy/k","variant":"a=%d","class":"host","fixed":{},"size":4,"action":"measure","status":"ok","hot":{"n":3,"med_ns":%d},"ceiling":{"bytes":63,"bandwidth":1e10}}` + "\n"
	if err := os.WriteFile(in, fmt.Appendf(nil, line+line, 1, 20, 2, 10), 0o644); err != nil {
		t.Fatal(err)
	}
	said, err := run(in, "-o", page, "--csv", table, "--svg", figures, "--t4", exchange)
	if want := page + ": 2 trials of 1 workload\n" + table + ": 2 trials\n" + figures + ": 2 figures\n" + exchange + ": 2 results of toy/k on host, workload {}\n"; err != nil || said != want {
		t.Errorf("%v, said %q, want %q", err, said, want)
	}
	if text, err := os.ReadFile(page); err != nil || !strings.Contains(string(text), "<code>a=2</code>") {
		t.Errorf("the page: %v\n%s", err, text)
	}
	fit, other := &device.Family{Name: "toy/k", Params: []string{"a"}, Variants: []device.Variant{{Label: "a=2", Values: []string{"2"}}}}, &device.Family{Params: []string{"b"}}
	if f, err := ReadT4(exchange, []autotune.Task{{Subject: named{family: other}}, {Subject: named{family: fit}}}); err != nil || !slices.Equal(f.Fastest(fit), []string{"a=2"}) {
		t.Errorf("tuning begins with %+v, %v", f, err)
	}
	if _, err := ReadT4(exchange, []autotune.Task{{Subject: named{family: other}}}); err == nil || !strings.Contains(err.Error(), "no valid result") {
		t.Errorf("results of another space: %v", err)
	}
	if f, err := ReadT4("", nil); f != nil || err != nil {
		t.Errorf("no file: %+v, %v", f, err)
	}
	want := `toy/k on host, workload all
size     time  vs safe  measured  ceiling            variant
   4  0.01 µs        -         2  63 % of bandwidth  a=2

`
	if said, err := run(in); err != nil || said != want {
		t.Errorf("%v, printed %q, expected %q", err, said, want)
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
