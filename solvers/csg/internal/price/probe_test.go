package price

import (
	"context"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"coalesce/solvers/csg/internal/draw"
)

func TestProbe(t *testing.T) {
	n := 16
	if s := os.Getenv("N"); s != "" {
		n, _ = strconv.Atoi(s)
	}
	seed := uint64(1)
	if s := os.Getenv("S"); s != "" {
		seed, _ = strconv.ParseUint(s, 10, 64)
	}
	names := draw.Distributions()
	if s := os.Getenv("D"); s != "" {
		names = strings.Split(s, ",")
	}
	for _, name := range names {
		inst, err := draw.Generate(name, n, seed)
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		told := func(v, b float64) {
			if os.Getenv("V") != "" {
				t.Logf("%6.1fms %.9g %.9g", time.Since(start).Seconds()*1e3, v, b)
			}
		}
		r, err := Solve(context.Background(), inst.F64, Settings{1 << 40, 1 << 24, 0, nil, told})
		if r == nil {
			r = &Result{}
		}
		t.Logf("%-20s %7.1f ms passes %d pivots %d steps %d survivors %d blocks %d err %v", name, time.Since(start).Seconds()*1e3, r.Passes, r.Pivots, r.Steps, r.Survivors, len(r.Blocks), err)
		if err == nil {
			start := time.Now()
			steps, err := Verify(context.Background(), inst.F64, r.Blocks, &r.Proof, Settings{1 << 40, 1 << 24, 0, nil, nil})
			t.Logf("   verify %.1f ms %d steps %v", time.Since(start).Seconds()*1e3, steps, err)
		}
	}
}
