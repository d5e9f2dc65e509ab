package qubo

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"coalesce/runtime/device"
	"coalesce/runtime/emulated/emulatedtest"
	"coalesce/solvers/qubo/internal/qubotest"
	"coalesce/solvers/qubo/problem"
	"coalesce/solvers/solve"
)

// A solve tells better and better values with bounds that hold, and its answer last.
func TestIncumbents(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 5))
	for k := range 12 {
		inst := qubotest.Instance(r, 30, []problem.Form{problem.QUBO, problem.Ising, problem.MaxCut}[k%3], k%2 == 0)
		var told []solve.Incumbent
		out := solved(t, inst, Options{Settings: solve.Settings{Progress: func(now solve.Incumbent) { told = append(told, now) }}, Work: 20000, Unreduced: k%4 == 0})
		if len(told) == 0 || told[len(told)-1].Value != solve.Number(out.Value.String()) || told[len(told)-1].Work != out.Work.Flips {
			t.Fatalf("%s: told %+v, the answer is %s", inst, told, out.Value)
		}
		for i, now := range told {
			sign := 1.0
			if inst.Sense == problem.Minimize {
				sign = -1
			}
			if i > 0 && (sign*now.Value.Float() < sign*told[i-1].Value.Float() || now.Work < told[i-1].Work) {
				t.Errorf("%s: told %+v after %+v", inst, now, told[i-1])
			}
			if now.Gap == nil || sign*now.Bound.Float() < sign*out.Value.Float() {
				t.Errorf("%s: told the bound %q, gap %v; the answer is %s", inst, now.Bound, now.Gap, out.Value)
			}
		}
	}
}

// A device that is lost during a search costs the rest of the search, and not the best
// until then.
func TestLostDevice(t *testing.T) {
	inst, err := Palubeckis(60, 100, 5)
	if err != nil {
		t.Fatal(err)
	}
	for _, algorithm := range []string{"bulk", "temper", "multistart"} {
		d := emulatedtest.NewLosing(emulatedtest.Open(t), math.MaxInt64)
		o := on(d, Options{Settings: solve.Settings{Algorithm: algorithm, TimeLimit: time.Minute}, Unreduced: true})
		o.Progress = func(now solve.Incumbent) {
			if now.Value.Float() > 0 {
				d.LoseDevice()
			}
		}
		r, err := Solve(t.Context(), inst, o)
		if !errors.Is(err, device.ErrLost) || r == nil {
			t.Fatalf("%s: found %v, %v, expected the best and that the device is lost", algorithm, r, err)
		}
		if r.Proven || r.Stopped || r.Value.Float() <= 0 || !strings.Contains(strings.Join(r.Notes, " "), "a device was lost") {
			t.Errorf("%s: found %s, proven %v, stopped %v, notes %q", algorithm, r.Value, r.Proven, r.Stopped, r.Notes)
		}
	}
}

// Work that goes on is left at the limit's end, and soon after the end of the context.
func TestLeft(t *testing.T) {
	for _, c := range []struct {
		name             string
		limit, end, work time.Duration // 0: no limit; the context's end; 0: the work does not end
		ended            bool
		takes            time.Duration
	}{
		{"ended", 0, time.Hour, time.Minute, true, time.Minute},
		{"limit", 10 * time.Second, time.Minute, 0, false, 10200 * time.Millisecond},
		{"context", time.Hour, 2 * time.Second, 0, false, 2500 * time.Millisecond},
		{"context, no limit", 0, 2 * time.Second, 0, false, 2500 * time.Millisecond},
		{"context, ends in time", 0, 2 * time.Second, 2100 * time.Millisecond, true, 2100 * time.Millisecond},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(c.end, cancel)
			defer cancel()
			began, onward := time.Now(), make(chan struct{})
			ctx, release := (&solve.Settings{TimeLimit: c.limit}).WithTimeLimit(ctx)
			defer release()
			l := limitsOf(ctx, began, 0)
			ended, err := l.await(func() error {
				if c.work > 0 {
					time.Sleep(c.work)
				} else {
					<-onward
				}
				return nil
			})
			if close(onward); ended != c.ended || err != nil || time.Since(began) != c.takes {
				t.Errorf("%s: ended %t, %v after %v, expected %t after %v", c.name, ended, err, time.Since(began), c.ended, c.takes)
			}
		})
	}
}
