package assignment

import (
	"testing"

	"coalesce/generated/assignment"
	"coalesce/runtime/emulated/emulatedtest"
)

func TestCoreLimits(t *testing.T) {
	d := emulatedtest.Open(t)
	for name, p := range shardCases(t, Int64, 8) {
		if p.limit == far {
			continue
		}
		want, err := reference(p, nil)
		if err != nil {
			t.Fatal(name, err)
		}
		total, err := prove(p, want)
		if err != nil {
			t.Fatal(name, err)
		}
		if err := coreAgrees(t, d, safeOf(&assignment.Core, Int64), p, nil, total); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
