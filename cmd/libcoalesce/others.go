package main

/*
#include "shim.h"
*/
import "C"

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"math"
	"math/bits"
	"slices"
	"time"
	"unsafe"

	"coalesce/solvers/auction"
	"coalesce/solvers/csg"
	"coalesce/solvers/qubo"
)

// answered returns the text of an answer. An infeasible instance has one beside its error.
func answered[R any](r *R, err error) ([]byte, error) {
	if r == nil {
		return nil, err
	}
	text, failed := json.Marshal(r)
	if err == nil {
		err = failed
	}
	return text, err
}

//export goStartQUBO
func goStartQUBO(p *C.coalesce_qubo, handle *C.int64_t) C.int32_t {
	return start(handle, func(ctx context.Context, stop func()) ([]byte, error) {
		if p == nil {
			return nil, bad("no struct")
		}
		if err := sized(p.size, unsafe.Sizeof(*p)); err != nil {
			return nil, err
		}
		o := qubo.Options{Seed: uint64(p.seed), Work: int64(p.work), Solutions: int(p.solutions), Distance: int(p.distance)}
		var err error
		if o.Settings, err = settings(p.device, p.time_limit, p.algorithm); err != nil {
			return nil, err
		}
		if target := float64(p.target); !math.IsNaN(target) {
			o.Target = &target
		}
		o.Progress = progress(p.progress, p.user, stop)
		inst, err := program(p)
		if err != nil {
			return nil, err
		}
		return answered(qubo.Solve(ctx, inst, o))
	})
}

// program is the instance that a struct describes.
func program(p *C.coalesce_qubo) (*qubo.Instance, error) {
	if p.n < 0 || p.n > qubo.MaxVariables {
		return nil, bad("%d variables: expected 0 to %d", p.n, qubo.MaxVariables)
	}
	if p.entries < 0 || p.entries > 0 && (p.i == nil || p.j == nil || p.coefficients == nil) {
		return nil, bad("%d entries, or no arrays of them", p.entries)
	}
	n, count := int32(p.n), int(p.entries)
	b := qubo.NewBuilder(int(n))
	if p.flags&C.COALESCE_ISING != 0 {
		b.Form(qubo.Ising)
	}
	if p.flags&C.COALESCE_MAXIMIZE != 0 {
		b.Maximize()
	} else {
		b.Minimize()
	}
	rows, cols := unsafe.Slice((*int32)(unsafe.Pointer(p.i)), count), unsafe.Slice((*int32)(unsafe.Pointer(p.j)), count)
	for k := range rows {
		if i, j := rows[k], cols[k]; i < 0 || j < 0 || i >= n || j >= n {
			return nil, bad("entry %d: found the variables %d and %d, expected 0 to %d", k, i, j, n-1)
		}
	}
	switch p._type {
	case C.COALESCE_INT64:
		enter(rows, cols, unsafe.Slice((*int64)(p.coefficients), count), b.LinearInt, b.PairInt)
	case C.COALESCE_FLOAT64:
		enter(rows, cols, unsafe.Slice((*float64)(p.coefficients), count), b.Linear, b.Pair)
	default:
		return nil, bad("coefficients of type %d: expected int64 or float64", p._type)
	}
	return b.Build()
}

// enter gives a builder coefficients, those of a variable with itself as linear terms.
func enter[T any](rows, cols []int32, coefficients []T, linear func(int, T), pair func(int, int, T)) {
	for k, c := range coefficients {
		if i, j := int(rows[k]), int(cols[k]); i == j {
			linear(i, c)
		} else {
			pair(i, j, c)
		}
	}
}

//export goStartCSG
func goStartCSG(p *C.coalesce_csg, handle *C.int64_t) C.int32_t {
	return start(handle, func(ctx context.Context, stop func()) ([]byte, error) {
		if p == nil {
			return nil, bad("no struct")
		}
		if err := sized(p.size, unsafe.Sizeof(*p)); err != nil {
			return nil, err
		}
		o, err := settings(p.device, p.time_limit, p.algorithm)
		if err != nil {
			return nil, err
		}
		o.Progress = progress(p.progress, p.user, stop)
		if p.count < 2 || bits.OnesCount64(uint64(p.count)) != 1 || p.count > 1<<csg.MaxAgents || p.values == nil {
			return nil, bad("%d values: expected 2 to the power of the agents, at most %d of them", p.count, csg.MaxAgents)
		}
		inst, err := game(p)
		if err != nil {
			return nil, err
		}
		if p.sizes != nil {
			sizes, err := csg.ParseSizes(C.GoString(p.sizes))
			if err := cmp.Or(err, inst.Restrict(sizes)); err != nil {
				return nil, bad("%v", err)
			}
		}
		var keep *csg.Checkpoint
		if p.checkpoint != nil {
			keep = &csg.Checkpoint{Path: C.GoString(p.checkpoint), Resume: p.flags&C.COALESCE_RESUME != 0}
		}
		r, err := csg.SolveKept(ctx, inst, o, keep)
		return answered(r, err)
	})
}

// game is the instance that a struct describes; it keeps a copy of the values, since an
// instance may change its own.
func game(p *C.coalesce_csg) (*csg.Instance, error) {
	v := view{p.values, 1, int(p.count), 0, 0}
	switch p._type {
	case C.COALESCE_INT32:
		v.over = 4
		return csg.NewInstance(converted[int32, int32](v), source)
	case C.COALESCE_INT64:
		v.over = 8
		return csg.NewInstance(converted[int64, int64](v), source)
	case C.COALESCE_FLOAT32:
		v.over = 4
		return csg.NewInstance(converted[float32, float32](v), source)
	case C.COALESCE_FLOAT64:
		v.over = 8
		return csg.NewInstance(converted[float64, float64](v), source)
	}
	return nil, bad("values of type %d: expected int32, int64, float32 or float64", p._type)
}

//export goStartAuction
func goStartAuction(p *C.coalesce_auction, handle *C.int64_t) C.int32_t {
	return start(handle, func(ctx context.Context, stop func()) ([]byte, error) {
		if p == nil {
			return nil, bad("no struct")
		}
		if err := sized(p.size, unsafe.Sizeof(*p)); err != nil {
			return nil, err
		}
		o, err := settings(p.device, p.time_limit, p.algorithm)
		if err != nil {
			return nil, err
		}
		if p.text_size < 0 || p.text == nil {
			return nil, bad("no text")
		}
		rule := C.GoString(p.payments)
		if p.payments != nil && !slices.Contains(auction.Rules(), rule) {
			return nil, bad("payments: found the rule %.40q, expected one of %v", rule, auction.Rules())
		}
		text := unsafe.Slice((*byte)(unsafe.Pointer(p.text)), p.text_size)
		bids, err := auction.ReadFrom(bytes.NewReader(text), "bids")
		if err != nil {
			return nil, bad("%v", err)
		}
		o.Progress = progress(p.progress, p.user, stop)
		began := time.Now()
		r, err := auction.Solve(ctx, bids, o)
		if err == nil && p.payments != nil {
			err = pay(ctx, r, auction.Rule(rule), o, began)
		}
		return answered(r, err)
	})
}

// pay computes payments within the time that a solve, begun then, has left.
func pay(ctx context.Context, r *auction.Result, rule auction.Rule, o auction.Options, began time.Time) error {
	start := time.Now()
	if o.TimeLimit > 0 {
		limited, cancel := context.WithDeadline(ctx, began.Add(o.TimeLimit))
		defer cancel()
		ctx = limited
	}
	err := auction.Pay(ctx, r, rule, o)
	r.Seconds.Solve += time.Since(start).Seconds()
	return err
}
