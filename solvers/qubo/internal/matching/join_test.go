package matching

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

// A drawn graph, with lengths, and edges that are gone.
type drawn struct {
	n      int
	ends   [][2]int32
	length []int64
	gone   []bool
}

func draw(r *rand.Rand, n, m int, most int64) *drawn {
	d := &drawn{n: n}
	for range m {
		d.ends = append(d.ends, [2]int32{int32(r.IntN(n)), int32(r.IntN(n))})
		d.length = append(d.length, 2*r.Int64N(most+1))
	}
	d.gone = make([]bool, m)
	return d
}

// grid is a grid of rows and columns, closed in both directions.
func grid(r *rand.Rand, rows, cols int, most int64) *drawn {
	d := &drawn{n: rows * cols}
	for i := range rows {
		for k := range cols {
			a := int32(i*cols + k)
			for _, b := range []int32{int32(i*cols + (k+1)%cols), int32((i+1)%rows*cols + k)} {
				d.ends = append(d.ends, [2]int32{a, b})
				d.length = append(d.length, 2*(1+r.Int64N(most)))
			}
		}
	}
	d.gone = make([]bool, len(d.ends))
	return d
}

const far = math.MaxInt64 / 4

// lightest is the length of the lightest join, by shortest paths between all vertices and the best of all matchings.
func (d *drawn) lightest(terminal []bool) int64 {
	dist := make([][]int64, d.n)
	for i := range dist {
		dist[i] = make([]int64, d.n)
		for k := range dist[i] {
			dist[i][k] = far
		}
		dist[i][i] = 0
	}
	for e, end := range d.ends {
		if !d.gone[e] {
			a, b := end[0], end[1]
			dist[a][b] = min(dist[a][b], d.length[e])
			dist[b][a] = dist[a][b]
		}
	}
	for k := range d.n {
		for i := range d.n {
			for l := range d.n {
				dist[i][l] = min(dist[i][l], dist[i][k]+dist[k][l])
			}
		}
	}
	var t []int
	for v, is := range terminal {
		if is {
			t = append(t, v)
		}
	}
	best := make([]int64, 1<<len(t))
	for s := 1; s < len(best); s++ {
		best[s] = far
		if bits.OnesCount(uint(s))%2 == 1 {
			continue
		}
		a := bits.TrailingZeros(uint(s))
		for b := a + 1; b < len(t); b++ {
			if s>>b&1 == 1 {
				best[s] = min(best[s], best[s&^(1<<a)&^(1<<b)]+dist[t[a]][t[b]])
			}
		}
	}
	return best[len(best)-1]
}

// eachSet calls back the sets of a join, and holds those of some nodes against these.
func eachSet(j *Join, each func(y int64, edges []int32)) {
	type cut struct {
		y     int64
		edges []int32
	}
	all := map[int32][]cut{}
	keep := func(lists map[int32][]cut) EachCut {
		var last []int32
		return func(node int32, y int64, edges []int32, relative bool) {
			edges = slices.Sorted(slices.Values(edges))
			if relative {
				edges = append(edges, last...)
				slices.Sort(edges)
				odd := edges[:0]
				for _, e := range edges {
					if k := len(odd) - 1; k >= 0 && odd[k] == e {
						odd = odd[:k]
					} else {
						odd = append(odd, e)
					}
				}
				edges = odd
			}
			last = edges
			lists[node] = append(lists[node], cut{y, edges})
		}
	}
	j.Sets(keep(all))
	var some []int32
	for x, list := range all {
		if len(some) < 1+len(all)/2 {
			some = append(some, x)
		}
		for _, c := range list {
			each(c.y, c.edges)
		}
	}
	again := map[int32][]cut{}
	j.SetsOf(some, keep(again))
	for _, x := range some {
		if !reflect.DeepEqual(again[x], all[x]) {
			panic("sets of some nodes are not those of all")
		}
	}
	if len(again) != len(some) {
		panic("sets of other nodes")
	}
}

// check holds a solved join against its definition, and its sets against theirs.
func check(t *testing.T, d *drawn, j *Join, terminal []bool) int64 {
	t.Helper()
	parity, length := make([]bool, d.n), int64(0)
	in := make([]bool, len(d.ends))
	for _, e := range j.Edges() {
		if d.gone[e] {
			t.Fatal("an edge that was removed is in the join")
		}
		in[e] = true
		length += d.length[e]
		parity[d.ends[e][0]] = !parity[d.ends[e][0]]
		parity[d.ends[e][1]] = !parity[d.ends[e][1]]
	}
	for v := range parity {
		if parity[v] != terminal[v] {
			t.Fatalf("vertex %d: the join is odd: %t, the terminal: %t", v, parity[v], terminal[v])
		}
	}
	load, total := make([]int64, len(d.ends)), int64(0)
	eachSet(j, func(y int64, edges []int32) {
		odd := false
		for _, e := range edges {
			load[e] += y
			odd = odd != in[e]
		}
		if y <= 0 || !odd {
			t.Fatalf("a set with the weight %d of which an odd number of edges is in the join: %t", y, odd)
		}
		total += y
	})
	for e := range load {
		if load[e] > d.length[e] && !d.gone[e] {
			t.Fatalf("edge %d carries %d of %d", e, load[e], d.length[e])
		}
	}
	if total != length || j.Sum() != length || j.Total().Int64() != length {
		t.Fatalf("length %d, sets %d, sum %d, total %v", length, total, j.Sum(), j.Total())
	}
	return length
}

// Joins of random graphs are the lightest, from the start and after changes.
func TestLightest(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for round := range 3000 {
		var d *drawn
		most := []int64{1, 3, 50, 1 << 40}[round%4]
		if round%3 == 0 {
			d = grid(r, 2+r.IntN(4), 2+r.IntN(4), most)
		} else {
			n := 2 + r.IntN(16)
			d = draw(r, n, n+r.IntN(2*n), most)
		}
		terminal := make([]bool, d.n)
		for range min(12, 2*r.IntN(1+d.n/2)) {
			terminal[r.IntN(d.n)] = true
		}
		g := NewGraph(d.n, d.ends)
		if round%2 == 0 { // any vertices are walls
			g.last = int8(1 + r.IntN(3))
			for v := range g.wall {
				g.wall[v] = int8(r.IntN(int(g.last) + 1))
			}
		}
		j := New(g, d.length)
		j.SetTerminals(terminal)
		for change := range 12 {
			want := d.lightest(terminal)
			status := j.Solve(nil, nil)
			if (status == Solved) != (want < far) {
				t.Fatalf("round %d: status %d, length %d", round, status, want)
			}
			if status != Solved {
				break
			}
			if got := check(t, d, j, terminal); got != want {
				t.Fatalf("round %d, change %d: found %d, want %d", round, change, got, want)
			}
			k := j.Clone()
			if change%2 == 1 {
				j, k = k, j
			}
			limit := want - r.Int64N(3)
			if status := k.Solve(&limit, nil); status != Solved {
				t.Fatal("a solved join is not solved again at once")
			}
			switch e := r.IntN(len(d.ends)); {
			case r.IntN(2) == 0 && d.length[e] > 0 && !d.gone[e]:
				j.Remove(int32(e))
				d.gone[e] = true
			default:
				a, b := r.IntN(d.n), r.IntN(d.n)
				count := 0
				for _, is := range terminal {
					if is {
						count++
					}
				}
				if count > 10 && !(terminal[a] && terminal[b]) {
					continue
				}
				for _, v := range []int{a, b} {
					terminal[v] = !terminal[v]
					j.Toggle(int32(v))
				}
			}
		}
	}
}

// Larger grids, which the layers of a breadth-first search divide, have the same length as without walls.
func TestStages(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 1))
	for round := range 30 {
		d := grid(r, 36+r.IntN(30), 36+r.IntN(30), []int64{1, 50, 1 << 40}[round%3])
		if round%2 == 0 { // a vertex with many neighbours
			for v := range int32(d.n / 9) {
				d.ends, d.length, d.gone = append(d.ends, [2]int32{9 * v, int32(d.n)}), append(d.length, d.length[v]), append(d.gone, false)
			}
			d.n++
		}
		terminal := make([]bool, d.n)
		for range 2 * (d.n / 4) {
			v := r.IntN(d.n)
			terminal[v] = !terminal[v]
		}
		g := NewGraph(d.n, d.ends)
		if g.last < 2 {
			t.Fatal("no walls")
		}
		j := New(g, d.length)
		j.SetTerminals(terminal)
		if j.Solve(nil, nil) != Solved {
			t.Fatal("not solved")
		}
		length := check(t, d, j, terminal)
		g.last = 0
		clear(g.wall)
		j = New(g, d.length)
		j.SetTerminals(terminal)
		if j.Solve(nil, nil) != Solved || check(t, d, j, terminal) != length {
			t.Fatalf("length %d with walls, %d without", length, j.Sum())
		}
	}
}

// A search that the limit ends leaves duals that hold.
func TestLimit(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 1))
	for range 300 {
		d := grid(r, 5, 6, 9)
		terminal := make([]bool, d.n)
		for range 6 {
			terminal[r.IntN(d.n)] = true
		}
		want := d.lightest(terminal)
		g := NewGraph(d.n, d.ends)
		g.last = 2
		for v := range g.wall {
			g.wall[v] = int8(r.IntN(3))
		}
		j := New(g, d.length)
		j.SetTerminals(terminal)
		limit := r.Int64N(want + 3)
		status := j.Solve(&limit, nil)
		if status == Infeasible {
			continue
		}
		load, total := make([]int64, len(d.ends)), int64(0)
		eachSet(j, func(y int64, edges []int32) {
			total += y
			for _, e := range edges {
				load[e] += y
			}
		})
		for e := range load {
			if load[e] > d.length[e] {
				t.Fatalf("edge %d carries %d of %d", e, load[e], d.length[e])
			}
		}
		if status == Beyond && (limit > want || total < limit || total > want) || status == Solved && total != want {
			t.Fatalf("status %d, limit %d, length %d: found %d", status, limit, want, total)
		}
	}
}

// BenchmarkGrid solves a grid of 100,000 vertices, half of them terminals, whose edges have length 1.
func BenchmarkGrid(b *testing.B) {
	for _, side := range []int{100, 320, 1000} {
		for _, most := range []int64{1, 1 << 20} {
			b.Run(map[bool]string{true: "signs", false: "reals"}[most == 1]+"/"+string(rune('0'+side/100%10)), func(b *testing.B) {
				r := rand.New(rand.NewPCG(3, 1))
				d := grid(r, side, side, most)
				g := NewGraph(d.n, d.ends)
				terminal := make([]bool, d.n)
				for e := range d.ends {
					if r.IntN(2) == 0 {
						for _, v := range d.ends[e] {
							terminal[v] = !terminal[v]
						}
					}
				}
				for b.Loop() {
					j := New(g, d.length)
					j.SetTerminals(terminal)
					j.Solve(nil, nil)
					b.ReportMetric(float64(j.reached), "looks")
				}
			})
		}
	}
}
