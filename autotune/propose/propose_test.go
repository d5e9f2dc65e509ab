package propose

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// grid has all combinations of values of parameters.
func grid(values ...[]string) (all [][]string) {
	all = [][]string{nil}
	for _, v := range values {
		var longer [][]string
		for _, head := range all {
			for _, x := range v {
				longer = append(longer, append(slices.Clone(head), x))
			}
		}
		all = longer
	}
	return all
}

func powers(n int) (list []string) {
	for i := range n {
		list = append(list, fmt.Sprint(1<<i))
	}
	return list
}

// untilBest is how many trials it takes until the least time is found.
func untilBest(values [][]string, times []float64, seed uint64) int {
	p, n := New(values, nil, rand.New(rand.NewPCG(seed, 1))), 0
	least := math.Inf(1)
	for _, x := range times {
		if x > 0 {
			least = min(least, x)
		}
	}
	for i := p.Next(); i >= 0; i = p.Next() {
		if n++; times[i] == least {
			return n
		}
		p.Learn(i, times[i])
	}
	return 0
}

// The best of 1,331 variants whose time depends on the product of two parameters and on a third, and of which some fail, is
// found in a tenth of the trials of a random order.
func TestFindsAProduct(t *testing.T) {
	values := grid(powers(11), powers(11), powers(11))
	times := make([]float64, len(values))
	for i := range times {
		a, b, c := i/121, i/11%11, i%11
		if times[i] = math.Exp(0.3*math.Abs(float64(a+b-7)) + 0.2*math.Abs(float64(c-6)) + 0.02*float64(a)); a+b > 12 {
			times[i] = 0
		}
	}
	var n []int
	for seed := range uint64(30) {
		n = append(n, untilBest(values, times, seed))
	}
	slices.Sort(n)
	if n[15] > len(values)/20 {
		t.Errorf("%d trials in the median of 30 seeds, expected %d at most", n[15], len(values)/20)
	}
}

// Every variant is proposed once, also where all fail, where all are as fast, and where some were learnt elsewhere.
func TestEachOnce(t *testing.T) {
	values := grid([]string{"dp", "idp", "32"}, powers(5), []string{"only"})
	for name, time := range map[string]float64{"fail": 0, "alike": 7} {
		p, seen := New(values, nil, rand.New(rand.NewPCG(1, 1))), map[int]int{}
		p.Learn(3, 1)
		p.Remove(4)
		for i := p.Next(); i >= 0; i = p.Next() {
			seen[i]++
			p.Learn(i, time)
		}
		if len(seen) != len(values)-2 || seen[3]+seen[4] > 0 {
			t.Errorf("%s: %d of %d variants, %v", name, len(seen), len(values)-2, seen)
		}
	}
	if i := New(nil, nil, nil).Next(); i != -1 {
		t.Errorf("of no variants: %d", i)
	}
}

// Numbers are ordered as numbers, and texts as they come.
func TestColumn(t *testing.T) {
	values := [][]string{{"16", "b", "x"}, {"128", "2", "x"}, {"2", "a", "x"}}
	place, log := featureColumn(values, 0)
	if !slices.Equal(place, []float64{0.5, 1, 0}) || math.Abs(log[1]-math.Log(128)) > 1e-12 {
		t.Errorf("numbers at %v, logarithms %v", place, log)
	}
	if place, log = featureColumn(values, 1); !slices.Equal(place, []float64{0, 0.5, 1}) || log != nil {
		t.Errorf("texts at %v, logarithms %v", place, log)
	}
	if place, _ = featureColumn(values, 2); place != nil {
		t.Errorf("one value at %v", place)
	}
}

// The time at another size is a feature: where it tells all, the best is found within a few trials.
func TestTimesElsewhere(t *testing.T) {
	values := grid(powers(10), powers(10))
	rng := rand.New(rand.NewPCG(3, 1))
	elsewhere := make([]float64, len(values))
	for i := range elsewhere {
		elsewhere[i] = rng.Float64()
	}
	var n []int
	for seed := range uint64(30) {
		p, trials := New(values, [][]float64{elsewhere, elsewhere, elsewhere, elsewhere}, rand.New(rand.NewPCG(seed, 2))), 0
		for i := p.Next(); ; i = p.Next() {
			if trials++; elsewhere[i] == slices.Min(elsewhere) {
				break
			}
			p.Learn(i, 1+elsewhere[i])
		}
		n = append(n, trials)
	}
	slices.Sort(n)
	if n[15] > 25 {
		t.Errorf("%d trials in the median", n[15])
	}
}
