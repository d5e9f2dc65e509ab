// Package replay computes bounds of set packing again from prices of cliques, in exact
// arithmetic, for those who do not want to trust the solver that found them.
package replay

import (
	"fmt"
	"math/big"

	"coalesce/solvers/auction/internal/packing"
)

// A Proof bounds what bids are worth, part by part: all plain bids that can win are in one
// part each. Numbers of bids are their places among the plain ones, from 0: in an auction
// without limits, reserves and goods that have to be sold those of the file.
type Proof struct {
	Parts []Part `json:"parts"`
}

// A Part is bids, and stages that bound their packings.
type Part struct {
	Bids   []int32 `json:"bids"`
	Stages []Stage `json:"stages"` // empty: the part was enumerated, which leaves no proof
}

// A Stage is prices of cliques, bids of which one can win, in 2^-shift of a plain unit.
// Any prices of at least 0 bound the packings of the bids that are left: each clique pays
// once, and each bid what its price lacks in those of its cliques. Bids by which the bound
// falls to the winners' worth or less go before the next stage.
type Stage struct {
	Shift  uint    `json:"shift"`
	Prices []Price `json:"prices"`
}

// A Price is what a clique pays, a whole number in decimals.
type Price struct {
	Bids   []int32 `json:"bids"`
	Amount string  `json:"amount"`
}

// New is the proof of a solve.
func New(parts []packing.Part) *Proof {
	x := &Proof{Parts: []Part{}}
	for _, part := range parts {
		told := Part{part.Bids, []Stage{}}
		for _, stage := range part.Stages {
			s := Stage{Shift: stage.Shift, Prices: []Price{}}
			for _, price := range stage.Prices {
				s.Prices = append(s.Prices, Price{price.Bids, fmt.Sprint(price.Amount)})
			}
			told.Stages = append(told.Stages, s)
		}
		x.Parts = append(x.Parts, told)
	}
	return x
}

// maxShift is the largest shift of a proof that is read.
const maxShift = 64

// A Bid is what a proof speaks of: goods, each of which is sold once, and a price.
type Bid struct {
	Goods []int64
	Price int64
}

// Bound replays a proof against bids of which some are known to win together, and returns
// the bound of all parts; nil where a part has no stages. Errors say what is wrong with the
// proof.
func (x *Proof) Bound(bids []Bid, won []int) (bound *big.Int, err error) {
	r := &replay{bids: bids, part: make([]int32, len(bids)), conflict: make([]map[int32]bool, len(bids)), holders: map[int64][]int32{}}
	for i, b := range bids {
		for _, g := range b.Goods {
			r.holders[g] = append(r.holders[g], int32(i))
		}
	}
	for k, part := range x.Parts {
		for _, i := range part.Bids {
			if i < 0 || int(i) >= len(bids) || r.part[i] != 0 {
				return nil, fmt.Errorf("found bid %d in part %d of the proof, expected each of %d bids in one part", i, k, len(bids))
			}
			r.part[i] = int32(k + 1)
		}
	}
	values := make([]*big.Int, len(x.Parts))
	for k := range values {
		values[k] = new(big.Int)
	}
	for i, b := range bids {
		if b.Price > 0 && r.part[i] == 0 {
			return nil, fmt.Errorf("found bid %d in no part of the proof", i)
		}
	}
	for _, i := range won {
		if k := r.part[i]; k > 0 {
			values[k-1].Add(values[k-1], big.NewInt(bids[i].Price))
		}
	}
	bound = new(big.Int)
	for k, part := range x.Parts {
		most, err := r.bound(int32(k+1), part, values[k])
		if err != nil {
			return nil, fmt.Errorf("part %d of the proof: %w", k, err)
		}
		if most == nil {
			bound = nil
		} else if bound != nil {
			bound.Add(bound, most)
		}
	}
	return bound, nil
}

// A replay holds proofs against plain bids.
type replay struct {
	bids     []Bid
	part     []int32 // of each bid, from 1
	holders  map[int64][]int32
	conflict []map[int32]bool // of bids that were asked for
}

// conflicts are the bids that share a good with one.
func (r *replay) conflicts(i int32) map[int32]bool {
	if r.conflict[i] == nil {
		r.conflict[i] = map[int32]bool{}
		for _, g := range r.bids[i].Goods {
			for _, j := range r.holders[g] {
				r.conflict[i][j] = true
			}
		}
	}
	return r.conflict[i]
}

// bound is the bound of a part, at least the winners' worth in it; nil without stages.
func (r *replay) bound(k int32, part Part, value *big.Int) (*big.Int, error) {
	live := map[int32]bool{}
	for _, i := range part.Bids {
		if r.bids[i].Price > 0 {
			live[i] = true
		}
	}
	var least *big.Int
	for n, stage := range part.Stages {
		if stage.Shift > maxShift {
			return nil, fmt.Errorf("found the shift %d, expected at most %d", stage.Shift, maxShift)
		}
		rest := map[int32]*big.Int{}
		for i := range live {
			rest[i] = new(big.Int).Lsh(big.NewInt(r.bids[i].Price), stage.Shift)
		}
		total := new(big.Int)
		for _, price := range stage.Prices {
			amount, ok := new(big.Int).SetString(price.Amount, 10)
			if !ok || amount.Sign() < 0 {
				return nil, fmt.Errorf("found the price %.40q of a clique, expected a whole number of at least 0", price.Amount)
			}
			pays := false
			for at, i := range price.Bids {
				if i < 0 || int(i) >= len(r.bids) || r.part[i] != k {
					return nil, fmt.Errorf("found bid %d in a clique of stage %d, expected one of the part", i, n)
				}
				for _, j := range price.Bids[:at] {
					if i == j || !r.conflicts(i)[j] {
						return nil, fmt.Errorf("found the bids %d and %d in a clique, which have no good in common", j, i)
					}
				}
				if x := rest[i]; x != nil {
					x.Sub(x, amount)
					pays = true
				}
			}
			if pays {
				total.Add(total, amount)
			}
		}
		for _, x := range rest {
			if x.Sign() > 0 {
				total.Add(total, x)
			}
		}
		if most := new(big.Int).Rsh(total, stage.Shift); least == nil || most.Cmp(least) < 0 {
			least = most
		}
		for i, x := range rest {
			if x.Sign() < 0 {
				if x.Add(x, total); x.Rsh(x, stage.Shift).Cmp(value) <= 0 {
					delete(live, i)
				}
			}
		}
	}
	if least != nil && least.Cmp(value) < 0 {
		least.Set(value)
	}
	return least, nil
}
