package main

/*
#include "shim.h"
*/
import "C"

import (
	"context"
	"encoding/json"
	"errors"
	"math"

	"coalesce/solvers/assignment"
	"coalesce/solvers/solve"
)

// rank finds the k best matchings of a matrix: the arrays get the best, the report all.
func rank(ctx context.Context, p *C.coalesce_assignment, list []*assignment.Instance, o assignment.Options, report *[]byte) error {
	if len(list) > 1 || report == nil || p.k_best < 1 || p.k_best > math.MaxInt32 {
		return bad("the %d best matchings of %d matrices: expected 1 to %d of one matrix, by a job", p.k_best, len(list), math.MaxInt32)
	}
	r, err := assignment.Rank(ctx, list[0], int(p.k_best), o)
	if r == nil {
		return err
	}
	put(p, 0, r.Result)
	type entry struct {
		Value    json.Number `json:"value"`
		Solution []int32     `json:"solution"`
	}
	answer := struct {
		told
		Best     []entry `json:"best"`
		Complete bool    `json:"complete"`
	}{tell(r.Result), make([]entry, len(r.Best)), r.Complete}
	for k, m := range r.Best {
		answer.Best[k] = entry{json.Number(m.Exact), m.Column}
	}
	text, failed := json.Marshal([]any{answer})
	*report = text
	return errors.Join(err, failed)
}

// bottlenecks finds, of each matrix, the matching whose worst cost is the best.
func bottlenecks(ctx context.Context, p *C.coalesce_assignment, list []*assignment.Instance, o assignment.Options, report *[]byte) error {
	if p.k_best > 1 || p.u != nil || p.v != nil || list[0].Limit != nil {
		return bad("the worst matched cost counts: expected no duals, no limit and one matching")
	}
	type answer struct {
		solve.Report
		Certificate *assignment.Hall `json:"certificate"`
		Type        assignment.Value `json:"type"`
	}
	answers := make([]answer, len(list))
	var none error
	for k, inst := range list {
		r, err := assignment.SolveBottleneck(ctx, inst, o)
		if err != nil && !errors.Is(err, solve.ErrInfeasible) {
			return err
		}
		if err != nil && len(list) == 1 {
			none = err
		}
		answers[k] = answer{r.Report, r.Hall, inst.Type}
		put(p, k, &assignment.Result{Column: r.Column, Value: r.Value.Float()})
		if r.Proven && r.Column != nil {
			set(p.gap, k, 0)
		}
	}
	if report != nil {
		text, err := json.Marshal(answers)
		if err != nil {
			return err
		}
		*report = text
	}
	return none
}
