package assignment

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"coalesce/generated/assignment"
	"coalesce/runtime/device"
	"coalesce/runtime/emulated/emulatedtest"
)

// A trialChecker checks planted problems of one shape.
type trialChecker struct {
	*checker
	d      device.Device
	s      device.Stream
	cert   Certificate   // of the last run
	second *trialChecker // of the rows after those of the first, nil for all
}

func openChecker(t *testing.T, d device.Device, v *device.Variant, rows, cols int) *trialChecker {
	t.Helper()
	c, err := newChecker(d, v, rows, cols)
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
	return &trialChecker{checker: c, d: d, s: s}
}

func (c *trialChecker) run(t *testing.T, p *planted) error {
	t.Helper()
	b := p.inst.Bytes()
	costs, err := c.d.Alloc(int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	defer costs.Free()
	if err := c.s.Upload(costs, 0, b); err != nil {
		t.Fatal(err)
	}
	m := &matrix{costs, p.rows, p.cols}
	if c.second == nil {
		c.cert, err = c.check(context.Background(), c.s, p.normal, m, p.sol)
	} else {
		c.cert, err = c.split(t, p, m)
	}
	if err != nil && !errors.Is(err, ErrCheck) {
		t.Fatal(err)
	}
	return err
}

// split checks the rows of two shards, each with costs of its own.
func (c *trialChecker) split(t *testing.T, p *planted, m *matrix) (Certificate, error) {
	t.Helper()
	width := int64(p.cols * p.inst.Type.Size())
	from, n := int64(c.rows)*width, int64(c.second.rows)*width
	rest, err := c.d.Alloc(n)
	if err != nil {
		t.Fatal(err)
	}
	defer rest.Free()
	if err := c.second.s.Upload(rest, 0, p.inst.Bytes()[from:from+n]); err != nil {
		t.Fatal(err)
	}
	return checkShards(context.Background(), p.normal, []shard{
		{c.checker, c.s, &matrix{m.costs, c.rows, p.cols}, 0},
		{c.second.checker, c.second.s, &matrix{rest, c.second.rows, p.cols}, c.rows},
	}, p.sol)
}

// agrees holds the certificate against the host's.
func (c *trialChecker) agrees(t *testing.T, p *planted) {
	t.Helper()
	inst := *p.inst
	if p.limit != far {
		limit := float64(p.limit) / p.scale
		inst.Limit = &limit
	}
	want, err := Check(&inst, p.sol.column, Duals{p.sol.u, p.sol.v, p.scale})
	if err != nil {
		t.Fatalf("the host's check: %v", err)
	}
	if want.By = c.cert.By; c.cert != want {
		t.Errorf("found %+v, the host %+v", c.cert, want)
	}
}

var values = []Value{Int32, Int64, Float32, Float64}

func checkVariant(t *testing.T, params string, value Value) *device.Variant {
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
					p := plant(value, shape[0], shape[1], maximize, limited, uint64(seed))
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
func (p *planted) setCost(i, j int, scaled float64) {
	k := i*p.cols + j
	switch p.inst.Type {
	case Int32:
		p.inst.I32[k] = int32(scaled / p.scale)
	case Int64:
		p.inst.I64[k] = int64(scaled / p.scale)
	case Float32:
		p.inst.F32[k] = float32(scaled / p.scale)
	case Float64:
		p.inst.F64[k] = scaled / p.scale
	}
}

// Every way of being wrong is found, and named.
func TestCheckFindsCorruption(t *testing.T) {
	const rows, cols = 37, 45
	type corruption struct {
		name    string
		limited bool
		floats  bool // only floats can be wrong like this
		corrupt func(p *planted)
		want    string
	}
	list := []corruption{
		{name: "a row's dual too large", corrupt: func(p *planted) { p.sol.u[20] += 7 }, want: "the first 20 (from 0, column"},
		{name: "a row's dual too small", corrupt: func(p *planted) { p.sol.u[36]-- }, want: "1 rows, the first 36"},
		{name: "a row's dual out of range", corrupt: func(p *planted) { p.sol.u[0] = math.MaxInt64 }, want: "rows, the first 0 (from 0"},
		{name: "a column's dual out of range", corrupt: func(p *planted) { p.sol.v[44] = math.MinInt64 }, want: "44 (from 0, dual -9223372036854775808): its dual is out of range"},
		{name: "two columns exchanged", corrupt: func(p *planted) {
			c := p.sol.column
			c[3], c[30] = c[30], c[3]
		}, want: "the first 3 (from 0"},
		{name: "one column twice", corrupt: func(p *planted) { p.sol.column[9] = p.sol.column[8] }, want: "rows, the first"},
		{name: "no such column", corrupt: func(p *planted) { p.sol.column[9] = cols }, want: "1 rows, the first 9 (from 0, column 45"},
		{name: "a negative column", corrupt: func(p *planted) { p.sol.column[9] = -2 }, want: "its column does not exist"},
		{name: "an unmatched row", corrupt: func(p *planted) { p.sol.column[35] = -1 }, want: "1 rows, the first 35 (from 0, column -1"},
		{name: "an unmatched column's dual", corrupt: func(p *planted) { p.sol.v[p.free()] = -1 }, want: "it is unmatched and its dual is not zero"},
		{name: "a positive dual", corrupt: func(p *planted) {
			j := p.sol.column[4]
			p.sol.u[4] += p.sol.v[j] - 5
			p.sol.v[j] = 5
		}, want: "its dual is positive"},
		{name: "a cheaper pair", corrupt: func(p *planted) { p.setCost(17, 44, float64(p.sol.u[17]+p.sol.v[44]-8)) }, want: "1 pairs cost less than their duals, the first row 17, column 44"},
		{name: "a cheaper matched pair", corrupt: func(p *planted) {
			j := p.sol.column[2]
			p.setCost(2, int(j), float64(p.sol.u[2]+p.sol.v[j]-8))
		}, want: "the first 2 (from 0"},
		{name: "a dearer matched pair", corrupt: func(p *planted) {
			j := p.sol.column[2]
			p.setCost(2, int(j), float64(p.sol.u[2]+p.sol.v[j]+8))
		}, want: "its pair has slack"},
		{name: "a forbidden matched pair", corrupt: func(p *planted) { p.inst.forbid(31*cols + int(p.sol.column[31])) }, want: "the first 31 (from 0"},
		{name: "an unmatched row below the limit", limited: true, corrupt: func(p *planted) { p.sol.u[5]-- }, want: "it is unmatched and its dual is not the limit"},
		{name: "a dual above the limit", limited: true, corrupt: func(p *planted) {
			j := p.sol.column[7]
			p.sol.v[j] -= p.limit + 1 - p.sol.u[7]
			p.sol.u[7] = p.limit + 1
		}, want: "its dual is beyond the limit"},
		{name: "an unmatched row that need not be", limited: true, corrupt: func(p *planted) { p.sol.column[7] = -1 }, want: "the first 7 (from 0, column -1"},
		{name: "not a number", floats: true, corrupt: func(p *planted) { p.setCost(36, 0, math.NaN()) }, want: "the first row 36, column 0"},
		{name: "an infinity of the wrong sign", floats: true, corrupt: func(p *planted) { p.setCost(0, 44, math.Inf(-1)) }, want: "the first row 0, column 44"},
		{name: "an inexact cost", floats: true, corrupt: func(p *planted) { p.setCost(0, 0, float64(p.sol.u[0]+p.sol.v[0])+70.25) }, want: "costs were rounded"},
	}
	d := emulatedtest.Open(t)
	for n, value := range append(values, Int32, Float32) {
		v := checkVariant(t, "block=256,rows=32,flight=4", value)
		c := openChecker(t, d, v, rows, cols)
		if n >= len(values) { // the rows on two devices
			c = openChecker(t, d, v, 15, cols)
			c.second = openChecker(t, d, v, rows-15, cols)
		}
		if err := c.run(t, plant(value, rows, cols, false, n%2 == 0, 77)); err != nil {
			t.Errorf("%s: %v", value, err)
		}
		for i, k := range list {
			if k.floats && value.Integer() {
				continue
			}
			for _, maximize := range []bool{false, true} {
				p := plant(value, rows, cols, maximize, k.limited, uint64(i))
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
	v := checkVariant(t, "block=128,rows=32,flight=8", Int32)
	for _, cols := range []int{24, 25} {
		c := openChecker(t, d, v, 24, cols)
		p := plant(Int32, 24, cols, false, false, 5)
		for i := range p.sol.u {
			p.sol.u[i] += 1000
		}
		for j := range p.sol.v {
			p.sol.v[j] -= 1000
		}
		if err := c.run(t, p); (err == nil) != (cols == 24) {
			t.Errorf("24 x %d: %v", cols, err)
		}
	}
}

// Costs become integers as package assignment says: to nearest, ties to even.
func TestCheckRounds(t *testing.T) {
	d := emulatedtest.Open(t)
	for _, value := range []Value{Float32, Float64} {
		c := openChecker(t, d, checkVariant(t, "block=256,rows=32,flight=4", value), 1, 1)
		for _, scale := range []float64{1, 1.0 / 1024, 1 << 30, -1, 0x1p-40} { // 2^k, to maximise where negative
			for _, x := range []float64{0, 0.5, 1.5, 2.5, -0.5, -1.5, 0.49999997, 3.75, 1e6 + 0.5, 1025, 1536, 512, -2560, 0x1p-149, 0x1p-1074, 7e8} {
				p := plant(value, 1, 1, false, false, 1)
				p.scale, p.exact, p.inst.Maximize = scale, false, scale < 0
				p.setCost(0, 0, x*scale)
				cost := p.inst.F64
				if value == Float32 {
					cost = []float64{float64(p.inst.F32[0])}
				}
				p.sol.u[0], p.sol.v[0] = int64(math.RoundToEven(cost[0]*scale)), 0
				if err := c.run(t, p); err != nil {
					t.Errorf("%s %v times %v: %v", value, cost[0], scale, err)
				} else {
					c.agrees(t, p)
				}
				p.sol.u[0]++
				if c.run(t, p) == nil {
					t.Errorf("%s %v times %v passes for %d", value, cost[0], scale, p.sol.u[0])
				}
			}
		}
	}
}

// Sums beyond 64 bits are still exact.
func TestCheckAddsUpBeyond64Bits(t *testing.T) {
	d := emulatedtest.Open(t)
	const n = 40
	c := openChecker(t, d, checkVariant(t, "block=256,rows=32,flight=4", Int64), n, n)
	p := plant(Int64, n, n, false, false, 3)
	for i := range p.sol.u {
		p.sol.u[i] = -1 << 60
		p.sol.v[i] = -1 << 59
	}
	for k := range p.inst.I64 {
		p.inst.I64[k] = -1<<60 - 1<<59
	}
	if err := c.run(t, p); err != nil {
		t.Error(err)
	}
	p.sol.v[n-1] += 3
	if err := c.run(t, p); err == nil || !strings.Contains(err.Error(), "add up to -69175290276410818560, the duals to -69175290276410818557") {
		t.Errorf("found %v, expected the sum of the costs in full", err)
	}
}

func TestCheckVariants(t *testing.T) {
	d := emulatedtest.Open(t)
	f := &assignment.Check
	for _, v := range emulatedtest.Variants(f) {
		value := Value(f.Value(v, "value"))
		c := openChecker(t, d, v, 50, 52)
		p := plant(value, 50, 52, false, false, 9)
		if err := c.run(t, p); err != nil {
			t.Errorf("%s: %v", v.Label, err)
		}
		p.setCost(49, 51, float64(p.sol.u[49]+p.sol.v[51]-8))
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
				p := plant(value, shape[0], shape[1], r.IntN(2) == 0, r.IntN(3) == 0, r.Uint64())
				for range 1 + r.IntN(2) {
					i, j := r.IntN(p.rows), r.IntN(p.cols)
					delta := r.Int64N(5) - 2
					switch r.IntN(6) {
					case 0:
						p.sol.u[i] += delta
					case 1:
						p.sol.v[j] += delta
					case 2:
						p.sol.u[i] += delta
						p.sol.v[j] -= delta
					case 3:
						p.sol.column[i] = int32(r.IntN(p.cols+2) - 1)
					case 4:
						p.setCost(i, j, float64(p.sol.u[i]+p.sol.v[j]+8*delta))
					case 5:
						p.inst.forbid(i*p.cols + j)
					}
				}
				inst := *p.inst
				if p.limit != far {
					limit := float64(p.limit) / p.scale
					inst.Limit = &limit
				}
				_, want := Check(&inst, p.sol.column, Duals{p.sol.u, p.sol.v, p.scale})
				got := c.run(t, p)
				if p.exact && want == nil && got != nil && strings.Contains(got.Error(), "costs were rounded") {
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
