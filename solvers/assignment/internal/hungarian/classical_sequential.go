package hungarian

import (
	"context"
	"slices"

	"coalesce/solvers/assignment/internal/engine"
	"coalesce/solvers/assignment/problem"
)

// SequentialClassical is the method of the type classical in plain Go on one processor, the
// baseline of the paper's speed-ups. It takes the same steps in the same order, without a limit.
func SequentialClassical(ctx context.Context, p *problem.Normal, start *problem.Prices, tell engine.Reporter) (*engine.Solution, error) {
	s, err := newSequential("classical", p, tell)
	if err != nil {
		return nil, err
	}
	c := &cover{sequential: s, zeros: make([][]int32, p.Rows), by: make([]int32, p.Cols), root: make([]int32, p.Rows), end: make([]int32, p.Rows)}
	c.reduce(start)
	return c.runPhases(ctx, c.match(), c.search, c.augment)
}

// A cover is a search from all free rows over the zeros of the slack matrix.
type cover struct {
	sequential
	zeros [][]int32 // columns, by row
	by    []int32   // row that reached a column, -1: not reached
	root  []int32   // of a row, -1: not reached
	end   []int32   // free column that a root's tree reached, -1: none
	queue []int32   // rows reached
	paths int
}

// reduce takes the column minima, where all columns get matched and no duals
// are given, and the row minima; it gathers the zeros.
func (c *cover) reduce(start *problem.Prices) {
	u, v := c.sol.U, c.sol.V
	switch {
	case c.p.Rows < c.p.Cols:
	case start != nil:
		copy(v, start.V)
	default:
		for j := range v {
			v[j] = problem.Infinity
		}
		for i := range u {
			for j, x := range c.scanRow(int32(i)) {
				v[j] = min(v[j], x)
			}
		}
		for j := range v {
			if v[j] == problem.Infinity {
				v[j] = 0
			}
		}
	}
	for i := range u {
		least := int64(noSlack)
		for j, x := range c.scanRow(int32(i)) {
			if x == problem.Infinity || x-v[j] > least {
				continue
			}
			if x-v[j] < least {
				least, c.zeros[i] = x-v[j], c.zeros[i][:0]
			}
			c.zeros[i] = append(c.zeros[i], int32(j))
		}
		if len(c.zeros[i]) > 0 {
			u[i] = least
		}
	}
}

// match takes zeros greedily and returns the rows still free.
func (c *cover) match() (free []int32) {
	for i := range c.sol.Column {
		for _, j := range c.zeros[i] {
			if c.row[j] < 0 {
				c.sol.Column[i], c.row[j] = j, int32(i)
				break
			}
		}
		if c.sol.Column[i] < 0 {
			free = append(free, int32(i))
		}
	}
	return free
}

// search grows a forest from the free rows, level by level, with a dual update
// whenever it comes to an end, until it has paths.
func (c *cover) search(free []int32) error {
	for j := range c.by {
		c.by[j] = -1
	}
	for i := range c.root {
		c.root[i], c.end[i] = -1, -1
	}
	for _, i := range free {
		c.root[i] = i
	}
	c.queue, c.paths = append(c.queue[:0], free...), 0
	c.sol.Counts.Phases++
	for head := 0; ; {
		c.ReportMatched(c.done)
		for head < len(c.queue) {
			tail := len(c.queue)
			for _, i := range c.queue[head:tail] {
				for _, j := range c.zeros[i] {
					c.reach(i, j)
				}
			}
			head = tail
			c.sol.Counts.Steps++
		}
		if c.paths > 0 {
			c.sol.Counts.Paths += int64(c.paths)
			return nil
		}
		if !c.update() {
			return &engine.Infeasible{Rows: c.queue}
		}
	}
}

// reach takes column j into the tree of row i, unless the tree has its path.
func (c *cover) reach(i, j int32) {
	root := c.root[i]
	if c.by[j] >= 0 || c.end[root] >= 0 {
		return
	}
	c.by[j] = i
	if next := c.row[j]; next >= 0 {
		c.root[next] = root
		c.queue = append(c.queue, next)
		return
	}
	c.end[root] = j
	c.paths++
}

// update changes the duals by the least slack of the uncovered entries: rows of the forest,
// columns out of it. It is false where no such entry is allowed.
func (c *cover) update() bool {
	d, u, v := int64(noSlack), c.sol.U, c.sol.V
	var fresh [][2]int32
	for _, i := range c.queue {
		for j, x := range c.scanRow(i) {
			if c.by[j] >= 0 || x == problem.Infinity || x-u[i]-v[j] > d {
				continue
			}
			if x-u[i]-v[j] < d {
				d, fresh = x-u[i]-v[j], fresh[:0]
			}
			fresh = append(fresh, [2]int32{i, int32(j)})
		}
	}
	if d == noSlack {
		return false
	}
	c.sol.Counts.Updates++
	for _, i := range c.queue {
		u[i] += d
	}
	for j, i := range c.by {
		if i >= 0 {
			v[j] -= d
		}
	}
	for i := range c.zeros {
		if c.root[i] < 0 {
			c.zeros[i] = slices.DeleteFunc(c.zeros[i], func(j int32) bool { return c.by[j] >= 0 })
		}
	}
	for _, z := range fresh {
		c.zeros[z[0]] = append(c.zeros[z[0]], z[1])
		c.reach(z[0], z[1])
	}
	return true
}

// augment takes the paths and returns the rows still free.
func (c *cover) augment(free []int32) (left []int32) {
	for _, i := range free {
		if c.end[i] < 0 {
			left = append(left, i)
			continue
		}
		c.flipPath(c.end[i], c.by)
	}
	return left
}
