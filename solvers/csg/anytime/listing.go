package anytime

import (
	"fmt"
	"math/bits"
	"slices"

	"coalesce/solvers/csg/problem"
	"coalesce/solvers/solve"
)

// What Listing takes at most: coalitions listed, coalitions looked at, and members of one whose splittings are looked at.
const (
	mostListed  = 1 << 18
	mostSeen    = 1 << 24
	mostDivided = 12
)

// ListOptions say which coalitions of a graph are listed.
type ListOptions struct {
	Sizes     problem.Sizes // numbers of members; 0: all
	Connected bool          // members are connected by edges among them
	Whole     bool          // list coalitions, too, that two others make up and are not worth less
	Minimize  bool          // the smallest value is the best
}

// Listing lists coalitions of a graph that blocks may be: those that are worth more than each two listed ones that make them up, unless
// Whole is set. Weights have to be decimals or multiples of a power of two whose sums are exact. It is an error if there are more than 2^18.
func (inst *Instance) Listing(o ListOptions) (*problem.Listing, error) {
	if err := inst.check(); err != nil {
		return nil, err
	}
	if inst.law != nil || !inst.exact {
		return nil, fmt.Errorf("%s: found a distribution, or weights whose sums are rounded, expected a graph with weights of fewer digits", inst.Source)
	}
	l := &problem.Listing{N: inst.N, Names: inst.Names, Source: inst.Source, Notes: slices.Clone(inst.Notes), Scale: inst.unit.places}
	times := int64(1) // units of the listing in one of the weights
	switch shift := inst.unit.bits; {
	case shift > 18 || shift < -30:
		return nil, fmt.Errorf("%s: found weights that are multiples of 2^%d, expected decimals of at most 18 digits behind the point", inst.Source, -shift)
	case shift > 0:
		l.Scale += shift
		for range shift {
			times *= 5
		}
	default:
		times <<= -shift
	}
	e := &enumeration{inst: inst, o: o, n: inst.N, list: l, times: times, most: inst.N}
	if o.Sizes != 0 && o.Sizes>>problem.MaxAgents == 0 {
		e.most = min(inst.N, bits.Len64(uint64(o.Sizes))-1)
	}
	e.pair, e.edge = make([]int64, e.n*e.n), make([]bool, e.n*e.n)
	for i := range e.n {
		col, weight := inst.graph.Row(i)
		for k, j := range col {
			e.pair[i*e.n+int(j)], e.edge[i*e.n+int(j)] = weight[k], true
		}
	}
	if err := e.run(); err != nil {
		return nil, fmt.Errorf("%s: %w", inst.Source, err)
	}
	return l, nil
}

// An enumeration looks at coalitions, each once.
type enumeration struct {
	inst    *Instance
	o       ListOptions
	n, most int     // agents; the most members
	pair    []int64 // weights, n·n
	edge    []bool
	list    *problem.Listing
	times   int64
	seen    int
	members []int
}

func (e *enumeration) run() error {
	for i := range e.n {
		e.members = []int{i}
		var next []int
		near := make([]bool, e.n) // i, its neighbours after it, and those that are passed on
		near[i] = true
		for j := i + 1; j < e.n; j++ {
			if !e.o.Connected || e.edge[i*e.n+j] {
				next, near[j] = append(next, j), true
			}
		}
		if err := e.extend(i, next, near, e.inst.own[i]); err != nil {
			return err
		}
	}
	return nil
}

// extend lists the members, worth so much, and all coalitions of them and some of next, or of agents after first that are connected with these.
func (e *enumeration) extend(first int, next []int, near []bool, value int64) error {
	if e.seen++; e.seen > mostSeen {
		return e.tooMany()
	}
	k := len(e.members)
	if (e.o.Sizes == 0 || e.o.Sizes>>min(k, problem.MaxAgents)&1 == 1) && (e.o.Whole || !e.divides()) {
		if len(e.list.Coalitions) == mostListed {
			return e.tooMany()
		}
		agents := make([]int, k)
		for i, m := range e.members {
			agents[i] = m + 1
		}
		slices.Sort(agents)
		high, low := bits.Mul64(uint64(max(value, -value)), uint64(e.times))
		if high != 0 || low > 1<<60 {
			return fmt.Errorf("found weights whose sums need more than 60 bits in units of 10^-%d", e.list.Scale)
		}
		e.list.Coalitions = append(e.list.Coalitions, problem.Listed{Agents: agents, Value: value * e.times})
	}
	if k == e.most {
		return nil
	}
	for at, j := range next {
		gain := e.inst.own[j]
		for _, m := range e.members {
			gain += e.pair[m*e.n+j]
		}
		rest, fresh := slices.Clone(next[at+1:]), []int(nil)
		if e.o.Connected {
			for h := first + 1; h < e.n; h++ {
				if !near[h] && e.edge[j*e.n+h] {
					near[h] = true
					fresh = append(fresh, h)
				}
			}
		}
		e.members = append(e.members, j)
		err := e.extend(first, append(rest, fresh...), near, value+gain)
		e.members = e.members[:k]
		for _, h := range fresh {
			near[h] = false
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (e *enumeration) tooMany() error {
	return solve.InvalidInput("Sizes", "found more than %d coalitions that blocks may be, of %d looked at, expected fewer: smaller blocks, or connected ones", mostListed, e.seen)
}

// divides reports whether two coalitions that may be blocks make the members up, and are not worth less.
func (e *enumeration) divides() bool {
	k := len(e.members)
	if k < 2 || k > mostDivided {
		return false
	}
	allows := func(size int) bool { return e.o.Sizes == 0 || e.o.Sizes>>min(size, problem.MaxAgents)&1 == 1 }
	for part := uint64(1); part < 1<<(k-1); part++ { // without the last member
		other := 1<<k - 1 - part
		if !allows(bits.OnesCount64(part)) || !allows(bits.OnesCount64(other)) {
			continue
		}
		cut := int64(0)
		for a := range k {
			for b := range k {
				if part>>a&1 == 1 && other>>b&1 == 1 {
					cut += e.pair[e.members[a]*e.n+e.members[b]]
				}
			}
		}
		if e.o.Minimize {
			cut = -cut
		}
		if cut <= 0 && (!e.o.Connected || e.connected(part) && e.connected(other)) {
			return true
		}
	}
	return false
}

// connected reports whether edges connect some of the members.
func (e *enumeration) connected(part uint64) bool {
	reached := part & -part
	for grown := true; grown; {
		grown = false
		for a := range e.members {
			if reached>>a&1 == 0 {
				continue
			}
			for b := range e.members {
				if part>>b&1 == 1 && reached>>b&1 == 0 && e.edge[e.members[a]*e.n+e.members[b]] {
					reached |= 1 << b
					grown = true
				}
			}
		}
	}
	return reached == part
}
