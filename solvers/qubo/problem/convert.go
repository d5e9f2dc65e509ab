package problem

import (
	"fmt"
	"math"
	"slices"
)

// InForm brings an instance to another form, in a copy: the value of every
// solution stays the same. An instance with linear terms becomes a maximum cut
// by one more node, the last: x(i) is 1 where node i is on the same side as
// that node; hint and fixed variables are dropped then. Coefficients stay
// integers where no halves and quarters arise.
func (inst *Instance) InForm(form Form) (*Instance, error) {
	if form == inst.Form {
		return inst, nil
	}
	out := *inst
	out.Form, out.Notes = form, slices.Clone(inst.Notes)
	if inst.Int != nil {
		return &out, convert(inst, &out, inst.Int)
	}
	return &out, convert(inst, &out, inst.Real)
}

// convert sets the terms of to, whose form is to be reached, from t of from.
// On the way all are four times as large, so that integers stay integers.
func convert[T Number](from, to *Instance, t *Terms[T]) error {
	sum := sumMagnitudes(t) + math.Abs(float64(t.Offset))
	if from.Int != nil && sum > SumLimit/64 || sum > math.MaxFloat64/64 {
		return fmt.Errorf("%w: absolute values add up to %.3g, too much to convert", ErrCoefficient, sum)
	}
	s := spins(from, t)
	switch to.Form {
	case Ising:
		to.divide(s)
	case MaxCut:
		to.divide(cut(to, s))
	case QUBO:
		to.divide(binary(from, s))
	default:
		return fmt.Errorf("form %q: expected %s, %s or %s", to.Form, QUBO, Ising, MaxCut)
	}
	return nil
}

// spins is four times an instance as an Ising model.
func spins[T Number](inst *Instance, t *Terms[T]) *Terms[T] {
	s := &Terms[T]{Offset: 4 * t.Offset, Linear: make([]T, inst.N), Pair: make([]T, len(t.Pair))}
	for i := range inst.N {
		switch inst.Form {
		case QUBO: // a x = (a + a s)/2
			s.Offset += 2 * t.Linear[i]
			s.Linear[i] += 2 * t.Linear[i]
		case Ising:
			s.Linear[i] = 4 * t.Linear[i]
		}
		for k := inst.Start[i]; k < inst.Start[i+1]; k++ {
			w, lower := t.Pair[k], int(inst.Col[k]) < i
			switch inst.Form {
			case QUBO: // w x x' = w (1 + s + s' + s s')/4
				s.Pair[k] = w
				s.Linear[i] += w
				if lower {
					s.Offset += w
				}
			case Ising:
				s.Pair[k] = 4 * w
			case MaxCut: // w [s != s'] = w (1 - s s')/2
				s.Pair[k] = -2 * w
				if lower {
					s.Offset += 2 * w
				}
			}
		}
	}
	return s
}

// binary makes a QUBO of an Ising model: s = 2x - 1.
func binary[T Number](inst *Instance, s *Terms[T]) *Terms[T] {
	q := &Terms[T]{Offset: s.Offset, Linear: make([]T, inst.N), Pair: make([]T, len(s.Pair))}
	for i := range inst.N {
		h := s.Linear[i]
		q.Offset -= h
		for k := inst.Start[i]; k < inst.Start[i+1]; k++ {
			h -= s.Pair[k]
			q.Pair[k] = 4 * s.Pair[k]
			if int(inst.Col[k]) < i {
				q.Offset += s.Pair[k]
			}
		}
		q.Linear[i] = 2 * h
	}
	return q
}

// cut makes a maximum cut of an Ising model: J s s' = J - 2J [s != s'], and h s
// is a pair with a spin of +1, the node that is added where it is needed.
func cut[T Number](inst *Instance, s *Terms[T]) *Terms[T] {
	if slices.ContainsFunc(s.Linear, func(h T) bool { return h != 0 }) {
		s = join(inst, s)
	}
	c := &Terms[T]{Offset: s.Offset, Linear: make([]T, inst.N), Pair: make([]T, len(s.Pair))}
	for i := range inst.N {
		for k := inst.Start[i]; k < inst.Start[i+1]; k++ {
			c.Pair[k] = -2 * s.Pair[k]
			if int(inst.Col[k]) < i {
				c.Offset += s.Pair[k]
			}
		}
	}
	return c
}

// join adds a variable whose pairs are the linear terms.
func join[T Number](inst *Instance, s *Terms[T]) *Terms[T] {
	n := inst.N
	out := &Terms[T]{Offset: s.Offset, Linear: make([]T, n+1)}
	start, col := make([]int64, 1, n+2), make([]int32, 0, len(inst.Col)+2*n)
	var last []int32
	for i := range n {
		low, high := inst.Start[i], inst.Start[i+1]
		col, out.Pair = append(col, inst.Col[low:high]...), append(out.Pair, s.Pair[low:high]...)
		if h := s.Linear[i]; h != 0 {
			col, out.Pair = append(col, int32(n)), append(out.Pair, h)
			last = append(last, int32(i))
		}
		start = append(start, int64(len(col)))
	}
	for _, i := range last {
		col, out.Pair = append(col, i), append(out.Pair, s.Linear[i])
	}
	inst.N, inst.Start, inst.Col = n+1, append(start, int64(len(col))), col
	inst.Fixed, inst.Names = nil, nil
	inst.Note("node %d was added for the linear terms: x(i) is 1 where node i is on its side", n)
	return out
}

// divide sets the terms to a quarter of t: integers where they are.
func (inst *Instance) divide(t any) {
	switch t := t.(type) {
	case *Terms[float64]:
		quarter(t, t)
		inst.Int, inst.Real = nil, t
		inst.PreferIntegers()
	case *Terms[int64]:
		real := &Terms[float64]{}
		if quarter(t, real) {
			inst.Int, inst.Real = t, nil
		} else {
			inst.Int, inst.Real = nil, real
		}
	}
}

// quarter divides t by 4 into real, or, where t is of integers that can all be
// divided, in place, and reports that.
func quarter[T Number](t *Terms[T], real *Terms[float64]) bool {
	whole := t.Offset == t.Offset/4*4 && isInt(t.Offset)
	for _, list := range [][]T{t.Linear, t.Pair} {
		for _, v := range list {
			whole = whole && v == v/4*4
		}
	}
	if whole {
		t.Offset /= 4
		for _, list := range [][]T{t.Linear, t.Pair} {
			for k := range list {
				list[k] /= 4
			}
		}
		return true
	}
	divided := func(list []T) []float64 {
		out := make([]float64, len(list))
		for k, v := range list {
			out[k] = float64(v) / 4
		}
		return out
	}
	real.Offset, real.Linear, real.Pair = float64(t.Offset)/4, divided(t.Linear), divided(t.Pair)
	return false
}

func isInt[T Number](v T) bool {
	_, ok := any(v).(int64)
	return ok
}

// WithSense gives an instance the other sense by negating it, in a copy: the values
// of its solutions are negated.
func (inst *Instance) WithSense(sense Sense) *Instance {
	if sense == inst.Sense {
		return inst
	}
	out := *inst
	out.Sense = sense
	if inst.Int != nil {
		out.Int = negated(inst.Int)
	} else {
		out.Real = negated(inst.Real)
	}
	return &out
}

func negated[T Number](t *Terms[T]) *Terms[T] {
	out := &Terms[T]{Offset: -t.Offset, Linear: slices.Clone(t.Linear), Pair: slices.Clone(t.Pair)}
	for i := range out.Linear {
		out.Linear[i] = -out.Linear[i]
	}
	for k := range out.Pair {
		out.Pair[k] = -out.Pair[k]
	}
	return out
}
