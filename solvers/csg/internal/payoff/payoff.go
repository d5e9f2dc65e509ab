// Package payoff divides the values of a structure's blocks among their agents, in exact rational numbers, and checks such payoffs.
//
// Shapley and Banzhaf values are those of each block's own game (Aumann and Drèze, 1974). The core of a structure holds the payoffs x
// with x(B) = v(B) of each block B and x(S) ≥ v(S) of each coalition S. It has some unless coalitions with weights, which add up to 1 for
// each agent, are worth more than the structure (Bondareva, 1963; Shapley, 1967). The nucleolus is the payoff with x(B) = v(B) and
// x(i) ≥ v(i) whose excesses v(S) - x(S), the largest first, are the lexicographically least (Schmeidler, 1969). Linear programs find
// one level of excesses after the other (Maschler, Peleg and Shapley, 1979), each with the weights that prove it.
package payoff

import (
	"context"
	"fmt"
	"math/big"
	"slices"

	"coalesce/solvers/csg/problem"
	"coalesce/solvers/solve"
)

// The concepts of payoffs.
const (
	Shapley   = "shapley"
	Banzhaf   = "banzhaf"
	Core      = "core"
	Nucleolus = "nucleolus"
)

// Concepts are the names of all concepts.
func Concepts() []string { return []string{Shapley, Banzhaf, Core, Nucleolus} }

// MaxNucleolus is the most agents of a nucleolus.
const MaxNucleolus = 16

// A Payoff is what each agent receives, or the proof that no payoff is in the core.
type Payoff struct {
	// concept of the payoffs: shapley, banzhaf, core or nucleolus
	Concept string `json:"concept"`
	// payoff of each agent, the nearest float64
	Values []float64 `json:"values" none:"the core is empty"`
	// payoff of each agent, exactly: a decimal, or a fraction such as 7/3
	Exact []string `json:"exact" none:"the core is empty"`
	// coalitions whose weights add up to 1 for each agent, and which are worth more than the structure
	Balanced []Weighted `json:"balanced,omitempty" none:"the core is not empty, or was not asked for"`
	// levels of excesses that prove the nucleolus
	Levels []Level `json:"levels,omitempty" none:"the concept is another"`
}

// Negated is the payoff of the negated values, of Shapley or Banzhaf values.
func (p *Payoff) Negated() *Payoff {
	x := &Payoff{Concept: p.Concept, Values: make([]float64, len(p.Values)), Exact: make([]string, len(p.Exact))}
	for i, v := range p.Values {
		x.Values[i] = 0 - v
	}
	for i, text := range p.Exact {
		x.Exact[i] = solve.Number(text).Negated().String()
	}
	return x
}

// CheckMinimized returns an error if the structure of the smallest value has no payoffs of a concept.
func CheckMinimized(concept string) error {
	if concept == Core || concept == Nucleolus {
		return solve.InvalidInput("Payoff", "found %s of the structure of the smallest value, expected shapley or banzhaf", concept)
	}
	return nil
}

// A Weighted is a coalition and its weight.
type Weighted struct {
	Coalition uint64 `json:"coalition,omitempty" none:"its agents are listed"` // number of the coalition: bit i-1 stands for agent i
	Agents    []int  `json:"agents,omitempty" none:"it has a number"`          // agents of the coalition, from 1
	Weight    string `json:"weight"`                                           // weight, exactly
}

// A Level is one of the nucleolus: the coalitions of a positive weight have this excess in every payoff whose largest excess is
// the least, among coalitions that earlier levels leave open.
type Level struct {
	Excess     string     `json:"excess"`     // value of the coalitions less their payoff, exactly
	Coalitions []Weighted `json:"coalitions"` // coalitions of this excess; their weights add up to 1
	// agents that receive what they are worth alone
	Alone []Weighted `json:"alone,omitempty" none:"no such agent is needed"`
}

// Divide divides the values of a structure's blocks by a concept. Errors wrap solve.ErrInput where values that the concept needs are forbidden or too many.
func Divide(ctx context.Context, inst *problem.Instance, s problem.Structure, concept string) (*Payoff, error) {
	g, err := newGame(inst, concept)
	if err != nil {
		return nil, err
	}
	p := &Payoff{Concept: concept}
	var x []*big.Rat
	switch concept {
	case Shapley, Banzhaf:
		x, err = g.values(ctx, s, concept)
	case Core:
		x, p.Balanced, err = g.core(ctx, s)
	default:
		x, p.Levels, err = g.nucleolus(ctx, s)
	}
	if err != nil {
		return nil, err
	}
	p.set(x)
	return p, nil
}

// New is the payoffs of agents by a concept.
func New(concept string, exact []*big.Rat) *Payoff {
	p := &Payoff{Concept: concept}
	p.set(exact)
	return p
}

// set takes exact payoffs.
func (p *Payoff) set(x []*big.Rat) {
	for _, a := range x {
		f, _ := a.Float64()
		p.Values, p.Exact = append(p.Values, f), append(p.Exact, text(a))
	}
}

// text writes a number as a decimal of at most 18 places, or as a fraction.
func text(x *big.Rat) string {
	if places, exact := x.FloatPrec(); exact && places <= 18 {
		return x.FloatString(places)
	}
	return x.RatString()
}

// Check checks payoffs of a structure: values are computed again, payoffs of the core and the nucleolus are held against all coalitions, and
// proofs are added up. It returns what it has shown.
func (p *Payoff) Check(ctx context.Context, inst *problem.Instance, s problem.Structure) (shown string, err error) {
	if !slices.Contains(Concepts(), p.Concept) {
		return "", fmt.Errorf("found the payoffs' concept %.20q", p.Concept)
	}
	g, err := newGame(inst, p.Concept)
	if err != nil {
		return "", err
	}
	x, err := p.read()
	if err != nil {
		return "", err
	}
	if p.Concept == Core && x == nil && p.Balanced != nil {
		return coreIsEmpty, g.checkBalanced(s, p.Balanced)
	}
	if len(x) != inst.N {
		return "", fmt.Errorf("found %d payoffs, expected one for each of %d agents", len(x), inst.N)
	}
	if p.Concept == Shapley || p.Concept == Banzhaf {
		again, err := g.values(ctx, s, p.Concept)
		for i := range again {
			if err == nil && again[i].Cmp(x[i]) != 0 {
				return "", fmt.Errorf("agent %s receives %s, by the instance %s", inst.Name(i+1), text(x[i]), text(again[i]))
			}
		}
		return "payoffs are the " + p.Concept + " values of the blocks' games", err
	}
	for _, b := range s {
		if g.excess(b, x).Sign() != 0 {
			return "", fmt.Errorf("the payoffs of block %s do not add up to its value", inst.Coalition(b))
		}
	}
	if p.Concept == Core {
		found, err := g.scan(ctx, x, new(big.Rat), nil)
		if len(found) > 0 {
			err = fmt.Errorf("coalition %s is worth more than its agents receive", inst.Coalition(found[0]))
		}
		return inCore, err
	}
	return "payoffs are the nucleolus, by the weights of its levels of excesses", g.checkLevels(ctx, s, x, p.Levels)
}

// What Check shows of the core.
const (
	coreIsEmpty = "the core is empty: coalitions whose weights add up to 1 for each agent are worth more"
	inCore      = "payoffs are in the core: no coalition is worth more than its agents receive"
)

// read is the exact payoffs, which those in float64 have to be the nearest of.
func (p *Payoff) read() (x []*big.Rat, err error) {
	for _, t := range p.Exact {
		a, ok := new(big.Rat).SetString(t)
		if !ok || len(t) > 1<<16 {
			return nil, fmt.Errorf("found the payoff %.40q, expected a number", t)
		}
		x = append(x, a)
	}
	same := Payoff{}
	same.set(x)
	if !slices.Equal(same.Values, p.Values) || !slices.Equal(same.Exact, p.Exact) {
		return nil, fmt.Errorf("payoffs as float64 differ from the exact ones")
	}
	return x, nil
}
