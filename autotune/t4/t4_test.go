package t4

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"coalesce/autotune/trial"
	"coalesce/runtime/device"
)

var family = device.Family{Name: "toy/family", Params: []string{"x", "mode"}, Variants: []device.Variant{
	{Label: "x=1,mode=a", Values: []string{"1", "a"}}, {Label: "x=2,mode=a", Values: []string{"2", "a"}},
	{Label: "x=4,mode=b", Values: []string{"4", "b"}}, {Label: "x=8,mode=b", Values: []string{"8", "b"}},
}}

func record(label string, size int, status trial.Status, ms float64, n int) trial.Trial {
	t := trial.Trial{Family: family.Name, Class: "H200", Fixed: map[string]string{"value": "int32"}, Variant: label, Size: size, Action: trial.ActionMeasure,
		Status: status, Wall: 5e6, Time: time.Unix(1, 0)}
	if status == trial.OK {
		t.Cold = &trial.Sample{N: n, Median: int64(1e6 * ms), Min: int64(1e6 * ms)}
	}
	return t
}

// A file that Write made is read again: objectives, failures, and the variants that a search begins with.
func TestThereAndBack(t *testing.T) {
	files := FromTrials([]trial.Trial{
		record("x=1,mode=a", 20, trial.OK, 3.5, 5), record("x=1,mode=a", 20, trial.OK, 3, 20), record("x=2,mode=a", 20, trial.OK, 2, 5),
		record("x=4,mode=b", 20, trial.OK, 1, 5), record("x=4,mode=b", 20, trial.Verify, 0, 0), record("x=8,mode=b", 20, trial.Compile, 0, 0),
		record("x=1,mode=a", 24, trial.OK, 9, 5), {Action: trial.ActionDone, Family: family.Name},
		{Family: "other/family", Variant: "y=1", Action: trial.ActionMeasure, Status: trial.Memory},
	})
	if len(files) != 2 || len(files[0].Results) != 5 || files[1].Results[0].Invalidity != Runtime {
		t.Fatalf("%d files: %+v", len(files), files)
	}
	var text bytes.Buffer
	if err := files[0].Write(&text); err != nil {
		t.Fatal(err)
	}
	f, err := Read(&text)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i := range f.Results {
		r := &f.Results[i]
		line, err := json.Marshal([]any{r.Configuration, r.Time(), r.Cost(), r.Invalidity, r.Correctness})
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, string(line))
	}
	if want := []string{
		`[{"mode":"a","size":20,"x":1},3,10,"correct",1]`, `[{"mode":"a","size":20,"x":2},2,5,"correct",1]`,
		`[{"mode":"b","size":20,"x":4},0,10,"correctness",0]`, `[{"mode":"b","size":20,"x":8},0,5,"compile",1]`,
		`[{"mode":"a","size":24,"x":1},9,5,"correct",1]`,
	}; !slices.Equal(got, want) {
		t.Errorf("results\n%s\nexpected\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if got, want := f.Fastest(&family), []string{"x=2,mode=a", "x=1,mode=a", "x=1,mode=a"}; !slices.Equal(got, want) {
		t.Errorf("a search begins with %v, expected %v", got, want)
	}
	if got := f.Fastest(&device.Family{Params: []string{"x", "depth"}, Variants: family.Variants}); got != nil {
		t.Errorf("a space of other parameters begins with %v", got)
	}
}

// Written results have what the schema requires of each: configuration, times, invalidity, correctness.
func TestSchema(t *testing.T) {
	var text bytes.Buffer
	if err := FromTrials([]trial.Trial{record("x=1,mode=a", 20, trial.Timeout, 0, 0)})[0].Write(&text); err != nil {
		t.Fatal(err)
	}
	var f struct {
		Version string                       `json:"schema_version"`
		Results []map[string]json.RawMessage `json:"results"`
	}
	if err := json.Unmarshal(text.Bytes(), &f); err != nil || f.Version != "1.0.0" || len(f.Results) != 1 {
		t.Fatalf("%v: %s", err, &text)
	}
	for name, want := range map[string]string{"configuration": "{", "times": "{", "invalidity": `"timeout"`, "correctness": "1", "measurements": "[", "objectives": "["} {
		if !strings.HasPrefix(string(f.Results[0][name]), want) {
			t.Errorf("%s is %s, expected %s…", name, f.Results[0][name], want)
		}
	}
	for _, wrong := range []string{"", "{", `{"schema_version": "2.0.0"}`, `{}`} {
		if _, err := Read(strings.NewReader(wrong)); err == nil {
			t.Errorf("%q: no error", wrong)
		}
	}
}
