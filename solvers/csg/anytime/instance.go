// Package anytime solves coalition structure generation where a function gives the values and no table
// could hold them: for 40 to 1,000 agents and more. While it searches, it reports each better structure,
// and a bound that no structure exceeds, if one is known.
//
// The function is a weighted graph (Read, Draw) or a distribution of the literature (Drawn). Of a graph
// the agents are the nodes, and the value of a coalition is the sum of the weights of its members and of
// the edges among them (induced subgraph games; also called clique partitioning, or correlation
// clustering). Graphs are read by package qubo's readers, since a coalition's value is the objective of a
// binary quadratic program; package cliques searches. Distributions have up to 63 agents; package lns
// searches.
package anytime

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"math/big"
	"math/bits"
	"slices"

	"coalesce/solvers/csg/internal/cliques"
	"coalesce/solvers/csg/internal/draw"
	"coalesce/solvers/csg/problem"
	"coalesce/solvers/formats/packed"
	"coalesce/solvers/qubo"
	quboproblem "coalesce/solvers/qubo/problem"
	"coalesce/solvers/solve"
)

// An Instance is a weighted graph, or a distribution. It is read only once it is made.
type Instance struct {
	N      int      // agents, the graph's nodes
	Names  []string // of agents 1..N, nil when they have none
	Type   problem.Value
	Source string   // the file, or the drawing
	Notes  []string // what was changed on the way in, one sentence each

	law   *draw.Function // the distribution that gives the values; nil: the graph of the fields below
	terms *quboproblem.Instance
	graph *cliques.Graph // weights in units, rounded up
	unit  weightUnit
	exact bool    // no weight was rounded
	own   []int64 // the nodes' own weights, in units
	fixed int64   // sum of own, which is part of every structure's value
	heavy bool    // sums of weights may exceed 2^54
}

// EdgeCount is how many edges have a weight, 0 of a distribution.
func (inst *Instance) EdgeCount() int {
	if inst.terms == nil {
		return 0
	}
	return int(inst.terms.Pairs())
}

// Program is the binary quadratic program whose objective is a coalition's value, or the
// graph, of the form MaxCut; nil of a distribution. The caller must not change it.
func (inst *Instance) Program() *quboproblem.Instance { return inst.terms }

// MaxTable is the most agents of Table.
const MaxTable = problem.MaxAgents

// Formats are the names of the file formats of graphs.
func Formats() []string { return append(qubo.Formats(), formatCFSS) }

// FormatOf is the format that the ending of a file's name stands for, before the ending of a compression
// if there is one. It is empty for the endings of tables of coalitions: .npy, .json and .csv.
func FormatOf(path string) string {
	switch format := formatOf(path); format {
	case "npy", "bqm", "bqpjson", "csv":
		return ""
	default:
		return format
	}
}

func formatOf(path string) string { return qubo.FormatOf(packed.TrimExtension(path)) }

// ReadOptions say how to read a graph.
type ReadOptions struct {
	// format of a file that is a graph
	Format string `option:"format" words:"Formats()" default:"told by its name"`
	Memory int64  // most bytes to take; 0: qubo.DefaultMemory
}

// options are the options of qubo's readers. Weights are values of coalitions, also in formats whose
// programs are usually minimised. Formats that can hold a graph are read as a graph.
func (o ReadOptions) options(name string) qubo.ReadOptions {
	q := qubo.ReadOptions{Format: o.Format, Sense: quboproblem.Maximize, Memory: o.Memory}
	q.Format = cmp.Or(q.Format, formatOf(name))
	switch q.Format {
	case "rudy", "dimacs", "mtx", "npy", "csv", "mqlib", "":
		q.Form = quboproblem.MaxCut
	}
	return q
}

// Read reads a graph from a file, plain or compressed with gzip, xz or zstd. Errors say
// where in the file, what was found and what was expected.
func Read(path string, o ReadOptions) (*Instance, error) {
	var terms *quboproblem.Instance
	var err error
	if o.Format == formatCFSS {
		terms, err = openCFSS(nil, path, o.Memory)
	} else {
		terms, err = qubo.Read(path, o.options(path))
	}
	if err != nil {
		return nil, err
	}
	return newInstance(terms)
}

// ReadFrom is Read on an open stream; name is what errors call it.
func ReadFrom(r io.Reader, name string, o ReadOptions) (*Instance, error) {
	var terms *quboproblem.Instance
	var err error
	if o.Format == formatCFSS {
		terms, err = openCFSS(r, name, o.Memory)
	} else {
		terms, err = qubo.ReadFrom(r, name, o.options(name))
	}
	if err != nil {
		return nil, err
	}
	return newInstance(terms)
}

// check returns an error if an instance is none that Read, Draw or NewDrawn has made, or was changed since.
func (inst *Instance) check() error {
	agents := 0
	switch {
	case inst == nil:
		return solve.InvalidInput("instance", "found nil, expected one")
	case inst.law != nil:
		agents = inst.law.N
	case inst.graph != nil:
		agents = inst.graph.N
	default:
		return solve.InvalidInput("instance", "found neither a graph nor a distribution, expected one that Read, Draw or Drawn makes")
	}
	switch {
	case inst.N != agents:
		return solve.InvalidInput("N", "found %d agents, expected the %d of the instance when it was made", inst.N, agents)
	case inst.Names != nil && len(inst.Names) != agents:
		return solve.InvalidInput("Names", "found %d, expected %d, one for each agent", len(inst.Names), agents)
	}
	return nil
}

// Write writes a graph whose nodes have no weights of their own as rudy.
func (inst *Instance) Write(w io.Writer) error {
	if err := inst.check(); err != nil {
		return err
	}
	if inst.terms == nil || inst.terms.Form != quboproblem.MaxCut {
		return fmt.Errorf("%s: expected a graph without own weights", inst.Source)
	}
	_, err := qubo.Write(w, inst.terms, "rudy")
	return err
}

// newInstance makes an instance of a binary quadratic program to be maximised, or a graph.
func newInstance(terms *quboproblem.Instance) (*Instance, error) {
	if terms.Form == quboproblem.Ising {
		return nil, fmt.Errorf("%s: found an Ising model, expected a graph, or coefficients of 0 and 1", terms.Source)
	}
	if err := terms.Check(); err != nil {
		return nil, fmt.Errorf("%s: %w", terms.Source, err)
	}
	inst := &Instance{N: terms.N, Names: terms.Names, Source: terms.Source, terms: terms}
	inst.graph = &cliques.Graph{N: terms.N, Start: terms.Start, Col: terms.Col}
	if t := terms.Int; t != nil {
		if t.Offset != 0 {
			return nil, fmt.Errorf("%s: found the constant %d, expected none: the empty coalition is worth 0", terms.Source, t.Offset)
		}
		inst.Type, inst.exact = problem.Int64, true
		inst.graph.Weight, inst.own = t.Pair, t.Linear
	} else {
		t := terms.Real
		if t.Offset != 0 {
			return nil, fmt.Errorf("%s: found the constant %v, expected none: the empty coalition is worth 0", terms.Source, t.Offset)
		}
		inst.Type = problem.Float64
		inst.unit, inst.exact = unitOf(t.Pair, t.Linear)
		inst.graph.Weight, inst.own = inst.unit.toUnits(t.Pair), inst.unit.toUnits(t.Linear)
	}
	sum := 0.0
	for _, list := range [][]int64{inst.graph.Weight, inst.own} {
		for _, w := range list {
			sum += math.Abs(float64(w))
		}
	}
	if sum > mostSum {
		return nil, fmt.Errorf("%s: %w: absolute values add up to %.3g, expected at most 2^57", terms.Source, quboproblem.ErrCoefficient, sum)
	}
	inst.heavy = sum > 1<<54
	for _, w := range inst.own {
		inst.fixed += w
	}
	return inst, nil
}

// mostSum bounds the sum of absolute weights, those of edges counted twice.
const mostSum = 1 << 58

// A weightUnit is 10^-places or 2^-bits; one of the two is 0.
type weightUnit struct{ places, bits int }

// unitOf is the largest power of ten, down to 10^-9, such that every weight is the float64 nearest to a
// multiple of it; or if there is none, the largest power of two that divides all weights. If sums of such
// multiples are too large, it is the least power of two for which they are not, and exact is false.
func unitOf(lists ...[]float64) (u weightUnit, exact bool) {
	low, top := math.MaxInt, math.MinInt // exponents of the lowest bit and above the highest
	all := slices.Concat(lists...)
	for _, w := range all {
		for u.places <= 9 && !decimals(w, u.places) {
			u.places++
		}
		if w != 0 {
			fraction, exponent := math.Frexp(w)
			low = min(low, exponent-53+bits.TrailingZeros64(uint64(math.Abs(fraction)*0x1p53)))
			top = max(top, exponent)
		}
	}
	sum := 0.0 // in 2^top
	for _, w := range all {
		sum += math.Ldexp(math.Abs(w), -top)
	}
	if u.places <= 9 && math.Ldexp(sum*math.Pow10(u.places), top) < 0x1p53 {
		return u, true
	}
	_, most := math.Frexp(sum)
	u = weightUnit{bits: min(-low, 53-top-most)}
	return u, u.bits == -low
}

// decimals reports whether a float is the nearest float64 to some number of so many decimals.
func decimals(w float64, places int) bool {
	whole := math.Round(w * math.Pow10(places))
	return math.Abs(whole) < 0x1p53 && whole/math.Pow10(places) == w
}

// toUnits converts a list of weights to units, rounded up.
func (u weightUnit) toUnits(weights []float64) []int64 {
	out := make([]int64, len(weights))
	for k, w := range weights {
		if u.places > 0 {
			out[k] = int64(math.Round(w * math.Pow10(u.places)))
		} else {
			out[k] = int64(math.Ceil(math.Ldexp(w, u.bits)))
		}
	}
	return out
}

// toFloat is the float64 nearest to so many units.
func (u weightUnit) toFloat(units int64) float64 {
	return math.Ldexp(float64(units)/math.Pow10(u.places), -u.bits)
}

// toRat is so many units, exactly.
func (u weightUnit) toRat(units int64) *big.Rat {
	x := new(big.Float).SetMantExp(new(big.Float).SetInt64(units), -u.bits)
	exact, _ := x.Rat(nil)
	return exact.Quo(exact, new(big.Rat).SetFloat64(math.Pow10(u.places)))
}

// blockValues is the exact value of each block; label has each agent's block, from 0 to count-1.
func (inst *Instance) blockValues(label []int32, count int) []*big.Rat {
	out := make([]*big.Rat, count)
	if inst.law != nil {
		for c, mask := range blockMasks(label, count) {
			out[c] = new(big.Rat).SetFloat64(inst.law.Value(mask)) // nil: forbidden
		}
		return out
	}
	if inst.exact {
		sums := make([]int64, count)
		each(inst.terms, inst.own, inst.graph.Weight, label, func(c int32, w int64) { sums[c] += w })
		for c, sum := range sums {
			out[c] = inst.unit.toRat(sum)
		}
		return out
	}
	sums, term := make([]*big.Float, count), problem.NewExact()
	for c := range sums {
		sums[c] = problem.NewExact()
	}
	real := inst.terms.Real
	each(inst.terms, real.Linear, real.Pair, label, func(c int32, w float64) { sums[c].Add(sums[c], term.SetFloat64(w)) })
	for c, sum := range sums {
		out[c], _ = sum.Rat(nil)
	}
	return out
}

// each calls add with every weight inside a block.
func each[T int64 | float64](q *quboproblem.Instance, own, pair []T, label []int32, add func(block int32, w T)) {
	for i, c := range label {
		if own[i] != 0 {
			add(c, own[i])
		}
		for k := q.Start[i]; k < q.Start[i+1]; k++ {
			if j := q.Col[k]; int(j) > i && label[j] == c {
				add(c, pair[k])
			}
		}
	}
}

// Table is the instance of package csg with the value of every coalition, for exact algorithms. Floats
// are rounded once. It takes at most 16·2^N bytes while it is made.
func (inst *Instance) Table(ctx context.Context) (*problem.Instance, error) {
	if err := inst.check(); err != nil {
		return nil, err
	}
	if inst.law != nil {
		return nil, fmt.Errorf("%s: found a distribution, expected a graph", inst.Source)
	}
	if inst.N > MaxTable {
		return nil, fmt.Errorf("%s: %d agents: a table of all coalitions has %d at most", inst.Source, inst.N, MaxTable)
	}
	n := inst.N
	pair := make([]int64, n*n)
	for i := range n {
		col, weight := inst.graph.Row(i)
		for k, j := range col {
			pair[i*n+int(j)] = weight[k]
		}
	}
	values := make([]int64, 1<<n) // v(S+i+j) = v(S+i) + v(S+j) - v(S) + w(i,j)
	for m := uint64(1); m < 1<<n; m++ {
		if m&(1<<20-1) == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		i, rest := bits.TrailingZeros64(m), m&(m-1)
		if rest == 0 {
			values[m] = inst.own[i]
			continue
		}
		j, both := bits.TrailingZeros64(rest), rest&(rest-1)
		values[m] = values[rest] + values[both|1<<i] - values[both] + pair[i*n+j]
	}
	var table *problem.Instance
	var err error
	largest, _ := problem.LargestInt(values)
	switch sum, ok := problem.MultiplyWithin64(largest, max(1, n)); {
	case inst.Type == problem.Float64:
		reals := make([]float64, len(values))
		for m, v := range values {
			reals[m] = inst.unit.toFloat(v)
		}
		table, err = problem.NewInstance(reals, inst.Source)
	case ok && sum <= math.MaxInt32:
		table, err = problem.NewInstance(problem.Convert[int64, int32](values), inst.Source)
	default:
		table, err = problem.NewInstance(values, inst.Source)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", inst.Source, err)
	}
	table.Names, table.Notes = inst.Names, slices.Concat(inst.Notes, table.Notes)
	return table, nil
}
