package payoff

import (
	"math/big"
	"math/bits"
	"slices"
)

// A fixed is coalitions whose payoffs are fixed, independent of each other, and the same equations solved as far as they go: each line has a 1 in
// the column of its agent, where others have 0.
type fixed struct {
	n     int
	masks []uint64
	paid  []*big.Rat
	lines [][]*big.Rat // the last entry is the payoff
	agent []int        // of each line
}

func newFixed(n int) *fixed { return &fixed{n: n} }

func (f *fixed) rank() int { return len(f.lines) }

// reduce subtracts lines from one, so that it has 0 in their agents' columns.
func (f *fixed) reduce(line []*big.Rat) {
	t := new(big.Rat)
	for k, own := range f.lines {
		by := new(big.Rat).Set(line[f.agent[k]])
		if by.Sign() == 0 {
			continue
		}
		for i, v := range own {
			if v.Sign() != 0 {
				line[i].Sub(line[i], t.Mul(by, v))
			}
		}
	}
}

// fix fixes the payoff of a coalition unless others give it.
func (f *fixed) fix(mask uint64, paid *big.Rat) {
	line := make([]*big.Rat, f.n+1)
	for i := range line {
		line[i] = big.NewRat(int64(mask>>i&1), 1)
	}
	line[f.n].Set(paid)
	f.reduce(line)
	at := slices.IndexFunc(line[:f.n], func(v *big.Rat) bool { return v.Sign() != 0 })
	if at < 0 {
		return
	}
	turn, t := new(big.Rat).Inv(line[at]), new(big.Rat)
	for _, v := range line {
		v.Mul(v, turn)
	}
	for _, other := range f.lines {
		by := new(big.Rat).Set(other[at])
		for i, v := range line {
			other[i].Sub(other[i], t.Mul(by, v))
		}
	}
	f.lines, f.agent = append(f.lines, line), append(f.agent, at)
	f.masks, f.paid = append(f.masks, mask), append(f.paid, new(big.Rat).Set(paid))
}

// spanned reports whether what is fixed gives a weighted sum of payoffs.
func (f *fixed) spanned(weights []*big.Rat) bool {
	line := make([]*big.Rat, f.n+1)
	for i, w := range weights {
		line[i] = new(big.Rat).Set(w)
	}
	line[f.n] = new(big.Rat)
	f.reduce(line)
	return !slices.ContainsFunc(line[:f.n], func(v *big.Rat) bool { return v.Sign() != 0 })
}

// spans reports for each coalition whether what is fixed gives its payoff: where all directions in which payoffs may still move, one for each agent without a line,
// leave the coalition's alone. Entries of directions are quotients of determinants of 0 and 1, small integers over a common denominator.
func (f *fixed) spans() []bool {
	given := slices.Repeat([]bool{true}, 1<<f.n)
	sums := make([]int64, 1<<f.n)
	for open := range f.n {
		if slices.Contains(f.agent, open) {
			continue
		}
		common := big.NewInt(1)
		for _, line := range f.lines {
			d := line[open].Denom()
			common.Mul(common, new(big.Int).Div(d, new(big.Int).GCD(nil, nil, d, common)))
		}
		move := make([]int64, f.n)
		move[open] = common.Int64()
		for k, line := range f.lines {
			v := new(big.Rat).SetInt(common)
			v.Mul(v, line[open])
			move[f.agent[k]] = -v.Num().Int64()
		}
		for mask := 1; mask < len(sums); mask++ {
			sums[mask] = sums[mask&(mask-1)] + move[bits.TrailingZeros(uint(mask))]
			given[mask] = given[mask] && sums[mask] == 0
		}
	}
	return given
}

// payoffs are those of all agents, where all are fixed.
func (f *fixed) payoffs() []*big.Rat {
	x := make([]*big.Rat, f.n)
	for k, line := range f.lines {
		x[f.agent[k]] = line[f.n]
	}
	return x
}
