package main

import (
	"fmt"
	"html"
	"math"
	"strings"
)

// A chartPoint is one mark of a line; an extrapolated one was not run.
type chartPoint struct {
	x, y         float64
	extrapolated bool
}

type series struct {
	name   string
	points []chartPoint
}

// A chart is a picture with lines over a numeric axis, or with bars.
type chart struct {
	title, x, y string
	log         bool    // the vertical axis is decades
	end         float64 // where it ends; 0: told by the values
	plain       bool    // lines without marks
	lines       []series
	bars        []bar
	note        string
}

type bar struct {
	name, label string
	y           float64
}

const (
	width, height            = 760, 490
	left, right, top, bottom = 80, 20, 50, 100
)

// palette reads on white and on near-black.
var palette = []string{"#3b82c4", "#d9692b", "#2f9e6e", "#a35fc2", "#b8902a", "#d0507a", "#3a9fa8", "#7d7d7d", "#8c6d4f", "#6f86e0"}

const style = `<style>
.paper{fill:#fff}.ink{fill:#222}.soft{fill:#666}.grid{stroke:#ddd}.axis{stroke:#888}.hole{fill:#fff}
@media(prefers-color-scheme:dark){.paper{fill:#15181c}.ink{fill:#e6e6e6}.soft{fill:#a5a5a5}.grid{stroke:#33383e}.axis{stroke:#7a7a7a}.hole{fill:#15181c}}
</style>`

func (c chart) svg() string {
	var b strings.Builder
	p := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	p(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="system-ui, sans-serif" font-size="13" role="img" aria-label="%s">`, width, height, html.EscapeString(c.title))
	p("%s", style)
	p(`<rect class="paper" width="%d" height="%d"/>`, width, height)
	p(`<text class="ink" x="%d" y="24" font-size="15">%s</text>`, left, html.EscapeString(c.title))
	s := c.scale()
	for _, y := range s.ticks {
		at := s.vertical(y)
		p(`<line class="grid" x1="%d" x2="%d" y1="%.1f" y2="%.1f"/>`, left, width-right, at, at)
		p(`<text class="soft" x="%d" y="%.1f" text-anchor="end">%s</text>`, left-8, at+4, tick(y, c.log))
	}
	p(`<text class="soft" transform="translate(20 %d) rotate(-90)" text-anchor="middle">%s</text>`, (top+height-bottom)/2, html.EscapeString(c.y))
	p(`<text class="soft" x="%d" y="%d" text-anchor="middle">%s</text>`, (left+width-right)/2, height-bottom+40, html.EscapeString(c.x))
	for i, line := range strings.Split(c.note, "\n") {
		p(`<text class="soft" x="%d" y="%d" font-size="11.5">%s</text>`, left, height-30+16*i, html.EscapeString(line))
	}
	if len(c.bars) > 0 {
		c.drawBars(p, s)
	} else {
		c.drawLines(p, s)
	}
	p(`<line class="axis" x1="%d" x2="%d" y1="%d" y2="%d"/>`, left, width-right, height-bottom, height-bottom)
	b.WriteString("</svg>\n")
	return b.String()
}

func (c chart) drawBars(p func(string, ...any), s scale) {
	step := float64(width-left-right) / float64(len(c.bars))
	for i, v := range c.bars {
		x, y := left+step*(float64(i)+0.5), s.vertical(v.y)
		p(`<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"/>`, x-step*0.32, y, step*0.64, float64(height-bottom)-y, palette[0])
		p(`<text class="ink" x="%.1f" y="%.1f" text-anchor="middle">%s</text>`, x, y-6, html.EscapeString(v.label))
		p(`<text class="soft" x="%.1f" y="%d" text-anchor="middle">%s</text>`, x, height-bottom+18, html.EscapeString(v.name))
	}
}

func (c chart) drawLines(p func(string, ...any), s scale) {
	// At most a dozen labels: steps of 1, 2 or 5 times a power of ten.
	by := 1.0
	for k := 0; (s.last-s.first)/by > 12; k++ {
		by *= []float64{2, 2.5, 2}[k%3]
	}
	for x := math.Ceil(s.first/by) * by; x <= s.last; x += by {
		p(`<text class="soft" x="%.1f" y="%d" text-anchor="middle">%.0f</text>`, s.horizontal(x), height-bottom+18, x)
	}
	for i, l := range c.lines {
		// Later lines are thinner, so that one beneath another still shows.
		color, thin := palette[i%len(palette)], float64(min(i, 3))
		for j := 1; j < len(l.points); j++ {
			a, z, dash := l.points[j-1], l.points[j], ""
			if z.extrapolated {
				dash = ` stroke-dasharray="5 4"`
			}
			p(`<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="%s" stroke-width="%.1f"%s/>`, s.horizontal(a.x), s.vertical(a.y), s.horizontal(z.x), s.vertical(z.y), color, 4-0.8*thin, dash)
		}
		for _, q := range l.points {
			if c.plain {
				break
			}
			fill := fmt.Sprintf(`fill="%s"`, color)
			if q.extrapolated {
				fill = `class="hole"`
			}
			p(`<circle cx="%.1f" cy="%.1f" r="%.1f" %s stroke="%s" stroke-width="1.5"/>`, s.horizontal(q.x), s.vertical(q.y), 6-1.2*thin, fill, color)
		}
		y := top + 10 + 20*i
		p(`<line x1="%d" x2="%d" y1="%d" y2="%d" stroke="%s" stroke-width="3"/>`, left+14, left+38, y, y, color)
		p(`<text class="ink" x="%d" y="%d">%s</text>`, left+46, y+4, html.EscapeString(l.name))
	}
}

// A scale maps values to the picture.
type scale struct {
	low, high, first, last float64
	log                    bool
	ticks                  []float64
}

func (c chart) scale() scale {
	low, high := math.Inf(1), math.Inf(-1)
	s := scale{first: math.Inf(1), last: math.Inf(-1), log: c.log}
	for _, l := range c.lines {
		for _, q := range l.points {
			low, high = min(low, q.y), max(high, q.y)
			s.first, s.last = min(s.first, q.x), max(s.last, q.x)
		}
	}
	for _, v := range c.bars {
		low, high = min(low, v.y), max(high, v.y)
	}
	if c.log {
		s.low, s.high = math.Floor(math.Log10(low)), math.Ceil(math.Log10(high))
		for d := s.low; d <= s.high; d++ {
			s.ticks = append(s.ticks, math.Pow(10, d))
		}
		if len(c.lines) > 1 {
			s.high += 0.05 * (s.high - s.low)
		}
		return s
	}
	s.low, s.high = 0, math.Ceil(high*1.25/10)*10
	if c.end > 0 {
		s.high = c.end
	}
	for t := 0.0; t <= s.high; t += 10 {
		s.ticks = append(s.ticks, t)
	}
	return s
}

func (s scale) vertical(y float64) float64 {
	if s.log {
		y = math.Log10(y)
	}
	return float64(height-bottom) - (y-s.low)/(s.high-s.low)*float64(height-bottom-top)
}

func (s scale) horizontal(x float64) float64 {
	return left + 20 + (x-s.first)/(s.last-s.first)*float64(width-left-right-40)
}

func tick(y float64, log bool) string {
	if !log {
		return fmt.Sprintf("%.0f %%", y)
	}
	d := int(math.Round(math.Log10(y)))
	if -3 <= d && d <= 3 {
		return fmt.Sprintf("%g", math.Pow10(d))
	}
	return fmt.Sprintf("1e%d", d)
}
