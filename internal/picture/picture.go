// Package picture draws answers: a structure, a matching, winners, a cut, a search's progress. A drawing is written as SVG,
// or as text for a terminal. It knows shapes and words alone; the commands of a problem say what they stand for.
package picture

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
)

// A Drawing is marks on a rectangle. Lengths are in pixels, from the top left corner; later marks cover earlier ones.
type Drawing struct {
	Title         string
	width, height float64
	row           float64 // height of a line of text; 0: dots are as wide as high
	marks         []mark
}

// A mark is one shape or text, at or from (x, y).
type mark struct {
	shape  shape
	x, y   float64
	u, v   float64 // the other end of a line, or the width and height of a box; u is the radius of a dot or ring
	colour int
	words  string
	anchor string  // of a text: start, middle or end
	points []Point // of a path, after (x, y)
}

type shape int

const (
	line shape = iota
	dot
	ring
	path
	box
	text
)

// Colours besides those of the palette, which count from 0.
const (
	ink   = -1 - iota // of texts
	soft              // of what stands behind
	faint             // of grids
	paper             // of the ground, and of texts on a colour
)

// palette has colours that can be told apart on white and on near-black.
var palette = []string{"#3b82c4", "#d9692b", "#2f9e6e", "#a35fc2", "#b8902a", "#d0507a", "#3a9fa8", "#8c6d4f"}

func (d *Drawing) line(x, y, u, v float64, colour int) {
	d.marks = append(d.marks, mark{line, x, y, u, v, colour, "", "", nil})
}
func (d *Drawing) dot(x, y, r float64, colour int) {
	d.marks = append(d.marks, mark{dot, x, y, r, 0, colour, "", "", nil})
}
func (d *Drawing) ring(x, y, r float64, colour int) {
	d.marks = append(d.marks, mark{ring, x, y, r, 0, colour, "", "", nil})
}
func (d *Drawing) box(x, y, w, h float64, colour int) {
	d.marks = append(d.marks, mark{box, x, y, w, h, colour, "", "", nil})
}
func (d *Drawing) path(from Point, points []Point, colour int) {
	d.marks = append(d.marks, mark{path, from.X, from.Y, 0, 0, colour, "", "", points})
}
func (d *Drawing) text(x, y float64, anchor, words string, colour int) {
	d.marks = append(d.marks, mark{text, x, y, 0, 0, colour, words, anchor, nil})
}

// titled is an empty drawing with its title in the first titleHeight pixels.
func titled(title string, width, height float64) *Drawing {
	d := &Drawing{Title: title, width: width, height: height}
	d.text(20, 26, "start", title, ink)
	return d
}

const titleHeight = 44

// Stack is a drawing of one above another.
func Stack(above, below *Drawing) *Drawing {
	d := &Drawing{Title: above.Title, width: max(above.width, below.width), height: above.height + below.height, marks: slices.Clone(above.marks)}
	for _, m := range below.marks {
		if m.y += above.height; m.shape == line {
			m.v += above.height
		}
		m.points = slices.Clone(m.points)
		for k := range m.points {
			m.points[k].Y += above.height
		}
		d.marks = append(d.marks, m)
	}
	return d
}

// style colours what is not of the palette, by the reader's choice of light or dark.
const style = `<style>.paper{fill:#fff}.ink{fill:#222}.soft{fill:#666;stroke:#999}.faint{fill:#eee;stroke:#ddd}.light{fill:#fff}text{stroke:none!important}
@media(prefers-color-scheme:dark){.paper{fill:#15181c}.ink{fill:#e6e6e6}.soft{fill:#a5a5a5;stroke:#777}.faint{fill:#262b31;stroke:#33383e}}</style>
`

var escape = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;")

// WriteSVG writes the drawing as an SVG document.
func (d *Drawing) WriteSVG(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" font-family="sans-serif" font-size="13" role="img" aria-label="%s">`+"\n", d.width, d.height, escape.Replace(d.Title))
	fmt.Fprintf(&b, "%s<rect class=\"paper\" width=\"%.0f\" height=\"%.0f\"/>\n", style, d.width, d.height)
	for _, m := range d.marks {
		fill, stroke := colours(m.colour)
		switch m.shape {
		case line:
			fmt.Fprintf(&b, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"%s stroke-width="%.1f"/>`, m.x, m.y, m.u, m.v, stroke, strokeWidth(m.colour))
		case dot:
			fmt.Fprintf(&b, `<circle cx="%.1f" cy="%.1f" r="%.1f"%s/>`, m.x, m.y, m.u, fill)
		case ring:
			fmt.Fprintf(&b, `<circle cx="%.1f" cy="%.1f" r="%.1f"%s fill-opacity="0.12" stroke-width="2"/>`, m.x, m.y, m.u, fill+stroke)
		case path:
			fmt.Fprintf(&b, `<path fill="none"%s stroke-width="2" d="M%.1f %.1f`, stroke, m.x, m.y)
			for k, p := range m.points {
				before := Point{m.x, m.y}
				if k > 0 {
					before = m.points[k-1]
				}
				switch {
				case p.Y == before.Y:
					fmt.Fprintf(&b, "H%.1f", p.X)
				case p.X == before.X:
					fmt.Fprintf(&b, "V%.1f", p.Y)
				default:
					fmt.Fprintf(&b, "L%.1f %.1f", p.X, p.Y)
				}
			}
			b.WriteString(`"/>`)
		case box:
			fmt.Fprintf(&b, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" rx="2"%s/>`, m.x, m.y, m.u, m.v, fill)
		case text:
			fmt.Fprintf(&b, `<text x="%.1f" y="%.1f" text-anchor="%s"%s>%s</text>`, m.x, m.y, m.anchor, fill, escape.Replace(m.words))
		}
		b.WriteByte('\n')
	}
	b.WriteString("</svg>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// colours are attributes of SVG that fill a shape with a colour, and draw its outline in it. A class has both.
func colours(k int) (fill, stroke string) {
	if k < 0 {
		class := fmt.Sprintf(` class="%s"`, [...]string{"ink", "soft", "faint", "light"}[-1-k])
		return class, cmp.Or(map[int]string{ink: ` stroke="#777"`}[k], class)
	}
	name := palette[k%len(palette)]
	return fmt.Sprintf(` fill="%s"`, name), fmt.Sprintf(` stroke="%s"`, name)
}

func strokeWidth(colour int) float64 {
	if colour < 0 {
		return 1
	}
	return 2.2
}
