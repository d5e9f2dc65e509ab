package assignment

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"coalesce/solvers/assignment/problem"
)

// The exact sum is that of big.Float at a precision that holds every sum of float64s.
func TestExactSum(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 1))
	odd := []float64{0, math.SmallestNonzeroFloat64, -math.SmallestNonzeroFloat64, math.MaxFloat64, -math.MaxFloat64, 0x1p-1022, 1, -1, 0x1p53 + 2}
	for turn := range 300 {
		var own accumulator
		want := new(big.Float).SetPrec(4096)
		for range r.IntN(50) {
			x := math.Float64frombits(r.Uint64())
			if turn%3 == 0 {
				x = odd[r.IntN(len(odd))]
			}
			if x-x != 0 {
				continue
			}
			own.addFloat(x)
			want.Add(want, new(big.Float).SetFloat64(x))
			k := int64(r.Uint64()) >> r.IntN(64)
			own.addInt(k)
			want.Add(want, new(big.Float).SetInt64(k))
		}
		if own.float().Cmp(want) != 0 {
			t.Fatalf("turn %d: found %v, expected %v", turn, own.float(), want)
		}
	}
	inst := &problem.Instance{Rows: 5000, Cols: 1, Type: problem.Int64, Unsigned: true, I64: make([]int64, 5000)}
	want := new(big.Int)
	for k := range inst.I64 { // the largest number forbids a pair
		inst.I64[k] = math.MaxInt64 - 1
		want.Add(want, new(big.Int).SetUint64(math.MaxUint64-1))
	}
	if sum, n := sumOf(inst, make([]int32, 5000)); n != 5000 || sum.Cmp(new(big.Float).SetPrec(200).SetInt(want)) != 0 {
		t.Errorf("%d unsigned numbers: found %v, expected %v", n, sum, want)
	}
	if sum := (&accumulator{infinite: math.Inf(-1)}).float(); !sum.IsInf() || !sum.Signbit() {
		t.Errorf("a sum with -inf: found %v", sum)
	}
}
