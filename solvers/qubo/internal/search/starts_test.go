package search

import (
	"cmp"
	"strings"
	"testing"
)

func TestStarts(t *testing.T) {
	for _, s := range []Starts{{}, {Samples: 1, Iterations: 2, Batch: 3, Flips: 4, Lambda: "0", Blend: "none"}, {Lambda: "printed"}, {Lambda: "0.999"}} {
		if err := s.Check("multistart"); err != nil {
			t.Errorf("%+v: %v", s, err)
		}
	}
	if err := (Starts{}).Check("bulk"); err != nil {
		t.Errorf("no parameters for bulk: %v", err)
	}
	for want, s := range map[string]Starts{
		"samples: found -1": {Samples: -1}, "batch: found 2097152": {Batch: 1 << 21}, "iterations: found": {Iterations: -2}, "max_flips: found -1": {Flips: -1},
		`lambda: found "1"`: {Lambda: "1"}, `lambda: found "-0.1"`: {Lambda: "-0.1"}, `lambda: found "NaN"`: {Lambda: "NaN"}, `lambda: found "half"`: {Lambda: "half"}, `blend: found "worst"`: {Blend: "worst"}, `ascend: found "both"`: {Ascend: "both"},
	} {
		if err := cmp.Or(s.Fields().Check(), s.Check("multistart")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, expected %s", s, err, want)
		}
	}
	if err := (Starts{Blend: "best"}).Check("host"); err == nil || !strings.Contains(err.Error(), "engine host has none") {
		t.Errorf("parameters for the host's engine: %v", err)
	}
	if lambda, printed, err := (Starts{Lambda: "0.25"}).ParseLambda(); err != nil || printed || *lambda != 0.25 {
		t.Errorf("λ 0.25: %v, %v, %v", lambda, printed, err)
	}
}
