package assignment

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"coalesce/runtime/collective"
	"coalesce/runtime/collective/collectivetest"
	"coalesce/runtime/device"
	"coalesce/runtime/emulated/emulatedtest"
	"coalesce/runtime/host"
	"coalesce/solvers/assignment/internal/coreprice"
	"coalesce/solvers/assignment/problem"
	"coalesce/solvers/solve"
)

// loaded opens a session and loads an instance.
func loaded(inst *problem.Instance, o Options) (*Session, error) {
	s, err := Open(o)
	if err == nil {
		err = s.Load(context.Background(), inst)
	}
	return s, err
}

// onRanks has each rank, with a device of its own, solve what give says; what one returns
// with an error ends all.
func onRanks(t *testing.T, devices []device.Device, o Options, give func(r collective.Ranks) (*problem.Instance, error), open func(*Session)) ([]collective.Ranks, []*Result, error) {
	t.Helper()
	ranks, results := collectivetest.Ranks(len(devices)), make([]*Result, len(devices))
	err := collective.OnAll(len(devices), func(k int) (err error) {
		own := o
		own.Devices, own.Ranks = devices[k:k+1], ranks[k]
		inst, err := give(ranks[k])
		if err == nil {
			var s *Session
			if s, err = loaded(inst, own); err == nil {
				if open != nil {
					open(s)
				}
				results[k], err = s.SolveAgain(context.Background())
				err = errors.Join(err, s.Close())
			}
		}
		if err != nil && !errors.Is(err, solve.ErrInfeasible) {
			ranks[k].(interface{ FailAll() }).FailAll()
		}
		return err
	})
	return ranks, results, err
}

// agreeOnRanks compares with the host: value, proof, certificate and duals.
func agreeOnRanks(t *testing.T, name string, whole *problem.Instance, results []*Result) {
	t.Helper()
	want, err := Solve(context.Background(), whole, on(Options{}, host.Open(1)))
	if err != nil {
		t.Fatal(name, err)
	}
	for k, r := range results {
		if r.Value.String() != want.Value.String() || !r.Proven || r.Matched != want.Matched || !slices.Equal(r.Column, results[0].Column) {
			t.Errorf("%s: rank %d finds %s of %d pairs by %s, proven %t; expected %s of %d", name, k, r.Value.String(), r.Matched, r.Variant, r.Proven, want.Value.String(), want.Matched)
			continue
		}
		cert, err := problem.Check(whole, r.Column, *r.Duals)
		if err != nil || cert.Primal != r.Certificate.Primal || cert.Pairs != r.Certificate.Pairs {
			t.Errorf("%s: rank %d: %v: the host certifies %+v, ranks %+v", name, k, err, cert, r.Certificate)
		}
		for i, j := range r.Column {
			if j >= 0 && r.Cost(i) != want.inst.CostDecimals(i, int(j)) {
				t.Errorf("%s: rank %d: row %d costs %s, expected %s", name, k, i, r.Cost(i), want.inst.CostDecimals(i, int(j)))
			}
		}
	}
}

func TestRanks(t *testing.T) {
	devices := emulatedtest.OpenSeveral(t, 3)
	limit := 40.0
	for name, c := range map[string]struct {
		Drawing
		change    func(*problem.Instance)
		algorithm string
		ranks     int
	}{
		"square":                 {Drawing{Kind: "uniform", Rows: 40, Cols: 40, Type: problem.Int32, Range: 1000}, nil, "", 2},
		"three ranks, classical": {Drawing{Kind: "uniform", Rows: 31, Cols: 31, Type: problem.Int64, Range: 500}, nil, "classical", 3},
		"ties":                   {Drawing{Kind: "binary", Rows: 33, Cols: 33, Type: problem.Int32}, nil, "", 2},
		"more columns":           {Drawing{Kind: "integer", Rows: 20, Cols: 33, Type: problem.Int64, Range: 100}, nil, "", 3},
		"more rows":              {Drawing{Kind: "integer", Rows: 33, Cols: 20, Type: problem.Int32, Range: 100}, nil, "", 2},
		"floats, classical":      {Drawing{Kind: "signed", Rows: 24, Cols: 30, Type: problem.Float32}, nil, "classical", 2},
		"floats, square":         {Drawing{Kind: "signed", Rows: 25, Cols: 25, Type: problem.Float64}, nil, "", 2},
		"maximise":               {Drawing{Kind: "uniform", Rows: 30, Cols: 30, Type: problem.Float64}, func(inst *problem.Instance) { inst.Maximize = true }, "", 3},
		"limit":                  {Drawing{Kind: "uniform", Rows: 30, Cols: 30, Type: problem.Int32, Range: 1000}, func(inst *problem.Instance) { inst.Limit = &limit }, "", 2},
		"points":                 {Drawing{Kind: "geom", Rows: 30, Cols: 34, Type: problem.Int32, Range: 1000, Points: true}, nil, "", 2},
		"more rows of points":    {Drawing{Kind: "geom", Rows: 34, Cols: 30, Type: problem.Float64, Range: 1, Points: true}, nil, "", 2},
		"fewer rows than ranks":  {Drawing{Kind: "uniform", Rows: 2, Cols: 5, Type: problem.Int32, Range: 9}, nil, "", 3},
		"no rows":                {Drawing{Kind: "uniform", Rows: 0, Cols: 5, Type: problem.Int32, Range: 9}, nil, "", 2},
		"one pair":               {Drawing{Kind: "uniform", Rows: 1, Cols: 1, Type: problem.Int32, Range: 9}, nil, "", 2},
	} {
		c.Seed = 1 << 40
		whole, err := Draw(c.Drawing)
		if err != nil {
			t.Fatal(name, err)
		}
		if c.change != nil {
			c.change(whole)
		}
		o := Options{Duals: true}
		o.Algorithm = c.algorithm
		_, results, err := onRanks(t, devices[:c.ranks], o, func(collective.Ranks) (*problem.Instance, error) { return whole, nil }, nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		agreeOnRanks(t, name, whole, results)
	}
}

// Bytes that ranks hand to others while core runs, against what docs/notes/cluster.md predicts:
// the least costs of the columns, each rank's cheapest pairs, each round rank 0's duals and
// matching, and the pairs that are found with their rows.
func TestBytesSent(t *testing.T) {
	t.Parallel()
	const n = 100
	for ranks := 2; ranks <= 3; ranks++ {
		whole, err := Generate("lowrank", n, n, 0, 1<<40, problem.Float64)
		if err != nil {
			t.Fatal(err)
		}
		o := Options{Duals: true}
		o.Algorithm = "core"
		_, results, err := onRanks(t, emulatedtest.OpenSeveral(t, ranks), o, func(collective.Ranks) (*problem.Instance, error) { return whole, nil }, nil)
		if err != nil {
			t.Fatal(err)
		}
		agreeOnRanks(t, "bytes", whole, results)
		c := results[0].Counts
		rounds, sent := c.Repairs+1, int64(0)
		for _, r := range results {
			sent += r.Counts.Sent
		}
		grown := int64(c.Passes) - 2 - rounds
		predicted := int64(8*n*ranks) + 12*c.Edges + rounds*(256+20*n) + grown*8*n + c.Repairs*12*n
		if math.Abs(float64(sent-predicted)) > 0.02*float64(predicted) {
			t.Errorf("%d ranks have sent %d bytes, predicted are %d: %d edges, %d rounds", ranks, sent, predicted, c.Edges, rounds)
		}
		if c.Repairs == 0 || c.Edges <= 16*n {
			t.Errorf("%d ranks: %d repairs and %d edges, expected some that pricing finds", ranks, c.Repairs, c.Edges)
		}
	}
}

// Each rank may draw its rows alone.
func TestRanksOwnRows(t *testing.T) {
	d := Drawing{Kind: "lowrank", Rows: 29, Cols: 31, Seed: 3 << 40, Type: problem.Float64, Permuted: true}
	whole, err := Draw(d)
	if err != nil {
		t.Fatal(err)
	}
	_, results, err := onRanks(t, emulatedtest.OpenSeveral(t, 2), Options{Duals: true, Rows: d.Rows}, func(r collective.Ranks) (*problem.Instance, error) {
		low, high := OwnRows(d.Rows, r)
		return DrawRows(d, low, high)
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	agreeOnRanks(t, "own rows", whole, results)
}

// A rank never looks at the rows of others: damage there goes unseen.
func TestRanksReadTheirRowsAlone(t *testing.T) {
	whole, err := Generate("uniform", 24, 24, 1000, 1<<40, problem.Float64)
	if err != nil {
		t.Fatal(err)
	}
	_, results, err := onRanks(t, emulatedtest.OpenSeveral(t, 2), Options{Duals: true}, func(r collective.Ranks) (*problem.Instance, error) {
		own := *whole
		own.F64 = slices.Repeat([]float64{math.NaN()}, len(whole.F64))
		low, high := OwnRows(24, r)
		copy(own.F64[24*low:24*high], whole.F64[24*low:])
		return &own, nil
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	agreeOnRanks(t, "others' rows damaged", whole, results)
}

func TestRanksInfeasible(t *testing.T) {
	devices := emulatedtest.OpenSeveral(t, 2)
	for _, algorithm := range []string{"core", "classical"} {
		for _, transposed := range []bool{false, true} {
			inst, err := Generate("uniform", 20, 24, 1000, 1<<40, problem.Int32)
			if err != nil {
				t.Fatal(err)
			}
			for _, i := range []int{3, 11, 17} { // three rows, of both ranks, that want two columns
				for j := range 24 {
					if j != 5 && j != 20 {
						inst.Forbid(i*24 + j)
					}
				}
			}
			if transposed {
				inst = inst.Transpose()
			}
			o := Options{}
			o.Algorithm = algorithm
			_, results, err := onRanks(t, devices, o, func(collective.Ranks) (*problem.Instance, error) { return inst, nil }, nil)
			var none *problem.InfeasibleError
			if !errors.As(err, &none) {
				t.Errorf("%s: %v, expected a proof", algorithm, err)
				continue
			}
			for k, r := range results {
				if r == nil || !r.Proven || r.Certificate.Hall == nil {
					t.Errorf("%s: rank %d has no proof", algorithm, k)
					continue
				}
				members := make([]int32, len(r.Certificate.Hall.Members))
				for k, m := range r.Certificate.Hall.Members {
					members[k] = int32(m)
				}
				if _, err := problem.CheckHall(inst, members); err != nil {
					t.Errorf("%s: rank %d: %v", algorithm, k, err)
				}
			}
		}
	}
}

// Where core gives up, all ranks go on with the classical variant; under a limit, which that does
// not take, rank 0 goes on with the costs of all.
func TestRanksSuccessor(t *testing.T) {
	limit := 30.0
	giveUp := func(s *Session) { s.job.spread.engine.(*coreprice.CoreShards).Schedule.Rounds = 0 }
	for _, c := range []struct {
		Drawing
		change func(*problem.Instance)
		want   string
	}{
		{Drawing{Kind: "uniform", Rows: 30, Cols: 30, Type: problem.Int32, Range: 100}, func(*problem.Instance) {}, "assignment/classical"},
		{Drawing{Kind: "uniform", Rows: 31, Cols: 30, Type: problem.Int32, Range: 100}, func(inst *problem.Instance) { inst.Limit = &limit }, "host on rank 0"},
		{Drawing{Kind: "uniform", Rows: 30, Cols: 35, Type: problem.Float64}, func(inst *problem.Instance) { inst.Limit, inst.Maximize = new(float64), true }, "host on rank 0"},
	} {
		whole, err := Draw(c.Drawing)
		if err != nil {
			t.Fatal(err)
		}
		c.change(whole)
		_, results, err := onRanks(t, emulatedtest.OpenSeveral(t, 2), Options{Duals: true}, func(collective.Ranks) (*problem.Instance, error) { return whole, nil }, giveUp)
		if err != nil {
			t.Fatal(err)
		}
		agreeOnRanks(t, "successor", whole, results)
		if next := results[0].Counts.Switch; !strings.HasPrefix(next, c.want) {
			t.Errorf("went on by %q, expected %s", next, c.want)
		}
	}
}

// What a rank cannot solve with ends all, and names the row of the whole instance.
func TestRanksRefuse(t *testing.T) {
	devices := emulatedtest.OpenSeveral(t, 2)
	bad, err := Generate("uniform", 20, 20, 0, 1<<40, problem.Float64)
	if err != nil {
		t.Fatal(err)
	}
	bad.F64[15*20+7] = math.NaN()
	sparse, err := Draw(Drawing{Kind: "uniform", Rows: 9, Cols: 9, Seed: 1, Type: problem.Int32, Density: 0.5})
	if err != nil {
		t.Fatal(err)
	}
	warm := Options{Settings: solve.Settings{Start: &problem.Duals{U: make([]int64, 20), V: make([]int64, 20), Scale: 1}}}
	for _, c := range []struct {
		inst *problem.Instance
		o    Options
		want string
	}{
		{bad, Options{}, "cost of row 15, column 7 (from 0): found NaN"},
		{bad.Transpose(), Options{}, "cost of row 7, column 15 (from 0): found NaN"},
		{sparse, Options{}, "dense costs and points only"},
		{bad, warm, "no duals to begin from"},
		{bad, Options{Rows: 50}, "20 rows of 50 x 20"},
	} {
		_, _, err := onRanks(t, devices, c.o, func(collective.Ranks) (*problem.Instance, error) { return c.inst, nil }, nil)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("found %v, expected %q", err, c.want)
		}
	}
}

// The end of one rank's context ends all, with the same matching: not proven, no better than the
// best, and no better than its bound.
func TestRanksEnd(t *testing.T) {
	t.Parallel()
	limit := 300.0
	for _, c := range []struct {
		Drawing
		algorithm string
		change    func(*problem.Instance)
	}{
		{Drawing{Kind: "uniform", Rows: 40, Cols: 40, Type: problem.Int32, Range: 1000}, "core", nil},
		{Drawing{Kind: "uniform", Rows: 40, Cols: 47, Type: problem.Int64, Range: 1000}, "classical", nil},
		{Drawing{Kind: "signed", Rows: 33, Cols: 20, Type: problem.Float64}, "core", func(inst *problem.Instance) { inst.Maximize = true }},
		{Drawing{Kind: "uniform", Rows: 20, Cols: 25, Type: problem.Int32, Range: 1000}, "core", func(inst *problem.Instance) { inst.Limit = &limit }},
		{Drawing{Kind: "uniform", Rows: 1, Cols: 2, Type: problem.Int32, Range: 1000}, "core", nil}, // rank 0 has no row
	} {
		whole, err := Draw(c.Drawing)
		if err != nil {
			t.Fatal(err)
		}
		if c.change != nil {
			c.change(whole)
		}
		best, err := Solve(context.Background(), whole, on(Options{}, host.Open(1)))
		if err != nil {
			t.Fatal(err)
		}
		results := endedOnRanks(t, whole, c.algorithm)
		for k, r := range results {
			name := fmt.Sprintf("%s, %d x %d, rank %d", c.algorithm, c.Rows, c.Cols, k)
			if r == nil || r.Proven || !r.Stopped || !slices.Equal(r.Column, results[0].Column) || r.Value.String() != results[0].Value.String() {
				t.Errorf("%s: found %+v", name, r)
				continue
			}
			seen, sum := map[int32]bool{}, 0.0
			for i, j := range r.Column {
				if j < 0 {
					continue
				}
				if seen[j] {
					t.Errorf("%s: column %d twice", name, j)
				}
				seen[j] = true
				cost, _ := strconv.ParseFloat(whole.CostDecimals(i, int(j)), 64)
				sum += cost
			}
			if r.Matched != len(seen) || math.Abs(sum-r.Value.Float()) > 1e-9*math.Abs(sum) || c.change == nil && r.Matched != best.Matched {
				t.Errorf("%s: %d of %d pairs worth %v, told are %v", name, r.Matched, len(seen), sum, r.Value.Float())
			}
			sign := 1.0
			if whole.Maximize {
				sign = -1
			}
			if whole.Limit == nil && (sign*(r.Value.Float()-best.Value.Float()) < 0 || r.Bound == "" || sign*(best.Value.Float()-r.Bound.Float()) < 0) {
				t.Errorf("%s: %v with bound %s, the best is %v", name, r.Value.Float(), r.Bound, best.Value.Float())
			}
		}
	}
}

// endedOnRanks solves on two ranks, the second of which has a context that has ended.
func endedOnRanks(t *testing.T, whole *problem.Instance, algorithm string) []*Result {
	t.Helper()
	devices, ranks, results := emulatedtest.OpenSeveral(t, 2), collectivetest.Ranks(2), make([]*Result, 2)
	err := collective.OnAll(2, func(k int) error {
		o := on(Options{}, devices[k])
		o.Ranks, o.Algorithm = ranks[k], algorithm
		s, err := loaded(whole, o)
		if err != nil {
			return err
		}
		ctx, end := context.WithCancel(context.Background())
		defer end()
		if k == 1 {
			end()
		}
		results[k], err = s.SolveAgain(ctx)
		return errors.Join(err, s.Close())
	})
	if err != nil {
		t.Fatal(err)
	}
	return results
}

// Where rank 0 goes on alone, the end of its context is that of all.
func TestRanksEndAlone(t *testing.T) {
	limit := 30.0
	whole, err := Draw(Drawing{Kind: "uniform", Rows: 31, Cols: 30, Type: problem.Int32, Range: 100})
	if err != nil {
		t.Fatal(err)
	}
	whole.Limit = &limit
	ranks, results := collectivetest.Ranks(2), make([]*Result, 2)
	devices := emulatedtest.OpenSeveral(t, 2)
	err = collective.OnAll(2, func(k int) error {
		o := on(Options{}, devices[k])
		o.Ranks = ranks[k]
		s, err := loaded(whole, o)
		if err != nil {
			return err
		}
		s.job.spread.engine.(*coreprice.CoreShards).Schedule.Rounds = 0
		ctx, end := context.WithCancel(context.Background())
		defer end()
		if k == 0 {
			end()
		}
		results[k], err = s.SolveAgain(ctx)
		return errors.Join(err, s.Close())
	})
	if err != nil {
		t.Fatal(err)
	}
	for k, r := range results {
		if r == nil || r.Proven || !slices.Equal(r.Column, results[0].Column) || r.Matched == 0 {
			t.Errorf("rank %d: found %+v", k, r)
		}
	}
}
