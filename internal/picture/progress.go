package picture

import (
	"fmt"
	"math"
)

// A Step is a value and when it was reached, in seconds from the start.
type Step struct{ Seconds, Value float64 }

// Progress draws the best value by the time since the start of a solve, which ended after so many seconds, on a
// logarithmic scale of time. There is one step at least; duration writes a number of seconds.
func Progress(title string, steps []Step, ended float64, duration func(float64) string) *Drawing {
	const width, height = 760, 400
	const left, right, top, bottom = 110, 20, titleHeight, 50
	d := titled(title, width, height)
	first, last := steps[0], steps[len(steps)-1]
	begin, end := max(1e-6, first.Seconds), max(2e-6, ended)
	begin = math.Pow(10, math.Floor(math.Log10(begin)))
	x := func(seconds float64) float64 {
		share := math.Log(max(seconds, begin)/begin) / math.Log(max(end/begin, 1.01))
		return left + share*(width-left-right)
	}
	// The last two percent are what is worth seeing; what is worse lies on the edge.
	best, near := last.Value, 0.02*math.Abs(last.Value)
	low, high := max(min(first.Value, best), best-near), min(max(first.Value, best), best+near)
	if low == high {
		low, high = low-1, high+1
	}
	y := func(value float64) float64 {
		return height - bottom - (min(max(value, low), high)-low)/(high-low)*(height-top-bottom)
	}
	for decade := begin; decade <= end*1.0001; decade *= 10 {
		d.line(x(decade), top, x(decade), height-bottom, faint)
		d.text(x(decade), height-bottom+18, "middle", duration(decade), soft)
	}
	for k := range 5 {
		v := low + (high-low)*float64(k)/4
		d.line(left, y(v), width-right, y(v), faint)
		d.text(left-8, y(v)+4, "end", fmt.Sprintf("%.6g", v), soft)
	}
	d.text((left+width-right)/2, height-10, "middle", "time since the start of the solve", soft)
	var points []Point
	at := Point{x(first.Seconds), y(first.Value)}
	from := at
	for _, s := range steps[1:] {
		at.X = x(s.Seconds)
		points = append(points, at)
		at.Y = y(s.Value)
		points = append(points, at)
	}
	d.path(from, append(points, Point{x(end), at.Y}), 0)
	return d
}
