package listed

import (
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"

	"coalesce/solvers/auction"
	"coalesce/solvers/csg/internal/payoff"
	"coalesce/solvers/csg/problem"
	"coalesce/solvers/solve"
)

// A Result is the answer to an instance, and how it came about. Value and Bound are exact decimals.
type Result struct {
	solve.Report
	// blocks as lists of agents from 1, ascending; blocks by their first agents
	Blocks [][]int `json:"solution" none:"no structure is allowed, or none was found"`
	// names of the agents
	Names []string `json:"agents,omitempty" none:"they have none"`
	// constraints of the structures
	Constraints Constraints `json:"constraints"`
	// bids of the blocks in the auction of the proof, by their places there; of coalitions in their order, a bid for each place among the blocks that it may have
	Bids []int `json:"bids" none:"there is no solution"`
	// nodes of branch and cut
	Nodes int64 `json:"nodes"`
	// what each agent receives
	Payoff *payoff.Payoff `json:"payoff,omitempty" none:"it was not asked for"`
	// findings of the check of the answer
	Certificate *Certificate `json:"certificate" none:"there is no solution"`
	// tree of prices of cliques of the auction whose goods are the agents and the places of blocks, from which the bound follows without a search
	Proof *auction.Proof `json:"proof,omitempty" none:"another algorithm than branch and cut solved the instance"`
}

// A Certificate has the findings of the check of an answer.
type Certificate struct {
	Blocks    []Block `json:"blocks"`    // blocks, in the order of their first agents
	Sum       string  `json:"sum"`       // sum of the blocks' values, an exact decimal
	Partition bool    `json:"partition"` // whether blocks are disjoint, cover the agents, and respect the constraints
}

// A Block is one block of a structure and its value.
type Block struct {
	Agents []string `json:"agents"` // names of the agents, or their numbers
	Value  string   `json:"value"`  // value, an exact decimal
}

// newResult is a result with the facts of its instance and no answer.
func newResult(inst *Instance, c *Constraints) *Result {
	size := map[string]int{"agents": inst.N, "coalitions": len(inst.Coalitions)}
	return &Result{Report: solve.Report{Problem: "csg", Instance: inst.Source, Size: size, Notes: slices.Clip(inst.Notes)}, Names: inst.Names, Constraints: *c}
}

// result is the auction's as one of coalitions.
func (p *program) result(found *auction.Result) (*Result, error) {
	r := newResult(p.inst, p.constraints)
	report := found.Report
	report.Problem, report.Instance, report.Size = r.Problem, r.Instance, maps.Clone(r.Size)
	report.Value, report.Bound, report.Gap = "", "", nil
	if report.Algorithm == Algorithm {
		report.Reason = "allowed coalitions are listed"
	}
	r.Report, r.Nodes, r.Proof = report, found.Nodes, found.Proof()
	if r.Proof != nil && !found.Proven { // the tree ends nowhere, and its root bounds what there is
		for k := range r.Proof.Parts {
			if root := r.Proof.Parts[k].Root; root != nil {
				root.Branch, root.Kids = nil, nil
			}
		}
	}
	if found.Value == "" {
		return r, nil
	}
	r.Blocks, r.Bids = [][]int{}, found.Winners
	for _, w := range found.Winners {
		r.Blocks = append(r.Blocks, p.inst.Coalitions[p.origin[w]].Agents)
	}
	slices.SortFunc(r.Blocks, func(a, b []int) int { return a[0] - b[0] })
	if err := r.certify(p.inst); err != nil {
		return nil, err
	}
	if claimed := signed(p.constraints, found.Value); claimed != r.Value {
		return nil, fmt.Errorf("%w: the auction says %s, the blocks add up to %s", problem.ErrCheck, claimed, r.Value)
	}
	switch bound := signed(p.constraints, found.Bound); {
	case found.Proven:
		r.SetProvenBound(bound)
	case bound != "":
		r.SetBound(bound)
	}
	return r, nil
}

// certify recomputes the value of Blocks from the instance, and checks them against the constraints. Errors wrap problem.ErrCheck.
func (r *Result) certify(inst *Instance) error {
	if _, err := problem.Blocks(r.Blocks).Labels(inst.N); err != nil {
		return fmt.Errorf("%w: %w", problem.ErrCheck, err)
	}
	rules, err := rulesOf(&r.Constraints, inst)
	if err == nil {
		err = r.Constraints.Blocks.Check(len(r.Blocks))
	}
	if err != nil {
		return fmt.Errorf("%w: %w", problem.ErrCheck, err)
	}
	c := &Certificate{Blocks: []Block{}, Partition: true}
	sum := new(big.Int)
	for _, block := range r.Blocks {
		at := slices.IndexFunc(inst.Coalitions, func(l Coalition) bool { return slices.Equal(l.Agents, block) })
		if at < 0 || !rules.Allow(block) {
			return fmt.Errorf("%w: the block %s is not allowed", problem.ErrCheck, inst.CoalitionText(block))
		}
		value := big.NewInt(inst.Coalitions[at].Value)
		sum.Add(sum, value)
		b := Block{Value: inst.Decimal(value)}
		for _, agent := range block {
			b.Agents = append(b.Agents, inst.Name(agent))
		}
		c.Blocks = append(c.Blocks, b)
	}
	c.Sum = inst.Decimal(sum)
	r.Certificate, r.Value = c, solve.Number(c.Sum)
	return nil
}

// String is the structure with its values, one block a line, and the total.
func (r *Result) String() string {
	var b strings.Builder
	if r.Certificate != nil {
		for _, block := range r.Certificate.Blocks {
			fmt.Fprintf(&b, "{%s}\t%s\n", strings.Join(block.Agents, ", "), block.Value)
		}
	}
	fmt.Fprintf(&b, "total\t%s\n", r.Value)
	return b.String()
}
