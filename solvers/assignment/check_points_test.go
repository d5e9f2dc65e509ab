package assignment

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"coalesce/generated/assignment"
	"coalesce/runtime/emulated/emulatedtest"
)

// The device's certificate of points is the host's, and what the host rejects
// the device rejects.
func TestPointcheck(t *testing.T) {
	d := emulatedtest.Open(t)
	f := &assignment.Pointcheck
	r := rand.New(rand.NewPCG(4, 97))
	s, err := d.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, v := range emulatedtest.Variants(f) {
		for k := range 3 {
			p := pointCase(t, r, Metric(f.Value(v, "metric")), f.Value(v, "value") == "int64", []int{5, 40, 50}[k])
			if k == 1 { // more coordinates than go through shared memory at once
				p = widePoints(t, r, p.inst.Points)
			}
			sol, err := reference(p, nil)
			if err != nil {
				t.Fatal(err)
			}
			c, err := newPointCheckerOf(d, v, p)
			if err != nil {
				t.Fatal(err)
			}
			cert, err := c.check(context.Background(), s, p, nil, sol)
			want, wrong := Check(p.inst, sol.column, Duals{sol.u, sol.v, p.scale})
			if want.By = cert.By; err != nil || wrong != nil || cert != want {
				t.Errorf("%s, %d x %d: found %+v, %v, the host %+v, %v", v.Label, p.rows, p.cols, cert, err, want, wrong)
			}
			for range 5 {
				spoiled := spoil(r, p, sol)
				_, found := c.check(context.Background(), s, p, nil, spoiled)
				_, want := Check(p.inst, spoiled.column, Duals{spoiled.u, spoiled.v, p.scale})
				if want == nil {
					_, want = prove(p, spoiled)
				}
				if (found != nil) != (want != nil) || found != nil && !errors.Is(found, ErrCheck) {
					t.Errorf("%s, %d x %d: found %v, the host %v", v.Label, p.rows, p.cols, found, want)
				}
			}
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// widePoints makes a problem of 37 coordinates a point.
func widePoints(t *testing.T, r *rand.Rand, like *Points) *normal {
	t.Helper()
	q := Points{Dim: 37, Metric: like.Metric, Floor: like.Floor}
	for range 20 * q.Dim {
		q.Row, q.Col = append(q.Row, r.NormFloat64()), append(q.Col, r.NormFloat64())
	}
	inst, err := NewPoints(q, "test")
	if err != nil {
		t.Fatal(err)
	}
	p, err := normalise(inst)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// spoil changes one dual by a unit or one column, sometimes nothing.
func spoil(r *rand.Rand, p *normal, sol *solution) *solution {
	bad := &solution{column: append([]int32{}, sol.column...), duals: duals{append([]int64{}, sol.u...), append([]int64{}, sol.v...)}}
	i, j := r.IntN(p.rows), r.IntN(p.cols)
	switch r.IntN(6) {
	case 0:
		bad.u[i]++
	case 1:
		bad.u[i]--
	case 2:
		bad.v[j]++
	case 3:
		bad.v[j]--
	case 4:
		bad.column[i] = int32(j)
	}
	return bad
}
