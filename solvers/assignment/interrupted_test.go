package assignment

import (
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"coalesce/runtime/emulated/emulatedtest"
	"coalesce/runtime/host"
	"coalesce/solvers/assignment/internal/engine"
	"coalesce/solvers/assignment/problem"
	"coalesce/solvers/solve"
)

// A context that ends after a number of looks at it, so that a solve ends amid its work.
type looks struct {
	context.Context
	left int
}

func (c *looks) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

// Whatever step the end comes at, a solve has an answer: a full matching, not proven,
// with a bound that the optimum does not beat, and a value no better than the optimum.
func TestInterrupted(t *testing.T) {
	d := host.Open(1)
	r := rand.New(rand.NewPCG(7, 8))
	for _, c := range []struct {
		rows, cols int
		maximize   bool
		float      bool
	}{{60, 60, false, false}, {60, 60, true, false}, {40, 90, false, false}, {90, 40, true, false}, {50, 50, false, true}, {50, 60, true, true}, {1, 1, false, false}} {
		whole, real := make([]int64, c.rows*c.cols), make([]float64, c.rows*c.cols)
		for k := range whole {
			whole[k], real[k] = r.Int64N(2000)-1000, r.NormFloat64()
		}
		inst, err := problem.NewInstance(c.rows, c.cols, whole, "test")
		if c.float {
			inst, err = problem.NewInstance(c.rows, c.cols, real, "test")
		}
		if err != nil {
			t.Fatal(err)
		}
		inst.Maximize = c.maximize
		best := solved(t, inst, on(Options{}, d))
		for _, method := range []string{"host", "sequential-tree", "sequential-classical", "reference"} {
			for _, end := range []int{0, 1, 2, 5, 60} {
				s, err := loaded(inst, on(Options{Settings: solve.Settings{Algorithm: method}}, d))
				if err != nil {
					t.Fatal(err)
				}
				ctx := &looks{t.Context(), end}
				got := newResult(inst)
				sol, err := s.job.solve(ctx, nil)
				if err == nil {
					_, err = got.setSolution(inst, s.p, sol)
					got.Report.SetBound(got.Value)
				} else {
					var answer string
					answer, err = got.setInterrupted(inst, s.p, sol, nil)
					solve.MarkStopped(solve.Cause(ctx), &got.Stopped, &got.Notes, answer)
				}
				if err != nil {
					t.Fatalf("%+v, %s, ended at look %d: %v", c, method, end, err)
				}
				if err := holds(got, best); err != nil {
					t.Errorf("%+v, %s, ended at look %d: %v", c, method, end, err)
				}
				if end == 0 && c.rows > 1 && (got.Proven || !got.Stopped || got.Bound == "") {
					t.Errorf("%+v, %s, ended at once: found proven %t, interrupted %t, the bound %q", c, method, got.Proven, got.Stopped, got.Bound)
				}
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

// holds checks an answer against the optimum.
func holds(got, best *Result) error {
	report := got.Report
	if err := report.CheckClaims(); err != nil {
		return err
	}
	if got.Matched != min(got.Rows, got.Cols) {
		return fmt.Errorf("found %d pairs, expected %d", got.Matched, min(got.Rows, got.Cols))
	}
	value, _ := report.Value.Rat()
	bound, ok := report.Bound.Rat()
	optimum, _ := best.Report.Value.Rat()
	if !ok || outside(optimum, value, bound, got.Maximize) {
		return fmt.Errorf("found the value %s and the bound %s, the optimum is %s", report.Value, report.Bound, best.Value.String())
	}
	_, err := json.Marshal(got)
	return err
}

// outside reports whether the optimum is worse than a value or better than a bound.
func outside(optimum, value, bound *big.Rat, maximize bool) bool {
	if maximize {
		value, bound = bound, value
	}
	return optimum.Cmp(value) > 0 || optimum.Cmp(bound) < 0
}

// The time limit ends a solve as well, and that is no interruption.
func TestTimeLimit(t *testing.T) {
	d := host.Open(1)
	inst, err := Draw(Drawing{Kind: "spatial", Rows: 3000, Cols: 3000, Type: problem.Float64, Range: 1000, Seed: 5})
	if err != nil {
		t.Fatal(err)
	}
	s, err := loaded(inst, on(Options{Settings: solve.Settings{TimeLimit: 50 * time.Millisecond}}, d))
	if err != nil {
		t.Fatal(err)
	}
	clock := time.Now()
	got, err := s.SolveAgain(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got.Proven || !got.Stopped || got.Matched != 3000 || len(got.Notes) == 0 || !strings.Contains(got.Notes[len(got.Notes)-1], "time limit") {
		t.Errorf("found proven %t, interrupted %t, %d pairs, notes %q", got.Proven, got.Stopped, got.Matched, got.Notes)
	}
	if took := time.Since(clock); took > 5*time.Second {
		t.Errorf("the solve took %v", took)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// Rows that find their columns taken move others; what has no full matching has no answer.
func TestCompletion(t *testing.T) {
	no := problem.Forbidden[int64](false)
	for _, c := range []struct {
		costs []int64
		want  bool
	}{
		{[]int64{1, 2, 3, 1, no, no, 9, 1, no}, true},   // row 1 may have column 0 alone, row 2 columns 0 and 1
		{[]int64{1, no, no, 1, no, no, 9, 1, 4}, false}, // rows 0 and 1 may have column 0 alone
	} {
		inst, err := problem.NewInstance(3, 3, c.costs, "test")
		if err != nil {
			t.Fatal(err)
		}
		p, err := problem.Normalise(inst)
		if err != nil {
			t.Fatal(err)
		}
		r := newResult(inst)
		answer, err := r.setInterrupted(inst, p, nil, nil)
		found := answer != ""
		if err != nil || found != c.want || found && r.Matched != 3 {
			t.Errorf("%v: found %t, %d pairs, %v, expected %t", c.costs, found, r.Matched, err, c.want)
		}
	}
	// A partial matching stays where it is.
	inst, err := problem.NewInstance(2, 2, []int64{1, 100, 1, 1}, "test")
	if err != nil {
		t.Fatal(err)
	}
	p, err := problem.Normalise(inst)
	if err != nil {
		t.Fatal(err)
	}
	r := newResult(inst)
	part := &engine.Solution{Column: []int32{1, -1}, Prices: problem.Prices{V: []int64{0, 0}}}
	if found, err := r.setInterrupted(inst, p, part, nil); found == "" || err != nil || r.Value.String() != "101" || r.Bound != "2" {
		t.Errorf("found %q, %v, the value %s and the bound %s, expected 101 and 2", found, err, r.Value.String(), r.Bound)
	}
}

// A solve that ends before it began has a greedy matching with its bound.
func TestEndedBeforeItBegan(t *testing.T) {
	inst, err := problem.NewInstance(2, 3, []int32{4, 1, 9, 2, 1, 9}, "test")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	got, err := Solve(ctx, inst, on(Options{}, emulatedtest.Open(t)))
	if err != nil || got.Value.String() != "3" || got.Bound != "2" || got.Proven || !got.Stopped || got.Variant != "assignment/greedy" {
		t.Errorf("found %+v, %v, expected the value 3 and the bound 2, not proven", got, err)
	}
}

// Many instances end like one: those that are not solved yet have matchings that are not proven.
func TestBatchEnded(t *testing.T) {
	d := host.Open(1)
	defer d.Close()
	var list []*problem.Instance
	for k := range 40 {
		inst, err := Generate("machol", 60, 60+k%3, 0, uint64(k), problem.Int32)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, inst)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		ctx   context.Context
		limit time.Duration
	}{{ended, 0}, {t.Context(), 1}, {t.Context(), 2 * time.Millisecond}, {t.Context(), 0}} {
		results, err := SolveBatch(c.ctx, list, on(Options{Settings: solve.Settings{TimeLimit: c.limit}}, d))
		if err != nil || len(results) != len(list) {
			t.Fatalf("limit %v: found %d results, %v", c.limit, len(results), err)
		}
		for k, r := range results {
			if whole := c.ctx != ended && c.limit == 0; r.Matched != 60 || r.Proven == r.Stopped || r.Stopped && whole || r.Proven && (c.ctx == ended || c.limit == 1) {
				t.Errorf("limit %v, instance %d: found %d pairs, proven %t, stopped %t", c.limit, k, r.Matched, r.Proven, r.Stopped)
			}
		}
	}
}
