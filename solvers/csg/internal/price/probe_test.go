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
	names := draw.Distributions()
	if s := os.Getenv("D"); s != "" {
		names = strings.Split(s, ",")
	}
	for _, name := range names {
		inst, err := draw.Generate(name, n, 1)
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		log := func(f string, a ...any) {
			if os.Getenv("V") != "" {
				t.Logf("%6.1fms "+f, append([]any{time.Since(start).Seconds() * 1e3}, a...)...)
			}
		}
		r, err := Solve(context.Background(), inst.F64, n, log)
		if r == nil {
			r = &Result{}
		}
		t.Logf("%-20s %7.1f ms passes %d pivots %d steps %d blocks %d err %v", name, time.Since(start).Seconds()*1e3, r.Passes, r.Pivots, r.Steps, len(r.Blocks), err)
	}
}
