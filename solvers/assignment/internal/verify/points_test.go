package verify

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"coalesce/generated/assignment"
	"coalesce/runtime/emulated/emulatedtest"
	"coalesce/solvers/assignment/internal/engine"
	"coalesce/solvers/assignment/internal/enginetest"
	"coalesce/solvers/assignment/internal/reference"
	"coalesce/solvers/assignment/problem"
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
			p := enginetest.PointCase(t, r, problem.Metric(f.Value(v, "metric")), f.Value(v, "value") == "int64", []int{5, 40, 50}[k])
			if k == 1 { // more coordinates than go through shared memory at once
				p = widePoints(t, r, p.Instance.Points)
			}
			sol, err := reference.Solve(p, nil)
			if err != nil {
				t.Fatal(err)
			}
			c, err := OpenPointsVariant(d, v, p)
			if err != nil {
				t.Fatal(err)
			}
			cert, near, err := c.Check(context.Background(), s, p, nil, sol)
			want, pairs, wrong := problem.CheckNear(p.Instance, sol.Column, problem.Duals{U: sol.U, V: sol.V, Scale: p.Scale}, int64(p.Rows)+1, math.MaxInt)
			if p.Rows == p.Cols && p.Limit == problem.Infinity && len(onCycles(sol.Column, pairs)) == 0 {
				pairs = nil
			}
			if cert.Rounded > 0 && !samePairs(near, pairs) {
				t.Errorf("%s: found %d near pairs, the host %d", v.Label, len(near), len(pairs))
			}
			if want.By = cert.By; err != nil || wrong != nil || cert != want {
				t.Errorf("%s, %d x %d: found %+v, %v, the host %+v, %v", v.Label, p.Rows, p.Cols, cert, err, want, wrong)
			}
			for range 5 {
				spoiled := spoil(r, p, sol)
				_, _, found := c.Check(context.Background(), s, p, nil, spoiled)
				_, want := problem.Check(p.Instance, spoiled.Column, problem.Duals{U: spoiled.U, V: spoiled.V, Scale: p.Scale})
				if want == nil {
					_, want = enginetest.CheckOptimal(p, spoiled)
				}
				if (found != nil) != (want != nil) || found != nil && !errors.Is(found, problem.ErrCheck) {
					t.Errorf("%s, %d x %d: found %v, the host %v", v.Label, p.Rows, p.Cols, found, want)
				}
			}
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// widePoints makes a problem of 37 coordinates a point.
func widePoints(t *testing.T, r *rand.Rand, like *problem.Points) *problem.Normal {
	t.Helper()
	q := problem.Points{Dim: 37, Metric: like.Metric, Floor: like.Floor}
	for range 20 * q.Dim {
		q.Row, q.Col = append(q.Row, r.NormFloat64()), append(q.Col, r.NormFloat64())
	}
	inst, err := problem.NewPoints(q, "test")
	if err != nil {
		t.Fatal(err)
	}
	p, err := problem.Normalise(inst)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// spoil changes one dual by a unit or one column, sometimes nothing.
func spoil(r *rand.Rand, p *problem.Normal, sol *engine.Solution) *engine.Solution {
	bad := &engine.Solution{Column: append([]int32{}, sol.Column...), Prices: problem.Prices{U: append([]int64{}, sol.U...), V: append([]int64{}, sol.V...)}}
	i, j := r.IntN(p.Rows), r.IntN(p.Cols)
	switch r.IntN(6) {
	case 0:
		bad.U[i]++
	case 1:
		bad.U[i]--
	case 2:
		bad.V[j]++
	case 3:
		bad.V[j]--
	case 4:
		bad.Column[i] = int32(j)
	}
	return bad
}
