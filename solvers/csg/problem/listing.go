package problem

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"coalesce/solvers/solve"
)

// MaxListed is the most agents of a Listing.
const MaxListed = 1 << 16

// fullAgents is the most agents of a table whose coalitions become a listing.
const fullAgents = 18

// A Listing is a characteristic function of any number of agents whose allowed coalitions are listed with their values: a
// structure's blocks are among them. Values are decimals, and sums of them are exact.
type Listing struct {
	N          int
	Names      []string // of agents 1..N; nil: their numbers
	Coalitions []Listed
	Scale      int  // values are whole numbers of 10^-Scale
	Zeros      bool // coalitions that are not listed are worth 0: agents alone, worth 0, stand for them
	Source     string
	Notes      []string
}

// A Listed is an allowed coalition.
type Listed struct {
	Agents []int // from 1, ascending, each once
	Value  int64 // in units of 10^-Scale of the listing
	Line   int   // of the file
}

// Check returns an error if a listing is none that can be solved. Its errors wrap solve.ErrInput and begin with the field, or
// name the line of a coalition.
func (l *Listing) Check() error {
	switch {
	case l == nil:
		return solve.InvalidInput("listing", "found nil, expected one")
	case l.N < 1 || l.N > MaxListed:
		return solve.InvalidInput("N", "found %d agents, expected 1 to %d", l.N, MaxListed)
	case l.Scale < 0 || l.Scale > 18:
		return solve.InvalidInput("Scale", "found %d, expected 0 to 18", l.Scale)
	}
	if err := (&Instance{N: l.N, Names: l.Names}).checkNames(); err != nil {
		return err
	}
	seen := make(map[string]int, len(l.Coalitions))
	var key []byte
	for k, c := range l.Coalitions {
		field := fmt.Sprintf("Coalitions[%d].Agents", k)
		if len(c.Agents) == 0 {
			return solve.InvalidInput(field, "found none, expected agents")
		}
		key = key[:0]
		for i, agent := range c.Agents {
			if agent < 1 || agent > l.N || i > 0 && agent <= c.Agents[i-1] {
				return solve.InvalidInput(field, "found agent %d, expected 1 to %d, ascending", agent, l.N)
			}
			key = append(key, byte(agent), byte(agent>>8), byte(agent>>16))
		}
		if other, ok := seen[string(key)]; ok {
			if c.Line > 0 {
				return fmt.Errorf("line %d: found coalition %s again, expected each once: it is on line %d", c.Line, l.CoalitionText(c.Agents), l.Coalitions[other].Line)
			}
			return solve.InvalidInput(field, "found coalition %s, which Coalitions[%d] is too, expected each once", l.CoalitionText(c.Agents), other)
		}
		seen[string(key)] = k
	}
	return nil
}

// AddZeros lists agents alone that are not listed, worth 0, and sets Zeros.
func (l *Listing) AddZeros() error {
	alone := make([]bool, l.N)
	for _, c := range l.Coalitions {
		if len(c.Agents) == 1 {
			alone[c.Agents[0]-1] = true
		}
	}
	for i, listed := range alone {
		if !listed {
			l.Coalitions = append(l.Coalitions, Listed{Agents: []int{i + 1}})
		}
	}
	l.Zeros = true
	return nil
}

// Name is the name of an agent, 1..N, or its number.
func (l *Listing) Name(agent int) string { return (&Instance{Names: l.Names}).Name(agent) }

// CoalitionText writes agents: "{1, 3}", by name where they have names.
func (l *Listing) CoalitionText(agents []int) string {
	words := make([]string, len(agents))
	for k, agent := range agents {
		words[k] = l.Name(agent)
	}
	return "{" + strings.Join(words, ", ") + "}"
}

// Decimal writes a number of units as a decimal.
func (l *Listing) Decimal(units *big.Int) string { return decimal(units, l.Scale) }

// Listing is the instance as a listing of all coalitions that are not forbidden. Floats are taken as their shortest decimals. It
// is an error of more than 18 agents, and of values whose decimals need more than 63 bits.
func (inst *Instance) Listing() (*Listing, error) {
	if inst.minimized {
		return nil, solve.InvalidInput("instance", "found values that Minimize has negated, expected those of before")
	}
	if inst.N > fullAgents {
		return nil, fmt.Errorf("%s: found a table of %d agents, expected at most %d for branch and cut and for constraints besides --minimize and --sizes, or a file that lists fewer coalitions with --missing=-inf", inst.Source, inst.N, fullAgents)
	}
	l := &Listing{N: inst.N, Names: inst.Names, Source: inst.Source, Notes: slices.Clone(inst.Notes)}
	texts := make([]string, inst.Len())
	for mask := uint64(1); mask < inst.Len(); mask++ {
		if math.IsInf(inst.Value64(mask), -1) {
			continue
		}
		text := inst.ValueDecimals(mask)
		if !inst.Type.Integer() {
			size := 8 * inst.Type.Size()
			text = strconv.FormatFloat(inst.Value64(mask), 'f', -1, size)
		}
		texts[mask] = text
		if _, part, ok := strings.Cut(text, "."); ok {
			l.Scale = max(l.Scale, len(part))
		}
	}
	for mask, text := range texts {
		if text == "" {
			continue
		}
		whole, part, _ := strings.Cut(text, ".")
		if l.Scale > 18 || len(part) > l.Scale {
			return nil, fmt.Errorf("%s: %w: found the value %s, expected at most 18 digits behind the point", inst.Source, ErrValue, text)
		}
		value, err := strconv.ParseInt(whole+part+strings.Repeat("0", l.Scale-len(part)), 10, 64)
		if err != nil {
			return nil, fmt.Errorf("%s: %w: found the value %s, expected less than 2^63 units of 10^-%d, the smallest that some value needs", inst.Source, ErrValue, text, l.Scale)
		}
		l.Coalitions = append(l.Coalitions, Listed{Agents: Agents(uint64(mask)), Value: value})
	}
	return l, nil
}
