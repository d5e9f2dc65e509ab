// Package equations finds the solutions of few linear equations in variables of 0 and 1, where a problem is a constant less the squares of
// what these miss, such as a market split. The equations are not given: a factor of the matrix of the pairs, whose rank is their number,
// stands for them.
package equations

import (
	"math/big"

	"coalesce/solvers/qubo/internal/draw"
	"coalesce/solvers/qubo/problem"
)

// Limits of a model.
const (
	MaxVariables = 64
	maxRank      = 12
)

// A Model is a problem whose objective is a constant less a positive semidefinite form of what equations miss.
type Model struct {
	Bound int64 // no objective is larger
	Rest  int64 // nor is one larger than this, where no solution meets the equations
	Count int   // of the equations

	n          int
	attainable bool // the equations may have a solution in integers
	rows       [][]int64
	right      []int64
	keys       []uint64 // a sum of random multiples of the equations, modulo 2^64: of each variable
	key        uint64   // and of the right sides
}

// Find returns the model of a problem, nil where it has none.
//
// With G(i,j) = -weight(i,j) and a diagonal that makes its rank least, the objective is ½ c'x - ½ x'Gx, where c(i) = 2 diag(i) + G(i,i). If
// G has no negative eigenvalue and c is in its range, the objective is largest where 2Gx = c, and the rows of a basis of G say that.
func Find(p *problem.Normal) *Model {
	if p.N > MaxVariables || p.N < 4 {
		return nil
	}
	g := make([][]int64, p.N)
	for i := range g {
		g[i] = make([]int64, p.N)
		col, weight := p.Row(i)
		for k, j := range col {
			g[i][j] = -weight[k]
		}
	}
	if !completeDiagonal(g) {
		return nil
	}
	basis := diagonalBasis(g)
	inverse, scale := invert(g, basis)
	if inverse == nil {
		return nil
	}
	m := &Model{Count: len(basis), n: p.N, attainable: true}
	c := make([]int64, p.N)
	for i := range c {
		c[i] = 2*p.Diag[i] + g[i][i]
	}
	if !spans(g, c, basis, inverse, scale) {
		return nil
	}
	ends := make([]int64, len(basis))
	for k, t := range basis {
		ends[k] = c[t]
	}
	best := form(ends, apply(inverse, ends)) // ⅛ c' G⁻¹ c, over scale
	part := new(big.Int)
	if best.DivMod(best, new(big.Int).Mul(big.NewInt(8), scale), part); !best.IsInt64() {
		return nil
	}
	if m.Bound, m.Rest = best.Int64(), best.Int64(); part.Sign() == 0 {
		m.Rest--
	}
	for _, t := range basis {
		m.add(g[t], c[t])
	}
	return m
}

// add adds the equation 2 row x = end, without common divisors.
func (m *Model) add(row []int64, end int64) {
	var divisor int64
	for _, w := range row {
		divisor = gcd(divisor, max(w, -w))
	}
	if end%(2*divisor) != 0 {
		m.attainable = false
		return
	}
	equation := make([]int64, m.n)
	for i, w := range row {
		equation[i] = w / divisor
	}
	m.rows, m.right = append(m.rows, equation), append(m.right, end/2/divisor)
	if m.keys == nil {
		m.keys = make([]uint64, m.n)
	}
	factor := draw.Splitmix(uint64(len(m.rows))) | 1
	for i, w := range equation {
		m.keys[i] += factor * uint64(w)
	}
	m.key += factor * uint64(end/2/divisor)
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// meets reports whether a solution satisfies the equations.
func (m *Model) meets(x uint64) bool {
	for k, row := range m.rows {
		sum := -m.right[k]
		for i, w := range row {
			sum += w & -int64(x>>i&1)
		}
		if sum != 0 {
			return false
		}
	}
	return true
}

// completeDiagonal sets the diagonal of a symmetric matrix to numbers of at least 0 that make its rank as small as that of a block beside the
// diagonal. It reports whether it could. The rank is computed modulo a prime, and not certain yet.
func completeDiagonal(g [][]int64) bool {
	n := len(g)
	rows, columns := pivots(g, -1)
	if r := len(rows); r == 0 || r > maxRank || 4*r > n {
		return false
	}
	diagonal := make([]int64, n)
	for t := range n {
		r, c := rows, columns
		for k := range rows {
			if rows[k] == t || columns[k] == t {
				r, c = pivots(g, t)
				break
			}
		}
		v, ok := extended(g, r, c, t)
		if !ok || v < 0 {
			return false
		}
		diagonal[t] = v
	}
	for t, v := range diagonal {
		g[t][t] = v
	}
	return true
}

// pivots are rows and columns of a nonsingular block of largest rank modulo the prime, rows of even and columns of odd numbers, without
// the number except. More than maxRank+1 are not looked for.
func pivots(g [][]int64, except int) (rows, columns []int) {
	var block [][]residue
	var at, across []int
	for i := range g {
		if i == except {
			continue
		}
		if i%2 == 1 {
			across = append(across, i)
			continue
		}
		at = append(at, i)
	}
	for _, i := range at {
		row := make([]residue, len(across))
		for k, j := range across {
			row[k] = residueOf(g[i][j])
		}
		block = append(block, row)
	}
	for len(rows) <= maxRank {
		found := false
		for i := 0; i < len(block) && !found; i++ {
			for k, v := range block[i] {
				if v == 0 {
					continue
				}
				rows, columns, found = append(rows, at[i]), append(columns, across[k]), true
				inverse := v.inverse()
				pivot := block[i]
				for l := range block {
					if factor := block[l][k]; l != i && factor != 0 {
						block[l] = minus(block[l], pivot, factor.times(inverse))
					}
				}
				block[i] = make([]residue, len(across))
				break
			}
		}
		if !found {
			break
		}
	}
	return rows, columns
}

// extended is g(t,t) so that the block of rows and columns, with t added to both, is singular.
func extended(g [][]int64, rows, columns []int, t int) (int64, bool) {
	r := len(rows)
	block := make([][]residue, r+1)
	for i := range block {
		block[i] = make([]residue, r+1)
		for k := range block[i] {
			from, to := t, t
			if i < r {
				from = rows[i]
			}
			if k < r {
				to = columns[k]
			}
			if from != to {
				block[i][k] = residueOf(g[from][to])
			}
		}
	}
	for k := range r {
		at := k
		for at < r && block[at][k] == 0 {
			at++
		}
		if at == r {
			return 0, false
		}
		block[k], block[at] = block[at], block[k]
		inverse := block[k][k].inverse()
		for l := k + 1; l <= r; l++ {
			block[l] = minus(block[l], block[k], block[l][k].times(inverse))
		}
	}
	v := residue(0).minus(block[r][r]).signed()
	return v, v < 1<<50
}

// diagonalBasis are numbers of variables whose rows span those of a matrix without negative eigenvalues, modulo the prime.
func diagonalBasis(g [][]int64) (basis []int) {
	n := len(g)
	rest := make([][]residue, n)
	for i := range rest {
		rest[i] = make([]residue, n)
		for j := range rest[i] {
			rest[i][j] = residueOf(g[i][j])
		}
	}
	for len(basis) <= maxRank {
		at := 0
		for at < n && rest[at][at] == 0 {
			at++
		}
		if at == n {
			break
		}
		basis = append(basis, at)
		inverse, pivot := rest[at][at].inverse(), rest[at]
		for l := range rest {
			if factor := rest[l][at]; l != at && factor != 0 {
				rest[l] = minus(rest[l], pivot, factor.times(inverse))
			}
		}
		rest[at] = make([]residue, n)
		for l := range rest {
			rest[l][at] = 0
		}
	}
	return basis
}

// invert returns the inverse of the block of a basis times scale, which makes it integers; nil where the block is not positive definite.
func invert(g [][]int64, basis []int) (inverse [][]*big.Int, scale *big.Int) {
	r := len(basis)
	block := make([][]*big.Rat, r) // with the unit matrix to its right
	for i := range block {
		block[i] = make([]*big.Rat, 2*r)
		for k := range r {
			block[i][k], block[i][r+k] = new(big.Rat).SetInt64(g[basis[i]][basis[k]]), new(big.Rat)
		}
		block[i][r+i].SetInt64(1)
	}
	for k := range r {
		if block[k][k].Sign() <= 0 {
			return nil, nil
		}
		unit := new(big.Rat).Inv(block[k][k])
		for j := range block[k] {
			block[k][j].Mul(block[k][j], unit)
		}
		for i := range block {
			if i == k || block[i][k].Sign() == 0 {
				continue
			}
			factor := new(big.Rat).Set(block[i][k])
			for j := range block[i] {
				block[i][j].Sub(block[i][j], new(big.Rat).Mul(factor, block[k][j]))
			}
		}
	}
	scale = big.NewInt(1)
	for i := range r {
		for k := range r {
			d := block[i][r+k].Denom()
			scale.Mul(scale, new(big.Int).Div(d, new(big.Int).GCD(nil, nil, scale, d)))
		}
	}
	inverse = make([][]*big.Int, r)
	for i := range inverse {
		inverse[i] = make([]*big.Int, r)
		for k := range r {
			v := block[i][r+k]
			inverse[i][k] = new(big.Int).Mul(v.Num(), new(big.Int).Div(scale, v.Denom()))
		}
	}
	return inverse, scale
}

// spans reports whether the rows of a basis span g and c: g(i,j) = g(i,·) G⁻¹ g(·,j) for all i and j, and c likewise, in exact arithmetic.
func spans(g [][]int64, c []int64, basis []int, inverse [][]*big.Int, scale *big.Int) bool {
	column := func(of func(t int) int64) []int64 {
		v := make([]int64, len(basis))
		for k, t := range basis {
			v[k] = of(t)
		}
		return v
	}
	end := apply(inverse, column(func(t int) int64 { return c[t] }))
	want := new(big.Int)
	for i := range g {
		row := column(func(t int) int64 { return g[i][t] })
		if form(row, end).Cmp(want.Mul(scale, big.NewInt(c[i]))) != 0 {
			return false
		}
		through := apply(inverse, row)
		for j := range i + 1 {
			if form(column(func(t int) int64 { return g[j][t] }), through).Cmp(want.Mul(scale, big.NewInt(g[i][j]))) != 0 {
				return false
			}
		}
	}
	return true
}

// apply is a matrix times a vector.
func apply(matrix [][]*big.Int, v []int64) []*big.Int {
	out := make([]*big.Int, len(matrix))
	for i, row := range matrix {
		out[i] = form(v, row)
	}
	return out
}

// form is the inner product of two vectors.
func form(a []int64, b []*big.Int) *big.Int {
	sum, term := new(big.Int), new(big.Int)
	for k, v := range a {
		sum.Add(sum, term.Mul(big.NewInt(v), b[k]))
	}
	return sum
}
