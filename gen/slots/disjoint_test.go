package main

import (
	"slices"
	"testing"
)

// Every ordered pair of disjoint subsets belongs to one thread, and its row to the
// rows of its union.
func TestDisjoint(t *testing.T) {
	for _, c := range []struct{ n, each, block int }{{1, 1, 8}, {2, 2, 8}, {4, 1, 128}, {5, 1, 256}, {5, 2, 128}, {5, 3, 128}, {6, 1, 768}, {6, 2, 384}, {7, 4, 640}} {
		o, err := orderDisjointPairs(c.n, c.each, c.block, 8)
		if err != nil {
			t.Fatal(err)
		}
		pairs := 1
		for range c.n {
			pairs *= 3
		}
		if o.Rows != pairs || len(o.Threads) != c.block || len(o.Starts) != 1<<c.n+1 || o.Starts[1<<c.n] != pairs {
			t.Fatalf("%v: %d rows, %d threads, starts %v", c, o.Rows, len(o.Threads), o.Starts)
		}
		rows := make([]bool, pairs)
		for _, th := range o.Threads {
			if len(th.Second) != c.each || len(th.Row) != c.each {
				t.Fatalf("%v: a thread has %v", c, th)
			}
			for k, s := range th.Second {
				if s&th.First != 0 {
					t.Fatalf("%v: %b and %b are not disjoint", c, th.First, s)
				}
				row, union := th.Row[k], th.First|s
				if row == o.None {
					continue
				}
				if row < o.Starts[union] || row >= o.Starts[union+1] || rows[row] {
					t.Fatalf("%v: the pair %b, %b has row %d, taken or not of %d to %d", c, th.First, s, row, o.Starts[union], o.Starts[union+1])
				}
				rows[row] = true
			}
		}
		if slices.Contains(rows, false) {
			t.Errorf("%v: a pair belongs to no thread", c)
		}
		if o.Conflicts < 1 || c.block >= 128 && o.Conflicts > 1.1 {
			t.Errorf("%v: %v accesses for each needed, expected at most 1.1", c, o.Conflicts)
		}
	}
}

// What a bank is asked for twice takes two accesses, the same value one.
func TestAccesses(t *testing.T) {
	o := &order{Threads: make([]thread, quarter)}
	for i := range o.Threads {
		o.Threads[i] = thread{First: 8 * i, Second: []int{5}}
	}
	if got := o.bankAccesses(0, 1, 8); got != 9 {
		t.Errorf("found %d accesses, expected 8 and 1", got)
	}
	for i := range o.Threads {
		o.Threads[i] = thread{First: i, Second: []int{i % 2 * 8}}
	}
	if got := o.bankAccesses(0, 1, 8); got != 3 {
		t.Errorf("found %d accesses, expected 1 and 2", got)
	}
}

func TestDisjointRefuses(t *testing.T) {
	for _, c := range [][4]int{{0, 1, 128, 8}, {8, 1, 128, 8}, {5, 0, 128, 8}, {5, 1, 128, 8}, {5, 1, 300, 8}, {5, 1, 256, 0}} {
		if _, err := orderDisjointPairs(c[0], c[1], c[2], c[3]); err == nil {
			t.Errorf("%v is no error", c)
		}
	}
}
