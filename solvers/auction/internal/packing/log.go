package packing

import (
	"slices"
	"sync"
)

// A RowPrice is the price of a clique, given by its number in the part. The number -1-k is odd set k, which
// pays the price for each of the bids that it allows.
type RowPrice struct {
	Clique int32
	Amount int64
}

// A Stage has prices of cliques in units of 2^-Shift. They bound the packings of the remaining bids,
// and rule out, before the next stage, the bids that are in no packing worth more than the one found.
type Stage struct {
	Shift  uint
	Prices []RowPrice
}

// A Step proves that no packing of its bids is worth more than the one found. After its
// stages the packings are split: those that have the first bid of Branch, those that have
// the second and not the first, and so on, each a step of Kids; and those that have none of
// them, a step too if Kids is longer, else bounded by the last stage.
type Step struct {
	Stages []Stage
	Branch []int32
	Kids   []*Step
	Given  int64 // above 0 while another rank has the step, by this number
}

// A Part is bids that have no conflict with those of other parts.
type Part struct {
	Bids    []int32
	Cliques [][]int32
	Odd     [][]int32 // numbers of 2k+1 cliques: of the bids in two of them or more, k can win
	Root    *Step     // nil: there is no proof
}

// A proofLog has the cliques that a proof refers to. Without a proof it is nil, and so are steps.
type proofLog struct {
	mu      sync.Mutex
	number  map[string]int32
	cliques [][]int32
	odd     [][]int32
}

// numberRows are the numbers of rows.
func (l *proofLog) numberRows(rows []row) []int32 {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	list := make([]int32, len(rows))
	for i, r := range rows {
		if r.Odd == nil {
			list[i] = l.numberOf("c", r.Bids, &l.cliques)
			continue
		}
		parts := make([]int32, len(r.Odd))
		for k, c := range r.Odd {
			parts[k] = l.numberOf("c", c, &l.cliques)
		}
		list[i] = ^l.numberOf("o", parts, &l.odd)
	}
	return list
}

// numberOf is the index of numbers in a list of lists, to which it appends them if they are new.
func (l *proofLog) numberOf(kind string, numbers []int32, list *[][]int32) int32 {
	text := string(appendCliqueKey([]byte(kind), numbers))
	k, ok := l.number[text]
	if !ok {
		k = int32(len(*list))
		l.number[text] = k
		*list = append(*list, numbers)
	}
	return k
}

// recordStage adds a relaxation's prices.
func (s *Step) recordStage(r *relaxation) {
	if s != nil {
		s.Stages = append(s.Stages, r.proofStage())
	}
}

// recordPrices adds prices of cliques, in whole units.
func (s *Step) recordPrices(prices []Price, log *proofLog) {
	if s == nil {
		return
	}
	stage := Stage{}
	for _, x := range prices {
		stage.Prices = append(stage.Prices, RowPrice{log.numberRows([]row{{Bids: slices.Clone(x.Bids)}})[0], x.Amount})
	}
	s.Stages = append(s.Stages, stage)
}

// branchOn branches on a bid: its packings, and those without it.
func (s *Step) branchOn(j int) (in, out *Step) {
	if s == nil {
		return nil, nil
	}
	in, out = &Step{}, &Step{}
	s.Branch, s.Kids = []int32{int32(j)}, []*Step{in, out}
	return in, out
}
