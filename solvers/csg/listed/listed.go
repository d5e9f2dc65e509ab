// Package listed solves coalition structure generation where the allowed coalitions are listed: set partitioning, of any number of
// agents. Agents are the goods of an auction without free disposal, coalitions its bids, and package auction's branch and
// cut finds the best structure, with a proof that Verify computes again without a search. Values are decimals, and sums are exact.
//
// Constraints say which structures are allowed: sizes of blocks and their number, agents that share a block and agents that do not.
package listed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"coalesce/solvers/auction"
	auctionproblem "coalesce/solvers/auction/problem"
	"coalesce/solvers/csg"
	"coalesce/solvers/csg/anytime"
	"coalesce/solvers/csg/internal/formats"
	"coalesce/solvers/csg/internal/payoff"
	"coalesce/solvers/csg/problem"
	"coalesce/solvers/solve"
)

// An Instance is agents and their allowed coalitions.
type Instance = problem.Listing

// A Coalition is an allowed coalition and its value.
type Coalition = problem.Listed

// Constraints say which structures are allowed, and which is the best.
type Constraints = problem.Constraints

// Counts are the numbers of blocks that a structure may have.
type Counts = problem.Counts

// MaxAgents is the most agents of an instance.
const MaxAgents = problem.MaxListed

// Algorithm is the name of the algorithm for listed coalitions: branch and cut.
const Algorithm = auction.Branch

// New lists the coalitions of a table of at most 18 agents that are not forbidden.
func New(inst *problem.Instance) (*Instance, error) {
	if err := inst.Check(); err != nil {
		return nil, err
	}
	inst.DrawValues()
	return inst.Listing()
}

// Options of Solve: the settings of all solvers, of which Algorithm is one of package auction, and the constraints.
type Options struct {
	solve.Settings
	Constraints
	Payoff string // divide the values of the best structure's blocks among their agents, by one of csg.Payoffs
}

// Read reads a table of coalitions and values from a file: as csg.Read, or as a listing if forced is set, or if the file is one by its size.
// The other result is nil.
func Read(path string, opts csg.ReadOptions, forced bool) (*problem.Instance, *Instance, error) {
	return formats.ReadGame(path, withForm(opts, forced))
}

// ReadFrom is Read on an open stream of size bytes, or of unknown size when that is negative; name is what errors call it.
func ReadFrom(r io.Reader, size int64, name string, opts csg.ReadOptions, forced bool) (*problem.Instance, *Instance, error) {
	return formats.ReadGameFrom(r, size, name, withForm(opts, forced))
}

// Few is a form of ReadOptions: Read also lists tables of up to 12 agents, whose proofs are short.
const Few = formats.Few

// NewFew is New for up to 12 agents, nil of more and of values that are no decimals of a list: then the table is to be solved.
func NewFew(inst *problem.Instance) *Instance {
	if inst.N > formats.FewAgents {
		return nil
	}
	return NewSmall(inst)
}

// NewSmall is New for tables of up to 18 agents, nil of more and of values that are no decimals of a list: then the table is to be solved.
func NewSmall(inst *problem.Instance) *Instance {
	l, err := New(inst)
	if err != nil {
		return nil
	}
	return l
}

func withForm(opts csg.ReadOptions, forced bool) csg.ReadOptions {
	switch {
	case forced:
		opts.Form = formats.Listed
	case opts.Form != formats.Few:
		opts.Form = formats.Either
	}
	return opts
}

// Solve finds the best structure of allowed coalitions, and proves it. The end of ctx and the time limit end a solve with the best
// structure so far and a bound; Stopped says so. Where there is no structure the error wraps solve.ErrInfeasible, and the
// result says so; where none was found yet, auction.ErrUnsold.
func Solve(ctx context.Context, inst *Instance, o Options) (*Result, error) {
	p, err := newProgram(inst, &o.Constraints)
	if err == nil {
		err = o.checkPayoff()
	}
	if err != nil {
		return nil, err
	}
	s := auction.Options{Settings: o.Settings, Proof: true}
	s.Start, s.Target, s.Progress = nil, nil, nil
	if o.Target != nil {
		target := sign(&o.Constraints) * *o.Target
		s.Target = &target
	}
	if o.Progress != nil {
		s.Progress = func(now solve.Incumbent) {
			o.Progress(solve.NewIncumbent(now.Seconds, signed(&o.Constraints, now.Value), signed(&o.Constraints, now.Bound), now.Work))
		}
	}
	blocks, _, err := problem.TakeStart(&o.Settings, inst.N)
	if err != nil {
		return nil, err
	}
	if blocks != nil {
		bids, err := p.bidsOf(blocks)
		if err != nil {
			return nil, solve.InvalidInput("Start", "%w", err)
		}
		s.Start = auctionproblem.Allocation(bids)
	}
	if s.Algorithm == "" && (len(p.auction.Bids) <= mostProved || p.auction.Goods > auction.MaxItems) {
		s.Algorithm = auction.Branch
	}
	if len(p.auction.Bids) == 0 {
		r := newResult(inst, &o.Constraints)
		r.ProveInfeasible()
		r.Algorithm = auction.Branch
		return r, fmt.Errorf("%s: %w: no coalition is allowed", inst.Source, solve.ErrInfeasible)
	}
	found, err := auction.Solve(ctx, p.auction, s)
	if found == nil {
		return nil, explained(inst, err)
	}
	r, certified := p.result(found)
	if certified != nil {
		return nil, certified
	}
	if o.Target != nil {
		r.Target, r.Met = o.Target, found.Met
	}
	if o.Payoff != "" && err == nil && r.Blocks != nil {
		if !r.Proven {
			r.Notes = append(r.Notes, "payoffs are not known: the solve ended before")
			return r, nil
		}
		if r.Payoff, err = payoff.DivideListed(ctx, inst, r.Blocks, o.Payoff); err != nil {
			return nil, err
		}
	}
	return r, explained(inst, err)
}

// checkPayoff returns an error if blocks' values are not divided by a concept.
func (o *Options) checkPayoff() error {
	switch {
	case o.Payoff != "" && !slices.Contains(payoff.Concepts(), o.Payoff):
		return solve.InvalidInput("Payoff", "found %.40q, expected one of %v", o.Payoff, payoff.Concepts())
	case o.Minimize:
		return payoff.CheckMinimized(o.Payoff)
	}
	return nil
}

// mostProved is the most bids of auctions of few goods that branch and cut solves, with a proof, unless another algorithm is asked for.
const mostProved = 1 << 12

// explained is an error of the auction in words of coalitions.
func explained(inst *Instance, err error) error {
	if errors.Is(err, solve.ErrInfeasible) {
		return fmt.Errorf("%s: %w: no allowed coalitions have each of the %d agents once", inst.Source, solve.ErrInfeasible, inst.N)
	}
	return err
}

// A program is the auction of an instance under constraints.
type program struct {
	inst        *Instance
	constraints *Constraints
	auction     *auctionproblem.Auction
	origin      []int // the coalition of each bid
}

// tableOrder are the numbers of an instance's coalitions in the order of tables, so that a list read from a file and one made of a table have the
// same bids.
func tableOrder(inst *Instance) []int {
	order := make([]int, len(inst.Coalitions))
	for k := range order {
		order[k] = k
	}
	compare := func(a, b int) int {
		x, y := inst.Coalitions[a].Agents, inst.Coalitions[b].Agents
		for len(x) > 0 && len(y) > 0 {
			if c := cmp.Compare(x[len(x)-1], y[len(y)-1]); c != 0 {
				return c
			}
			x, y = x[:len(x)-1], y[:len(y)-1]
		}
		return cmp.Compare(len(x), len(y))
	}
	if !slices.IsSortedFunc(order, compare) {
		slices.SortStableFunc(order, compare)
	}
	return order
}

// newProgram checks an instance and makes its auction. Coalitions that constraints forbid have no bid. A number of blocks makes goods and
// dummies, its places, of which each bid takes one: the blocks take places in the order of their first agents, the first those that have to be
// taken. So the block of the first agent takes the first place, and a coalition no place beyond those of the agents before its first.
func newProgram(inst *Instance, c *Constraints) (*program, error) {
	if err := inst.Check(); err != nil {
		return nil, err
	}
	rules, err := rulesOf(c, inst)
	if err != nil {
		return nil, err
	}
	p := &program{inst: inst, constraints: c}
	n, least, most := int64(inst.N), int64(c.Blocks.Least), int64(c.Blocks.Most)
	if least > n {
		least = n + 1 // which no structure has
	}
	places := min(max(least, most), n+1)
	var bids []auctionproblem.Bid
	for _, k := range tableOrder(inst) {
		listed := inst.Coalitions[k]
		if !rules.Allow(listed.Agents) {
			continue
		}
		goods := make([]int64, len(listed.Agents), len(listed.Agents)+1)
		for i, agent := range listed.Agents {
			goods[i] = int64(agent - 1)
		}
		price := listed.Value
		if c.Minimize {
			if price == math.MinInt64 {
				return nil, solve.InvalidInput(fmt.Sprintf("Coalitions[%d].Value", k), "found -2^63, expected more")
			}
			price = -price
		}
		add := func(goods []int64) {
			bids = append(bids, auctionproblem.Bid{Number: int64(len(bids)), Price: price, Goods: goods})
			p.origin = append(p.origin, k)
		}
		if places == 0 {
			add(goods)
			continue
		}
		first := goods[0]
		for place := range min(places, first+1) {
			if first == 0 || place > 0 {
				add(append(slices.Clip(goods), n+place))
			}
		}
		if most == 0 && first >= least {
			add(goods)
		}
		if len(bids) > mostBids {
			return nil, solve.InvalidInput("Blocks", "found %d blocks of %d coalitions, expected fewer: each coalition is a bid for each place that it may have among them, and those are more than %d", places, len(inst.Coalitions), mostBids)
		}
	}
	p.auction = &auctionproblem.Auction{Goods: n + least, Dummies: places - least, Bids: bids, Scale: inst.Scale, Source: inst.Source, Notes: inst.Notes, SellAll: true}
	return p, nil
}

// mostBids is the most bids of a program.
const mostBids = 1 << 20

// bidsOf are the bids of a structure, by their places.
func (p *program) bidsOf(blocks [][]int) ([]int, error) {
	ordered := slices.Clone(blocks)
	for k := range ordered {
		ordered[k] = slices.Sorted(slices.Values(ordered[k]))
	}
	slices.SortFunc(ordered, func(a, b []int) int { return a[0] - b[0] })
	c := p.constraints
	if err := c.Blocks.Check(len(blocks)); err != nil {
		return nil, err
	}
	places := min(max(c.Blocks.Least, c.Blocks.Most), p.inst.N+1)
	var list []int
	for k, block := range ordered {
		want := int64(-1)
		if k < places {
			want = int64(p.inst.N + k)
		}
		at := slices.IndexFunc(p.auction.Bids, func(b auctionproblem.Bid) bool {
			goods := b.Goods
			if want >= 0 {
				if goods[len(goods)-1] != want {
					return false
				}
				goods = goods[:len(goods)-1]
			}
			return slices.EqualFunc(goods, block, func(g int64, agent int) bool { return g == int64(agent-1) })
		})
		if at < 0 {
			return nil, fmt.Errorf("found the block %s, which is not allowed, expected blocks that are listed", p.inst.CoalitionText(block))
		}
		list = append(list, at)
	}
	slices.Sort(list)
	return list, nil
}

// rulesOf are the constraints on single blocks of an instance.
func rulesOf(c *Constraints, inst *Instance) (*problem.Rules, error) {
	r, err := c.Rules(inst.N, inst.Names)
	if err != nil || !inst.Zeros {
		return r, err
	}
	if c.Blocks != (Counts{}) || len(c.Together) > 0 || !r.Allow([]int{1}) {
		return nil, solve.InvalidInput("Missing", "found 0, expected -inf beside numbers and sizes of blocks and agents that share one: coalitions that are not listed stand for agents alone")
	}
	for _, k := range inst.Coalitions {
		if len(k.Agents) == 1 && (k.Value < 0) != c.Minimize && k.Value != 0 {
			return nil, solve.InvalidInput("Missing", "found 0, and agent %s alone is worth %s than that, expected -inf", inst.Name(k.Agents[0]), map[bool]string{false: "less", true: "more"}[c.Minimize])
		}
	}
	return r, nil
}

// FromGraph lists the coalitions of a graph that blocks may be under constraints, which Solve needs too: without those that two others make up
// and that are not worth more, unless the number of blocks or agents that share one matter.
func FromGraph(g *anytime.Instance, c *Constraints) (*Instance, error) {
	return g.Listing(anytime.ListOptions{Sizes: c.Sizes, Connected: c.Connected, Minimize: c.Minimize, Whole: c.Blocks != (Counts{}) || len(c.Together) > 0})
}

// sign is -1 where the smallest value is the best.
func sign(c *Constraints) float64 {
	if c.Minimize {
		return -1
	}
	return 1
}

// signed is a number of the auction as one of the instance, or the other way round.
func signed(c *Constraints, x solve.Number) solve.Number {
	if c.Minimize {
		return x.Negated()
	}
	return x
}
