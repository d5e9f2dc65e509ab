// Package cliques partitions the nodes of a weighted graph so that the weights of the
// edges inside blocks add up to the most: clique partitioning, or correlation clustering.
// Weights have either sign.
//
// A Search anneals and recombines partitions. ConflictBound, Prices, a Relaxation and a Leveler bound what any partition is worth.
// The package knows no files.
package cliques

import "slices"

// A Graph lists each edge at both of its nodes: the neighbours of node i are
// Col[Start[i]:Start[i+1]], without i itself; ConflictBound needs them in ascending order. The
// absolute values of all weights add up to less than 2^60.
type Graph struct {
	N      int
	Start  []int64 // N+1
	Col    []int32
	Weight []int64
}

// Row returns the neighbours of node i and the weights of its edges.
func (g *Graph) Row(i int) ([]int32, []int64) {
	low, high := g.Start[i], g.Start[i+1]
	return g.Col[low:high], g.Weight[low:high]
}

// Value is the sum of the weights inside the blocks of a partition; label has the number of each
// node's block.
func (g *Graph) Value(label []int32) int64 {
	var twice int64
	for i := range g.N {
		col, weight := g.Row(i)
		for k, j := range col {
			if label[i] == label[j] {
				twice += weight[k]
			}
		}
	}
	return twice / 2
}

// PositiveSum is the sum of the positive weights, which no partition exceeds.
func (g *Graph) PositiveSum() int64 {
	var twice int64
	for _, w := range g.Weight {
		twice += max(w, 0)
	}
	return twice / 2
}

// renumberBlocks renumbers blocks in the order of their first nodes, in place, and returns the number
// of blocks.
func renumberBlocks(label []int32) int {
	number := slices.Repeat([]int32{-1}, len(label))
	count := int32(0)
	for i, c := range label {
		if number[c] < 0 {
			number[c] = count
			count++
		}
		label[i] = number[c]
	}
	return int(count)
}

// contract returns the graph with a node for every block, whose edges weigh as much as all edges
// between two blocks together. Blocks are numbered from 0 to count-1.
func (g *Graph) contract(label []int32, count int) *Graph {
	first := make([]int32, count+1) // of the members of each block, in order
	for _, c := range label {
		first[c+1]++
	}
	for c := range count {
		first[c+1] += first[c]
	}
	order, next := make([]int32, g.N), append([]int32(nil), first...)
	for i, c := range label {
		order[next[c]] = int32(i)
		next[c]++
	}
	out := &Graph{N: count, Start: make([]int64, count+1)}
	sum := make([]int64, count)
	seen := make([]int32, count) // the block, from 1, that last met each other block
	for c := range count {
		from := len(out.Col)
		for _, i := range order[first[c]:first[c+1]] {
			col, weight := g.Row(int(i))
			for k, j := range col {
				d := label[j]
				if d == int32(c) {
					continue
				}
				if seen[d] != int32(c)+1 {
					seen[d], sum[d] = int32(c)+1, 0
					out.Col = append(out.Col, d)
				}
				sum[d] += weight[k]
			}
		}
		for _, d := range out.Col[from:] {
			out.Weight = append(out.Weight, sum[d])
		}
		out.Start[c+1] = int64(len(out.Col))
	}
	return out
}
