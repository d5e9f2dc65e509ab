package integer

import (
	"fmt"
	"math"
	"slices"
)

// A RowProof shows that no other solutions are better than those that are listed. Variables are bids by their places, from 0, then reserves. Its rows are numbered: those of reserves that repeat another, goods and dummies by
// their ids and limits by their bidders' names, without those that bind nothing or say what another says; then the cliques, then the cuts.
type RowProof struct {
	Cliques [][]int32 `json:"cliques,omitempty" none:"there are none"` // variables of which two are never 1 together
	Covers  []Cover   `json:"covers,omitempty" none:"there are none"`  // covers of rows
	// cuts of several rows, each after the rows of those before it
	Roundings []Rounding `json:"roundings,omitempty" none:"there are none"`
	Root      *RowStep   `json:"root" none:"the bids are none"` // step that all others follow
}

// A RowStep proves that its solutions beside those that are listed are worth no more than the last of these, or that it has none. First the
// rows fix variables whose other value they do not allow. Then its prices bound what is left, or show that there is no solution, and fix
// more variables; then it branches.
type RowStep struct {
	Prices [][2]int64 `json:"prices,omitempty" none:"there are none"`                // pairs of a row and its price, in 2^-shift of a unit
	Shift  uint       `json:"shift,omitempty" none:"it is 0"`                        // prices are in 2^-shift of a unit
	Empty  bool       `json:"empty,omitempty" none:"prices bound the step"`          // prices show that the step has no solution
	Branch int32      `json:"branch,omitempty" none:"it is 0, or there are no kids"` // variable by which solutions are split
	Kids   []*RowStep `json:"kids,omitempty" none:"the step does not branch"`        // steps with that variable at 0, and at 1
}

// keepPrices keeps prices.
func (s *RowStep) keepPrices(y []int64, shift uint, empty bool) {
	s.Prices, s.Shift, s.Empty = nil, shift, empty
	for i, v := range y {
		if v != 0 {
			s.Prices = append(s.Prices, [2]int64{int64(i), v})
		}
	}
}

// Check returns an error unless a proof shows that all solutions of a problem but those listed are worth no more than the last of these; with
// whole, that there are no others. It solves nothing.
func (x *RowProof) Check(p *Problem, listed []Solution, whole bool) error {
	if err := p.check(); err != nil {
		return err
	}
	t := newTree(&Problem{Prices: p.Prices, Rows: p.Rows}, Settings{Best: 1, Workers: 1})
	for k, c := range x.Cliques {
		r, ok := p.clique(c)
		if !ok {
			return fmt.Errorf("clique %d has bids that can win together", k)
		}
		t.rows = append(t.rows, r)
	}
	for k, c := range x.Covers {
		r, ok := c.asRow(p.Rows)
		if !ok {
			return fmt.Errorf("cover %d does not follow from its row", k)
		}
		t.rows = append(t.rows, r)
	}
	for k, c := range x.Roundings {
		r, ok := c.asRow(t.rows, len(p.Prices))
		if !ok {
			return fmt.Errorf("cut %d does not follow from its rows", k)
		}
		t.rows = append(t.rows, r)
	}
	if len(t.rows) > maxRows {
		return fmt.Errorf("found %d rows, expected at most %d", len(t.rows), maxRows)
	}
	t.indexRows()
	w := t.newWorker(0)
	w.least, w.y, w.dirty = make([]int64, len(t.rows)), make([]int64, len(t.rows)), make([]bool, len(t.rows))
	if t.threshold.Store(math.MinInt64); !whole && len(listed) > 0 {
		t.threshold.Store(listed[len(listed)-1].Value)
	}
	known := map[string]bool{}
	for _, s := range listed {
		known[string(appendKey(nil, s.Ones))] = true
	}
	return w.replay(x.Root, &node{}, known)
}

// replay checks a step whose fixed variables are those of a node.
func (w *worker) replay(s *RowStep, n *node, known map[string]bool) error {
	if s == nil {
		return fmt.Errorf("found null for a step")
	}
	if !w.load(n) {
		return nil
	}
	ended := func() (bool, error) {
		if slices.Contains(w.is, free) {
			return false, nil
		}
		ones := w.ones()
		if w.p.Feasible(ones) && w.p.Value(ones) > w.threshold.Load() && !known[string(appendKey(nil, ones))] {
			return true, fmt.Errorf("found a solution of %d units that is not listed", w.p.Value(ones))
		}
		return true, nil
	}
	if done, err := ended(); done {
		return err
	}
	clear(w.y)
	for _, pay := range s.Prices {
		if pay[0] < 0 || pay[0] >= int64(len(w.rows)) {
			return fmt.Errorf("found the row %d, expected one of %d", pay[0], len(w.rows))
		}
		if pay[1] < 0 && !w.rows[pay[0]].Equal {
			return fmt.Errorf("found the price %d of row %d, expected at least 0", pay[1], pay[0])
		}
		w.y[pay[0]] = pay[1]
	}
	prices := w.p.Prices
	if s.Empty {
		prices = nil
	}
	if s.Shift > w.bits {
		return fmt.Errorf("found the shift %d, expected at most %d", s.Shift, w.bits)
	}
	bound, ok := boundOf(w.rows, prices, w.is, w.y, s.Shift, w.rest)
	switch {
	case !ok:
		return fmt.Errorf("found prices that are too large")
	case s.Empty && bound < 0, !s.Empty && bound>>s.Shift <= w.threshold.Load():
		return nil
	case s.Empty:
		return fmt.Errorf("found prices that do not show that a step has no solution")
	}
	bits := w.bits
	w.bits = s.Shift
	_, done := w.fix(n, bound)
	w.bits = bits
	if done {
		return nil
	}
	if done, err := ended(); done {
		return err
	}
	if len(s.Kids) != 2 || s.Branch < 0 || int(s.Branch) >= len(w.is) {
		return fmt.Errorf("found %d kids of a step that branches on %d, expected two", len(s.Kids), s.Branch)
	}
	for v, kid := range s.Kids {
		j := s.Branch
		if v == 0 {
			j = ^j
		}
		if err := w.replay(kid, &node{above: n, fixed: []int32{j}}, known); err != nil {
			return err
		}
	}
	return nil
}
