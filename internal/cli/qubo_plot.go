package cli

import (
	"context"
	"fmt"
	"io"
	"math"
	"strings"

	"coalesce/internal/ui"
	"coalesce/solvers/qubo"
)

// Sizes of a progress plot, in pixels.
const (
	plotWidth, plotHeight = 720, 400
	plotLeft, plotRight   = 110, 20
	plotTop, plotBottom   = 40, 50
)

// writePlot writes the history of a result as an SVG: the best value by the
// time since the start of the solve, on a logarithmic scale.
func writePlot(ctx context.Context, path string, r *qubo.Result) error {
	return writeFile(ctx, path, func(w io.Writer) error { return plot(w, r) })
}

func plot(w io.Writer, r *qubo.Result) error {
	first, last := r.History[0], r.History[len(r.History)-1]
	begin, end := max(1e-6, first.Seconds), max(2e-6, r.Seconds.Solve)
	begin = math.Pow(10, math.Floor(math.Log10(begin)))
	x := func(seconds float64) float64 {
		share := math.Log(max(seconds, begin)/begin) / math.Log(max(end/begin, 1.01))
		return plotLeft + share*(plotWidth-plotLeft-plotRight)
	}
	// The last two percent are what is worth seeing; what is worse lies on the edge.
	best, near := last.Value.Float(), 0.02*math.Abs(last.Value.Float())
	low, high := max(min(first.Value.Float(), best), best-near), min(max(first.Value.Float(), best), best+near)
	if low == high {
		low, high = low-1, high+1
	}
	y := func(value float64) float64 {
		value = min(max(value, low), high)
		return plotHeight - plotBottom - (value-low)/(high-low)*(plotHeight-plotTop-plotBottom)
	}
	var b strings.Builder
	text := func(x, y float64, anchor, words string) {
		words = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(words)
		fmt.Fprintf(&b, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>\n", x, y, anchor, words)
	}
	line := func(x1, y1, x2, y2 float64) {
		fmt.Fprintf(&b, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#ccc\"/>\n", x1, y1, x2, y2)
	}
	fmt.Fprintf(&b, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"12\">\n", plotWidth, plotHeight)
	fmt.Fprintf(&b, "<rect width=\"%d\" height=\"%d\" fill=\"white\"/>\n", plotWidth, plotHeight)
	text(plotLeft, 20, "start", fmt.Sprintf("%s: %s %s after %s", r.Instance, r.Sense, r.Value, ui.Seconds(last.Seconds)))
	for decade := begin; decade <= end*1.0001; decade *= 10 {
		line(x(decade), plotTop, x(decade), plotHeight-plotBottom)
		text(x(decade), plotHeight-plotBottom+18, "middle", ui.Seconds(decade))
	}
	for k := range 5 {
		v := low + (high-low)*float64(k)/4
		line(plotLeft, y(v), plotWidth-plotRight, y(v))
		text(plotLeft-8, y(v)+4, "end", fmt.Sprintf("%.6g", v))
	}
	text((plotLeft+plotWidth-plotRight)/2, plotHeight-10, "middle", "time since the start of the solve")
	fmt.Fprintf(&b, "<path fill=\"none\" stroke=\"#1f5fa8\" stroke-width=\"2\" d=\"M%.1f %.1f", x(first.Seconds), y(first.Value.Float()))
	for _, step := range r.History[1:] {
		fmt.Fprintf(&b, "H%.1fV%.1f", x(step.Seconds), y(step.Value.Float()))
	}
	fmt.Fprintf(&b, "H%.1f\"/>\n</svg>\n", x(end))
	_, err := io.WriteString(w, b.String())
	return err
}
