package frustration

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
)

// A Proof is a packing of frustrated sets, or a tree of them: it proves that every solution leaves edges unsatisfied of some
// magnitude. Edges have the numbers of a Model's Ends. Weights are multiples of a quarter of the instance's unit over 2^Exponent.
//
// A set of edges meets every vertex an even number of times, and an odd number of its edges want their ends to differ: every
// solution leaves one of them unsatisfied. The weights of the sets that an edge is in add up to at most its magnitude. So the
// weights of all sets are a bound. The odd cycles that linear programs of cuts find are such sets. Those of regions in regions differ in
// few edges from one to the next, which is how they are written: a torus of 100 x 100 normal weights has some 70 times fewer numbers so.
type Proof struct {
	// weights are multiples of a quarter of the unit, divided by 2 to the power of this
	Exponent int `json:"exponent"`
	// sets of edges, each a list of numbers: its weight, then its edges; after a negative weight, the edges in which it differs from the set before
	Sets [][]int64 `json:"sets"`
	// cases, each with a packing of its own, the first of all solutions
	Cases []Case `json:"cases,omitempty" none:"the sets alone prove the bound"`
}

// A Case has some edges fixed, to be unsatisfied (1) or not (0). A case with children is divided: it fixes edges in turn. In its case k
// edge k differs from its value, and those before have theirs. Where there is one case more than edges, all have their values in the last. Else all
// cannot have them: the cycle, whose edges are all fixed then, would be frustrated, and all satisfied as it says.
//
// Any other case uses some of the edges that are fixed; the others count as not fixed. Its packing are the proof's sets, without
// some, and more. A set is frustrated there where the number of its edges that want to differ, and the number of those that are
// fixed to 1, add up to an odd number. Edges that are fixed carry any weight, and those that are fixed to 1 add their magnitude to
// the bound.
type Case struct {
	// edges of a cycle
	Cycle []int32 `json:"cycle,omitempty" none:"the case is not divided, or has a case more than edges"`
	// edges that are fixed in turn
	Edges []int32 `json:"edges,omitempty" none:"the case is not divided"`
	// values that they are not to have, 0 or 1, where a case is of that edge
	Values []int8 `json:"values,omitempty" none:"the case is not divided"`
	// numbers of the cases into which this one is divided, each larger than its own
	Children []int32 `json:"children,omitempty" none:"the case is not divided"`
	// fixed edges that the packing uses
	Uses []int32 `json:"uses,omitempty" none:"the case is divided"`
	// numbers of the proof's sets that the packing is without
	Without []int32 `json:"without,omitempty" none:"the packing has all"`
	// more sets of the packing, written as those of the proof
	Sets [][]int64 `json:"sets,omitempty" none:"there are no more"`
}

// A Node is a case, and those that it is divided into.
type Node struct {
	Case
	Below []*Node
}

// SetCases makes the proof's cases of a tree.
func (p *Proof) SetCases(root *Node) {
	p.Cases = nil
	var number func(n *Node) int32
	number = func(n *Node) int32 {
		k := int32(len(p.Cases))
		p.Cases = append(p.Cases, Case{})
		for _, c := range n.Below {
			n.Children = append(n.Children, number(c))
		}
		p.Cases[k] = n.Case
		return k
	}
	number(root)
}

// maxExponent is the largest exponent of a proof.
const maxExponent = 4096

// A checker holds a proof against a model.
type checker struct {
	m     *Model
	p     *Proof
	load  []int64
	fixed []int8   // -1: not fixed
	used  []int8   // all -1 outside leaves
	met   []bool   // cases
	odd   []bool   // of vertices
	in    []bool   // edges of the list under check
	at    [][]span // of edges: the proof's sets that they are in; nil: not needed yet

	list   *walk // through sets
	parity bool  // of the set that the walk is at
	sign   int64 // -1 where sets are taken out
	err    error // a load is too large
	inLeaf bool
	before []loaded // in a leaf
}

// A loaded edge has a load, which a leaf changes.
type loaded struct {
	e    int32
	load int64
}

// Check holds a proof against a model, without a search: every solution leaves edges unsatisfied whose magnitudes add up to loss
// 2^-shift, in quarters.
func (m *Model) Check(p *Proof) (loss *big.Int, shift int, err error) {
	if p.Exponent < -maxExponent || p.Exponent > maxExponent {
		return nil, 0, fmt.Errorf("the exponent is %d, expected -%d to %d", p.Exponent, maxExponent, maxExponent)
	}
	c := &checker{m: m, p: p, load: make([]int64, len(m.Ends)), fixed: make([]int8, len(m.Ends)), odd: make([]bool, m.N), in: make([]bool, len(m.Ends))}
	for e := range c.fixed {
		c.fixed[e] = -1
	}
	c.used, c.met = slices.Clone(c.fixed), make([]bool, len(p.Cases))
	c.list = newWalk(len(m.Ends), c.give)
	total := new(big.Int)
	if err := c.add(p.Sets, total); err != nil {
		return nil, 0, err
	}
	if len(p.Cases) == 0 {
		for e := range m.Ends {
			if err := c.checkLoad(int32(e)); err != nil {
				return nil, 0, err
			}
		}
		return m.RoundUp(total, p.Exponent), p.Exponent, nil
	}
	loss, err = c.walk(0, total)
	if err == nil && loss == nil {
		err = errors.New("the cases contradict themselves")
	}
	return loss, p.Exponent, err
}

// RoundUp raises a bound on losses, over 2^shift, to the next that a solution may have.
func (m *Model) RoundUp(total *big.Int, shift int) *big.Int {
	total = new(big.Int).Set(total)
	if !m.Whole || shift < 0 {
		return total
	}
	rest, modulus := m.Step()
	unit := new(big.Int).SetInt64(modulus)
	base := new(big.Int).SetInt64(rest)
	unit.Lsh(unit, uint(shift))
	base.Lsh(base, uint(shift))
	up := new(big.Int).Sub(total, base) // to the next multiple
	up.Add(up, unit).Sub(up, big.NewInt(1))
	up.Div(up, unit).Mul(up, unit) // Div rounds down, as the divisor is positive
	return up.Add(up, base)
}

// frustrated checks that a list of edges is a frustrated set.
func (c *checker) frustrated(edges []int64) error {
	c.parity = false
	if err := c.meet(edges); err != nil {
		return err
	}
	if !c.parity {
		return errors.New("it is not frustrated")
	}
	return nil
}

// meet checks that a list of edges meets every vertex an even number of times, and changes parity by it.
func (c *checker) meet(edges []int64) error {
	var err error
	seen := 0
	for _, e := range edges {
		if e < 0 || e >= int64(len(c.m.Ends)) {
			err = fmt.Errorf("edge %d, expected 0 to %d", e, len(c.m.Ends)-1)
			break
		}
		seen++
		if c.in[e] {
			err = fmt.Errorf("edge %d twice", e)
			break
		}
		c.in[e] = true
		c.parity = c.parity != (c.m.Odd[e] != (c.fixed[e] == 1))
		for _, v := range c.m.Ends[e] {
			c.odd[v] = !c.odd[v]
		}
	}
	for _, e := range edges[:seen] {
		c.in[e] = false
		for _, v := range c.m.Ends[e] {
			if c.odd[v] && err == nil {
				err = fmt.Errorf("vertex %d is met an odd number of times", v)
			}
			c.odd[v] = false
		}
	}
	return err
}

// Weights of a set and of the relative ones after it add up to less than mostWeight.
const mostWeight = 1 << 62

// add checks a list of sets, and adds their weights to their edges and to the total.
func (c *checker) add(sets [][]int64, total *big.Int) error {
	c.sign = 1
	for k, set := range sets {
		if err := c.next(set, k == 0); err != nil {
			return fmt.Errorf("set %d: %w", k, err)
		}
		if c.list.sum += weight(set); c.list.sum >= mostWeight {
			return fmt.Errorf("set %d: weights of it and those before add up to 2^62", k)
		}
		total.Add(total, big.NewInt(weight(set)))
	}
	c.list.leaveAll()
	return c.err
}

// next goes on to a set and checks it.
func (c *checker) next(set []int64, first bool) error {
	switch {
	case len(set) < 1 || set[0] == 0 || set[0] <= -mostWeight || set[0] >= mostWeight:
		return errors.New("expected a weight that is not 0, below 2^62, and edges")
	case isRelative(set) && first:
		return errors.New("it differs from the set before, and there is none")
	case !isRelative(set):
		c.parity = false
	}
	if err := c.meet(set[1:]); err != nil {
		return err
	}
	c.list.to(set)
	if !c.parity {
		return errors.New("it is not frustrated")
	}
	return nil
}

// give adds the weight of sets to an edge.
func (c *checker) give(e int32, weight int64) {
	if c.sign > 0 && c.load[e] > math.MaxInt64-weight {
		c.err = fmt.Errorf("the weights at edge %d are beyond 2^63", e)
		return
	}
	if c.inLeaf {
		c.before = append(c.before, loaded{e, c.load[e]})
	}
	c.load[e] += c.sign * weight
}

// remove takes sets of the proof out, whose numbers ascend.
func (c *checker) remove(numbers []int32, total *big.Int) {
	c.sign = -1
	at := int32(-1) // the walk is there
	for _, k := range numbers {
		from := k
		for from > at && isRelative(c.p.Sets[from]) {
			from--
		}
		for from = max(from, at+1); from <= k; from++ {
			c.list.to(c.p.Sets[from])
		}
		c.list.sum += weight(c.p.Sets[k])
		total.Sub(total, big.NewInt(weight(c.p.Sets[k])))
		at = k
	}
	c.list.leaveAll()
}

// checkLoad checks that an edge that is not fixed carries no more than its magnitude.
func (c *checker) checkLoad(e int32) error {
	if c.fixed[e] >= 0 {
		return nil
	}
	mag, shift := c.m.Cap[e], c.p.Exponent-c.m.Shift
	load := c.load[e]
	fits := true
	switch {
	case shift >= 64:
		fits = mag > 0 || load == 0
	case shift >= 0:
		fits = mag > math.MaxInt64>>shift || load <= mag<<shift
	case shift > -63:
		fits = load <= mag>>-shift
	default:
		fits = load == 0
	}
	if !fits {
		return fmt.Errorf("edge %d carries %d / 2^%d, its magnitude is %d / 2^%d", e, load, c.p.Exponent, mag, c.m.Shift)
	}
	return nil
}

// walk is the least loss of a case; nil: it contradicts itself.
func (c *checker) walk(at int32, total *big.Int) (least *big.Int, err error) {
	n := &c.p.Cases[at]
	if n.Cycle == nil && len(n.Children) == 0 {
		return c.leaf(n, total)
	}
	last := n.Cycle == nil && len(n.Children) == len(n.Edges)+1
	if len(n.Edges) != len(n.Values) || !last && len(n.Edges) != len(n.Children) {
		return nil, errors.New("a node has other numbers of edges, values and children")
	}
	done := 0
	defer func() {
		for _, e := range n.Edges[:done] {
			c.fixed[e] = -1
		}
	}()
	visit := func(child int32) error {
		if child <= at || int(child) >= len(c.p.Cases) || c.met[child] {
			return fmt.Errorf("case %d has case %d, expected a later one, once", at, child)
		}
		c.met[child] = true
		loss, err := c.walk(child, total)
		if least == nil || loss != nil && loss.Cmp(least) < 0 {
			least = loss
		}
		return err
	}
	for k, e := range n.Edges {
		if e < 0 || int(e) >= len(c.fixed) || c.fixed[e] >= 0 || n.Values[k] != 0 && n.Values[k] != 1 {
			return nil, fmt.Errorf("edge %d of a node is none, is fixed already, or has no value", e)
		}
		c.fixed[e] = 1 - n.Values[k]
		done++
		if err := visit(n.Children[k]); err != nil {
			return nil, err
		}
		c.fixed[e] = n.Values[k]
	}
	if last {
		err := visit(n.Children[len(n.Edges)])
		return least, err
	}
	cycle := make([]int64, len(n.Cycle))
	for k, e := range n.Cycle {
		if e < 0 || int(e) >= len(c.fixed) || c.fixed[e] < 0 {
			return nil, fmt.Errorf("edge %d of a cycle is not fixed", e)
		}
		cycle[k] = int64(e)
	}
	if err := c.frustrated(cycle); err != nil { // by the values: an odd number is satisfied wrongly
		return nil, fmt.Errorf("a cycle: %w", err)
	}
	return least, nil
}

// leaf is the loss of a leaf.
func (c *checker) leaf(n *Case, total *big.Int) (loss *big.Int, err error) {
	all := c.fixed
	c.fixed = c.used
	defer func() {
		for _, e := range n.Uses {
			if e >= 0 && int(e) < len(c.fixed) {
				c.fixed[e] = -1
			}
		}
		c.fixed = all
	}()
	for _, e := range n.Uses {
		if e < 0 || int(e) >= len(all) || all[e] < 0 {
			return nil, fmt.Errorf("a leaf uses edge %d, which is not fixed", e)
		}
		c.fixed[e] = all[e]
	}
	own := new(big.Int).Set(total)
	gone := slices.Clone(n.Without)
	slices.Sort(gone)
	for at, k := range gone {
		if k < 0 || int(k) >= len(c.p.Sets) {
			return nil, fmt.Errorf("a leaf leaves out set %d, expected 0 to %d", k, len(c.p.Sets)-1)
		}
		if at > 0 && gone[at-1] == k {
			return nil, fmt.Errorf("a leaf leaves out set %d twice", k)
		}
	}
	c.inLeaf = true
	defer func() {
		for _, b := range slices.Backward(c.before) {
			c.load[b.e] = b.load
		}
		c.before, c.inLeaf = c.before[:0], false
	}()
	c.remove(gone, own)
	if err := c.add(n.Sets, own); err != nil {
		return nil, fmt.Errorf("a leaf: %w", err)
	}
	// The proof's sets that hold an edge that is fixed to 1 are not frustrated any more.
	if err := c.checkKept(gone); err != nil {
		return nil, err
	}
	for e := range c.load {
		if err := c.checkLoad(int32(e)); err != nil {
			return nil, fmt.Errorf("a leaf: %w", err)
		}
		if c.fixed[e] == 1 {
			own.Add(own, c.magnitude(int32(e)))
		}
	}
	return c.m.RoundUp(own, c.p.Exponent), nil
}

// magnitude is that of an edge in the proof's units, rounded down.
func (c *checker) magnitude(e int32) *big.Int {
	x := big.NewInt(c.m.Cap[e])
	if shift := c.p.Exponent - c.m.Shift; shift >= 0 {
		return x.Lsh(x, uint(shift))
	} else {
		return x.Rsh(x, uint(-shift))
	}
}

// checkKept checks the sets of the proof that a leaf keeps: each has an even number of the edges that are fixed to 1.
func (c *checker) checkKept(gone []int32) error {
	if c.at == nil {
		c.at = c.p.spans(len(c.m.Ends))
	}
	var turns []int32 // sets from which on the number is odd, and even, in turn
	for e, v := range c.fixed {
		if v == 1 {
			for _, s := range c.at[e] {
				turns = append(turns, s.from, s.to)
			}
		}
	}
	slices.Sort(turns)
	for k := 0; k+1 < len(turns); k += 2 {
		for set := turns[k]; set < turns[k+1]; set++ {
			if _, is := slices.BinarySearch(gone, set); !is {
				return fmt.Errorf("a leaf keeps set %d, which is not frustrated there", set)
			}
		}
	}
	return nil
}
