package semidefinite

import (
	"math"
	"math/rand/v2"

	"coalesce/runtime/host/kernels/linear"
)

// rankFor is the length of the vectors of n spins: with √(2n) the relaxation has no other local optima than its best (Boumal, Voroninski
// and Bandeira, 2016). A multiple of 16; shorter where there are many.
func rankFor(n int) int {
	return min(128, (int(math.Sqrt(2*float64(n)))+16)/16*16)
}

// A pace calls stop from time to time: after about so many products of numbers.
type pace struct {
	stop  func() error
	since int
	total int // products so far
}

const productsPerStop = 1 << 19

func (p *pace) did(products int) error {
	p.total += products
	if p.since += products; p.since < productsPerStop {
		return nil
	}
	p.since = 0
	return p.stop()
}

// A Search improves vectors, one of length 1 for each spin, so that Σ a(i,j) v(i)·v(j) grows, and finds bounds from them. Vectors are of float32:
// their rounding moves bounds by a millionth.
type Search struct {
	m    *Model
	rank int
	v    []float32 // a vector a row
	pace *pace
}

// NewSearch begins with random vectors. Its work ends with the error of stop, which is called every tenth of a millisecond or so.
func (m *Model) NewSearch(stop func() error) *Search {
	s := &Search{m: m, rank: rankFor(m.N), pace: &pace{stop: stop}}
	s.v = make([]float32, m.N*s.rank)
	r := rand.New(rand.NewPCG(1, 2))
	for k := range s.v {
		s.v[k] = float32(r.NormFloat64())
	}
	for i := range m.N {
		normalize(s.v[i*s.rank:][:s.rank])
	}
	return s
}

// normalize scales a vector, of a multiple of 4 numbers, to length 1 and returns its length; a vector of zeros stays.
func normalize(v []float32) float64 {
	var a, b, c, d float64 // whose squares do not overflow
	for x := v; len(x) >= 4; x = x[4:] {
		a += float64(x[0]) * float64(x[0])
		b += float64(x[1]) * float64(x[1])
		c += float64(x[2]) * float64(x[2])
		d += float64(x[3]) * float64(x[3])
	}
	length := math.Sqrt(a + b + c + d)
	if inverse := float32(1 / length); length > 0 {
		for k := range v {
			v[k] *= inverse
		}
	}
	return length
}

// sweep sets every vector to the best where the others stay.
func (s *Search) sweep() error {
	sum := make([]float32, s.rank)
	for i := range s.m.N {
		if s.combine(i, sum); normalize(sum) > 0 {
			copy(s.v[i*s.rank:], sum)
		}
		if err := s.paceOf(i); err != nil {
			return err
		}
	}
	return nil
}

// combine sets sum to Σ a(i,j) v(j).
func (s *Search) combine(i int, sum []float32) {
	col, weight := s.m.row(i)
	linear.Combine(sum, s.v, col, weight)
}

// paceOf counts the work of combine.
func (s *Search) paceOf(i int) error {
	return s.pace.did(s.rank * int(s.m.start[i+1]-s.m.start[i]+8))
}

// Sweeps before the first bound. Later bounds come after twice as many as the one before, and after at least half the work of its proof.
const (
	firstSweeps = 8
	mostSweeps  = 1 << 14
	nearEnough  = 1e-6 // of the sum of y, between a bound and the relaxation's value: later bounds are hardly better
)

// Run looks for better and better bounds on objectives, and calls improved with each, and with the y that prove it, which is the callee's. It ends
// once none is better by more than a little, with nil, or with an error: of stop, of improved, or ErrLarge.
func (s *Search) Run(improved func(bound int64, y []float64) error) error {
	best, found := int64(0), false
	y := make([]float64, s.m.N)
	for sweeps, next := 0, firstSweeps; ; {
		began, first := s.pace.total, sweeps
		for ; sweeps < next; sweeps++ {
			if err := s.sweep(); err != nil {
				return err
			}
		}
		swept := s.pace.total
		each := max(1, (swept-began)/(next-first))
		value, err := s.dual(y)
		if err != nil {
			return err
		}
		sum := 0.0
		for _, v := range y {
			sum += v
		}
		raised, total, err := s.raise(y, sum, func(total float64) bool { return !found || s.m.approximate(total) < float64(best) })
		if err != nil {
			return err
		}
		if raised != nil {
			if bound, ok := s.m.objective(raised); ok && (!found || bound < best) {
				best, found = bound, true
				if err := improved(bound, raised); err != nil {
					return err
				}
			}
		}
		if total-value <= nearEnough*sum || found && float64(best) <= s.m.approximate(value) || next >= mostSweeps {
			return nil
		}
		next += max(next, (s.pace.total-swept)/(2*each))
	}
}

// raise adds to y what makes diag(y) - a positive, and proves that; nil where it fails or where worth, which gets the sum, finds no use. The sum
// includes what is added.
func (s *Search) raise(y []float64, sum float64, worth func(total float64) bool) ([]float64, float64, error) {
	least, err := s.leastEigenvalue(y)
	if err != nil {
		return nil, 0, err
	}
	n := float64(s.m.N)
	small := sum / n * 1e-8
	shift, more := 1.02*max(0, -least)+small, small
	total := sum + n*shift
	raised := make([]float64, s.m.N)
	for range 12 {
		if !worth(sum + n*shift) {
			break
		}
		for i, v := range y {
			if raised[i] = 0; s.m.start[i] < s.m.start[i+1] {
				raised[i] = roundedUp(v+shift, small)
			}
		}
		switch ok, err := s.m.isPositive(raised, s.pace.inTurn, s.pace); {
		case err != nil:
			return nil, 0, err
		case ok:
			return raised, total, nil
		}
		shift, more = 1.4*shift+more, 4*more
	}
	return nil, total, nil
}

// roundedUp is a number of few decimals that is above v by little.
func roundedUp(v, little float64) float64 {
	ten := math.Pow(10, math.Floor(-math.Log10(little)))
	if scaled := math.Ceil(v * ten); scaled < 1<<53 && ten > 0 && !math.IsInf(ten, 1) {
		return scaled / ten
	}
	return v
}

// Prove is the bound on objectives that y prove; false where they prove none.
func (m *Model) Prove(y []float64) (bound int64, ok bool, err error) {
	if len(y) != m.N {
		return 0, false, nil
	}
	if ok, err = m.isPositive(y, allCores, &pace{stop: func() error { return nil }}); !ok || err != nil {
		return 0, false, err
	}
	bound, ok = m.objective(y)
	return bound, ok, nil
}

// dual fills y with the lengths of Σ a(i,j) v(j), and returns the value of the vectors, Σ a(i,j) v(i)·v(j).
func (s *Search) dual(y []float64) (value float64, err error) {
	sum := make([]float32, s.rank)
	for i := range y {
		s.combine(i, sum)
		dot := float32(0)
		for k, x := range s.v[i*s.rank:][:s.rank] {
			dot += x * sum[k]
		}
		value += float64(dot)
		y[i] = normalize(sum)
		if err := s.paceOf(i); err != nil {
			return 0, err
		}
	}
	return value, nil
}

// multiply sets out to (diag(y) - a) x.
func (m *Model) multiply(y, x, out []float64, p *pace) error {
	for i := range m.N {
		col, weight := m.row(i)
		var a, b float64
		k := 0
		for ; k+1 < len(col); k += 2 {
			a += weight[k] * x[col[k]]
			b += weight[k+1] * x[col[k+1]]
		}
		if k < len(col) {
			a += weight[k] * x[col[k]]
		}
		out[i] = y[i]*x[i] - a - b
		if err := p.did(8 * (len(col) + 8)); err != nil {
			return err
		}
	}
	return nil
}

// unitLength scales a vector to length 1 and returns its length; a vector of zeros stays.
func unitLength(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x * x
	}
	length := math.Sqrt(sum)
	if length > 0 {
		for k := range v {
			v[k] /= length
		}
	}
	return length
}

// mostSteps of Lanczos' method are made.
const mostSteps = 400

// leastEigenvalue estimates the least eigenvalue of diag(y) - a by Lanczos' method. The estimate is seldom too low.
func (s *Search) leastEigenvalue(y []float64) (float64, error) {
	n := s.m.N
	r := rand.New(rand.NewPCG(3, 4))
	q, before, next := make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range q {
		q[i] = r.NormFloat64()
	}
	unitLength(q)
	var diag, off []float64
	least, check := 0.0, 25
	for step := range min(mostSteps, 2*n+20) { // rounding makes it find eigenvalues anew
		if err := s.m.multiply(y, q, next, s.pace); err != nil {
			return 0, err
		}
		d := 0.0
		for i, x := range q {
			d += x * next[i]
		}
		beta := 0.0
		if step > 0 {
			beta = off[step-1]
		}
		for i := range next {
			next[i] -= d*q[i] + beta*before[i]
		}
		diag = append(diag, d)
		beta = unitLength(next)
		off = append(off, beta)
		if !(beta > 1e-12*math.Abs(d)) {
			break
		}
		before, q, next = q, next, before
		if step == check {
			now := leastOfTridiagonal(diag, off)
			if math.Abs(now-least) < 0.03*math.Abs(now) {
				return now, nil
			}
			least, check = now, check+check/2
		}
	}
	return leastOfTridiagonal(diag, off), nil
}

// leastOfTridiagonal is the least eigenvalue of a symmetric tridiagonal matrix, by bisection.
func leastOfTridiagonal(diag, off []float64) float64 {
	low, high := math.Inf(1), math.Inf(1)
	for i, d := range diag {
		radius := 0.0
		if i > 0 {
			radius += math.Abs(off[i-1])
		}
		if i+1 < len(diag) {
			radius += math.Abs(off[i])
		}
		low, high = min(low, d-radius), min(high, d)
	}
	hasBelow := func(x float64) bool {
		pivot := 1.0
		for i, d := range diag {
			b := 0.0
			if i > 0 {
				b = off[i-1]
			}
			if pivot = d - x - b*b/pivot; pivot <= 0 {
				return true
			}
		}
		return false
	}
	for range 60 {
		if middle := (low + high) / 2; hasBelow(middle) {
			high = middle
		} else {
			low = middle
		}
	}
	return high
}
