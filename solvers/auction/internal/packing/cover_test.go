package packing

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// partitioning is a problem some of whose cliques have to have a winner, with prices of any sign beside what these cliques add. Most have a partition.
func partitioning(r *rand.Rand) *Problem {
	n, m := 1+r.IntN(18), 1+r.IntN(10)
	rows := make([][]int32, m)
	at := r.IntN(2 * m) // rows before it are split among the first bids
	own := make([]int64, n)
	for j := range n {
		own[j] = r.Int64N(21) - []int64{0, 10, 20}[r.IntN(3)]
		in := false
		for i := range m {
			if put := r.IntN(m) < 2; j < 3 && at > m/2 && i%3 == j || (j >= 3 || at <= m/2) && put {
				rows[i], in = append(rows[i], int32(j)), true
			}
		}
		if !in {
			i := r.IntN(m)
			rows[i] = append(rows[i], int32(j))
		}
	}
	p := &Problem{Prices: own}
	for _, v := range own {
		p.Spread += max(v, -v)
		p.Ceiling += max(0, v)
	}
	p.Spread = 2*p.Spread + 1
	share := r.IntN(3)
	for _, row := range rows {
		cover := share == 0 || r.IntN(3) > 0
		p.add(row, cover)
		for _, j := range row {
			if cover {
				p.Prices[j] += p.Spread
			}
		}
	}
	return p
}

// bestCover is the best value of packings with a bid of each clique that has to have one, by a look at all of them.
func (p *Problem) bestCover() (best int64, found bool) {
	n := len(p.Prices)
	masks := make([]uint32, len(p.Cliques))
	for i, c := range p.Cliques {
		for _, j := range c {
			masks[i] |= 1 << j
		}
	}
next:
	for chosen := range uint32(1) << n {
		for i, mask := range masks {
			if x := chosen & mask; x&(x-1) != 0 || x == 0 && p.covers(i) {
				continue next
			}
		}
		value := int64(0)
		for j, price := range p.Prices {
			if chosen>>j&1 != 0 {
				value += price
			}
		}
		if !found || value > best {
			best, found = value, true
		}
	}
	return best, found
}

// TestPartitions solves 2,000 problems of set partitioning, and of partitioning and packing, with and without a proof, greedy starts and enumeration.
func TestPartitions(t *testing.T) {
	r := rand.New(rand.NewPCG(62, 7))
	covered, nodes := 0, int64(0)
	for k := range 2000 {
		p := partitioning(r)
		want, found := p.bestCover()
		res, err := Solve(context.Background(), p, Settings{Workers: 1, Log: k%4 == 0, bare: k%2 == 0})
		if err != nil {
			t.Fatal(err)
		}
		check(t, p, res)
		got := true
		for i, c := range p.Cliques {
			got = got && (!p.covers(i) || slices.ContainsFunc(c, func(j int32) bool { return slices.Contains(res.Winners, int(j)) }))
		}
		if !res.Proven() || got != found || found && res.Value != want {
			t.Fatalf("problem %d: found %d, at most %d, a partition: %t; expected %d, %t: %+v", k, res.Value, res.Bound, got, want, found, p)
		}
		if found {
			covered++
		}
		nodes += res.Nodes
	}
	if covered < 500 || covered > 1900 {
		t.Errorf("%d of 2,000 have a partition", covered)
	}
	t.Logf("%d have a partition, %d nodes", covered, nodes)
}

// A problem of costs with a lot of fractions, larger than an exhaustive search takes: bounds by linear programs and by proofs agree.
func TestPartitionProofs(t *testing.T) {
	r := rand.New(rand.NewPCG(62, 8))
	for k := range 6 {
		n, m := 120, 24
		rows := make([][]int32, m)
		p := &Problem{}
		for j := range n {
			order := r.Perm(m)[:2+r.IntN(4)]
			if j < 6 {
				order = []int{4 * j, 4*j + 1, 4*j + 2, 4*j + 3}
			}
			for _, i := range order {
				rows[i] = append(rows[i], int32(j))
			}
			p.Prices = append(p.Prices, -int64(len(order)*(50+r.IntN(30))))
			p.Spread += 2 * -p.Prices[j]
		}
		for _, row := range rows {
			p.add(row, true)
			for _, j := range row {
				p.Prices[j] += p.Spread
			}
		}
		value := int64(math.MinInt64)
		for _, log := range []bool{false, true} {
			res, err := Solve(context.Background(), p, Settings{Workers: 1, Log: log})
			if err != nil {
				t.Fatal(err)
			}
			if check(t, p, res); !res.Proven() || value != math.MinInt64 && res.Value != value || log != (res.Proof != nil) {
				t.Fatalf("problem %d: found %d, at most %d, before %d", k, res.Value, res.Bound, value)
			}
			value = res.Value
		}
	}
}
