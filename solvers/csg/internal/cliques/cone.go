package cliques

import (
	"cmp"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"

	"coalesce/runtime/host/kernels/linear"
)

// A Conic proves a bound of all partitions. Let X(i,j) be 1 where nodes i and j share a block, else 0. X(i,j) is at least 0, and by 2-partition inequalities X adds up to at most the lesser
// number of nodes: over pairs of the two sides, less those within a side. Prices of these relax a partition to the matrix X of a partition, which has no negative eigenvalue and ones on its
// diagonal: where diag(Prices) less half of the weights that are left has none either, no partition is worth more than all prices add up to.
type Conic struct {
	Shift  uint      `json:"shift,omitempty"`                               // prices are in 2^-shift of a unit
	Cuts   []Cut     `json:"cuts,omitempty" none:"there are none"`          // 2-partition inequalities
	Pairs  []int64   `json:"pairs,omitempty" none:"there are fewer than 2"` // prices of X(i,j) ≥ 0, of the pairs (2,1), (3,1), (3,2), (4,1), …
	Prices []float64 `json:"prices"`                                        // prices of the nodes
}

// mostEntry bounds magnitudes of weights that are left: float64 holds their halves.
const mostEntry = 1 << 52

// weightsLeft is the weights that prices leave, a square, and what the cuts allow times their prices; false where the proof is none of a graph's.
func (c *Conic) weightsLeft(g *Graph) (w []int64, allowed *big.Int, ok bool) {
	n := g.N
	if c.Shift > maxShift || len(c.Pairs) != n*(n-1)/2 || len(c.Prices) != n {
		return nil, nil, false
	}
	w = g.dense()
	for k, x := range w {
		if x > mostEntry>>c.Shift || x < -mostEntry>>c.Shift {
			return nil, nil, false
		}
		w[k] = x << c.Shift
	}
	ok, at := true, 0
	add := func(i, j int, price int64) {
		x := w[i*n+j] + price
		ok = ok && x <= 1<<60 && x >= -1<<60
		w[i*n+j], w[j*n+i] = x, x
	}
	for i := range n {
		for j := range i {
			if price := c.Pairs[at]; price < 0 || price > mostEntry {
				return nil, nil, false
			} else if price > 0 {
				add(i, j, price)
			}
			at++
		}
	}
	allowed = new(big.Int)
	for k := range c.Cuts {
		cut := &c.Cuts[k]
		if cut.Price < 0 || cut.Price > mostEntry || cut.First < 1 || !cut.isOf(n) {
			return nil, nil, false
		}
		cut.pairs(func(i, j int, across bool) {
			if across {
				add(i, j, -cut.Price)
			} else {
				add(i, j, cut.Price)
			}
		})
		allowed.Add(allowed, new(big.Int).Mul(big.NewInt(cut.Price), big.NewInt(cut.least())))
	}
	for _, x := range w {
		ok = ok && x <= mostEntry && x >= -mostEntry
	}
	return w, allowed, ok
}

// Bound is the bound in units, and false if the proof does not hold for a graph.
func (c *Conic) Bound(g *Graph) (bound int64, ok bool) {
	w, allowed, ok := c.weightsLeft(g)
	if !ok || !provesPositive(c.Prices, func(i int, row []float64) bool {
		for j := range row {
			row[j] = float64(w[i*g.N+j])
		}
		return true
	}, never) {
		return 0, false
	}
	return c.sum(allowed)
}

// sum is what all prices add up to, in units, rounded down.
func (c *Conic) sum(allowed *big.Int) (int64, bool) {
	sum := new(big.Float).SetPrec(2000)
	for _, y := range c.Prices {
		sum.Add(sum, new(big.Float).SetFloat64(y))
	}
	whole, _ := sum.Int(nil) // prices are not negative
	whole.Add(whole, allowed).Rsh(whole, c.Shift)
	return whole.Int64(), whole.IsInt64()
}

// least is the lesser number of nodes of a 2-partition inequality's sides.
func (c *Cut) least() int64 { return int64(min(c.First, len(c.Nodes)-c.First)) }

// pairs calls pair with the pairs of a 2-partition inequality, and whether one joins its sides.
func (c *Cut) pairs(pair func(i, j int, across bool)) {
	for a, i := range c.Nodes {
		for b, j := range c.Nodes[:a] {
			pair(int(i), int(j), a >= c.First && b < c.First)
		}
	}
}

// A Cone finds proofs by the semidefinite program of partitions with cuts: the most Σ w(i,j) X(i,j), where X is the products of unit vectors, one for each node, X ≥ 0, and cuts hold. Its
// augmented Lagrangian is maximised over vectors of low rank (Burer and Monteiro, Mathematical Programming 95, 2003) by limited-memory steps, and what X violates is priced round by round.
type Cone struct {
	Bound int64  // the best so far
	Best  *Conic // which proves it; nil: none does yet

	g                 *Graph
	random            *rand.Rand
	n, padded, rank   int
	scale             float64   // root of the mean square of a node's weights
	w, x, left        []float64 // weights, products of vectors, weights that prices leave: padded squares, below the diagonal; left above it too
	v                 []float64 // vectors, padded rows
	pair              []float64 // prices of X ≥ 0, as w
	cuts              []Cut
	price             []float64 // of cuts
	known             map[string]bool
	noise             float64 // of vectors, that leads out of saddle points
	packed, transpose []float64
	shift             uint
	approximate       float64 // of Best, in units
}

// MostConic is the most nodes of a Cone.
const MostConic = 500

// Of a Cone: steps of a round, stiffness of the augmented Lagrangian, violations that cuts are added for, cuts of each node at most, and members of a 2-partition inequality's larger side.
const (
	coneSteps     = 40
	stiffness     = 0.2
	coneViolated  = 0.01
	coneCuts      = 60
	mostSide      = 12
	lbfgsMemory   = 12
	firstNoise    = 0.003
	leastGradient = 1e-3
)

// NewCone begins with random vectors.
func NewCone(g *Graph, random *rand.Rand) *Cone {
	n := g.N
	c := &Cone{g: g, random: random, n: n, padded: (n + linear.TileCols - 1) / linear.TileCols * linear.TileCols, known: map[string]bool{}, noise: firstNoise, Bound: g.PositiveSum()}
	c.approximate = float64(c.Bound)
	c.rank = (n/3 + 16 + linear.TileCols - 1) / linear.TileCols * linear.TileCols
	c.scale = max(g.scale(), 1e-300)
	size := c.padded * c.padded
	c.w, c.pair, c.x, c.left = make([]float64, size), make([]float64, size), make([]float64, size), make([]float64, size)
	for i := range n {
		col, weight := g.Row(i)
		for k, j := range col {
			c.w[i*c.padded+int(j)] = float64(weight[k]) / c.scale
		}
	}
	c.v = make([]float64, c.padded*c.rank)
	c.disturb(1)
	c.packed, c.transpose = make([]float64, linear.TileRows*max(c.rank, c.padded)), make([]float64, c.padded*c.rank)
	// Prices rounded to 10^-5 of the mean weight of a node raise a bound by about as much.
	for c.shift < maxShift && math.Ldexp(c.scale, int(c.shift)) < 1e5*math.Sqrt(float64(n)) {
		c.shift++
	}
	return c
}

// disturb adds noise to vectors.
func (c *Cone) disturb(noise float64) {
	for i := range c.n {
		row := c.vector(c.v, i)
		for k := range row {
			row[k] += noise * c.random.NormFloat64()
		}
		normalize(row)
	}
}

func (c *Cone) vector(v []float64, i int) []float64 { return v[i*c.rank : (i+1)*c.rank] }

// at is X(i,j).
func (c *Cone) at(i, j int) float64 { return c.x[max(i, j)*c.padded+min(i, j)] }

// Round improves the prices. It lowers the bound if they prove a lower one, by at least a given share of the gap to value. It reports whether another round may help.
func (c *Cone) Round(value int64, stop func() bool) bool {
	if c.n < 2 || c.Bound <= value {
		return false
	}
	c.disturb(c.noise)
	c.climb(stop)
	if stop() {
		return false
	}
	c.takePrices()
	c.prove(value, stop)
	c.separate()
	c.noise = max(c.noise*0.97, 1e-5)
	return c.Bound > value
}

// multiply sets x to the products of vectors.
func (c *Cone) multiply(v []float64) {
	const rows, cols = linear.TileRows, linear.TileCols
	r := c.rank
	for b := 0; b < c.padded; b += cols {
		for k := range cols {
			for p, x := range c.vector(v, b+k) {
				c.transpose[b*r+p*cols+k] = x
			}
		}
	}
	clear(c.x)
	packed := c.packed[:rows*r]
	for i := 0; i < c.padded; i += rows {
		for k := range rows {
			for p, x := range c.vector(v, i+k) {
				packed[p*rows+k] = -x
			}
		}
		for b := 0; b < i+rows; b += cols {
			linear.Subtract(c.x[i*c.padded+b:], c.padded, packed, c.transpose[b*r:(b+cols)*r])
		}
	}
}

// apply multiplies vectors by the weights left.
func (c *Cone) apply(v, out []float64) {
	const rows, cols = linear.TileRows, linear.TileCols
	for i := range c.n {
		for j := range i {
			c.left[j*c.padded+i] = c.left[i*c.padded+j]
		}
	}
	r := c.rank
	for b := 0; b < r; b += cols {
		for p := range c.padded {
			copy(c.transpose[b*c.padded+p*cols:][:cols], v[p*r+b:])
		}
	}
	clear(out)
	packed := c.packed[:rows*c.padded]
	for i := 0; i < c.padded; i += rows {
		for p := range c.padded {
			for k, x := range c.left[p*c.padded+i:][:rows] {
				packed[p*rows+k] = -x
			}
		}
		for b := 0; b < r; b += cols {
			linear.Subtract(out[i*r+b:], r, packed, c.transpose[b*c.padded:(b+cols)*c.padded])
		}
	}
}

// violation is by how much X exceeds what a cut allows.
func (c *Cone) violation(cut *Cut) float64 {
	if len(cut.Nodes) == 3 {
		s, a, b := int(cut.Nodes[0]), int(cut.Nodes[1]), int(cut.Nodes[2])
		return c.at(s, a) + c.at(s, b) - c.at(a, b) - 1
	}
	sum := -float64(cut.least())
	cut.pairs(func(i, j int, across bool) {
		if across {
			sum += c.at(i, j)
		} else {
			sum -= c.at(i, j)
		}
	})
	return sum
}

// charge takes a price of a cut from the weights left.
func (c *Cone) charge(cut *Cut, price float64) {
	cut.pairs(func(i, j int, across bool) {
		if across {
			c.left[max(i, j)*c.padded+min(i, j)] -= price
		} else {
			c.left[max(i, j)*c.padded+min(i, j)] += price
		}
	})
}

// lagrangian is the augmented Lagrangian of vectors, and gradient its derivative.
func (c *Cone) lagrangian(v, gradient []float64) (value float64) {
	c.multiply(v)
	penalty := 0.0
	for i := range c.n {
		row := i * c.padded
		w, pair, left := c.w[row:row+i], c.pair[row:row+i], c.left[row:row+i]
		for j, x := range c.x[row : row+i] {
			value += w[j] * x
			price := max(0, pair[j]-stiffness*x)
			penalty += price*price - pair[j]*pair[j]
			left[j] = w[j] + price
		}
	}
	for t := range c.cuts {
		price := max(0, c.price[t]+stiffness*c.violation(&c.cuts[t]))
		penalty += price*price - c.price[t]*c.price[t]
		if price > 0 {
			c.charge(&c.cuts[t], price)
		}
	}
	c.apply(v, gradient)
	return value - penalty/(2*stiffness)
}

// project takes from a gradient what lengthens vectors, and returns its square.
func (c *Cone) project(v, gradient []float64) (square float64) {
	for i := range c.n {
		a, b := c.vector(v, i), c.vector(gradient, i)
		along := product(a, b)
		for k, x := range a {
			b[k] -= along * x
			square += b[k] * b[k]
		}
	}
	return square
}

func product(a, b []float64) float64 {
	var s, t, u, v float64
	for len(a) >= 4 && len(b) >= 4 { // four sums, none of which waits for another
		s += a[0] * b[0]
		t += a[1] * b[1]
		u += a[2] * b[2]
		v += a[3] * b[3]
		a, b = a[4:], b[4:]
	}
	for i, x := range a {
		s += x * b[i]
	}
	return s + t + (u + v)
}

// A step of climb and the change of the gradient, its sign turned.
type change struct {
	step, turn []float64
	inverse    float64 // of their product
}

// climb maximises the augmented Lagrangian over vectors by L-BFGS on the product of spheres.
func (c *Cone) climb(stop func() bool) {
	size := len(c.v)
	gradient, next, after, ascent := make([]float64, size), make([]float64, size), make([]float64, size), make([]float64, size)
	var changes []change
	value := c.lagrangian(c.v, gradient)
	square := c.project(c.v, gradient)
	tolerance := leastGradient * c.noise / firstNoise
	for taken := 0; taken < coneSteps && square > tolerance*tolerance && !stop(); taken++ {
		slope := direction(ascent, gradient, changes, square/float64(c.n))
		if !(slope > 0) {
			changes = nil
			slope = direction(ascent, gradient, nil, square/float64(c.n))
		}
		better, step := math.Inf(-1), 1.0
		for range 20 {
			for i := range c.n {
				row, from, by := c.vector(next, i), c.vector(c.v, i), c.vector(ascent, i)
				for k := range row {
					row[k] = from[k] + step*by[k]
				}
				normalize(row)
			}
			if better = c.lagrangian(next, after); better >= value+1e-4*step*slope {
				break
			}
			step /= 2
		}
		if !(better > value) {
			if changes == nil {
				return
			}
			changes = nil
			continue
		}
		square = c.project(next, after)
		now := change{make([]float64, size), make([]float64, size), 0}
		for i := range now.step {
			now.step[i], now.turn[i] = next[i]-c.v[i], gradient[i]-after[i]
		}
		if p := product(now.step, now.turn); p > 1e-14 {
			now.inverse = 1 / p
			changes = append(changes, now)
			changes = changes[max(0, len(changes)-lbfgsMemory):]
		}
		c.v, next = next, c.v
		gradient, after = after, gradient
		value = better
	}
}

// direction sets ascent to the gradient times an approximate inverse of the curvature, and returns its product with the gradient.
func direction(ascent, gradient []float64, changes []change, meanSquare float64) float64 {
	copy(ascent, gradient)
	add := func(v []float64, times float64) {
		for i, x := range v {
			ascent[i] += times * x
		}
	}
	along := make([]float64, len(changes))
	factor := min(1, 0.1/math.Sqrt(meanSquare))
	for k := len(changes) - 1; k >= 0; k-- {
		h := &changes[k]
		along[k] = h.inverse * product(h.step, ascent)
		add(h.turn, -along[k])
		if k == len(changes)-1 {
			factor = 1 / (h.inverse * product(h.turn, h.turn))
		}
	}
	for i := range ascent {
		ascent[i] *= factor
	}
	for k := range changes {
		h := &changes[k]
		add(h.step, along[k]-h.inverse*product(h.turn, ascent))
	}
	return product(ascent, gradient)
}

// takePrices takes what X violates into the prices, and drops cuts that it is far from.
func (c *Cone) takePrices() {
	c.multiply(c.v)
	for i := range c.n {
		row := i * c.padded
		for j, x := range c.x[row : row+i] {
			c.pair[row+j] = max(0, c.pair[row+j]-stiffness*x)
		}
	}
	kept := 0
	for t := range c.cuts {
		by := c.violation(&c.cuts[t])
		price := max(0, c.price[t]+stiffness*by)
		if price == 0 && by < -0.05 {
			delete(c.known, keyOf(&c.cuts[t]))
			continue
		}
		c.cuts[kept], c.price[kept] = c.cuts[t], price
		kept++
	}
	c.cuts, c.price = c.cuts[:kept], c.price[:kept]
}

// prove makes a proof of the prices, rounded to whole multiples of 2^-shift units. The nodes' prices are what the vectors' gradient has along them, raised until the weights left have no eigenvalue above them.
func (c *Cone) prove(value int64, stop func() bool) {
	n, unit := c.n, math.Ldexp(c.scale, int(c.shift)) // of prices
	p := &Conic{Shift: c.shift, Pairs: make([]int64, 0, n*(n-1)/2), Prices: make([]float64, n)}
	for i := range n {
		for j := range i {
			p.Pairs = append(p.Pairs, int64(math.Round(c.pair[i*c.padded+j]*unit)))
		}
	}
	for t := range c.cuts {
		if price := int64(math.Round(c.price[t] * unit)); price > 0 {
			cut := c.cuts[t]
			cut.Price = price
			p.Cuts = append(p.Cuts, cut)
		}
	}
	left, allowed, ok := p.weightsLeft(c.g)
	if !ok {
		return
	}
	for i := range n {
		for j := range i {
			c.left[i*c.padded+j] = float64(left[i*n+j])
		}
	}
	gradient := make([]float64, len(c.v))
	c.apply(c.v, gradient)
	total := 0.0
	for i := range n {
		p.Prices[i] = max(0, product(c.vector(c.v, i), c.vector(gradient, i))/2)
		total += p.Prices[i]
	}
	fixed, _ := new(big.Float).SetInt(allowed).Float64()
	bound := func(raise float64) float64 { return math.Ldexp(fixed+total+raise*float64(n), -int(c.shift)) }
	worth := c.approximate - 0.01*max(0, c.approximate-float64(value)) // a proof costs more than a step
	rows := make([]float64, n*n)
	low, high := 0.0, 1e-9*unit
	for !c.positive(p.Prices, high, rows) {
		if low, high = high, 8*high; !(bound(low) <= worth) || stop() {
			return
		}
	}
	for high > 1.1*low && high > 1e-12*unit && bound(low) < worth && !stop() {
		middle := math.Sqrt(max(low, high/64) * high)
		if c.positive(p.Prices, middle, rows) {
			high = middle
		} else {
			low = middle
		}
	}
	if bound(high) > worth {
		return
	}
	for i := range p.Prices {
		p.Prices[i] += 1.001 * high
	}
	if proven, ok := p.Bound(c.g); ok && proven < c.Bound {
		c.Bound, c.Best = proven, p
		c.approximate = bound(high)
	}
}

// positive reports whether diag(prices), raised, less half of the weights left has Cholesky factors in float64.
func (c *Cone) positive(prices []float64, raise float64, rows []float64) bool {
	n := c.n
	for i := range n {
		row := rows[i*n : i*n+i+1]
		for j, x := range c.left[i*c.padded : i*c.padded+i] {
			row[j] = (-x/2 - product(rows[j*n:j*n+j], row[:j])) / rows[j*n+j]
		}
		pivot := prices[i] + raise - product(row[:i], row[:i])
		if !(pivot > 0) {
			return false
		}
		row[i] = math.Sqrt(pivot)
	}
	return true
}

// separate adds the cuts that X violates most: triangles first, and where few are violated, those of one node and more than two others, too.
func (c *Cone) separate() {
	most := coneCuts*c.n - len(c.cuts)
	triangles := c.triangles()
	c.add(triangles, min(most, 5*c.n))
	if len(triangles) < c.n {
		c.add(c.stars(), min(most-len(triangles), c.n))
	}
}

// add adds so many candidates at most, those that X violates most.
func (c *Cone) add(found []candidate, most int) {
	slices.SortStableFunc(found, func(p, q candidate) int { return cmp.Compare(q.by, p.by) })
	for _, f := range found {
		if most <= 0 {
			return
		}
		if key := keyOf(&f.cut); !c.known[key] {
			c.known[key] = true
			c.cuts, c.price = append(c.cuts, f.cut), append(c.price, 0)
			most--
		}
	}
}

// triangles are 2-partition inequalities of three nodes, one for each three that X violates one of.
func (c *Cone) triangles() (found []candidate) {
	for i := range c.n {
		for j := range i {
			x := c.at(i, j)
			first, second := c.x[i*c.padded:i*c.padded+j], c.x[j*c.padded:j*c.padded+j]
			for k, y := range first {
				z := second[k]
				most := max(x+y-z, x+z-y, y+z-x)
				if most <= 1+coneViolated {
					continue
				}
				nodes := []int32{int32(k), int32(j), int32(i)}
				if x+y-z == most {
					nodes = []int32{int32(i), int32(k), int32(j)}
				} else if x+z-y == most {
					nodes = []int32{int32(j), int32(k), int32(i)}
				}
				found = append(found, candidate{Cut{Nodes: nodes, First: 1}, most - 1})
			}
		}
	}
	return found
}

// stars are 2-partition inequalities with one node on the first side, greedily from each node and one other.
func (c *Cone) stars() (found []candidate) {
	for s := range c.n {
		var near []int
		for t := range c.n {
			if t != s && c.at(s, t) > 2*coneViolated {
				near = append(near, t)
			}
		}
		for _, first := range near {
			side, sum := []int{first}, c.at(s, first)
			for len(side) < mostSide {
				best, gain := -1, 1e-3
				for _, t := range near {
					g := c.at(s, t)
					for _, u := range side {
						if u == t {
							g = 0
						} else {
							g -= c.at(t, u)
						}
						if g <= gain {
							break
						}
					}
					if g > gain {
						best, gain = t, g
					}
				}
				if best < 0 {
					break
				}
				side, sum = append(side, best), sum+gain
			}
			if len(side) < 3 || sum < 1+coneViolated {
				continue
			}
			slices.Sort(side)
			nodes := []int32{int32(s)}
			for _, t := range side {
				nodes = append(nodes, int32(t))
			}
			found = append(found, candidate{Cut{Nodes: nodes, First: 1}, (sum - 1) / math.Sqrt(float64(len(side)))})
		}
	}
	return found
}
