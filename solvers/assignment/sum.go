package assignment

import (
	"math"
	"math/big"

	"coalesce/solvers/assignment/problem"
)

// sumOf adds the costs of matched pairs up without rounding.
func sumOf(inst *problem.Instance, column []int32) (sum *big.Float, matched int) {
	var all accumulator
	switch {
	case inst.Dense() && inst.Type == problem.Int32:
		matched = addDense(inst, inst.I32, column, all.addInt32)
	case inst.Dense() && inst.Type == problem.Int64 && inst.Unsigned:
		matched = addDense(inst, inst.I64, column, func(x int64) { all.add(false, uint64(x)^1<<63, 0) })
	case inst.Dense() && inst.Type == problem.Int64:
		matched = addDense(inst, inst.I64, column, all.addInt)
	case inst.Dense() && inst.Type == problem.Float32:
		matched = addDense(inst, inst.F32, column, func(x float32) { all.addFloat(float64(x)) })
	case inst.Dense():
		matched = addDense(inst, inst.F64, column, all.addFloat)
	default:
		for i, j := range column {
			if j < 0 || int(j) >= inst.Cols || !inst.Allowed(i, int(j)) {
				continue // Check says so
			}
			matched++
			switch k := inst.CostIndex(i, int(j)); {
			case inst.Points != nil:
				all.addFloat(inst.Points.Cost(i, int(j)))
			case inst.Type == problem.Int32:
				all.addInt32(inst.I32[k])
			case inst.Type == problem.Int64 && inst.Unsigned:
				all.add(false, uint64(inst.I64[k])^1<<63, 0)
			case inst.Type == problem.Int64:
				all.addInt(inst.I64[k])
			case inst.Type == problem.Float32:
				all.addFloat(float64(inst.F32[k]))
			default:
				all.addFloat(inst.F64[k])
			}
		}
	}
	return all.float(), matched
}

// sumOfFloats adds floats up without rounding.
func sumOfFloats(list []float64) *big.Float {
	var all accumulator
	for _, x := range list {
		all.addFloat(x)
	}
	return all.float()
}

// addDense calls add with the costs of matched pairs. These lie a row apart in memory: a loop of loads alone waits for many at
// once.
func addDense[T problem.Number](inst *problem.Instance, costs []T, column []int32, add func(T)) (matched int) {
	var some [256]T
	every := inst.Every && inst.Type.Integer()
	infinite := func(x T) bool { return !inst.Type.Integer() && x == -problem.Forbidden[T](inst.Maximize) }
	forbidden := problem.Forbidden[T](inst.Maximize && !inst.Type.Integer())
	for low := 0; low < len(column); low += len(some) {
		n := 0
		for k, j := range column[low:min(low+len(some), len(column))] {
			if uint(j) < uint(inst.Cols) {
				some[n] = costs[(low+k)*inst.Cols+int(j)]
				n++
			}
		}
		for _, x := range some[:n] {
			if every || x != forbidden && !infinite(x) {
				add(x)
				matched++
			}
		}
	}
	return matched
}

const (
	lowest    = -1088         // exponent of the least bit of an accumulator, below that of every float64
	sumParts  = 69            // up to 2^1120, beyond any sum of 2^31 float64s
	exactBits = 32 * sumParts // of a big.Float that holds any sum without rounding
)

// An accumulator holds the sum of fewer than 2^31 integers and float64s without rounding, as Neal's superaccumulators do ("Fast
// exact summation using small and large superaccumulators", 2015): it is the sum of parts[k] * 2^(32k + lowest).
type accumulator struct {
	parts    [sumParts]int64
	infinite float64 // sum of infinities and NaNs
}

// add adds x * 2^exponent, or takes it away.
func (s *accumulator) add(minus bool, x uint64, exponent int) {
	at := exponent - lowest
	k, shift := at>>5, uint(at&31)
	high, low := x>>1>>(63-shift), x<<shift
	a, b, c := int64(low&(1<<32-1)), int64(low>>32), int64(high)
	if minus {
		a, b, c = -a, -b, -c
	}
	s.parts[k] += a
	s.parts[k+1] += b
	s.parts[k+2] += c
}

func (s *accumulator) addInt32(x int32) { s.addInt(int64(x)) }

func (s *accumulator) addInt(x int64) {
	if x < 0 {
		s.add(true, -uint64(x), 0)
	} else {
		s.add(false, uint64(x), 0)
	}
}

func (s *accumulator) addFloat(x float64) {
	b := math.Float64bits(x)
	mantissa, exponent := b&(1<<52-1), int(b>>52&0x7ff)
	switch exponent {
	case 0x7ff:
		s.infinite += x
		return
	case 0:
		exponent = 1
	default:
		mantissa |= 1 << 52
	}
	s.add(b>>63 == 1, mantissa, exponent-1075)
}

// float is the sum with all its bits.
func (s *accumulator) float() *big.Float {
	sum := new(big.Float).SetPrec(exactBits)
	if s.infinite != 0 {
		return sum.SetInf(s.infinite < 0)
	}
	first, last := 0, len(s.parts)-1
	for first < last && s.parts[first] == 0 {
		first++
	}
	for last > first && s.parts[last] == 0 {
		last--
	}
	x, part := new(big.Int), new(big.Int)
	for k := last; k >= first; k-- {
		x.Add(x.Lsh(x, 32), part.SetInt64(s.parts[k]))
	}
	return sum.SetMantExp(new(big.Float).SetPrec(exactBits).SetInt(x), 32*first+lowest)
}
