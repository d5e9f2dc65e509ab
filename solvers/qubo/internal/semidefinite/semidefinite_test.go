package semidefinite

import (
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"coalesce/solvers/qubo/internal/qubotest"
	"coalesce/solvers/qubo/problem"
)

func goOn() error { return nil }

func endless() *pace { return &pace{stop: goOn} }

// drawProblem draws a problem of up to 11 variables, of any density and magnitude, with ties, zeros and fixed variables.
func drawProblem(r *rand.Rand) (*problem.Normal, []int8) {
	n := r.IntN(12)
	grain := int64(1) << r.IntN(40)
	p := qubotest.RandomProblem(r, n, []float64{0.1, 0.4, 1}[r.IntN(3)], grain*(1+r.Int64N(1<<r.IntN(10))), grain)
	switch r.IntN(4) {
	case 0: // a maximum cut
		for i := range p.N {
			p.Diag[i] = 0
			for _, w := range p.Weight[p.Start[i]:p.Start[i+1]] {
				p.Diag[i] -= w / 2
			}
		}
	case 1:
		clear(p.Diag)
	case 2: // magnitudes far apart
		for i := range p.N {
			p.Diag[i] <<= r.IntN(12)
		}
	}
	if r.IntN(2) == 0 {
		return p, nil
	}
	fixed := make([]int8, n)
	for i := range fixed {
		fixed[i] = int8(r.IntN(3)) - 1
	}
	return p, fixed
}

// Every bound of a search holds, is proven again, and the last is near the relaxation's value.
func TestBoundsHold(t *testing.T) {
	r := rand.New(rand.NewPCG(60, 1))
	met := 0
	for k := range 3000 {
		p, fixed := drawProblem(r)
		best := qubotest.Optimum(p, fixed)
		m, err := NewModel(p, fixed)
		if err != nil {
			t.Fatal(err)
		}
		last, found := int64(0), false
		err = m.NewSearch(goOn).Run(func(bound int64, y []float64) error {
			if found && bound >= last {
				t.Errorf("problem %d: bound %d after %d", k, bound, last)
			}
			last, found = bound, true
			again, ok, err := m.Prove(y)
			if err != nil || !ok || again != bound || bound < best {
				t.Fatalf("problem %d of %d variables: bound %d, proven again %d, %t, %v; the best is %d", k, p.N, bound, again, ok, err, best)
			}
			return nil
		})
		if err != nil || !found {
			t.Fatalf("problem %d of %d variables, %d pairs: found a bound: %t, %v", k, p.N, len(p.Col)/2, found, err)
		}
		if last == best {
			met++
		}
	}
	if met < 1000 {
		t.Errorf("the bounds of %d problems are met, expected a third", met)
	}
}

// exactly decides in rational arithmetic whether diag(y) - a has no negative eigenvalue.
func exactly(p *problem.Normal, m *Model, y []float64) bool {
	s := make([][]*big.Rat, m.N)
	for i := range s {
		s[i] = make([]*big.Rat, m.N)
		for j := range s[i] {
			s[i][j] = new(big.Rat)
		}
		s[i][i].SetFloat64(y[i])
	}
	for i := range p.N {
		field := 2 * p.Diag[i]
		col, weight := p.Row(i)
		for k, j := range col {
			s[i][j].SetInt64(-weight[k])
			field += weight[k]
		}
		if m.N > p.N {
			s[i][p.N].SetInt64(-field)
			s[p.N][i].SetInt64(-field)
		}
	}
	for k := range s {
		switch s[k][k].Sign() {
		case -1:
			return false
		case 0:
			if slices.ContainsFunc(s[k][k:], func(v *big.Rat) bool { return v.Sign() != 0 }) {
				return false
			}
			continue
		}
		for i := k + 1; i < len(s); i++ {
			factor := new(big.Rat).Quo(s[i][k], s[k][k])
			for j := k; j < len(s); j++ {
				s[i][j].Sub(s[i][j], new(big.Rat).Mul(factor, s[k][j]))
			}
		}
	}
	return true
}

// Nothing is proven that rational arithmetic refutes, also where an eigenvalue is 0 up to rounding, and little is missed.
func TestPositive(t *testing.T) {
	r := rand.New(rand.NewPCG(60, 2))
	accepted, refused, missed := 0, 0, 0
	for k := range 6000 {
		n := 1 + r.IntN(7)
		p := qubotest.RandomProblem(r, n, 0.8, 1+r.Int64N(1<<r.IntN(56)), 1) // to beyond 2^53, which float64 rounds
		m, err := NewModel(p, nil)
		if err != nil {
			t.Fatal(err)
		}
		y := make([]float64, m.N)
		s := m.NewSearch(goOn)
		for range 1 + r.IntN(200) {
			if err := s.sweep(); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := s.dual(y); err != nil {
			t.Fatal(err)
		}
		least, err := s.leastEigenvalue(y)
		if err != nil {
			t.Fatal(err)
		}
		scale := math.Exp2(float64(-r.IntN(56))) // from far off to the last bit
		for i := range y {
			y[i] += -least + (2*r.Float64()-1)*scale*y[i]
		}
		ok, err := m.isPositive(y, endless().inTurn, endless())
		if err != nil {
			t.Fatal(err)
		}
		switch truth := exactly(p, m, y); {
		case ok && !truth:
			t.Fatalf("problem %d of %d variables: proven for %v, which is wrong", k, n, y)
		case ok:
			accepted++
		case truth:
			missed++
		default:
			refused++
		}
	}
	if accepted < 1000 || refused < 1000 || missed > 2000 {
		t.Errorf("accepted %d, refused %d, missed %d", accepted, refused, missed)
	}
}

// Singular matrices of every size around the steps of the factorization: J + (y-1) I has the eigenvalue y-1.
func TestNearlySingular(t *testing.T) {
	for _, n := range []int{1, 2, 7, 8, 9, 63, 64, 65, 127, 128, 129, 200, 401} {
		pairs := map[[2]int]int64{}
		for i := range n {
			for j := range i {
				pairs[[2]int{j, i}] = -2
			}
		}
		p := qubotest.Sparse(n, func(int) int64 { return int64(n - 1) }, pairs)
		m, err := NewModel(p, nil)
		if err != nil {
			t.Fatal(err)
		}
		if m.N != n {
			t.Fatalf("%d variables: %d spins, as if fields were not 0", n, m.N)
		}
		for _, c := range []struct {
			over float64
			want bool
		}{{-1e-3, false}, {-1e-12, false}, {-0x1p-52, false}, {0, n == 1}, {1e-7, true}} {
			y := slices.Repeat([]float64{2 * (1 + c.over)}, n)
			if n == 1 {
				y[0] -= 2
			}
			for name, work := range map[string]team{"cores": allCores, "turn": endless().inTurn} {
				if ok, err := m.isPositive(y, work, endless()); err != nil || ok != c.want {
					t.Errorf("%d spins, %v over, %s: found %t, %v, expected %t", n, c.over, name, ok, err, c.want)
				}
			}
		}
	}
}

// Sparse rows are eliminated as dense ones are: tori, trees and stars of many spins.
func TestSparse(t *testing.T) {
	r := rand.New(rand.NewPCG(60, 3))
	for name, p := range map[string]*problem.Normal{
		"torus": qubotest.Torus(r, 25),
		"star":  star(400),
		"pairs": qubotest.RandomProblem(r, 500, 0.006, 9, 1),
	} {
		m, err := NewModel(p, nil)
		if err != nil {
			t.Fatal(err)
		}
		var y []float64
		if err := m.NewSearch(goOn).Run(func(_ int64, better []float64) error { y = better; return nil }); err != nil || y == nil {
			t.Fatalf("%s: %v", name, err)
		}
		diag := make([]float64, m.N)
		for _, change := range []float64{0, -1e-4} {
			for i := range y {
				diag[i] = m.reduced(y[i]*(1+change), i)
				if m.start[i] == m.start[i+1] {
					diag[i] = 1
				}
			}
			want, err := m.matrix(slices.Clone(diag)).factorize(endless().inTurn, endless())
			if err != nil {
				t.Fatal(err)
			}
			rest, got, err := m.eliminate(diag, endless())
			if got && err == nil {
				got, err = rest.factorize(endless().inTurn, endless())
			}
			if err != nil || got != want || want != (change == 0) {
				t.Errorf("%s, changed by %v: sparse %t, %v, dense %t", name, change, got, err, want)
			}
		}
	}
}

// star is a spin with n pairs of many weights.
func star(n int) *problem.Normal {
	pairs := map[[2]int]int64{}
	for i := 1; i < n; i++ {
		pairs[[2]int{0, i}] = int64(2 * (i%7 - 3))
	}
	return qubotest.Sparse(n, func(i int) int64 { return int64(i%3 - 1) }, pairs)
}

// Numbers that are no proof are refused: of another length, altered, not finite.
func TestAltered(t *testing.T) {
	r := rand.New(rand.NewPCG(60, 4))
	altered, stronger := 0, 0
	for altered < 1000 {
		p := qubotest.RandomProblem(r, 8+r.IntN(30), 0.5, 20, 1)
		m, err := NewModel(p, nil)
		if err != nil {
			t.Fatal(err)
		}
		var y []float64
		var bound int64
		if err := m.NewSearch(goOn).Run(func(b int64, better []float64) error { bound, y = b, better; return nil }); err != nil {
			t.Fatal(err)
		}
		for range 20 {
			z := slices.Clone(y)
			k := r.IntN(len(z))
			switch r.IntN(5) {
			case 0:
				z = z[:len(z)-1]
			case 1:
				z = append(z, 1)
			case 2:
				z[k] = []float64{math.NaN(), math.Inf(1), math.Inf(-1), -1, -z[k] - 1e-9, 0x1p90}[r.IntN(6)]
			case 3:
				z[k] *= 0.5
			case 4: // all a little less: the least eigenvalue is 0, up to what the proof takes
				for i := range z {
					z[i] *= 0.99
				}
			}
			altered++
			again, ok, err := m.Prove(z)
			if ok && again < bound { // then it is another proof, of a better bound
				stronger++
			}
			if ok && again < qubotest.Optimum(p, nil) && p.N < 14 || err != nil {
				t.Fatalf("%v was accepted as a proof of %d: %v", z, again, err)
			}
		}
	}
	if stronger > 0 {
		t.Errorf("%d of %d altered proofs were accepted for a better bound", stronger, altered)
	}
}

// A search ends with the error of stop or of the callee, at any point.
func TestStop(t *testing.T) {
	p := qubotest.RandomProblem(rand.New(rand.NewPCG(60, 5)), 150, 0.3, 9, 1)
	m, err := NewModel(p, nil)
	if err != nil {
		t.Fatal(err)
	}
	calls, enough := 0, errors.New("enough")
	whole := m.NewSearch(func() error { calls++; return nil }).Run(func(int64, []float64) error { return nil })
	if whole != nil || calls < 20 {
		t.Fatalf("%v after %d calls of stop", whole, calls)
	}
	for end := 1; end < calls; end += 1 + calls/50 {
		left := end
		err := m.NewSearch(func() error {
			if left--; left == 0 {
				return enough
			}
			if left < 0 {
				t.Error("stop was called after it had ended the search")
			}
			return nil
		}).Run(func(int64, []float64) error { return nil })
		if err != enough {
			t.Errorf("stopped at call %d: found %v", end, err)
		}
	}
	if err := m.NewSearch(goOn).Run(func(int64, []float64) error { return enough }); err != enough {
		t.Errorf("found %v", err)
	}
}
