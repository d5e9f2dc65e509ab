package search

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"coalesce/solvers/model/problem"
)

// A job has a length, a due date and the weight of its tardiness.
type job struct{ length, due, weight int64 }

func (j *job) cost(end int64) int64 { return j.weight * max(0, end-j.due) }

// machine is the model of jobs on one machine: each has one start, and each hour one job at most.
func machine(jobs []job) *problem.Model {
	m, one, hours := problem.New(problem.Minimize), problem.DecimalOfInteger(1), int64(0)
	for _, j := range jobs {
		hours += j.length
	}
	busy := make([][]problem.Linear, hours)
	for k := range jobs {
		j := &jobs[k]
		row := problem.Constraint{Low: &one, High: &one}
		for at := range hours - j.length + 1 {
			x := int32(m.AddBinary(fmt.Sprintf("job%d_%d", k, at)))
			m.AddTerm(problem.DecimalOfInteger(j.cost(at+j.length)), x)
			row.Terms = append(row.Terms, problem.Linear{Coefficient: one, Variable: x})
			for hour := at; hour < at+j.length; hour++ {
				busy[hour] = append(busy[hour], problem.Linear{Coefficient: one, Variable: x})
			}
		}
		m.AddConstraint(row)
	}
	for _, terms := range busy {
		m.AddConstraint(problem.Constraint{Terms: terms, High: &one})
	}
	return m
}

// leastTardiness visits all orders of jobs without idle hours.
func leastTardiness(jobs []job, left uint, end int64) int64 {
	if left == 0 {
		return 0
	}
	least := int64(math.MaxInt64)
	for k := range jobs {
		if left>>k&1 == 1 {
			done := end + jobs[k].length
			least = min(least, jobs[k].cost(done)+leastTardiness(jobs, left&^(1<<k), done))
		}
	}
	return least
}

// The search of orders finds the least weighted tardiness that all orders have, and its bits have the value it states.
func TestOrders(t *testing.T) {
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 6))
		jobs := make([]job, 2+r.IntN(5))
		for k := range jobs {
			jobs[k] = job{1 + r.Int64N(4), 1 + r.Int64N(12), 1 + r.Int64N(9)}
		}
		f, err := problem.NewForm(machine(jobs))
		if err != nil {
			t.Fatal(err)
		}
		l := New(f)
		if l.packing == nil {
			t.Fatalf("seed %d: the model has no orders", seed)
		}
		var limit atomic.Int64
		limit.Store(math.MaxInt64)
		_, _ = l.packing.begin(r).search(t.Context(), 3000, &limit, func(value int64, x []uint8) {
			if held := f.Value(x); held != value || value >= limit.Load() {
				t.Errorf("seed %d: found %d, stated %d, best before %d", seed, held, value, limit.Load())
			}
			for k := range f.Rows {
				sum := int64(0)
				for _, b := range f.Rows[k].Bits {
					sum += int64(x[b])
				}
				if violation(&f.Rows[k], sum) > 0 {
					t.Fatalf("seed %d: row %d has the sum %d", seed, k, sum)
				}
			}
			limit.Store(value)
		})
		if want := leastTardiness(jobs, 1<<len(jobs)-1, 0); limit.Load() != want {
			t.Errorf("seed %d: found %d, expected %d", seed, limit.Load(), want)
		}
	}
	long := []job{{3, 2, 1}, {2, 2, 1}}
	m := machine(long)
	m.AddTerm(problem.DecimalOfInteger(1), 0, 1)
	f, err := problem.NewForm(m)
	if err != nil {
		t.Fatal(err)
	}
	var limit atomic.Int64
	limit.Store(math.MaxInt64)
	x, value := New(f).packing.begin(rand.New(rand.NewPCG(1, 1))).search(t.Context(), 1000, &limit, func(int64, []uint8) {})
	if x == nil || value != f.Value(x) {
		t.Errorf("with a product of two bits found %v, %d, stated is another value", x, value)
	}
}
