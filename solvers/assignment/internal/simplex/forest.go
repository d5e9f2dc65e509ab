package simplex

// A forest is made of arcs with flows, one by one. Where an arc closes a cycle, flow moves around it, in the direction that costs less, until an arc
// is empty.
type forest struct {
	parent []int32 // none: a root
	by     []int32 // the arc to the parent, of arcs
	mark   []int32
	stamp  int32
	arcs   []carrier
}

// A carrier is an arc of the network with a flow; id is none for artificial ones.
type carrier struct {
	from, to, id int32
	cost, flow   int64
}

func newForest(nodes int) *forest {
	f := &forest{parent: make([]int32, nodes), by: make([]int32, nodes), mark: make([]int32, nodes)}
	for x := range f.parent {
		f.parent[x], f.by[x] = none, none
	}
	return f
}

// reroot makes x the root of its tree.
func (f *forest) reroot(x int32) {
	up, by := int32(none), int32(none)
	for x != none {
		next, e := f.parent[x], f.by[x]
		f.parent[x], f.by[x] = up, by
		up, by, x = x, e, next
	}
}

// meet is the node where the paths of two nodes to their root meet, none where they are in different trees.
func (f *forest) meet(x, y int32) int32 {
	f.stamp++
	for x != none {
		if f.mark[x] == f.stamp {
			return x
		}
		f.mark[x] = f.stamp
		if x = f.parent[x]; y != none {
			x, y = y, x
		}
	}
	return none
}

// add adds an arc with a flow.
func (f *forest) add(e carrier) {
	own := int32(len(f.arcs))
	f.arcs = append(f.arcs, e)
	for {
		top := f.meet(e.from, e.to)
		if top == none {
			f.reroot(e.to)
			f.parent[e.to], f.by[e.to] = e.from, own
			return
		}
		// cycle visits the arcs between the ends of the arc, and says whether they gain flow where the arc does.
		cycle := func(visit func(x int32, b *carrier, gains bool)) {
			for x := e.to; x != top; x = f.parent[x] {
				b := &f.arcs[f.by[x]]
				visit(x, b, b.from == x)
			}
			for x := e.from; x != top; x = f.parent[x] {
				b := &f.arcs[f.by[x]]
				visit(x, b, b.to == x)
			}
		}
		costs := e.cost
		more, fewer := int64(-1), f.arcs[own].flow // how much the arc may gain, -1: any, and lose
		moreAt, fewerAt := int32(none), int32(none)
		cycle(func(x int32, b *carrier, gains bool) {
			if gains {
				if costs += b.cost; b.flow < fewer {
					fewer, fewerAt = b.flow, x
				}
			} else if costs -= b.cost; more < 0 || b.flow < more {
				more, moreAt = b.flow, x
			}
		})
		change, cut := -fewer, fewerAt
		if costs < 0 && more >= 0 {
			change, cut = more, moreAt
		}
		f.arcs[own].flow += change
		cycle(func(_ int32, b *carrier, gains bool) {
			if gains {
				b.flow += change
			} else {
				b.flow -= change
			}
		})
		if f.arcs[own].flow == 0 {
			return
		}
		f.parent[cut], f.by[cut] = none, none
	}
}

// hang makes a basis of a forest, with artificial arcs without flow to the root from nodes that have no parent, or whose arc is empty and does not lead there.
func (t *network) hang(f *forest) {
	f.reroot(t.root)
	for x := range int32(t.rows + t.cols) {
		y := f.parent[x]
		if y == none || f.arcs[f.by[x]].flow == 0 && f.arcs[f.by[x]].to == x {
			t.link(x, t.root)
			t.arc[x], t.flow[x], t.away[x] = none, 0, true
			continue
		}
		e := &f.arcs[f.by[x]]
		t.link(x, y)
		t.arc[x], t.flow[x], t.away[x] = e.id, e.flow, e.from == x
	}
	t.reprice()
}
