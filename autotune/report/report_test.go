package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"coalesce/autotune"
	"coalesce/autotune/trial"
)

func summary() *autotune.Summary {
	int32s := map[string]string{"value": "int32"}
	return &autotune.Summary{
		Family: "csg/splits", Device: "NVIDIA X", Stopped: "budget", Elapsed: 61234 * time.Millisecond,
		Points: 12, Infeasible: 2, Tried: 10, Wrong: 1, Drift: 0.031,
		Counts: map[trial.Status]int{trial.Verify: 1, trial.OK: 40},
		Winners: []autotune.Winner{
			{Fixed: int32s, Size: 24, Variant: "lambda=4,block=256", Why: "fastest", Time: 812345, Noise: 0.002, SafeTime: 1624690, Speedup: 2, Rate: 3.456e11, Share: 0.634, Ceiling: "int32", Complete: true, Measured: 9},
			{Fixed: int32s, Size: 26, Variant: "lambda=2,block=128", Why: "fastest", Time: 1812345678, Measured: 2},
		},
		Failures:  []autotune.Failure{{Fixed: int32s, Size: 24, Variant: "lambda=8,block=64", Status: trial.Verify, Error: "case ties:\n total 5, expected 6"}},
		Undecided: []autotune.Key{{Fixed: int32s, Size: 18}, {Fixed: map[string]string{"method": "idp", "value": "int64"}, Size: 24}, {Fixed: int32s, Size: 20}},
		Missing:   12400 * time.Millisecond,
		Noisy:     []autotune.Key{{Fixed: int32s, Size: 22}},
	}
}

const want = `csg/splits on NVIDIA X: budget after 1m1.2s
12 variants, 2 not feasible, 10 tried; trials: ok 40, verify 1
warning: the safe point's time changed by up to 3 % while screening; the device was not at rest

fixed        size  winner              time      ±     vs safe  rate        ceiling        of  why
value=int32  24    lambda=4,block=256  812.3 µs  0.2%  2.00×    3.46e+11/s  63 % of int32  9   fastest
value=int32  26    lambda=2,block=128  1.812 s   0.0%  -        -           -              2   fastest (not complete)

sizes not decided, as samples scatter, or other processes computed, by more than --noise allows: 1; value=int32 22

sizes not decided for lack of time: 3, which take about 12s; value=int32 18 20; method=idp,value=int64 24

failed  size  variant            reason
verify  24    lambda=8,block=64  case ties: total 5, expected 6
`

func TestText(t *testing.T) {
	var b bytes.Buffer
	if err := WriteText(&b, summary()); err != nil {
		t.Fatal(err)
	}
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", &b, want)
	}
	b.Reset()
	if err := WriteText(&b, &autotune.Summary{}); err != nil || !strings.Contains(b.String(), "no winner") {
		t.Errorf("empty summary: %v\n%s", err, &b)
	}
	b.Reset()
	if err := WriteText(&b, &autotune.Summary{Tried: 2, Counts: map[trial.Status]int{trial.Compile: 2}}); err != nil || !strings.Contains(b.String(), "no winner: no variant ran") {
		t.Errorf("nothing compiled: %v\n%s", err, &b)
	}
	b.Reset()
	if err := WriteText(&b, &autotune.Summary{Noisy: summary().Noisy}); err != nil || strings.Contains(b.String(), "too little was measured") {
		t.Errorf("scattered samples alone: %v\n%s", err, &b)
	}
}

func TestJSON(t *testing.T) {
	var b bytes.Buffer
	if err := JSON(&b, summary()); err != nil {
		t.Fatal(err)
	}
	var back autotune.Summary
	if err := json.Unmarshal(b.Bytes(), &back); err != nil || len(back.Winners) != 2 || back.Winners[0].Speedup != 2 {
		t.Errorf("%v\n%s", err, &b)
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

func TestWriteErrors(t *testing.T) {
	if WriteText(full{}, summary()) == nil || JSON(full{}, summary()) == nil {
		t.Error("a write error was lost")
	}
}
