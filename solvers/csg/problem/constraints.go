package problem

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"coalesce/solvers/formats"
	"coalesce/solvers/formats/names"
	"coalesce/solvers/solve"
)

// Constraints say which structures are allowed, and which is the best.
type Constraints struct {
	// find the structure of the smallest value
	Minimize bool `option:"minimize" json:"minimize,omitempty"`
	// number of blocks, such as 3, 2- or 1-4
	Blocks Counts `option:"blocks" default:"any number" json:"blocks,omitzero" none:"any number is allowed"`
	// agents that share a block, such as "1 3"; repeat it for more
	Together []string `option:"together" whole:"true" default:"none" json:"together,omitempty" none:"there are none"`
	// agents of whom no two share a block, such as "1 3"; repeat it for more
	Separate []string `option:"separate" whole:"true" default:"none" json:"separate,omitempty" none:"there are none"`
	// blocks of a graph are connected by edges among their members
	Connected bool `option:"connected" json:"connected,omitempty"`
	// agents with an edge from each to the next, such as "1 3 2", which connect blocks of listed coalitions and tables; repeat it for more
	Edges []string `option:"edges" whole:"true" default:"none" json:"edges,omitempty" none:"there are none"`
	// numbers of members that blocks may have
	Sizes Sizes `json:"sizes,omitzero" none:"there is no restriction"`
}

// List reports whether there are constraints that list the coalitions of a table, which others than sizes of blocks and Minimize do.
func (c *Constraints) List() bool {
	return c.Connected || c.Blocks != (Counts{}) || len(c.Together)+len(c.Separate)+len(c.Edges) > 0
}

// Counts are the numbers of blocks that a structure may have: Least at least, and Most at most. 0 is no limit.
//
// JSON: string
type Counts struct{ Least, Most int }

// String is what UnmarshalText reads; empty where every number is allowed.
func (c Counts) String() string {
	switch {
	case c == Counts{}:
		return ""
	case c.Least == c.Most:
		return strconv.Itoa(c.Least)
	case c.Most == 0:
		return fmt.Sprintf("%d-", c.Least)
	}
	return fmt.Sprintf("%d-%d", max(1, c.Least), c.Most)
}

// MarshalText is String.
func (c Counts) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText reads a number, or a range such as "2-4", or "2-", which has no end.
func (c *Counts) UnmarshalText(text []byte) error {
	*c = Counts{}
	if len(text) == 0 {
		return nil
	}
	low, high, isRange := strings.Cut(string(text), "-")
	least, err := strconv.Atoi(strings.TrimSpace(low))
	most := least
	if err == nil && isRange {
		if most = 0; strings.TrimSpace(high) != "" {
			most, err = strconv.Atoi(strings.TrimSpace(high))
		}
	}
	if err != nil || least < 1 || most != 0 && most < least || most > MaxListed || least > MaxListed || isRange && most == 0 && high != "" {
		return solve.AsInputError(fmt.Errorf("found the number of blocks %q, expected a number from 1 on, or a range such as 1-4 or 2-", text))
	}
	*c = Counts{least, most}
	return nil
}

// Check returns an error unless a structure may have so many blocks.
func (c Counts) Check(blocks int) error {
	if blocks < c.Least || c.Most > 0 && blocks > c.Most {
		return fmt.Errorf("found %s, expected %s", formats.Count(blocks, "block"), c)
	}
	return nil
}

// Rules are constraints on single blocks, by agents' numbers.
type Rules struct {
	sizes    Sizes
	together [][]int // ascending
	separate [][]int
	near     [][]int // the agents to which each has an edge, from 1; nil: blocks need no edges
}

// Rules are the constraints on single blocks of n agents, whose names may be nil.
func (c *Constraints) Rules(n int, names []string) (*Rules, error) {
	r := &Rules{sizes: c.Sizes}
	var err error
	if r.together, err = groups("Together", c.Together, n, names); err != nil {
		return nil, err
	}
	if r.separate, err = groups("Separate", c.Separate, n, names); err != nil {
		return nil, err
	}
	chains, err := numbers("Edges", c.Edges, n, names)
	if err != nil {
		return nil, err
	}
	if len(chains) > 0 {
		r.near = make([][]int, n+1)
	}
	for _, chain := range chains {
		for k, agent := range chain[1:] {
			r.near[agent] = append(r.near[agent], chain[k])
			r.near[chain[k]] = append(r.near[chain[k]], agent)
		}
	}
	return r, nil
}

// groups reads sets of agents, by number or by name.
func groups(field string, lists []string, n int, agents []string) ([][]int, error) {
	sets, err := numbers(field, lists, n, agents)
	for k, set := range sets {
		slices.Sort(set)
		if sets[k] = slices.Compact(set); len(sets[k]) < 2 {
			return nil, solve.InvalidInput(field, "found %s, expected two agents or more", formats.Quote(lists[k]))
		}
	}
	return sets, err
}

// numbers reads lists of two agents or more, by number or by name.
func numbers(field string, lists []string, n int, agents []string) (out [][]int, err error) {
	number := make(map[string]int, len(agents))
	for i, name := range agents {
		number[name] = i + 1
	}
	var known func(string) bool
	if agents != nil {
		known = func(word string) bool { return number[word] > 0 }
	}
	for _, list := range lists {
		words, err := names.ParseList(list, known)
		if err != nil {
			return nil, solve.InvalidInput(field, "%w", err)
		}
		var group []int
		for _, word := range words {
			agent := number[word]
			if agent == 0 {
				agent, err = strconv.Atoi(word)
			}
			if err != nil || agent < 1 || agent > n {
				return nil, solve.InvalidInput(field, "found agent %s, expected a number from 1 to %d, or a name where agents have names", formats.Quote(word), n)
			}
			group = append(group, agent)
		}
		if len(group) < 2 {
			return nil, solve.InvalidInput(field, "found %s, expected two agents or more", formats.Quote(list))
		}
		out = append(out, group)
	}
	return out, nil
}

// Allow reports whether agents, ascending, may be a block.
func (r *Rules) Allow(agents []int) bool {
	if r.sizes != 0 && r.sizes>>min(len(agents), MaxAgents)&1 == 0 {
		return false
	}
	count := func(group []int) (members int) {
		for _, agent := range group {
			if _, in := slices.BinarySearch(agents, agent); in {
				members++
			}
		}
		return members
	}
	for _, group := range r.together {
		if k := count(group); k != 0 && k != len(group) {
			return false
		}
	}
	for _, group := range r.separate {
		if count(group) > 1 {
			return false
		}
	}
	return r.near == nil || r.connected(agents)
}

// connected reports whether edges among agents, ascending, lead from one to all.
func (r *Rules) connected(agents []int) bool {
	reached := make([]bool, len(agents))
	reached[0] = true
	next, count := []int{agents[0]}, 1
	for len(next) > 0 {
		agent := next[len(next)-1]
		next = next[:len(next)-1]
		for _, other := range r.near[agent] {
			if at, in := slices.BinarySearch(agents, other); in && !reached[at] {
				reached[at] = true
				next = append(next, other)
				count++
			}
		}
	}
	return count == len(agents)
}
