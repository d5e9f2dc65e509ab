package auction

import (
	"errors"
	"fmt"
	"math/big"

	"coalesce/solvers/solve"
)

// A proof bounds what bids are worth, part by part: all plain bids that can win are in one
// part each. Numbers of bids are their places among the plain ones, from 0: in an auction
// without limits, reserves and goods that have to be sold those of the file.
type proof struct {
	Parts []proofPart `json:"parts"`
}

type proofPart struct {
	Bids   []int32      `json:"bids"`
	Stages []proofStage `json:"stages"` // empty: the part was enumerated, which leaves no proof
}

// A proofStage is prices of cliques, bids of which one can win, in 2^-shift of a plain unit.
// Any prices of at least 0 bound the packings of the bids that are left: each clique pays
// once, and each bid what its price lacks in those of its cliques. Bids by which the bound
// falls to the winners' worth or less go before the next stage.
type proofStage struct {
	Shift  uint         `json:"shift"`
	Prices []proofPrice `json:"prices"`
}

type proofPrice struct {
	Bids   []int32 `json:"bids"`
	Amount string  `json:"amount"`
}

// proven is the proof that JSON has, nil where none is asked for or there is none.
func (res *Result) proven() *proof {
	if !res.WithProof || res.proof == nil {
		return nil
	}
	x := &proof{Parts: []proofPart{}}
	for _, part := range res.proof {
		told := proofPart{part.Bids, []proofStage{}}
		for _, stage := range part.Stages {
			s := proofStage{Shift: stage.Shift, Prices: []proofPrice{}}
			for _, price := range stage.Prices {
				s.Prices = append(s.Prices, proofPrice{price.Bids, fmt.Sprint(price.Amount)})
			}
			told.Stages = append(told.Stages, s)
		}
		x.Parts = append(x.Parts, told)
	}
	return x
}

// maxShift is the largest shift of a proof that is read.
const maxShift = 64

// bounded replays a proof against an auction whose winners are known, and returns the bound
// of all parts, in plain units; empty where a part has none.
func (p *plain) bounded(x *proof, won []int) (bound *big.Int, err error) {
	r := &replay{plain: p, part: make([]int32, len(p.Bids)), conflict: make([]map[int32]bool, len(p.Bids)), holders: map[int64][]int32{}}
	for i, b := range p.Bids {
		for _, g := range b.Goods {
			r.holders[g] = append(r.holders[g], int32(i))
		}
	}
	for k, part := range x.Parts {
		for _, i := range part.Bids {
			if i < 0 || int(i) >= len(p.Bids) || r.part[i] != 0 {
				return nil, fmt.Errorf("found bid %d in part %d of the proof, expected each of %d bids in one part", i, k, len(p.Bids))
			}
			r.part[i] = int32(k + 1)
		}
	}
	values := make([]*big.Int, len(x.Parts))
	for k := range values {
		values[k] = new(big.Int)
	}
	for i, b := range p.Bids {
		if b.Price > 0 && r.part[i] == 0 {
			return nil, fmt.Errorf("found bid %d in no part of the proof", i)
		}
	}
	for _, i := range won {
		if k := r.part[i]; k > 0 {
			values[k-1].Add(values[k-1], big.NewInt(p.Bids[i].Price))
		}
	}
	bound = new(big.Int)
	for k, part := range x.Parts {
		most, err := r.replay(int32(k+1), part, values[k])
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
	*plain
	part     []int32 // of each bid, from 1
	holders  map[int64][]int32
	conflict []map[int32]bool // of bids that were asked for
}

// conflicts are the bids that share a good with one.
func (r *replay) conflicts(i int32) map[int32]bool {
	if r.conflict[i] == nil {
		r.conflict[i] = map[int32]bool{}
		for _, g := range r.Bids[i].Goods {
			for _, j := range r.holders[g] {
				r.conflict[i][j] = true
			}
		}
	}
	return r.conflict[i]
}

// replay is the bound of a part, at least the winners' worth in it; nil without stages.
func (r *replay) replay(k int32, part proofPart, value *big.Int) (*big.Int, error) {
	live := map[int32]bool{}
	for _, i := range part.Bids {
		if r.Bids[i].Price > 0 {
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
			rest[i] = new(big.Int).Lsh(big.NewInt(r.Bids[i].Price), stage.Shift)
		}
		total := new(big.Int)
		for _, price := range stage.Prices {
			amount, ok := new(big.Int).SetString(price.Amount, 10)
			if !ok || amount.Sign() < 0 {
				return nil, fmt.Errorf("found the price %.40q of a clique, expected a whole number of at least 0", price.Amount)
			}
			pays := false
			for at, i := range price.Bids {
				if i < 0 || int(i) >= len(r.Bids) || r.part[i] != k {
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

// checkProof replays a proof, says what it proves, and whether that is the stated bound.
func (res *Result) checkProof(v *solve.Verdict, x *proof, stated solve.Number) error {
	p, err := newPlain(res.Auction, true)
	if err != nil {
		return err
	}
	won := p.bids(res.Winners, res.Kept)
	most, err := p.bounded(x, won)
	if err != nil {
		return err
	}
	if most == nil {
		v.Note("the proof leaves out parts that were enumerated")
		return nil
	}
	bound := solve.Number(p.whole.Price(p.amount(most)))
	claimed, ok := stated.Rat()
	proven, _ := bound.Rat()
	switch {
	case !ok:
		return errors.New("found a proof of no bound")
	case proven.Cmp(claimed) <= 0:
		v.Note("bound: no bids are worth more than %s, by prices of cliques computed again", bound)
		v.BoundChecked = true
	default:
		v.Note("no bids are worth more than %s, by prices of cliques computed again; the stated bound %s comes from the search, of which there is no proof", bound, stated)
	}
	return nil
}
