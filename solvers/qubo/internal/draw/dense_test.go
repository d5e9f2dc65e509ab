package draw

import (
	"testing"

	"coalesce/solvers/qubo/problem"
)

// A problem that all cores draw has the weights that its function gives, in rows by column, and its spans.
func TestDense(t *testing.T) {
	pair := func(i, j int) int64 { return int64(RandomWord(5, uint64(min(i, j)), uint64(max(i, j)))%7) - 3 }
	single := func(i int) int64 { return int64(i) - 100 }
	for _, n := range []int{0, 1, 2, 63, 700} {
		p := Dense(n, pair, single)
		want := &problem.Normal{N: n, Start: []int64{0}, Sense: 1, Exact: true}
		for i := range n {
			want.Diag = append(want.Diag, single(i))
			for j := range n {
				if w := pair(i, j); i != j && w != 0 {
					want.Col, want.Weight = append(want.Col, int32(j)), append(want.Weight, w)
				}
			}
			want.Start = append(want.Start, int64(len(want.Col)))
		}
		if p.N != n || len(p.Col) != len(want.Col) || len(p.Start) != n+1 || len(p.Diag) != n {
			t.Fatalf("%d variables: %d weights, want %d", n, len(p.Col), len(want.Col))
		}
		for i := range n {
			col, weight := p.Row(i)
			wantCol, wantWeight := want.Row(i)
			if len(col) != len(wantCol) || p.Diag[i] != want.Diag[i] {
				t.Fatalf("%d variables, row %d: %d weights, want %d", n, i, len(col), len(wantCol))
			}
			for k := range col {
				if col[k] != wantCol[k] || weight[k] != wantWeight[k] {
					t.Fatalf("%d variables, row %d: entry %d is %d in column %d, want %d in %d", n, i, k, weight[k], col[k], wantWeight[k], wantCol[k])
				}
			}
		}
		if p.Spans() != want.Spans() {
			t.Errorf("%d variables: spans %+v, want %+v", n, p.Spans(), want.Spans())
		}
	}
}
