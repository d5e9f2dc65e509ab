package draw

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// The parameters of paths.
const (
	connections = 2   // of each city at first, to the nearest
	density     = 3   // roads a city
	dearestWay  = 1.5 // a way may be so many times as long as the straight line
	maxPaths    = 5   // alternatives of a bidder
	maxRoads    = 1 << 10
)

// A road is between two cities.
type road struct {
	to     int
	good   int
	length float64
}

// A country is cities in the unit square, and roads.
type country struct {
	*drawer
	at    [][2]float64 // cities
	roads [][]road     // of each city
	count int
	most  float64 // the greatest length of a way
	best  []shortPath
	taken []bool // cities of the way that is tried
	path  []int  // its roads
}

type shortPath struct {
	length float64
	roads  []int
}

// drawPaths: a bidder wants to get from one city to another, and bids the same for each of
// the shortest ways that are short enough: its full value, without a deduction for the way's length,
// as CATS's program does. Roads on nobody's way are no goods; there are as many goods as asked for, or
// a few more.
func (d *drawer) drawPaths() error {
	asked := d.goods
	if asked > maxRoads {
		return fmt.Errorf("found %d goods, expected at most %d", asked, maxRoads)
	}
	for cities := max(3, int(1.2*float64(asked)/density)); cities <= max(20, 2*asked); cities += 1 + cities/20 {
		c := &country{drawer: d}
		if !c.build(cities) {
			continue
		}
		d.made = Auction{}
		if c.bidders(asked) {
			c.renumber()
			return nil
		}
	}
	return fmt.Errorf("found no roads of which %d bids use %d, expected more bids for as many goods", d.want, asked)
}

func (c *country) distance(a, b int) float64 {
	return math.Hypot(c.at[a][0]-c.at[b][0], c.at[a][1]-c.at[b][1])
}

// build places cities and builds roads to neighbours, then between cities drawn at random.
// False: there are too few pairs of cities, or not all are joined.
func (c *country) build(cities int) bool {
	c.at, c.roads, c.taken = make([][2]float64, cities), make([][]road, cities), make([]bool, cities)
	for k := range c.at {
		c.at[k] = [2]float64{c.rand.Float64(), c.rand.Float64()}
	}
	near := make([]int, cities)
	for a := range cities {
		for b := range near {
			near[b] = b
		}
		slices.SortFunc(near, func(x, y int) int { return cmp.Compare(c.distance(a, x), c.distance(a, y)) })
		for _, b := range near[1:min(cities, 1+connections)] {
			c.join(a, b)
		}
	}
	for idle := 0; c.count < density*cities; idle++ {
		if idle > cities {
			return false
		}
		a, b := c.rand.IntN(cities), c.rand.IntN(cities)
		if a != b && c.join(a, b) {
			idle = 0
		}
	}
	seen := make([]bool, cities)
	reach := []int{0}
	seen[0] = true
	for k := 0; k < len(reach); k++ {
		for _, r := range c.roads[reach[k]] {
			if !seen[r.to] {
				seen[r.to] = true
				reach = append(reach, r.to)
			}
		}
	}
	return len(reach) == cities
}

// join builds the road between two cities, and reports whether it is new. CATS looks for the
// shortest way first; because it gives existing and missing roads the same length, that is
// always the straight road.
func (c *country) join(a, b int) bool {
	if slices.ContainsFunc(c.roads[a], func(r road) bool { return r.to == b }) {
		return false
	}
	length := c.distance(a, b)
	c.roads[a] = append(c.roads[a], road{b, c.count, length})
	c.roads[b] = append(c.roads[b], road{a, c.count, length})
	c.count++
	return true
}

// bidders draws bidders until there are enough bids. Once as many roads are asked for as there should
// be goods, all other roads are closed. It returns false if there were enough bids before that.
func (c *country) bidders(asked int) bool {
	used := make([]bool, c.count)
	goods := 0
	closed := false
	for tries := 0; len(c.made.Bids) < c.want; tries++ {
		if tries > 100*c.want+10000 {
			return false
		}
		a, b := c.rand.IntN(len(c.at)), c.rand.IntN(len(c.at))
		if a == b {
			continue
		}
		c.most = c.uniform(1, dearestWay) * c.distance(a, b)
		c.best, c.path = nil, c.path[:0]
		clear(c.taken)
		c.taken[a] = true
		for k := range c.roads { // roads that lead to b first
			slices.SortFunc(c.roads[k], func(x, y road) int { return cmp.Compare(c.distance(x.to, b), c.distance(y.to, b)) })
		}
		c.shortestPaths(a, b, 0)
		group := -1
		if len(c.best) > 1 {
			group = c.made.Groups
			c.made.Groups++
		}
		for _, w := range c.best {
			for _, g := range w.roads {
				if !used[g] {
					used[g] = true
					goods++
				}
			}
			c.made.Bids = append(c.made.Bids, Bid{Price: c.most, Goods: w.roads, Group: group})
			if !closed && goods >= asked {
				break
			}
		}
		if !closed && goods >= asked {
			closed = true
			for k := range c.roads {
				c.roads[k] = slices.DeleteFunc(c.roads[k], func(r road) bool { return !used[r.good] })
			}
		}
	}
	return closed || c.want == 0
}

// shortestPaths finds the shortest ways on to a city, of all that are short enough.
func (c *country) shortestPaths(at, to int, length float64) {
	for _, r := range c.roads[at] {
		on := length + r.length
		if c.taken[r.to] || on+c.distance(r.to, to) >= c.most {
			continue
		}
		c.path = append(c.path, r.good)
		if r.to == to {
			w := shortPath{on, slices.Clone(c.path)}
			k, _ := slices.BinarySearchFunc(c.best, w, func(a, b shortPath) int { return cmp.Compare(a.length, b.length) })
			c.best = slices.Insert(c.best, k, w)
			if len(c.best) > maxPaths {
				c.best = c.best[:maxPaths]
			}
			if len(c.best) == maxPaths {
				c.most = c.best[maxPaths-1].length
			}
		} else {
			c.taken[r.to] = true
			c.shortestPaths(r.to, to, on)
			c.taken[r.to] = false
		}
		c.path = c.path[:len(c.path)-1]
	}
}

// renumber makes goods of the roads that are asked for.
func (c *country) renumber() {
	number := slices.Repeat([]int{-1}, c.count)
	for _, b := range c.made.Bids {
		for k, g := range b.Goods {
			if number[g] < 0 {
				number[g] = c.made.Goods
				c.made.Goods++
			}
			b.Goods[k] = number[g]
		}
	}
}
