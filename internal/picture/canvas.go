package picture

import (
	"io"
	"math"
	"strings"
	"unicode/utf8"
)

// A canvas has eight dots for each character of a terminal, two wide and four high, and words above them.
type canvas struct {
	columns, rows int
	dots          []byte  // a braille pattern a character
	words         []rune  // 0 where there is none
	across, down  float64 // dots a pixel
}

// bits of the dots of a braille pattern, by row and column.
var bits = [4][2]byte{{1, 8}, {2, 16}, {4, 32}, {64, 128}}

// glyphs stand for dots of the palette's colours.
var glyphs = []rune("●○◆◇■□▲△")

// WriteText writes the drawing as text of so many columns, at least 20. Coloured boxes are shaded, colours of dots are shapes.
func (d *Drawing) WriteText(w io.Writer, columns int) error {
	c := newCanvas(d, max(20, columns))
	for _, m := range d.marks {
		switch m.shape {
		case line:
			if m.colour != faint {
				c.line(m.x, m.y, m.u, m.v)
			}
		case path:
			from := Point{m.x, m.y}
			for _, to := range m.points {
				c.line(from.X, from.Y, to.X, to.Y)
				from = to
			}
		case ring:
			for k := range 180 {
				a := 2 * math.Pi * float64(k) / 180
				c.point(m.x+m.u*math.Cos(a), m.y+m.u*math.Sin(a))
			}
		}
	}
	for _, m := range d.marks {
		switch {
		case m.shape == dot && m.colour >= 0:
			c.put(m.x, m.y, 0, string(glyphs[m.colour%len(glyphs)]))
		case m.shape == dot:
			c.put(m.x, m.y, 0, "·")
		case m.shape == box && m.colour == faint:
			c.put(m.x+m.u/2, m.y+m.v/2, 0.5, "·")
		case m.shape == box:
			c.shade(m)
		}
	}
	for _, m := range d.marks {
		if m.shape == text {
			c.put(m.x, m.y-5, map[string]float64{"middle": 0.5, "end": 1}[m.anchor], m.words)
		}
	}
	_, err := io.WriteString(w, c.String())
	return err
}

func newCanvas(d *Drawing, columns int) *canvas {
	across := float64(2*columns) / d.width
	down := across
	if d.row > 0 {
		down = 4 / d.row
	}
	rows := int(math.Ceil(d.height * down / 4))
	return &canvas{columns, rows, make([]byte, columns*rows), make([]rune, columns*rows), across, down}
}

func (c *canvas) point(x, y float64) {
	i, j := int(x*c.across), int(y*c.down)
	if i >= 0 && j >= 0 && i < 2*c.columns && j < 4*c.rows {
		c.dots[j/4*c.columns+i/2] |= bits[j%4][i%2]
	}
}

func (c *canvas) line(x, y, u, v float64) {
	steps := 1 + int(max(c.across*math.Abs(u-x), c.down*math.Abs(v-y)))
	for k := range steps + 1 {
		t := float64(k) / float64(steps)
		c.point(x+t*(u-x), y+t*(v-y))
	}
}

// put writes words at a place, of which the share lies left of it.
func (c *canvas) put(x, y, share float64, words string) {
	column := int(x*c.across/2 - share*float64(utf8.RuneCountInString(words)) + share/2)
	row := int(y * c.down / 4)
	for _, r := range words {
		if column >= 0 && column < c.columns && row >= 0 && row < c.rows {
			c.words[row*c.columns+column] = r
		}
		column++
	}
}

func (c *canvas) shade(m mark) {
	for row := int(math.Round(m.y * c.down / 4)); row < max(int(math.Round((m.y+m.v)*c.down/4)), int(math.Round(m.y*c.down/4))+1); row++ {
		for column := int(math.Round(m.x * c.across / 2)); column < int(math.Round((m.x+m.u)*c.across/2)); column++ {
			if row >= 0 && row < c.rows && column >= 0 && column < c.columns {
				c.words[row*c.columns+column] = '█'
			}
		}
	}
}

// String is the text, without blanks at the ends of lines or empty lines at its end.
func (c *canvas) String() string {
	var b strings.Builder
	for row := range c.rows {
		var text strings.Builder
		for k := row * c.columns; k < (row+1)*c.columns; k++ {
			switch {
			case c.words[k] != 0:
				text.WriteRune(c.words[k])
			case c.dots[k] != 0:
				text.WriteRune(0x2800 + rune(c.dots[k]))
			default:
				text.WriteByte(' ')
			}
		}
		b.WriteString(strings.TrimRight(text.String(), " ") + "\n")
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}
