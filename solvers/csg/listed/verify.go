package listed

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"coalesce/solvers/auction"
	"coalesce/solvers/csg/anytime"
	"coalesce/solvers/solve"
)

// Verify checks a result, the JSON object of a Result, against an instance, under the constraints that the result names: that the
// blocks are a partition of its agents and allowed, that their values add up to the stated value, and by the proof, without a search, that no
// structure is better, or that none is allowed. Errors are those of an object that cannot be read.
func Verify(inst *Instance, result []byte) (*solve.Verdict, error) {
	var x Result
	if err := json.Unmarshal(result, &x); err != nil {
		return nil, fmt.Errorf("result: %w", err)
	}
	v, err := solve.NewVerdict("csg", &x.Report)
	if err != nil {
		return nil, err
	}
	p, err := newProgram(inst, &x.Constraints)
	if err != nil {
		return nil, err
	}
	r := newResult(inst, &x.Constraints)
	if !v.SameSize(r.Size) {
		return v, nil
	}
	if !slices.Equal(x.Names, inst.Names) {
		v.Refute("the result's agents are %.80q, the instance's %.80q", x.Names, inst.Names)
	}
	if x.Blocks == nil {
		p.verifyInfeasible(v, &x)
		return v, nil
	}
	r.Blocks = x.Blocks
	if err := r.certify(inst); err != nil {
		v.Refute("%w", err)
		return v, nil
	}
	v.Note("feasible: the blocks are a partition of the agents, and allowed")
	v.CheckValue(r.Value, !x.Constraints.Minimize)
	if !reflect.DeepEqual(x.Certificate, r.Certificate) {
		v.Refute("the certificate differs from that of the instance, whose blocks add up to %s", r.Certificate.Sum)
	}
	if x.Payoff != nil {
		if shown, err := x.Payoff.CheckListed(context.Background(), inst, r.Blocks); err != nil {
			v.Refute("%w", err)
		} else {
			v.Note("payoffs: %s", shown)
		}
	}
	if x.Proof == nil {
		v.NoteUnchecked()
		return v, nil
	}
	p.verifyBound(v, &x)
	return v, nil
}

// VerifyGraph is Verify against the coalitions of a graph.
func VerifyGraph(g *anytime.Instance, result []byte) (*solve.Verdict, error) {
	var x struct {
		Constraints Constraints `json:"constraints"`
	}
	if err := json.Unmarshal(result, &x); err != nil {
		return nil, fmt.Errorf("result: %w", err)
	}
	inst, err := FromGraph(g, &x.Constraints)
	if err != nil {
		return nil, err
	}
	return Verify(inst, result)
}

// verifyBound holds the stated bound against that of the proof.
func (p *program) verifyBound(v *solve.Verdict, x *Result) {
	if err := p.checkBids(x); err != nil {
		v.Refute("%w", err)
		return
	}
	most, err := auction.ProvenBound(p.auction, x.Bids, nil, x.Proof)
	if err != nil {
		v.Refute("the proof: %w", err)
		return
	}
	if most == "" {
		v.Note("the proof leaves out parts, of which there is no bound")
		return
	}
	bound, _ := most.Rat()
	stated, ok := signed(p.constraints, x.Bound).Rat()
	switch {
	case !ok:
		v.Refute("found a proof of no bound")
	case bound.Cmp(stated) <= 0:
		v.Note("bound: no structure is better than %s, by a tree of prices of cliques computed again", signed(p.constraints, most))
		v.BoundChecked = true
	case x.Proven:
		v.Refute("the proof gives the bound %s, the result says %s", signed(p.constraints, most), x.Bound)
	default:
		v.Note("no structure is better than %s, by prices of cliques computed again; the stated bound %s comes from a search that did not end", signed(p.constraints, most), x.Bound)
	}
}

// checkBids returns an error unless the bids are those of the blocks, and win together.
func (p *program) checkBids(x *Result) error {
	var blocks [][]int
	for _, bid := range x.Bids {
		if bid < 0 || bid >= len(p.origin) {
			return fmt.Errorf("found the bid %d, expected one of %d", bid, len(p.origin))
		}
		blocks = append(blocks, p.inst.Coalitions[p.origin[bid]].Agents)
	}
	slices.SortFunc(blocks, func(a, b []int) int { return a[0] - b[0] })
	if !reflect.DeepEqual(blocks, x.Blocks) {
		return fmt.Errorf("found the bids %v, which are not those of the blocks", x.Bids)
	}
	return p.auction.CheckKept(x.Bids, nil)
}

// verifyInfeasible holds a result without a structure against an instance.
func (p *program) verifyInfeasible(v *solve.Verdict, x *Result) {
	if x.Value != "" {
		v.Refute("the result has a value and no solution")
		return
	}
	var err error
	if len(p.auction.Bids) > 0 {
		err = auction.CheckUnsellable(p.auction, x.Proof)
	}
	switch {
	case !x.Proven && x.Proof == nil:
		v.Note("the result has no solution, and does not say that there is none")
	case err != nil:
		v.Refute("the proof that no structure is allowed: %w", err)
	default:
		v.BoundChecked = true
		v.Note("no allowed coalitions have each agent once, by a tree of prices of cliques computed again")
	}
}

// IsResult reports whether a result of coalition structures, a JSON object, is one of listed coalitions.
func IsResult(result []byte) bool {
	var x struct {
		Size map[string]int `json:"size"`
	}
	if json.Unmarshal(result, &x) != nil {
		return false
	}
	_, is := x.Size["coalitions"]
	return is
}
