package assignment

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"coalesce/runtime/device"
	"coalesce/runtime/host"
	"coalesce/solvers/assignment/problem"
	"coalesce/solvers/solve"
)

// matchings calls see with every full matching of an instance.
func matchings(inst *problem.Instance, see func(column []int32)) {
	column, taken := make([]int32, inst.Rows), make([]bool, inst.Cols)
	skip := max(0, inst.Rows-inst.Cols)
	var row func(i, left int)
	row = func(i, left int) {
		if i == inst.Rows {
			see(column)
			return
		}
		for j := range taken {
			if !taken[j] && inst.Allowed(i, j) {
				taken[j], column[i] = true, int32(j)
				row(i+1, left)
				taken[j] = false
			}
		}
		if left > 0 {
			column[i] = -1
			row(i+1, left-1)
		}
	}
	row(0, skip)
}

// small draws an instance that brute force solves: rectangles, ties, forbidden pairs,
// every type, both senses.
func small(rng *rand.Rand) *problem.Instance {
	rows, cols := 1+rng.IntN(5), 1+rng.IntN(5)
	spread, kinds := []int{1, 4, 1000}[rng.IntN(3)], 2+rng.IntN(8)
	inst := &problem.Instance{Rows: rows, Cols: cols, Source: "test", Maximize: rng.IntN(2) == 0}
	draw := func() float64 { return float64(rng.IntN(2*spread+1) - spread) }
	bar := func() bool { return rng.IntN(kinds) == 0 }
	switch rng.IntN(4) {
	case 0:
		problem.SetCosts(inst, costsOf[int32](rows*cols, inst.Maximize, draw, bar))
	case 1:
		problem.SetCosts(inst, costsOf[int64](rows*cols, inst.Maximize, draw, bar))
	case 2:
		problem.SetCosts(inst, costsOf[float32](rows*cols, inst.Maximize, func() float64 { return draw() / 8 }, bar))
	default:
		problem.SetCosts(inst, costsOf[float64](rows*cols, inst.Maximize, func() float64 { return draw() / 8 }, bar))
	}
	return inst
}

func costsOf[T problem.Number](n int, maximize bool, draw func() float64, bar func() bool) []T {
	list := make([]T, n)
	for k := range list {
		if list[k] = T(draw()); bar() {
			list[k] = problem.Forbidden[T](maximize)
		}
	}
	return list
}

// worstOf is the value of a matching's worst pair, as a number.
func worstOf(inst *problem.Instance, column []int32) float64 {
	w := math.Inf(-1)
	if inst.Maximize {
		w = math.Inf(1)
	}
	for i, j := range column {
		if j < 0 {
			continue
		}
		c := solve.Number(inst.CostDecimals(i, int(j))).Float()
		if inst.Maximize {
			w = min(w, c)
		} else {
			w = max(w, c)
		}
	}
	return w
}

func TestBottleneckAgainstAllMatchings(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	none := 0
	for n := range 2000 {
		inst := small(rng)
		want, found := math.Inf(1), false
		if inst.Maximize {
			want = -want
		}
		matchings(inst, func(column []int32) {
			found = true
			if w := worstOf(inst, column); w < want != inst.Maximize && w != want {
				want = w
			}
		})
		r, err := Solve(context.Background(), inst, Options{Bottleneck: true})
		var infeasible *problem.InfeasibleError
		if errors.As(err, &infeasible) {
			none++
			if found || r == nil || !r.Proven || r.Certificate.Hall == nil {
				t.Fatalf("instance %d: %v, though there are matchings: %t", n, err, found)
			}
			continue
		}
		if err != nil || !found {
			t.Fatalf("instance %d: %v, there are matchings: %t", n, err, found)
		}
		if got := worstOf(inst, r.Column); got != want || r.Value.Float() != want || !r.Proven || *r.Report.Gap != 0 || r.Value.String() != r.Cost(r.Certificate.Row) {
			t.Fatalf("instance %d: found %v (%s, proven %t), expected %v", n, got, r.Value.String(), r.Proven, want)
		}
	}
	if none < 100 {
		t.Errorf("%d instances had no matching: too few to tell", none)
	}
}

// Every number of an integer type may be a cost, its least and its largest too.
func TestBottleneckOfEveryInteger(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 9))
	ends := []int64{math.MinInt64, math.MinInt64 + 1, -1, 0, 1, math.MaxInt64 - 1, math.MaxInt64}
	for n := range 600 {
		rows, cols := 1+rng.IntN(4), 1+rng.IntN(4)
		inst := &problem.Instance{Rows: rows, Cols: cols, Type: problem.Int64, Every: true, Unsigned: n%3 == 0, Maximize: n%2 == 0, Source: "ends"}
		for range rows * cols {
			inst.I64 = append(inst.I64, ends[rng.IntN(len(ends))])
		}
		worst := func(column []int32) (w int64) {
			first := true
			for i, j := range column {
				if j < 0 {
					continue
				}
				if c := inst.I64[i*cols+int(j)]; first || inst.Maximize && c < w || !inst.Maximize && c > w {
					w, first = c, false
				}
			}
			return w
		}
		var best int64
		found := false
		matchings(inst, func(column []int32) {
			if w := worst(column); !found || inst.Maximize && w > best || !inst.Maximize && w < best {
				best, found = w, true
			}
		})
		r, err := Solve(t.Context(), inst, Options{Bottleneck: true})
		if err != nil {
			t.Fatalf("instance %d: %v", n, err)
		}
		if got := worst(r.Column); !found || got != best || !r.Proven || r.Value.String() != inst.CostDecimals(r.Certificate.Row, int(r.Column[r.Certificate.Row])) {
			t.Fatalf("instance %d, %s: found the worst cost %d (%s, proven %t), expected %d", n, inst.Type, got, r.Value.String(), r.Proven, best)
		}
	}
}

// Costs of any range are compared as they are: sums of some of them are no float64, and differences are lost in others.
func TestBottleneckOfWideFloats(t *testing.T) {
	rng := rand.New(rand.NewPCG(10, 11))
	for n := range 400 {
		rows, cols := 1+rng.IntN(4), 1+rng.IntN(4)
		inst := &problem.Instance{Rows: rows, Cols: cols, Type: problem.Float64, Maximize: n%2 == 0, Source: "wide"}
		for range rows * cols {
			c := math.Ldexp(1+float64(rng.IntN(4))*0x1p-52, rng.IntN(2040)-1060)
			if rng.IntN(3) == 0 {
				c = -c
			}
			inst.F64 = append(inst.F64, c)
		}
		want := math.Inf(1)
		if inst.Maximize {
			want = -want
		}
		matchings(inst, func(column []int32) {
			if w := worstOf(inst, column); w < want != inst.Maximize && w != want {
				want = w
			}
		})
		r, err := Solve(t.Context(), inst, Options{Bottleneck: true})
		if err != nil || r.Value.Float() != want || !r.Proven {
			t.Fatalf("instance %d, %v: found %v, %v, expected %v", n, inst.F64, r, err, want)
		}
	}
}

func TestCheckBottleneck(t *testing.T) {
	inst, err := problem.NewInstance(3, 3, []int32{1, 5, 9, 2, 6, 9, 9, 9, 3}, "test") // 6 and better: row 0 or 1 takes column 1
	if err != nil {
		t.Fatal(err)
	}
	r, err := Solve(context.Background(), inst, Options{Bottleneck: true})
	if err != nil || r.Value.String() != "5" {
		t.Fatalf("found %v, %v", r, err)
	}
	var members []int32
	for _, k := range r.Certificate.Hall.Members {
		members = append(members, int32(k))
	}
	for name, c := range map[string]struct{ column, members []int32 }{
		"a worse matching":    {[]int32{0, 1, 2}, members},
		"no proof":            {r.Column, nil},
		"one member":          {r.Column, members[:1]},
		"a member too many":   {r.Column, []int32{3}},
		"a column taken":      {[]int32{1, 1, 2}, members},
		"a row left out":      {[]int32{1, 0, -1}, members},
		"no such column":      {[]int32{1, 0, 3}, members},
		"another row's proof": {r.Column, []int32{2}},
	} {
		if _, _, err := CheckBottleneck(inst, c.column, c.members); !errors.Is(err, problem.ErrCheck) {
			t.Errorf("%s: found %v, expected an error of the check", name, err)
		}
	}
	if _, row, err := CheckBottleneck(inst, r.Column, members); err != nil || row != 0 {
		t.Errorf("found row %d, %v", row, err)
	}
}

func TestBottleneckOfNothing(t *testing.T) {
	for _, size := range [][2]int{{0, 0}, {0, 3}, {3, 0}} {
		inst, err := problem.NewInstance(size[0], size[1], []float64{}, "test")
		if err != nil {
			t.Fatal(err)
		}
		r, err := Solve(context.Background(), inst, Options{Bottleneck: true})
		if err != nil || len(r.Column) != size[0] || r.Value.String() != "" || !math.IsNaN(r.Value.Float()) || r.Proven {
			t.Errorf("%v: found %+v, %v", size, r, err)
		}
	}
	limit := 3.0
	inst, err := problem.NewInstance(1, 1, []int32{1}, "test")
	if err != nil {
		t.Fatal(err)
	}
	inst.Limit = &limit
	if _, err := Solve(context.Background(), inst, Options{Bottleneck: true}); err == nil {
		t.Error("found no error of a limit")
	}
}

func TestRankAgainstAllMatchings(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	o := Options{Settings: solve.Settings{Devices: []device.Device{host.Open(1)}}}
	for n := range 200 {
		inst := small(rng)
		var want []float64
		matchings(inst, func(column []int32) {
			sum, _ := totalCost(inst, column)
			value := sum.Float()
			want = append(want, value)
		})
		slices.Sort(want)
		if inst.Maximize {
			slices.Reverse(want)
		}
		k := 2 + rng.IntN(30)
		o.KBest = k
		r, err := Solve(context.Background(), inst, o)
		var infeasible *problem.InfeasibleError
		if errors.As(err, &infeasible) && len(want) == 0 {
			continue
		}
		if err != nil {
			t.Fatalf("instance %d: %v", n, err)
		}
		var got []float64
		for _, m := range r.Best {
			if value, _ := totalCost(inst, m.Column); value.Float() != m.Value || checkMatching(inst, m.Column) != nil {
				t.Fatalf("instance %d: %v is worth %v, found %v, %v", n, m.Column, value, m.Value, checkMatching(inst, m.Column))
			}
			got = append(got, m.Value)
		}
		if !slices.Equal(got, want[:min(k, len(want))]) || r.Complete != (k > len(want)) || r.Duals != nil || !r.Proven {
			t.Fatalf("instance %d: found %v, complete %t, expected %v", n, got, r.Complete, want)
		}
		text, err := json.Marshal(r)
		var back struct {
			Solution []int32
			Best     []struct {
				Value    float64
				Solution []int32
			}
		}
		if err != nil || json.Unmarshal(text, &back) != nil || len(back.Best) != len(got) || !slices.Equal(back.Best[0].Solution, back.Solution) {
			t.Fatalf("instance %d: found %s, %v", n, text, err)
		}
	}
	for _, k := range []int{0, 1} {
		o.KBest = k
		inst, err := problem.NewInstance(2, 2, []int32{1, 2, 3, 4}, "test")
		if err != nil {
			t.Fatal(err)
		}
		if r, err := Solve(context.Background(), inst, o); err != nil || r.Best != nil {
			t.Errorf("k = %d: found %v, %v, expected no ranking", k, r, err)
		}
	}
}

// The memory of a ranking counts no more matchings than there are.
func TestRankingBytes(t *testing.T) {
	limit := 1.0
	for _, c := range []struct {
		rows, cols int
		limit      *float64
		k          int
		count      float64 // of matchings, at 140 bytes a row and 8 a column
	}{{0, 3, nil, 9, 1}, {1, 1, nil, 9, 1}, {3, 2, nil, 9, 6}, {3, 3, nil, 5, 5}, {20, 20, nil, 1 << 30, 1 << 30}, {1, 1, &limit, 9, 2}} {
		inst := &problem.Instance{Rows: c.rows, Cols: c.cols, Type: problem.Int32, Limit: c.limit}
		rows, cols := float64(min(c.rows, c.cols)), float64(max(c.rows, c.cols))
		if c.limit != nil {
			cols += rows
		}
		if got, want := RankingBytes(inst, c.k), c.count*(140*rows+8*cols); got != want {
			t.Errorf("%+v: found %v, expected %v", c, got, want)
		}
	}
}
