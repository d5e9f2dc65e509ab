package picture

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"unicode/utf8"
)

// ErrTooMany is why an answer was not drawn.
var ErrTooMany = errors.New("too many to draw")

// tooMany is an error that wraps ErrTooMany where count exceeds most.
func tooMany(count, most int, noun string) error {
	if count <= most {
		return nil
	}
	return fmt.Errorf("%d %s are %w: a picture has at most %d", count, noun, ErrTooMany, most)
}

// A Group is members and a word about them.
type Group struct {
	Members []string
	Words   string
}

// Structure draws groups as circles of their members, in rows.
func Structure(title string, groups []Group) (*Drawing, error) {
	const most, width, margin = 2000, 760.0, 20.0
	count := 0
	for _, g := range groups {
		count += len(g.Members)
	}
	if err := tooMany(count, most, "members"); err != nil {
		return nil, err
	}
	d := titled(title, width, 0)
	x, top, deep := margin, float64(titleHeight), 0.0
	for k, g := range groups {
		n, widest := len(g.Members), 0
		for _, name := range g.Members {
			widest = max(widest, utf8.RuneCountInString(name))
		}
		named := n <= 24 && widest <= 12
		r, inner := 26+2.2*float64(n), 0.0 // radius of the ring, and of the circle of members
		if named {
			r = max(44, 24+9*float64(n)/math.Pi*1.6) + 3*float64(widest)
		}
		if r = min(r, width/2-margin); n > 1 {
			if inner = r - 16; named {
				inner = r - 14 - 3.5*float64(widest)
			}
		}
		if x+2*r > width-margin && x > margin {
			x, top, deep = margin, top+deep, 0
		}
		cx, cy := x+r, top+r
		d.ring(cx, cy, r, k)
		for i, name := range g.Members {
			a := 2*math.Pi*float64(i)/float64(n) - math.Pi/2
			px, py := cx+inner*math.Cos(a), cy+inner*math.Sin(a)
			if named {
				d.dot(px, py-7, 5, k)
				d.text(px, py+12, "middle", name, ink)
			} else {
				d.dot(px, py, 3, k)
			}
		}
		if g.Words != "" {
			d.text(cx, cy+2*r-r+18, "middle", g.Words, ink)
		}
		x, deep = x+2*r+24, max(deep, 2*r+34)
	}
	d.height = top + deep + 6
	return d, nil
}

// A Cell is a field of a grid: chosen ones have a colour, others are grey.
type Cell struct {
	Row, Column int
	Words       string
	Chosen      bool
}

// Grid draws cells under the names of columns and beside those of rows.
func Grid(title string, rows, columns []string, cells []Cell) (*Drawing, error) {
	const most = 60
	if err := tooMany(max(len(rows), len(columns)), most, "rows or columns"); err != nil {
		return nil, err
	}
	widest := func(names []string) (w float64) {
		for _, name := range names {
			w = max(w, 7.5*float64(utf8.RuneCountInString(name)))
		}
		return w
	}
	side := 0.0
	for _, c := range cells {
		side = max(side, 7.5*float64(utf8.RuneCountInString(c.Words)))
	}
	left := 30 + widest(rows)
	cw, ch := max(14, side+12, min(60, widest(columns)+8)), 24.0
	if cw*float64(len(columns)) > 900 {
		cw = max(14, side+6)
	}
	d := titled(title, max(420, 9*float64(utf8.RuneCountInString(title)), left+cw*float64(len(columns))+20), titleHeight+26+ch*float64(len(rows))+12)
	d.row = ch
	top := float64(titleHeight + 24)
	for j, name := range columns {
		for float64(utf8.RuneCountInString(name))*7.5 > cw && name != "" {
			_, size := utf8.DecodeLastRuneInString(name)
			name = name[:len(name)-size]
		}
		d.text(left+cw*(float64(j)+0.5), top-8, "middle", name, soft)
	}
	for i, name := range rows {
		d.text(left-10, top+ch*float64(i)+17, "end", name, soft)
	}
	for _, c := range cells {
		colour, words := faint, soft
		if c.Chosen {
			colour, words = c.Row, paper
		}
		x, y := left+cw*float64(c.Column), top+ch*float64(c.Row)
		d.box(x+1, y+1, cw-2, ch-2, colour)
		if c.Words != "" {
			d.text(x+cw/2, y+17, "middle", c.Words, words)
		}
	}
	return d, nil
}

// A Point is a place in the plane.
type Point struct{ X, Y float64 }

// Matching draws two sets of points, and lines between those that are matched: pairs of an index into each set.
func Matching(title string, from, to []Point, pairs [][2]int) (*Drawing, error) {
	const most, width, height, margin = 20000, 760.0, 560.0, 24.0
	if err := tooMany(len(from)+len(to), most, "points"); err != nil {
		return nil, err
	}
	d := titled(title, width, height)
	low, high := Point{math.Inf(1), math.Inf(1)}, Point{math.Inf(-1), math.Inf(-1)}
	for _, p := range slices.Concat(from, to) {
		low, high = Point{min(low.X, p.X), min(low.Y, p.Y)}, Point{max(high.X, p.X), max(high.Y, p.Y)}
	}
	scale := min((width-2*margin)/max(high.X-low.X, 1e-300), (height-titleHeight-2*margin)/max(high.Y-low.Y, 1e-300))
	d.height = titleHeight + (high.Y-low.Y)*scale + 2*margin
	at := func(p Point) (x, y float64) {
		return margin + (p.X-low.X)*scale, d.height - margin - (p.Y-low.Y)*scale
	}
	r := min(5, max(1.5, 60/math.Sqrt(float64(len(from)+len(to)+1))))
	for _, p := range pairs {
		x, y := at(from[p[0]])
		u, v := at(to[p[1]])
		d.line(x, y, u, v, 2)
	}
	for k, set := range [][]Point{from, to} {
		for _, p := range set {
			x, y := at(p)
			d.dot(x, y, r, k)
		}
	}
	return d, nil
}

// Sides draws two columns of names and the lines of pairs between them: an index into each, and words.
func Sides(title string, left, right []string, pairs [][2]int) (*Drawing, error) {
	const most, width, step = 500, 760.0, 18.0
	if err := tooMany(max(len(left), len(right)), most, "rows or columns"); err != nil {
		return nil, err
	}
	d := titled(title, width, titleHeight+step*float64(max(len(left), len(right)))+16)
	y := func(k int) float64 { return titleHeight + step*(float64(k)+0.5) }
	for n, p := range pairs {
		d.line(250, y(p[0]), 510, y(p[1]), n)
	}
	for k, name := range left {
		d.dot(250, y(k), 4, 0)
		d.text(238, y(k)+5, "end", name, ink)
	}
	for k, name := range right {
		d.dot(510, y(k), 4, 1)
		d.text(522, y(k)+5, "start", name, ink)
	}
	return d, nil
}

// Cut draws the nodes of a graph, those of one side on the left and those of the other on the right, with coloured lines
// where an edge's ends are on different sides.
func Cut(title string, names []string, right []bool, edges [][2]int) (*Drawing, error) {
	const most, mostEdges, width = 200, 4000, 760.0
	if err := tooMany(len(names), most, "nodes"); err != nil {
		return nil, err
	}
	if err := tooMany(len(edges), mostEdges, "edges"); err != nil {
		return nil, err
	}
	count := [2]int{}
	side := func(i int) int {
		if right[i] {
			return 1
		}
		return 0
	}
	for i := range names {
		count[side(i)]++
	}
	tall := max(150, 13*float64(max(count[0], count[1])))
	d := titled(title, width, titleHeight+tall+40)
	at, next := make([]Point, len(names)), [2]int{}
	for i := range names {
		k := side(i)
		t := math.Pi * (float64(next[k]) + 0.5) / float64(count[k])
		next[k]++
		bulge := 150 * math.Sin(t)
		at[i] = Point{width/2 - 80 - bulge, titleHeight + 14 + tall/2*(1-math.Cos(t))}
		if k == 1 {
			at[i].X = width - at[i].X
		}
	}
	for _, crossing := range []bool{false, true} { // coloured lines lie above grey ones
		for _, e := range edges {
			if a, b := at[e[0]], at[e[1]]; (right[e[0]] != right[e[1]]) == crossing {
				colour := soft
				if crossing {
					colour = 2
				}
				d.line(a.X, a.Y, b.X, b.Y, colour)
			}
		}
	}
	for i, name := range names {
		k := side(i)
		d.dot(at[i].X, at[i].Y, 6, k)
		shift, anchor := -12.0, "end"
		if k == 1 {
			shift, anchor = 12, "start"
		}
		d.text(at[i].X+shift, at[i].Y+5, anchor, name, ink)
	}
	return d, nil
}
