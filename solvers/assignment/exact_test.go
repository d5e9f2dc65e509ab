package assignment

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"coalesce/runtime/device"
	"coalesce/runtime/host"
	"coalesce/solvers/assignment/internal/engine"
	"coalesce/solvers/assignment/internal/families"
	"coalesce/solvers/assignment/internal/refine"
	"coalesce/solvers/assignment/problem"
	"coalesce/solvers/solve"
)

// wideKinds draw float costs whose magnitudes differ by more than 60 bits, or whose rounding
// decides, and some that do not.
var wideKinds = map[string]func(r *rand.Rand) func(i, j int) float64{
	"uniform": func(r *rand.Rand) func(i, j int) float64 { return func(i, j int) float64 { return r.Float64() } },
	"few": func(r *rand.Rand) func(i, j int) float64 {
		return func(i, j int) float64 { return float64(r.IntN(4)) / 10 }
	},
	"big 1e15": func(r *rand.Rand) func(i, j int) float64 {
		return func(i, j int) float64 { return either(r, 0.4, 1e15, r.Float64()) }
	},
	"big 1e300": func(r *rand.Rand) func(i, j int) float64 {
		return func(i, j int) float64 { return either(r, 0.4, 1e300, r.Float64()) }
	},
	"two constants": func(r *rand.Rand) func(i, j int) float64 {
		return func(i, j int) float64 { return either(r, 0.3, 1e300, either(r, 0.4, 1e18, r.Float64())) }
	},
	"forced 1e15": func(r *rand.Rand) func(i, j int) float64 {
		return func(i, j int) float64 {
			if i%4 == 0 {
				return 1e15
			}
			return r.Float64()
		}
	},
	"forced near 1e300": func(r *rand.Rand) func(i, j int) float64 {
		return func(i, j int) float64 {
			if i%4 == 0 {
				return 1e300 * (0.5 + r.Float64())
			}
			return r.Float64()
		}
	},
	"pareto": func(r *rand.Rand) func(i, j int) float64 {
		return func(i, j int) float64 { return math.Pow(r.Float64(), -10) }
	},
	"lognormal": func(r *rand.Rand) func(i, j int) float64 {
		return func(i, j int) float64 { return math.Exp(20 * r.NormFloat64()) }
	},
	"log-uniform": func(r *rand.Rand) func(i, j int) float64 {
		return func(i, j int) float64 { return math.Pow(10, 600*r.Float64()-300) }
	},
	"mixed signs": func(r *rand.Rand) func(i, j int) float64 {
		return func(i, j int) float64 { return either(r, 0.5, 1, -1) * math.Pow(10, 600*r.Float64()-300) }
	},
	"subnormals": func(r *rand.Rand) func(i, j int) float64 {
		return func(i, j int) float64 { return float64(r.IntN(1<<20)) * math.SmallestNonzeroFloat64 }
	},
	"subnormals and 1": func(r *rand.Rand) func(i, j int) float64 {
		return func(i, j int) float64 { return either(r, 0.5, 1, float64(r.IntN(1<<20))*math.SmallestNonzeroFloat64) }
	},
	"row and column": func(r *rand.Rand) func(i, j int) float64 {
		return func(i, j int) float64 {
			c := r.NormFloat64()
			if i == 0 {
				c += 1e16
			}
			if j == 1 {
				c -= 1e16
			}
			return c
		}
	},
	"rank one": func(r *rand.Rand) func(i, j int) float64 {
		return func(i, j int) float64 { return math.Sqrt(float64(i+1))*math.Sqrt(float64(j+2)) + 1e-15*r.Float64() }
	},
	"forbidden": func(r *rand.Rand) func(i, j int) float64 {
		return func(i, j int) float64 {
			return either(r, 0.2, either(r, 0.5, math.Inf(1), 1e200), math.Exp(5*r.NormFloat64()))
		}
	},
}

func either(r *rand.Rand, p, a, b float64) float64 {
	if r.Float64() < p {
		return a
	}
	return b
}

// optimum is the least sum of a matching of rows to columns, rows <= cols, in integers (Kuhn 1955;
// shortest augmenting paths); cost returns nil for a forbidden pair. ok is false without a full
// matching. With a limit each row may stay unmatched at its cost.
func optimum(rows, cols int, cost func(i, j int) *big.Int, limit *big.Int) (sum *big.Int, ok bool) {
	real := cols
	if limit != nil {
		cols += rows
	}
	at := func(i, j int) *big.Int {
		if j < real {
			return cost(i, j)
		}
		return limit
	}
	u, v := make([]*big.Int, rows+1), make([]*big.Int, cols+1)
	for k := range u {
		u[k] = new(big.Int)
	}
	for k := range v {
		v[k] = new(big.Int)
	}
	owner, way := make([]int, cols+1), make([]int, cols+1)
	for i := 1; i <= rows; i++ {
		owner[0] = i
		j0 := 0
		least, used := make([]*big.Int, cols+1), make([]bool, cols+1)
		for {
			used[j0] = true
			i0, j1 := owner[j0], -1
			var delta *big.Int
			for j := 1; j <= cols; j++ {
				if used[j] {
					continue
				}
				if c := at(i0-1, j-1); c != nil {
					x := new(big.Int).Sub(c, u[i0])
					if x.Sub(x, v[j]); least[j] == nil || x.Cmp(least[j]) < 0 {
						least[j], way[j] = x, j0
					}
				}
				if least[j] != nil && (delta == nil || least[j].Cmp(delta) < 0) {
					delta, j1 = least[j], j
				}
			}
			if j1 < 0 {
				return nil, false
			}
			delta = new(big.Int).Set(delta)
			for j := 0; j <= cols; j++ {
				switch {
				case used[j]:
					u[owner[j]].Add(u[owner[j]], delta)
					v[j].Sub(v[j], delta)
				case least[j] != nil:
					least[j].Sub(least[j], delta)
				}
			}
			if j0 = j1; owner[j0] == 0 {
				break
			}
		}
		for j0 != 0 {
			j1 := way[j0]
			owner[j0] = owner[j1]
			j0 = j1
		}
	}
	sum = new(big.Int)
	for j := 1; j <= cols; j++ {
		if owner[j] > 0 {
			sum.Add(sum, at(owner[j]-1, j-1))
		}
	}
	return sum, true
}

// wholeBits are the bits behind the point of integers that hold every float64.
const wholeBits = 1074

func exactly(x float64) *big.Int {
	f := new(big.Float).SetPrec(2200).SetFloat64(x)
	out, _ := f.SetMantExp(f, wholeBits).Int(nil)
	return out
}

// exactSum is what a matching of an instance costs, negated where it maximises, with the limit for
// each unmatched row of the shorter side.
func exactSum(inst *problem.Instance, column []int32) *big.Int {
	sum, matched := new(big.Int), 0
	for i, j := range column {
		if j >= 0 {
			matched++
			sum.Add(sum, exactCost(inst, i, int(j)))
		}
	}
	if inst.Limit != nil {
		l := exactly(*inst.Limit)
		if inst.Maximize {
			l.Neg(l)
		}
		sum.Add(sum, l.Mul(l, big.NewInt(int64(min(inst.Rows, inst.Cols)-matched))))
	}
	return sum
}

func exactCost(inst *problem.Instance, i, j int) *big.Int {
	k := inst.CostIndex(i, j)
	if k < 0 || !inst.Allowed(i, j) {
		return nil
	}
	var x *big.Int
	switch {
	case inst.Points != nil:
		x = exactly(inst.Points.Cost(i, j))
	case inst.Type == problem.Int32:
		x = new(big.Int).Lsh(big.NewInt(int64(inst.I32[k])), wholeBits)
	case inst.Type == problem.Int64 && inst.Unsigned:
		x = new(big.Int).SetUint64(uint64(inst.I64[k]) ^ 1<<63)
		x.Lsh(x, wholeBits)
	case inst.Type == problem.Int64:
		x = new(big.Int).Lsh(big.NewInt(inst.I64[k]), wholeBits)
	case inst.Type == problem.Float32:
		x = exactly(float64(inst.F32[k]))
	default:
		x = exactly(inst.F64[k])
	}
	if inst.Maximize {
		x.Neg(x)
	}
	return x
}

func best(inst *problem.Instance) (*big.Int, bool) {
	rows, cols := inst.Rows, inst.Cols
	cost := func(i, j int) *big.Int { return exactCost(inst, i, j) }
	if rows > cols {
		rows, cols = cols, rows
		cost = func(i, j int) *big.Int { return exactCost(inst, j, i) }
	}
	var limit *big.Int
	if inst.Limit != nil {
		limit = exactly(*inst.Limit)
		if inst.Maximize {
			limit.Neg(limit)
		}
	}
	return optimum(rows, cols, cost, limit)
}

// sparseOf lists about a third of the pairs, and a diagonal.
func sparseOf(r *rand.Rand, inst *problem.Instance) *problem.Instance {
	s := &problem.Sparse{Start: make([]int64, inst.Rows+1)}
	var costs []float64
	for i := range inst.Rows {
		for j := range inst.Cols {
			if j == i%inst.Cols || r.IntN(3) == 0 {
				s.Col, costs = append(s.Col, int32(j)), append(costs, inst.F64[i*inst.Cols+j])
			}
		}
		s.Start[i+1] = int64(len(s.Col))
	}
	return &problem.Instance{Rows: inst.Rows, Cols: inst.Cols, Type: problem.Float64, F64: costs, Sparse: s, Maximize: inst.Maximize}
}

// wideInstance draws an instance of a kind: dense or sparse, square or not, with a limit or not.
func wideInstance(r *rand.Rand, kind string, rows, cols int) *problem.Instance {
	draw := wideKinds[kind](r)
	inst := &problem.Instance{Rows: rows, Cols: cols, Type: problem.Float64, F64: make([]float64, rows*cols), Maximize: r.IntN(3) == 0}
	for k := range inst.F64 {
		if inst.F64[k] = draw(k/cols, k%cols); inst.Maximize {
			inst.F64[k] = -inst.F64[k]
		}
	}
	if r.IntN(4) == 0 {
		inst = sparseOf(r, inst)
	}
	if r.IntN(3) == 0 {
		l := inst.F64[r.IntN(len(inst.F64))]
		switch r.IntN(4) {
		case 0:
			l *= 1 + 0x1p-52
		case 1:
			l *= 0.5
		}
		if !math.IsInf(l, 0) {
			inst.Limit = &l
		}
	}
	return inst
}

// isOptimal checks an answer to an instance against the exact optimum.
func isOptimal(t *testing.T, what string, inst *problem.Instance, column []int32, r *Result, err error) {
	t.Helper()
	want, ok := best(inst)
	if !ok {
		if r != nil && r.Column != nil {
			t.Errorf("%s: found a matching, expected none", what)
		}
		return
	}
	if err != nil {
		t.Errorf("%s: %v", what, err)
		return
	}
	if got := exactSum(inst, column); got.Cmp(want) != 0 {
		t.Errorf("%s: found %s, expected %s (limit %v, maximise %t)", what, short(got), short(want), inst.Limit, inst.Maximize)
	}
	if r != nil && !r.Proven {
		t.Errorf("%s: not proven: gap %v, notes %v", what, r.Certificate.Gap, r.Notes)
	}
}

func short(x *big.Int) string {
	f := new(big.Float).SetInt(x)
	return f.SetMantExp(f, -wholeBits).Text('g', 20)
}

// A limit beyond all costs of a residual problem asks for as many matched rows as possible; refinement goes on from the duals
// of a lower one. Columns 0 of the last two rows differ by 2^-126 of the limit.
func TestLimitBeyondResiduals(t *testing.T) {
	d := host.Open(0)
	defer d.Close()
	limit := 9.14626634019768e-153
	inst := &problem.Instance{Rows: 4, Cols: 5, Type: problem.Float64, Limit: &limit, F64: []float64{
		2.8344780093900204e-267, 3.7984429522432706e+185, 7.124109358644186e-162, 1.0301437991475562e-172, 4.859577806701506e+223,
		0.6857160224680589, 1.7024043768703587e-277, 1.9049275312523528e+204, 5.284395799885339e-78, 9.029893507333625e+108,
		5.658095713779275e-191, 0.0008047276519532155, 2.9463062466375595e+116, 6.272397038601437e+30, 3.3731160684964875e+277,
		8.543261820981406e-239, 2.3695620667034347e-145, 1.4013728048652385e+45, 0.43279535987152895, 4.54149741522924e-141,
	}}
	r, err := Solve(t.Context(), inst, on(Options{}, d))
	if err != nil {
		t.Fatal(err)
	}
	isOptimal(t, "far apart", inst, r.Column, r, err)
}

func TestWideFloats(t *testing.T) {
	d := host.Open(0)
	defer d.Close()
	o := Options{Settings: solve.Settings{Devices: []device.Device{d}}}
	rounds := map[string]int{}
	for _, kind := range slices.Sorted(maps.Keys(wideKinds)) {
		for try := range 40 {
			r := rand.New(rand.NewPCG(uint64(try), 7))
			rows, cols := 1+r.IntN(9), 1+r.IntN(9)
			if try%3 == 0 {
				cols = rows
			}
			if try%10 == 0 {
				rows, cols = 30, 30+r.IntN(2)*10
			}
			inst := wideInstance(r, kind, rows, cols)
			what := fmt.Sprintf("%s, try %d, %d x %d", kind, try, rows, cols)
			res, err := Solve(context.Background(), inst, o)
			var column []int32
			if res != nil {
				column = res.Column
				if res.Certificate != nil {
					rounds[kind] = max(rounds[kind], res.Certificate.Rounds)
				}
			}
			isOptimal(t, what, inst, column, res, err)
			var q QuickSolver
			if column, _, _, ok, err := q.Solve(inst); ok {
				isOptimal(t, what+", small", inst, column, nil, err)
			}
		}
	}
	for kind, n := range rounds {
		if n > 40 {
			t.Errorf("%s: %d rounds", kind, n)
		}
	}
	if rounds["big 1e300"] == 0 || rounds["uniform"] > 0 {
		t.Errorf("rounds %v: expected some with constants of 1e300, none with uniform costs", rounds)
	}
	t.Log(rounds)
}

// A solve that ends while residual costs are solved has its matching, which is not proven, and a gap
// that holds.
func TestStoppedRefinement(t *testing.T) {
	d := host.Open(0)
	r := rand.New(rand.NewPCG(1, 1))
	inst := &problem.Instance{Rows: 8, Cols: 8, Type: problem.Float64, F64: make([]float64, 64)}
	draw := wideKinds["two constants"](r)
	for k := range inst.F64 {
		inst.F64[k] = draw(k/8, k%8)
	}
	s, err := loaded(inst, Options{Settings: solve.Settings{Devices: []device.Device{d}}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	sol, err := s.job.solve(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	res := newResult(inst)
	duals, err := res.setSolution(inst, s.p, sol)
	if err != nil {
		t.Fatal(err)
	}
	cert, near, err := checkNear(inst, s.p, res.Column, *duals)
	if err == nil {
		err = res.decideExactly(ctx, s.p, sol, &cert, near, s.Options)
	}
	if err != nil {
		t.Fatal(err)
	}
	if res.setCertificate(&cert); res.Proven || !res.Stopped || cert.Gap == 0 || len(res.Notes) == 0 {
		t.Errorf("found proven %t, stopped %t, gap %v, notes %v", res.Proven, res.Stopped, cert.Gap, res.Notes)
	}
	want, _ := best(inst)
	if apart := new(big.Int).Sub(exactSum(inst, sol.Column), want); apart.Sign() < 0 || apart.Cmp(exactly(cert.Gap)) > 0 {
		t.Errorf("the matching costs %s more than the best, with a gap of %v", short(apart), cert.Gap)
	}
}

// Pivots decide as residual solves do, where most pairs are within rounding: on lines, with as many columns and more.
func TestPivotsDecide(t *testing.T) {
	r := rand.New(rand.NewPCG(65, 3))
	pivoted := 0
	for trial := range 200 {
		rows := 2 + r.IntN(30)
		cols := rows + trial%2*r.IntN(10)
		x, y := make([]float64, rows), make([]float64, cols)
		for i := range x {
			x[i] = r.Float64() * 1e3
		}
		for j := range y {
			y[j] = r.Float64() * 1e3
		}
		costs := make([]float64, 0, rows*cols)
		for i := range x {
			for j := range y {
				costs = append(costs, math.Abs(x[i]-y[j])+1e-11*float64(r.IntN(3)))
			}
		}
		inst, err := problem.NewInstance(rows, cols, costs, "drawn")
		if err != nil {
			t.Fatal(err)
		}
		p, err := problem.Normalise(inst)
		if err != nil {
			t.Fatal(err)
		}
		p.Exact = false
		// Costs in large units, so that rounding leaves much open.
		p.Scale = math.Ldexp(1, r.IntN(30))
		p.Max = int64(p.Scale * 2e3)
		sol, err := families.HostMethods()[0].Solve(context.Background(), p, nil, engine.Host{Threads: 1})
		if err != nil {
			t.Fatal(err)
		}
		near := nearRows(p, sol, 0, rows)
		var cert problem.Certificate
		column, err := settle(context.Background(), p, sol, &cert, near)
		if err != nil {
			t.Fatal(err)
		}
		out, err := refine.RefineExactly(context.Background(), p, sol.Column, sol.Prices, near, p.Split, Options{}.residual)
		if err != nil {
			t.Fatal(err)
		}
		pivoted += cert.Rounds
		ended, cancel := context.WithCancel(context.Background())
		cancel()
		if kept, err := settle(ended, p, sol, &cert, near); !slices.Equal(kept, sol.Column) || len(near) > 0 && err == nil {
			t.Errorf("trial %d: found %v, %v after the end, expected the matching before and an error", trial, kept, err)
		}
		value := func(column []int32) *big.Float {
			f := problem.Flow{Row: make([]int32, rows), Col: column, Amount: slices.Repeat([]int64{1}, rows)}
			for i := range f.Row {
				f.Row[i] = int32(i)
			}
			if err := problem.CheckMarginals(inst, &f); err != nil {
				t.Fatal(err)
			}
			return problem.FlowValue(inst, &f)
		}
		if a, b := value(column), value(out.Column); a.Cmp(b) != 0 {
			t.Errorf("trial %d, %d x %d: found %v by pivots, %v by residual solves", trial, rows, cols, a, b)
		}
	}
	if pivoted == 0 {
		t.Error("found no pivots")
	}
}
