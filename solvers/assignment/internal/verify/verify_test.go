package verify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"coalesce/generated/assignment"
	"coalesce/runtime/device"
	"coalesce/runtime/emulated/emulatedtest"
	"coalesce/solvers/assignment/internal/draw"
	"coalesce/solvers/assignment/internal/engine"
	"coalesce/solvers/assignment/internal/enginetest"
	"coalesce/solvers/assignment/internal/reference"
	"coalesce/solvers/assignment/problem"
)

// A trialChecker checks planted problems of one shape.
type trialChecker struct {
	*Checker
	d      device.Device
	s      device.Stream
	cert   problem.Certificate // of the last run
	second *trialChecker       // of the rows after those of the first, nil for all
}

func openChecker(t *testing.T, d device.Device, v *device.Variant, rows, cols int) *trialChecker {
	t.Helper()
	c, err := Open(d, v, rows, cols)
	if err != nil {
		t.Fatal(err)
	}
	s, err := d.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(s.Close(), c.Close()); err != nil {
			t.Error(err)
		}
	})
	return &trialChecker{Checker: c, d: d, s: s}
}

func (c *trialChecker) run(t *testing.T, p *draw.Planted) error {
	t.Helper()
	b := p.Instance.Bytes()
	costs, err := c.d.Alloc(int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	defer costs.Free()
	if err := c.s.Upload(costs, 0, b); err != nil {
		t.Fatal(err)
	}
	m := &engine.Matrix{Costs: costs, Rows: p.Rows, Cols: p.Cols}
	if c.second == nil {
		c.cert, _, err = c.Check(context.Background(), c.s, p.Normal, m, p.Solution)
	} else {
		c.cert, err = c.split(t, p, m)
	}
	if err != nil && !errors.Is(err, problem.ErrCheck) {
		t.Fatal(err)
	}
	return err
}

// split checks the rows of two shards, each with costs of its own.
func (c *trialChecker) split(t *testing.T, p *draw.Planted, m *engine.Matrix) (problem.Certificate, error) {
	t.Helper()
	width := int64(p.Cols * p.Instance.Type.Size())
	from, n := int64(c.Rows)*width, int64(c.second.Rows)*width
	rest, err := c.d.Alloc(n)
	if err != nil {
		t.Fatal(err)
	}
	defer rest.Free()
	if err := c.second.s.Upload(rest, 0, p.Instance.Bytes()[from:from+n]); err != nil {
		t.Fatal(err)
	}
	cert, _, err := CheckShards(context.Background(), p.Normal, []Shard{
		{c.Checker, c.s, &engine.Matrix{Costs: m.Costs, Rows: c.Rows, Cols: p.Cols}, 0},
		{c.second.Checker, c.second.s, &engine.Matrix{Costs: rest, Rows: c.second.Rows, Cols: p.Cols}, c.Rows},
	}, p.Solution)
	return cert, err
}

// agrees holds the certificate against the host's.
func (c *trialChecker) agrees(t *testing.T, p *draw.Planted) {
	t.Helper()
	inst := *p.Instance
	if p.Limit != problem.Infinity {
		limit := float64(p.Limit) / p.Scale
		inst.Limit = &limit
	}
	want, err := problem.Check(&inst, p.Solution.Column, problem.Duals{U: p.Solution.U, V: p.Solution.V, Scale: p.Scale})
	if err != nil {
		t.Fatalf("the host's check: %v", err)
	}
	if want.By = c.cert.By; c.cert != want {
		t.Errorf("found %+v, the host %+v", c.cert, want)
	}
}

var values = []problem.Value{problem.Int32, problem.Int64, problem.Float32, problem.Float64}

func checkVariant(t *testing.T, params string, value problem.Value) *device.Variant {
	t.Helper()
	v := assignment.Check.Variant(fmt.Sprintf("%s,value=%s", params, value))
	if v == nil {
		t.Fatalf("assignment/check has no %s for %s", params, value)
	}
	return v
}

func TestCheckAccepts(t *testing.T) {
	d := emulatedtest.Open(t)
	for _, value := range values {
		v := checkVariant(t, "block=256,rows=32,flight=4", value)
		for _, shape := range [][2]int{{0, 0}, {0, 3}, {1, 1}, {2, 2}, {3, 5}, {33, 33}, {36, 64}, {5, 1030}} {
			c := openChecker(t, d, v, shape[0], shape[1])
			for seed, limited := range []bool{false, true} {
				for _, maximize := range []bool{false, true} {
					p := draw.DrawPlanted(value, shape[0], shape[1], maximize, limited, uint64(seed))
					if err := c.run(t, p); err != nil {
						t.Errorf("%s, %v, limit %v, maximise %v: %v", value, shape, limited, maximize, err)
						continue
					}
					c.agrees(t, p)
				}
			}
		}
	}
}

// setCost makes entry (i,j) any float, or an integer scaled cost.
func setCost(p *draw.Planted, i, j int, scaled float64) {
	k := i*p.Cols + j
	switch p.Instance.Type {
	case problem.Int32:
		p.Instance.I32[k] = int32(scaled / p.Scale)
	case problem.Int64:
		p.Instance.I64[k] = int64(scaled / p.Scale)
	case problem.Float32:
		p.Instance.F32[k] = float32(scaled / p.Scale)
	case problem.Float64:
		p.Instance.F64[k] = scaled / p.Scale
	}
}

// Every way of being wrong is found, and named.
func TestCheckFindsCorruption(t *testing.T) {
	const rows, cols = 37, 45
	type corruption struct {
		name    string
		limited bool
		floats  bool // only floats can be wrong like this
		corrupt func(p *draw.Planted)
		want    string
	}
	list := []corruption{
		{name: "a row's dual too large", corrupt: func(p *draw.Planted) { p.Solution.U[20] += 7 }, want: "the first 20 (from 0, column"},
		{name: "a row's dual too small", corrupt: func(p *draw.Planted) { p.Solution.U[36]-- }, want: "1 rows, the first 36"},
		{name: "a row's dual out of range", corrupt: func(p *draw.Planted) { p.Solution.U[0] = math.MaxInt64 }, want: "rows, the first 0 (from 0"},
		{name: "a column's dual out of range", corrupt: func(p *draw.Planted) { p.Solution.V[44] = math.MinInt64 }, want: "44 (from 0, dual -9223372036854775808): its dual is out of range"},
		{name: "two columns exchanged", corrupt: func(p *draw.Planted) {
			c := p.Solution.Column
			c[3], c[30] = c[30], c[3]
		}, want: "the first 3 (from 0"},
		{name: "one column twice", corrupt: func(p *draw.Planted) { p.Solution.Column[9] = p.Solution.Column[8] }, want: "rows, the first"},
		{name: "no such column", corrupt: func(p *draw.Planted) { p.Solution.Column[9] = cols }, want: "1 rows, the first 9 (from 0, column 45"},
		{name: "a negative column", corrupt: func(p *draw.Planted) { p.Solution.Column[9] = -2 }, want: "its column does not exist"},
		{name: "an unmatched row", corrupt: func(p *draw.Planted) { p.Solution.Column[35] = -1 }, want: "1 rows, the first 35 (from 0, column -1"},
		{name: "an unmatched column's dual", corrupt: func(p *draw.Planted) { p.Solution.V[p.FreeColumn()] = -1 }, want: "it is unmatched and its dual is not zero"},
		{name: "a positive dual", corrupt: func(p *draw.Planted) {
			j := p.Solution.Column[4]
			p.Solution.U[4] += p.Solution.V[j] - 5
			p.Solution.V[j] = 5
		}, want: "its dual is positive"},
		{name: "a cheaper pair", corrupt: func(p *draw.Planted) { setCost(p, 17, 44, float64(p.Solution.U[17]+p.Solution.V[44]-8)) }, want: "1 pairs cost less than their duals, the first row 17, column 44"},
		{name: "a cheaper matched pair", corrupt: func(p *draw.Planted) {
			j := p.Solution.Column[2]
			setCost(p, 2, int(j), float64(p.Solution.U[2]+p.Solution.V[j]-8))
		}, want: "the first 2 (from 0"},
		{name: "a dearer matched pair", corrupt: func(p *draw.Planted) {
			j := p.Solution.Column[2]
			setCost(p, 2, int(j), float64(p.Solution.U[2]+p.Solution.V[j]+8))
		}, want: "its pair has slack"},
		{name: "a forbidden matched pair", corrupt: func(p *draw.Planted) { p.Instance.Forbid(31*cols + int(p.Solution.Column[31])) }, want: "the first 31 (from 0"},
		{name: "an unmatched row below the limit", limited: true, corrupt: func(p *draw.Planted) { p.Solution.U[5]-- }, want: "it is unmatched and its dual is not the limit"},
		{name: "a dual above the limit", limited: true, corrupt: func(p *draw.Planted) {
			j := p.Solution.Column[7]
			p.Solution.V[j] -= p.Limit + 1 - p.Solution.U[7]
			p.Solution.U[7] = p.Limit + 1
		}, want: "its dual is beyond the limit"},
		{name: "an unmatched row that need not be", limited: true, corrupt: func(p *draw.Planted) { p.Solution.Column[7] = -1 }, want: "the first 7 (from 0, column -1"},
		{name: "not a number", floats: true, corrupt: func(p *draw.Planted) { setCost(p, 36, 0, math.NaN()) }, want: "the first row 36, column 0"},
		{name: "an infinity of the wrong sign", floats: true, corrupt: func(p *draw.Planted) { setCost(p, 0, 44, math.Inf(-1)) }, want: "the first row 0, column 44"},
		{name: "an inexact cost", floats: true, corrupt: func(p *draw.Planted) { setCost(p, 0, 0, float64(p.Solution.U[0]+p.Solution.V[0])+70.25) }, want: "costs were rounded"},
	}
	d := emulatedtest.Open(t)
	for n, value := range append(values, problem.Int32, problem.Float32) {
		v := checkVariant(t, "block=256,rows=32,flight=4", value)
		c := openChecker(t, d, v, rows, cols)
		if n >= len(values) { // the rows on two devices
			c = openChecker(t, d, v, 15, cols)
			c.second = openChecker(t, d, v, rows-15, cols)
		}
		if err := c.run(t, draw.DrawPlanted(value, rows, cols, false, n%2 == 0, 77)); err != nil {
			t.Errorf("%s: %v", value, err)
		}
		for i, k := range list {
			if k.floats && value.Integer() {
				continue
			}
			for _, maximize := range []bool{false, true} {
				p := draw.DrawPlanted(value, rows, cols, maximize, k.limited, uint64(i))
				k.corrupt(p)
				if err := c.run(t, p); err == nil || !strings.Contains(err.Error(), k.want) {
					t.Errorf("%s, %s, maximise %v: found %v, expected %q", value, k.name, maximize, err, k.want)
				}
			}
		}
	}
}

// Of a square problem the duals are free up to a constant; where columns stay
// unmatched they are not.
func TestCheckOfShiftedDuals(t *testing.T) {
	d := emulatedtest.Open(t)
	v := checkVariant(t, "block=128,rows=32,flight=8", problem.Int32)
	for _, cols := range []int{24, 25} {
		c := openChecker(t, d, v, 24, cols)
		p := draw.DrawPlanted(problem.Int32, 24, cols, false, false, 5)
		for i := range p.Solution.U {
			p.Solution.U[i] += 1000
		}
		for j := range p.Solution.V {
			p.Solution.V[j] -= 1000
		}
		if err := c.run(t, p); (err == nil) != (cols == 24) {
			t.Errorf("24 x %d: %v", cols, err)
		}
	}
}

// A limit that is no multiple of the unit leaves a gap, though all costs are exact.
func TestRoundedLimitLeavesAGap(t *testing.T) {
	limit := 1.9999999
	inst, err := problem.NewInstance(1, 2, []float64{2, 1099511627776.5}, "a limit below the unit")
	if err != nil {
		t.Fatal(err)
	}
	for _, inst.Limit = range []*float64{nil, &limit} {
		p, err := problem.Normalise(inst)
		if err != nil {
			t.Fatal(err)
		}
		var cert problem.Certificate
		new(Findings).FillCertificate(p, &cert)
		if cert.Exact != (inst.Limit == nil) || !cert.Exact && cert.Gap < 2-limit {
			t.Errorf("a limit %v: exact %v, a gap of %g", inst.Limit != nil, cert.Exact, cert.Gap)
		}
	}
}

// Costs become integers as package assignment says: to nearest, ties to even.
func TestCheckRounds(t *testing.T) {
	d := emulatedtest.Open(t)
	for _, value := range []problem.Value{problem.Float32, problem.Float64} {
		c := openChecker(t, d, checkVariant(t, "block=256,rows=32,flight=4", value), 1, 1)
		for _, scale := range []float64{1, 1.0 / 1024, 1 << 30, -1, 0x1p-40} { // 2^k, to maximise where negative
			for _, x := range []float64{0, 0.5, 1.5, 2.5, -0.5, -1.5, 0.49999997, 3.75, 1e6 + 0.5, 1025, 1536, 512, -2560, 0x1p-149, 0x1p-1074, 7e8} {
				p := draw.DrawPlanted(value, 1, 1, false, false, 1)
				p.Scale, p.Exact, p.Instance.Maximize = scale, false, scale < 0
				setCost(p, 0, 0, x*scale)
				cost := p.Instance.F64
				if value == problem.Float32 {
					cost = []float64{float64(p.Instance.F32[0])}
				}
				p.Solution.U[0], p.Solution.V[0] = int64(math.RoundToEven(cost[0]*scale)), 0
				if err := c.run(t, p); err != nil {
					t.Errorf("%s %v times %v: %v", value, cost[0], scale, err)
				} else {
					c.agrees(t, p)
				}
				p.Solution.U[0]++
				if c.run(t, p) == nil {
					t.Errorf("%s %v times %v passes for %d", value, cost[0], scale, p.Solution.U[0])
				}
			}
		}
	}
}

// Sums beyond 64 bits are still exact.
func TestCheckAddsUpBeyond64Bits(t *testing.T) {
	d := emulatedtest.Open(t)
	const n = 40
	c := openChecker(t, d, checkVariant(t, "block=256,rows=32,flight=4", problem.Int64), n, n)
	p := draw.DrawPlanted(problem.Int64, n, n, false, false, 3)
	for i := range p.Solution.U {
		p.Solution.U[i] = -1 << 60
		p.Solution.V[i] = -1 << 59
	}
	for k := range p.Instance.I64 {
		p.Instance.I64[k] = -1<<60 - 1<<59
	}
	if err := c.run(t, p); err != nil {
		t.Error(err)
	}
	p.Solution.V[n-1] += 3
	if err := c.run(t, p); err == nil || !strings.Contains(err.Error(), "add up to -69175290276410818560, the duals to -69175290276410818557") {
		t.Errorf("found %v, expected the sum of the costs in full", err)
	}
}

func TestCheckVariants(t *testing.T) {
	d := emulatedtest.Open(t)
	f := &assignment.Check
	for _, v := range emulatedtest.Variants(f) {
		value := problem.Value(f.Value(v, "value"))
		c := openChecker(t, d, v, 50, 52)
		p := draw.DrawPlanted(value, 50, 52, false, false, 9)
		if err := c.run(t, p); err != nil {
			t.Errorf("%s: %v", v.Label, err)
		}
		setCost(p, 49, 51, float64(p.Solution.U[49]+p.Solution.V[51]-8))
		if err := c.run(t, p); err == nil || !strings.Contains(err.Error(), "1 pairs cost less than their duals, the first row 49, column 51") {
			t.Errorf("%s: found %v, expected row 49, column 51", v.Label, err)
		}
	}
}

// Any change of a sound certificate, also one that leaves it sound, is judged
// as the host judges it.
func TestCheckAgreesWithTheHost(t *testing.T) {
	d := emulatedtest.Open(t)
	r := rand.New(rand.NewPCG(5, 9))
	rejected := 0
	for _, value := range values {
		for _, shape := range [][2]int{{9, 9}, {8, 12}} {
			c := openChecker(t, d, checkVariant(t, "block=256,rows=32,flight=4", value), shape[0], shape[1])
			for range 60 {
				p := draw.DrawPlanted(value, shape[0], shape[1], r.IntN(2) == 0, r.IntN(3) == 0, r.Uint64())
				for range 1 + r.IntN(2) {
					i, j := r.IntN(p.Rows), r.IntN(p.Cols)
					delta := r.Int64N(5) - 2
					switch r.IntN(6) {
					case 0:
						p.Solution.U[i] += delta
					case 1:
						p.Solution.V[j] += delta
					case 2:
						p.Solution.U[i] += delta
						p.Solution.V[j] -= delta
					case 3:
						p.Solution.Column[i] = int32(r.IntN(p.Cols+2) - 1)
					case 4:
						setCost(p, i, j, float64(p.Solution.U[i]+p.Solution.V[j]+8*delta))
					case 5:
						p.Instance.Forbid(i*p.Cols + j)
					}
				}
				inst := *p.Instance
				if p.Limit != problem.Infinity {
					limit := float64(p.Limit) / p.Scale
					inst.Limit = &limit
				}
				_, want := problem.Check(&inst, p.Solution.Column, problem.Duals{U: p.Solution.U, V: p.Solution.V, Scale: p.Scale})
				got := c.run(t, p)
				if p.Exact && want == nil && got != nil && strings.Contains(got.Error(), "costs were rounded") {
					continue // the host leaves that to the certificate
				}
				if (got == nil) != (want == nil) {
					t.Errorf("%s, %v: found %v, the host %v", value, shape, got, want)
				}
				if want != nil {
					rejected++
				}
			}
		}
	}
	if rejected < 100 || rejected > 470 {
		t.Errorf("%d of 480 changed certificates are wrong: the changes are too mild or too strong", rejected)
	}
}

// Findings that no kernel wrote are refused, not taken for places of the problem.
func TestJudgeOfPoison(t *testing.T) {
	p, err := problem.Normalise(enginetest.MatrixOf(t, 2, int32(1), 2, 3, 4))
	if err != nil {
		t.Fatal(err)
	}
	sol := &engine.Solution{Column: []int32{0, 1}, Prices: problem.Prices{U: make([]int64, 2), V: make([]int64, 2)}}
	for _, poison := range []uint64{math.MaxUint64, 0xa5a5a5a5a5a5a5a5, 17} {
		var found Findings
		for k := range found {
			found[k] = poison
		}
		if err := found.CheckOptimal(p, sol); !errors.Is(err, problem.ErrCheck) || !strings.Contains(err.Error(), "the check itself is wrong") {
			t.Errorf("words of %#x: %v", poison, err)
		}
	}
}

// samePairs compares two lists in any order.
func samePairs(a, b []problem.Pair) bool {
	order := func(x, y problem.Pair) int { return cmp.Or(cmp.Compare(x.Row, y.Row), cmp.Compare(x.Col, y.Col)) }
	slices.SortFunc(a, order)
	slices.SortFunc(b, order)
	return slices.Equal(a, b)
}

// onCycles are the near pairs that stay when rows that lead nowhere go, again and again: none where there is no alternating
// cycle. Every row and column is matched.
func onCycles(column []int32, near []problem.Pair) []problem.Pair {
	owner := make([]int32, len(column))
	for i, j := range column {
		owner[j] = int32(i)
	}
	for {
		leads := make([]bool, len(column))
		for _, x := range near {
			leads[x.Row] = true
		}
		stay := slices.DeleteFunc(slices.Clone(near), func(x problem.Pair) bool { return !leads[owner[x.Col]] })
		if len(stay) == len(near) {
			return stay
		}
		near = stay
	}
}

// areForest reports whether near pairs make no cycle of rows whatever their directions. Every row and column is matched.
func areForest(column []int32, near []problem.Pair) bool {
	owner, tree := make([]int32, len(column)), make([]int32, len(column))
	for i, j := range column {
		owner[j], tree[i] = int32(i), int32(i)
	}
	for _, x := range near {
		from, to := tree[x.Row], tree[owner[x.Col]]
		if from == to {
			return false
		}
		for i := range tree {
			if tree[i] == from {
				tree[i] = to
			}
		}
	}
	return true
}

// The device lists near pairs where they have an alternating cycle, or are too many for it, and only there.
func TestCyclesAreFound(t *testing.T) {
	d := emulatedtest.Open(t)
	r := rand.New(rand.NewPCG(3, 9))
	var found, forests, acyclic int
	for turn := range 36 {
		n := []int{9, 40, 300}[turn%3]
		inst := &problem.Instance{Type: problem.Float64, Rows: n, Cols: n, F64: make([]float64, n*n)}
		for k := range inst.F64 {
			inst.F64[k] = math.Exp(3 * r.NormFloat64())
		}
		sol := &engine.Solution{Column: make([]int32, n), Prices: problem.Prices{U: make([]int64, n), V: make([]int64, n)}}
		for i, j := range r.Perm(n) {
			sol.Column[i], inst.F64[i*n+j] = int32(j), 0
		}
		order := r.Perm(n)
		closes := turn%4 > 1
		last := n
		if closes && turn%8 > 3 { // fewer pairs than rows
			last = n - 2
		}
		for k := 1; k < last; k++ { // a tree, or a path
			from := k - 1
			if turn%2 == 0 {
				from = r.IntN(k)
			}
			inst.F64[order[k]*n+int(sol.Column[order[from]])] = 0
		}
		if closes { // and now and then a pair that closes a cycle, of one direction or not
			inst.F64[order[r.IntN(last)]*n+int(sol.Column[order[r.IntN(last)]])] = 0
		}
		p, err := problem.Normalise(inst)
		if err != nil {
			t.Fatal(err)
		}
		c := openChecker(t, d, checkVariant(t, "block=256,rows=32,flight=4", problem.Float64), n, n)
		b, err := d.Alloc(int64(len(inst.Bytes())))
		if err != nil {
			t.Fatal(err)
		}
		if err := c.s.Upload(b, 0, inst.Bytes()); err != nil {
			t.Fatal(err)
		}
		_, near, err := c.Check(context.Background(), c.s, p, &engine.Matrix{Costs: b, Rows: n, Cols: n}, sol)
		_, want, wrong := problem.CheckNear(inst, sol.Column, problem.Duals{U: sol.U, V: sol.V, Scale: p.Unit()}, int64(n)+1, math.MaxInt)
		if err != nil || wrong != nil || near == nil {
			t.Fatal(near, err, wrong)
		}
		switch {
		case len(onCycles(sol.Column, want)) > 0:
			found++
		case areForest(sol.Column, want):
			want, forests = nil, forests+1
		default:
			want, acyclic = nil, acyclic+1
		}
		if !samePairs(near, want) {
			t.Errorf("turn %d, %d rows: found %d near pairs, expected %d", turn, n, len(near), len(want))
		}
		if err := b.Free(); err != nil {
			t.Fatal(err)
		}
	}
	if found < 3 || forests < 12 || acyclic < 3 {
		t.Errorf("found cycles in %d instances, forests in %d and other acyclic graphs in %d, expected at least 3, 12 and 3", found, forests, acyclic)
	}
}

// The device lists the same near pairs as the host, or none where they are too many for its list, or have no cycle.
func TestNearPairs(t *testing.T) {
	d := emulatedtest.Open(t)
	r, rounded := rand.New(rand.NewPCG(8, 1)), 0
	for _, value := range []problem.Value{problem.Float32, problem.Float64} {
		for _, shape := range [][2]int{{40, 40}, {33, 50}, {7, 1030}} {
			for _, crowded := range []bool{false, true} {
				costs := make([]float64, shape[0]*shape[1])
				for k := range costs {
					costs[k] = math.Exp(3 * r.NormFloat64())
				}
				if crowded { // all others are within a unit
					costs[1] = 1e30
				}
				inst := &problem.Instance{Rows: shape[0], Cols: shape[1]}
				if problem.SetCosts(inst, costs); value == problem.Float32 {
					short := make([]float32, len(costs))
					for k, c := range costs {
						short[k] = float32(c)
					}
					problem.SetCosts(inst, short)
				}
				p, err := problem.Normalise(inst)
				if err != nil {
					t.Fatal(err)
				}
				sol, err := reference.Solve(p, nil)
				if err != nil {
					t.Fatal(err)
				}
				c := openChecker(t, d, checkVariant(t, "block=256,rows=32,flight=4", value), p.Rows, p.Cols)
				b, err := d.Alloc(int64(len(inst.Bytes())))
				if err != nil {
					t.Fatal(err)
				}
				if err := c.s.Upload(b, 0, inst.Bytes()); err != nil {
					t.Fatal(err)
				}
				cert, near, err := c.Check(context.Background(), c.s, p, &engine.Matrix{Costs: b, Rows: p.Rows, Cols: p.Cols}, sol)
				_, want, wrong := problem.CheckNear(inst, sol.Column, problem.Duals{U: sol.U, V: sol.V, Scale: p.Unit()}, int64(p.Rows)+1, math.MaxInt)
				if err != nil || wrong != nil {
					t.Fatal(err, wrong)
				}
				full := len(want) > assignment.CheckNear*p.Rows
				if cert.Rounded == 0 || p.Rows == p.Cols && !full && len(onCycles(sol.Column, want)) == 0 {
					want = nil
				} else {
					rounded++
				}
				if full != crowded || full && near != nil || !full && !samePairs(near, want) {
					t.Errorf("%s, %v, crowded %t: found %d near pairs, the host %d", value, shape, crowded, len(near), len(want))
				}
				if err := b.Free(); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	if rounded < 8 {
		t.Errorf("%d of 12 instances were rounded, expected most", rounded)
	}
}
