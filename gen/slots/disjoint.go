package main

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
)

// An order shares out the 3^n ordered pairs of disjoint subsets of n members among
// threads: each gets up to Each pairs with the same first subset. The order of the
// threads is one whose accesses of shared memory meet few bank conflicts.
type order struct {
	Threads   []thread
	Rows      int     // pairs: 3^n
	Starts    []int   // by union of a pair: the first row of the pairs with that union, and the end
	None      int     // the row of a pair that another thread has too
	Conflicts float64 // accesses that the banks take one after the other, for each that they must
}

// A thread has pairs of First with each of Second. Row numbers the pairs by their
// union: those with the same one follow one another.
type thread struct {
	First  int
	Second []int
	Row    []int
}

// quarter is how many threads read 16 bytes each in one access of shared memory.
const quarter = 8

// orderDisjointPairs orders the pairs of subsets of n members for block threads that have each
// pairs each. A subset's values lie in banks whose group is the subset's number modulo
// groups. Threads past the last pair repeat the last.
func orderDisjointPairs(n, each, block, groups int) (*order, error) {
	if n < 1 || n > 7 || each < 1 || block < quarter || block%quarter != 0 || groups < 1 {
		return nil, fmt.Errorf("disjoint subsets of %d members, %d a thread, %d threads, %d groups of banks: expected 1 to 7 members, 1 or more, a multiple of %d, 1 or more", n, each, block, groups, quarter)
	}
	o := &order{Starts: make([]int, 1, 1<<n+1)}
	for union := range 1 << n {
		o.Rows += 1 << bits.OnesCount(uint(union))
		o.Starts = append(o.Starts, o.Rows)
	}
	o.None = 1<<16 - 1
	for first := range 1 << n {
		var second []int
		for s := range 1 << n {
			if s&first == 0 {
				second = append(second, s)
			}
		}
		// Neighbours in this order differ in a high member, which leaves the bank.
		slices.SortStableFunc(second, func(a, b int) int {
			return int(bits.Reverse8(uint8(a))) - int(bits.Reverse8(uint8(b)))
		})
		for part := range slices.Chunk(second, each) {
			t := thread{First: first, Second: slices.Clone(part)}
			for len(t.Second) < each {
				t.Second = append(t.Second, part[0])
			}
			for k, s := range t.Second {
				if k < len(part) {
					t.Row = append(t.Row, o.Starts[first|s]+rank(first, first|s))
				} else {
					t.Row = append(t.Row, o.None)
				}
			}
			o.Threads = append(o.Threads, t)
		}
	}
	if len(o.Threads) > block {
		return nil, fmt.Errorf("%d pairs of disjoint subsets of %d members, %d a thread, take %d threads, expected at most %d", o.Rows, n, each, len(o.Threads), block)
	}
	for len(o.Threads) < block {
		t := o.Threads[len(o.Threads)-1]
		t.Row = slices.Repeat([]int{o.None}, each)
		o.Threads = append(o.Threads, t)
	}
	o.arrange(each, groups)
	return o, nil
}

// rank is a subset's number among the subsets of a set.
func rank(subset, set int) int {
	r := 0
	for k := 0; set != 0; k++ {
		low := set & -set
		if subset&low != 0 {
			r |= 1 << k
		}
		set ^= low
	}
	return r
}

// arrange exchanges threads of different quarters while that leaves fewer conflicts.
// The draws are of a fixed seed.
func (o *order) arrange(each, groups int) {
	cost := make([]int, len(o.Threads)/quarter)
	total := 0
	for q := range cost {
		cost[q] = o.bankAccesses(q, each, groups)
		total += cost[q]
	}
	least := len(cost) * (1 + each)
	draw := rand.New(rand.NewPCG(1, 2))
	for range 400 * len(o.Threads) {
		if total == least {
			break
		}
		i, j := draw.IntN(len(o.Threads)), draw.IntN(len(o.Threads))
		p, q := i/quarter, j/quarter
		if p == q || cost[p] == 1+each && cost[q] == 1+each {
			continue
		}
		o.Threads[i], o.Threads[j] = o.Threads[j], o.Threads[i]
		a, b := o.bankAccesses(p, each, groups), o.bankAccesses(q, each, groups)
		if a+b > cost[p]+cost[q] {
			o.Threads[i], o.Threads[j] = o.Threads[j], o.Threads[i]
			continue
		}
		total += a + b - cost[p] - cost[q]
		cost[p], cost[q] = a, b
	}
	o.Conflicts = float64(total) / float64(least)
}

// bankAccesses is how often the banks are read for quarter q to get its first subsets and
// then its second ones. Threads that want the same subset get it at once.
func (o *order) bankAccesses(q, each, groups int) int {
	threads := o.Threads[q*quarter : (q+1)*quarter]
	total := 0
	for part := range 1 + each {
		var wanted [quarter]int
		largest := 0
		for i := range threads {
			wanted[i] = threads[i].First
			if part > 0 {
				wanted[i] = threads[i].Second[part-1]
			}
			same, again := 1, false
			for k := range i {
				again = again || wanted[k] == wanted[i]
			}
			if again {
				continue
			}
			for k := range i {
				if wanted[k]%groups == wanted[i]%groups && !slices.Contains(wanted[:k], wanted[k]) {
					same++
				}
			}
			largest = max(largest, same)
		}
		total += largest
	}
	return total
}
