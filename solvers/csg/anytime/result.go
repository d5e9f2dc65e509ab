package anytime

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"coalesce/solvers/csg/internal/cliques"
	"coalesce/solvers/csg/internal/payoff"
	"coalesce/solvers/csg/problem"
	"coalesce/solvers/solve"
)

// A Result is the answer to an instance, and how it came about.
type Result struct {
	solve.Report
	// blocks as lists of agents from 1, ascending; blocks by their first agents
	Blocks [][]int `json:"solution"`
	// names of the agents
	Names []string `json:"agents,omitempty" none:"they have none"`
	// type of the values
	Type problem.Value `json:"type"`
	// seed of the random numbers
	Seed uint64 `json:"seed"`
	// moments at which the best value rose
	History []Improvement `json:"history"`
	// work of the search
	Work Work `json:"work"`
	// findings of the check of the answer, and the proof of the bound
	Certificate Certificate `json:"certificate"`
	// what each agent receives
	Payoff *payoff.Payoff `json:"payoff,omitempty" none:"it was not asked for"`
}

// An Improvement is a moment at which the best value rose.
type Improvement struct {
	Seconds float64      `json:"seconds" unit:"s"` // time from the start of the solve
	Value   solve.Number `json:"value"`            // best value
}

// Work counts the work of a search.
type Work struct {
	Runs       int64 `json:"runs,omitempty"`       // annealings of a graph
	Coalitions int64 `json:"coalitions,omitempty"` // coalitions that quadratic searches found and that became blocks
	Parts      int64 `json:"parts,omitempty"`      // parts of structures of a distribution that were solved exactly
}

// A Certificate has the findings of the check of an answer: the blocks' values by the instance and their
// sum, exact but for one rounding of floats; and the proof of the bound. The bound is the sum of the
// agents' own weights plus the lesser of two numbers. One is the sum of all positive edges less the
// losses of conflicts, which are cycles of positive edges and one negative edge that share no weight: of
// each cycle a structure loses at least the least weight. The other is the sum of prices, one for each
// agent, if there are any: the edges inside a coalition weigh no more than its agents' prices. Where there are cuts, their bound is the one: what they allow,
// times their prices, and what edges weigh beyond the prices of their cuts. Where there are conic prices, they add up to the bound. Where there are levels, the bound is the sum of the last one's prices, or, if they are closed, the value. Of a
// distribution the prices follow from its range, and are the only proof.
type Certificate struct {
	Blocks    []Block      `json:"blocks"`                                                  // blocks, in the order of their first agents
	Sum       string       `json:"sum"`                                                     // sum of the blocks' values in decimals
	Partition bool         `json:"partition"`                                               // whether blocks are disjoint and cover the agents
	Own       solve.Number `json:"own" none:"the instance is no graph"`                     // sum of the agents' own weights
	Positive  solve.Number `json:"positive" none:"the instance is no graph"`                // sum of the positive edges
	Conflicts solve.Number `json:"conflicts" none:"the instance is no graph"`               // losses of conflicts, which are cycles of positive edges and one negative edge
	Unit      solve.Number `json:"unit"`                                                    // value that a price of 1 stands for
	Prices    []float64    `json:"prices,omitempty" none:"conflicts alone bound the value"` // prices of the agents; a coalition's edges weigh no more than its agents' prices

	// cuts, inequalities that all structures satisfy, and their prices
	Cuts []cliques.Cut `json:"cuts,omitempty" none:"no cuts bound the value"`
	// prices of cuts are in 2^-shift of the unit
	Shift uint `json:"shift,omitempty"`
	// prices of cuts, pairs and agents that a semidefinite program has, and that a factorization proves
	Conic *cliques.Conic `json:"conic,omitempty" none:"no such prices bound the value"`
	// prices of ever more agents, that no coalition of these exceeds
	Levels *cliques.Levels `json:"levels,omitempty" none:"no levels bound the value"`
}

// A Block is one block of a structure and its value.
type Block struct {
	Agents []string `json:"agents"` // names of the agents, or their numbers
	Value  string   `json:"value"`  // value in decimals
}

// certify implements searcher.
func (r *graphRun) certify(x *Result) error {
	x.Variant, x.Reason = "annealing and recombination on all cores", "values are those of a graph"
	x.Work = Work{Runs: r.runs, Coalitions: r.coalitions}
	x.Blocks = blocksOf(r.blocks)
	if err := x.certify(r.inst, r.proof); err != nil {
		return err
	}
	if got := r.inst.graph.Value(r.blocks); got != r.best {
		return fmt.Errorf("%w: the search says %d units, the blocks add up to %d", problem.ErrCheck, r.best, got)
	}
	return nil
}

// newResult is a result with the facts of its instance and no answer.
func newResult(inst *Instance) *Result {
	report := solve.Report{Problem: "csg", Instance: inst.Source, Size: inst.sizeFields(), Notes: inst.Notes}
	return &Result{Report: report, Names: inst.Names, Type: inst.Type}
}

func (inst *Instance) sizeFields() map[string]int {
	if inst.law != nil {
		return map[string]int{"agents": inst.N}
	}
	return map[string]int{"agents": inst.N, "edges": inst.EdgeCount()}
}

// certify recomputes the value of Blocks, and the bound that a proof gives. Errors wrap
// problem.ErrCheck.
func (x *Result) certify(inst *Instance, p proof) error {
	label, err := x.checkBlocks(inst)
	if err != nil {
		return err
	}
	c := &x.Certificate
	c.Cuts, c.Shift, c.Conic, c.Levels = p.cuts, p.shift, p.conic, p.levels
	c.Own, c.Unit, c.Prices = decimalNumber(inst.unit.toRat(inst.fixed)), decimalNumber(inst.unit.toRat(1)), p.prices
	c.Positive, c.Conflicts = roundedUp(inst.unit.toRat(inst.graph.PositiveSum())), decimalNumber(inst.unit.toRat(p.losses))
	most := p.bound(inst.graph)
	bound := roundedUp(inst.unit.toRat(inst.fixed + most))
	if inst.graph.Value(label) == most {
		if inst.exact {
			bound = x.Value
		}
		x.SetProvenBound(bound)
	} else {
		x.SetBound(bound)
	}
	return nil
}

// checkBlocks recomputes the values of the blocks, and returns the block of each agent. Errors wrap
// problem.ErrCheck.
func (x *Result) checkBlocks(inst *Instance) ([]int32, error) {
	x.Certificate = Certificate{Blocks: []Block{}}
	label, err := labelsOf(x.Blocks, inst.N)
	if err != nil {
		return nil, err
	}
	c := &x.Certificate
	c.Partition = true
	sum := new(big.Rat)
	for k, value := range inst.blockValues(label, len(x.Blocks)) {
		if value == nil {
			return nil, fmt.Errorf("%w: block %d is forbidden", problem.ErrCheck, k+1)
		}
		names := make([]string, len(x.Blocks[k]))
		for i, agent := range x.Blocks[k] {
			names[i] = inst.name(agent)
		}
		c.Blocks = append(c.Blocks, Block{names, decimalNumber(value).String()})
		sum.Add(sum, value)
	}
	c.Sum = decimalNumber(sum).String()
	x.Value = solve.Number(c.Sum)
	return label, nil
}

// ValueOf is the sum of the values of blocks of agents 1..N, which have to be a partition. Errors wrap
// problem.ErrCheck.
func (inst *Instance) ValueOf(blocks [][]int) (solve.Number, error) {
	if err := inst.check(); err != nil {
		return "", err
	}
	label, err := labelsOf(blocks, inst.N)
	if err != nil {
		return "", err
	}
	sum := new(big.Rat)
	for k, value := range inst.blockValues(label, len(blocks)) {
		if value == nil {
			return "", fmt.Errorf("%w: block %d is forbidden", problem.ErrCheck, k+1)
		}
		sum.Add(sum, value)
	}
	return decimalNumber(sum), nil
}

// labelsOf are the blocks of all agents, from 0. Errors wrap problem.ErrCheck.
func labelsOf(blocks [][]int, n int) ([]int32, error) {
	label, err := problem.Blocks(blocks).Labels(n)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", problem.ErrCheck, err)
	}
	return label, nil
}

// blocksOf are the agents of blocks, which are numbered by their first agents.
func blocksOf(label []int32) [][]int {
	out := [][]int{}
	for i, c := range label {
		if int(c) == len(out) {
			out = append(out, nil)
		}
		out[c] = append(out[c], i+1)
	}
	return out
}

// name is the name of an agent, 1..N, or its number.
func (inst *Instance) name(agent int) string {
	if agent <= len(inst.Names) {
		return inst.Names[agent-1]
	}
	return strconv.Itoa(agent)
}

// decimalNumber writes a number: all of up to 18 decimal places, of another the nearest float64.
func decimalNumber(x *big.Rat) solve.Number {
	if places, exact := x.FloatPrec(); exact && places <= 18 {
		return solve.Number(x.FloatString(places))
	}
	f, _ := x.Float64()
	return solve.NumberOf(f)
}

// roundedUp is decimalNumber where that is exact; else the least float64 whose decimals are at least x.
func roundedUp(x *big.Rat) solve.Number {
	n := decimalNumber(x)
	for f := n.Float(); ; f = math.Nextafter(f, math.Inf(1)) {
		if decimals, ok := n.Rat(); !ok || decimals.Cmp(x) >= 0 {
			return n
		}
		n = solve.NumberOf(math.Nextafter(f, math.Inf(1)))
	}
}

// String is the structure with its values, one block a line, and the total.
func (x *Result) String() string {
	var b strings.Builder
	for _, block := range x.Certificate.Blocks {
		fmt.Fprintf(&b, "{%s}\t%s\n", strings.Join(block.Agents, ", "), block.Value)
	}
	fmt.Fprintf(&b, "total\t%s\n", cmp.Or(x.Value, "none"))
	return b.String()
}
