package host

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"coalesce/solvers/qubo/internal/qubotest"
	"coalesce/solvers/qubo/problem"
)

// replicaProblem draws a problem of small multiples of a unit, with linear terms.
func replicaProblem(r *rand.Rand, n int, density float64, unit int64) *problem.Normal {
	pairs, twice := map[[2]int]int64{}, make([]int64, n)
	for i := range n {
		for j := range i {
			if r.Float64() < density {
				w := unit * (1 + r.Int64N(2)) * (1 - 2*r.Int64N(2))
				pairs[[2]int{j, i}] = w
				twice[i] += w
				twice[j] += w
			}
		}
	}
	return qubotest.Sparse(n, func(i int) int64 {
		want := unit * (r.Int64N(5) - 2) // of the linear term of spins
		if (want-twice[i])%2 != 0 {
			want += unit
		}
		return (want - twice[i]) / 2
	}, pairs)
}

// Values of all replicas are those of their solutions, also after exchanges, and near temperature 0 they do not fall.
func TestReplicasAgainstRecomputation(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 11))
	for round := range 16 {
		n, unit := 1+r.IntN(90), []int64{2, 1, 6}[round%3]
		p := replicaProblem(r, n, 4/float64(n+4), unit)
		rows := newReplicaRows(p)
		if rows == nil {
			if len(p.Weight) > 0 {
				t.Errorf("%d variables, unit %d: refused", n, unit)
			}
			continue
		}
		logs := newLogs()
		if round%2 == 0 {
			rows.field = 1e-6
		}
		m := newReplicas(rows, r)
		x := make([]uint64, problem.Words(n))
		for sweep := range 30 {
			before := m.values
			m.sweep()
			m.value()
			for k, v := range m.values {
				if round%2 == 0 && sweep > 0 && v < before[k] {
					t.Fatalf("replica %d falls from %d to %d near temperature 0", k, before[k], v)
				}
			}
			if m.sweeps += exchangeEvery; sweep%3 == 0 {
				m.exchange(r, logs)
			}
			for k := range 64 {
				if m.copyTo(x, k); p.Value(x) != m.values[k] {
					t.Fatalf("%d variables, unit %d: replica %d has %d, expected %d", n, unit, k, m.values[k], p.Value(x))
				}
			}
		}
		for k := range 64 {
			m.copyTo(x, k)
			m.set(x, 63-k)
			y := make([]uint64, len(x))
			if m.copyTo(y, 63-k); !slices.Equal(x, y) {
				t.Fatal("a replica is not what it was set to")
			}
		}
	}
}

// One spin in a field of two units, whose loss is a unit times two, is up by Boltzmann's law.
func TestReplicasFollowTemperatures(t *testing.T) {
	p := qubotest.Sparse(3, func(i int) int64 { return []int64{4, -2, -2}[i] }, map[[2]int]int64{{1, 2}: 4})
	rows := newReplicaRows(p)
	rows.field = 8
	m := newReplicas(rows, rand.New(rand.NewPCG(1, 1)))
	var up [64]float64
	const sweeps = 20000
	for range sweeps {
		m.sweep()
		for k := range up {
			up[k] += float64(m.x[0]>>k&1) / sweeps
		}
	}
	for k, share := range up {
		odds := share / (1 - share)
		if want := math.Exp(4 * m.inside[k]); want < 100 && (odds < 0.85*want || odds > 1.15*want) {
			t.Errorf("replica %d: odds %.2f, expected %.2f", k, odds, want)
		}
	}
}
