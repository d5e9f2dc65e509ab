package verify

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"coalesce/generated/assignment"
	"coalesce/runtime/device"
	"coalesce/solvers/assignment/internal/engine"
	"coalesce/solvers/assignment/problem"
)

// CheckExact is Check for exact duals (Solution.Low) of a square problem of stored floats, without a limit. Costs become integers from their bits, in units
// 2^Finer times finer, and all is added up and compared in 128 bits: the duals prove the matching optimal for the costs as they are. No pair is near.
func (c *Checker) CheckExact(ctx context.Context, s device.Stream, p *problem.Normal, m *engine.Matrix, sol *engine.Solution) (problem.Certificate, error) {
	cert := problem.Certificate{By: c.name, Scale: math.Ldexp(p.Unit(), int(p.Finer)), Exact: true}
	if err := ctx.Err(); err != nil {
		return cert, err
	}
	n := p.Rows
	if p.Cols != n || c.Rows != n || c.Cols != n || p.Limit != problem.Infinity || p.Instance.Type.Integer() ||
		slices.ContainsFunc([]int{len(sol.U), len(sol.V), len(sol.Low.U), len(sol.Low.V), len(sol.Column)}, func(k int) bool { return k != n }) {
		return cert, fmt.Errorf("%w: exact duals of %d x %d pairs of type %s: expected a square problem of floats, and a column and four numbers a row", problem.ErrCheck, n, p.Cols, p.Instance.Type)
	}
	h := Shard{c, s, m, 0}
	if err := h.launchExact(p, sol); err != nil {
		return cert, fmt.Errorf("certificate: %w", err)
	}
	if c.Meanwhile != nil {
		c.Meanwhile()
	}
	found := NewFindings()
	words := h.found[:assignment.CheckWordWords]
	if err := s.Download(device.Bytes(words), h.Words, h.wordsOffset()); err != nil {
		return cert, fmt.Errorf("certificate: %w", err)
	}
	copy(found[:], words)
	clear(found[assignment.CheckWordPrimal:assignment.CheckWordFirstEntry]) // of whole units: where every matched pair is tight, the costs add up to the duals
	if err := found.CheckOptimal(p, sol); err != nil {
		return cert, err
	}
	cert.Pairs = int64(n)*int64(n) - int64(found[assignment.CheckWordForbidden])
	var high, low problem.Int128
	for k := range n {
		high.Add(sol.U[k])
		high.Add(sol.V[k])
		low.Add(sol.Low.U[k])
		low.Add(sol.Low.V[k])
	}
	sum := high.Big()
	cert.Dual = sum.Add(sum.Lsh(sum, p.Finer), low.Big()).String()
	cert.Primal = cert.Dual
	return cert, nil
}

// launchExact uploads the solution and enqueues the two kernels for exact duals.
func (h *Shard) launchExact(p *problem.Normal, sol *engine.Solution) error {
	n := int64(h.Rows)
	at := int64(len(h.image)) // where near pairs would stand
	if err := errors.Join(h.upload(p, sol), h.Stream.Upload(h.Words, at, device.Bytes(sol.Low.U)), h.Stream.Upload(h.Words, at+8*n, device.Bytes(sol.Low.V))); err != nil {
		return err
	}
	sign, shift := signAndShift(p.Scale)
	pairs, sweep := h.grids()
	return errors.Join(
		h.kernels.Exactpairs(h.Stream, pairs, h.M.Costs, h.Words, uint64(n), sign, shift, uint64(p.Finer)),
		h.kernels.Exactsweep(h.Stream, sweep, h.M.Costs, h.Words, uint64(n), sign, shift, uint64(p.Finer)))
}
