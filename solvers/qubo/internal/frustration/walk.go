package frustration

// A walk goes through a list of sets, from each to the next. Each edge gets the weights of the sets that it is in, when it leaves.
type walk struct {
	in    []bool
	edges []int32 // those that came since the last set that is not relative, some more than once
	since []int64 // of edges that are in: what was passed when they came
	sum   int64   // of the weights passed since the last set that is not relative
	give  func(e int32, weight int64)
}

func newWalk(edges int, give func(e int32, weight int64)) *walk {
	return &walk{in: make([]bool, edges), since: make([]int64, edges), give: give}
}

// isRelative reports whether a set is written as the edges in which it differs from the one before it.
func isRelative(set []int64) bool { return set[0] < 0 }

// weight is that of a set.
func weight(set []int64) int64 { return max(set[0], -set[0]) }

// leaveAll leaves all edges.
func (w *walk) leaveAll() {
	for _, e := range w.edges {
		if w.in[e] {
			w.toggle(e)
		}
	}
	w.edges, w.sum = w.edges[:0], 0
}

func (w *walk) toggle(e int32) {
	if w.in[e] = !w.in[e]; w.in[e] {
		w.edges = append(w.edges, e)
		w.since[e] = w.sum
	} else if sum := w.sum - w.since[e]; sum > 0 {
		w.give(e, sum)
	}
}

// to goes to the next set.
func (w *walk) to(set []int64) {
	if !isRelative(set) {
		w.leaveAll()
	}
	for _, e := range set[1:] {
		w.toggle(int32(e))
	}
}

// Loads are the weights of the sets that each edge is in.
func (p *Proof) Loads(edges int) []int64 {
	load := make([]int64, edges)
	w := newWalk(edges, func(e int32, weight int64) { load[e] += weight })
	for _, set := range p.Sets {
		w.to(set)
		w.sum += weight(set)
	}
	w.leaveAll()
	return load
}

// A span is the numbers of sets, from one to before another.
type span struct{ from, to int32 }

// spans are the sets of a proof that each edge is in.
func (p *Proof) spans(edges int) [][]span {
	at := make([][]span, edges)
	k := int32(0)
	w := newWalk(edges, func(e int32, count int64) { at[e] = append(at[e], span{k - int32(count), k}) })
	for ; int(k) < len(p.Sets); k++ {
		w.to(p.Sets[k])
		w.sum++
	}
	w.leaveAll()
	return at
}
