package page

import (
	"bytes"
	"fmt"
	"html"
)

// A markup is text of HTML or SVG, which a page takes as it is.
type markup string

// An htmlPage is a page on its way. It does without the standard library's templates: these call methods
// by name, for which the linker keeps every exported method of the program, a tenth of the executable.
type htmlPage struct{ bytes.Buffer }

// printf writes a format; of its arguments, all but markup become text without meaning in HTML.
func (p *htmlPage) printf(format string, args ...any) {
	for k, a := range args {
		if _, is := a.(markup); !is {
			args[k] = html.EscapeString(fmt.Sprint(a))
		}
	}
	fmt.Fprintf(&p.Buffer, format, args...)
}

// writeHead writes what stands above the studies, with the values that may be chosen to filter by.
func (p *htmlPage) writeHead(families []string, sizes []int, classes []string) {
	p.printf(`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:">
<link rel="icon" href="data:,">
<title>Coalesce: trials of the tuner</title>
<style>%v%v</style>
</head>
<body>
<h1>Trials of the tuner</h1>
<p class="note">Times are medians of one run of a variant's launches. Those of different families, devices and workloads are not compared. `+
		`The ceiling is the device's bandwidth or rate of arithmetic; more than 100 %% of it is reached where data stay in caches.</p>
<form>
`, markup(chartStyle), markup(pageStyle))
	choice(p, "Family", "family", families)
	choice(p, "Size", "size", sizes)
	choice(p, "Device", "device", classes)
	p.printf("<span id=\"shown\" class=\"note\"></span>\n</form>\n")
}

// choice writes a filter: any of the values, or all.
func choice[T any](p *htmlPage, label, name string, values []T) {
	p.printf(`<label>%v <select name="%v"><option value="">all</option>`, label, name)
	for _, v := range values {
		p.printf("<option>%v</option>", v)
	}
	p.printf("</select></label>\n")
}

// writeSection writes the part of the page about one study.
func (p *htmlPage) writeSection(x section) {
	p.printf("\n<section data-family=\"%v\" data-device=\"%v\" data-size=\"%v\">\n", x.Family, x.Class, x.Marks)
	p.printf("<h2>%v, %v</h2>\n<p class=\"note\">%v · trials: %v · %v spent in them", x.Family, x.Workload, x.Class, x.Trials, x.Time)
	if x.Stale > 0 {
		p.printf(" · %v trials of older texts of the kernels left out", x.Stale)
	}
	p.printf("</p>\n")
	p.winners(x.Winners)
	p.printf("<div class=\"figures\">\n")
	p.figure("Best so far against time", x.Progress)
	p.figure("Speed-up over the safe point, by size", x.Speedup)
	p.figure("Regret: one variant for all sizes, over the best of each", x.Regret)
	p.printf("</div>\n")
	for _, at := range x.At {
		if len(at.Parts) > 0 {
			p.size(at)
		}
	}
	if len(x.Failures) > 0 {
		p.printf(`
<h3>Failures</h3>
<div class="scroll"><table><tr><th>status</th><th class="number">size</th><th class="number">times</th><th>variant</th><th>reason</th></tr>
`)
		for _, f := range x.Failures {
			p.printf("<tr data-size=\"%v\"><td class=\"bad\">%v</td><td class=\"number\">%v</td><td class=\"number\">%v</td><td><code>%v</code></td><td>%v</td></tr>\n",
				f.Size, f.Status, f.Size, f.Times, f.Variant, f.Reason)
		}
		p.printf("</table></div>\n")
	}
	p.printf("\n</section>\n")
}

// winners writes the table of the fastest variants, a size each.
func (p *htmlPage) winners(rows []row) {
	if len(rows) == 0 {
		p.printf("<p>Nothing has a time.</p>\n")
		return
	}
	p.printf(`
<h3>Fastest</h3>
<div class="scroll"><table>
<tr><th class="number">size</th><th class="number">time</th><th class="number">noise</th><th class="number">over safe</th><th class="number">of the ceiling</th>` +
		`<th class="number">measured</th><th class="number">tied with it</th><th>variant</th></tr>
`)
	for _, r := range rows {
		p.printf(`<tr data-size="%v"><td class="number">%v</td><td class="number">%v</td><td class="number">%v</td><td class="number">%v</td><td class="number">%v</td>`,
			r.Size, r.Size, r.Time, r.Noise, r.VsSafe, r.Ceiling)
		p.printf("<td class=\"number\">%v</td><td class=\"number\">%v</td><td><code>%v</code></td></tr>\n", r.Measured, r.Tied, r.Variant)
	}
	p.printf("</table></div>\n")
}

// figure writes a drawing, unless there is none.
func (p *htmlPage) figure(caption string, drawn markup) {
	if drawn != "" {
		p.printf("<figure><figcaption>%v</figcaption>%v</figure>\n", caption, drawn)
	}
}

// size writes what parameters are worth at one size.
func (p *htmlPage) size(at sizeSection) {
	p.printf("\n<div data-size=\"%v\">\n<h3>Size %v: what each parameter is worth</h3>\n", at.Size, at.Size)
	p.printf(`<p class="note">How much slower the best variant is that has the parameter's worst value, and the best that has the safe point's. ` +
		`“Explained” is the part of the variance of log(time) among the variants tried that goes with the parameter alone.</p>` + "\n")
	p.printf("<div class=\"figures\"><figure>%v</figure>\n", at.Worth)
	p.printf(`<table><tr><th>parameter</th><th>fastest has</th><th class="number">at the safe point's</th><th class="number">at worst</th><th class="number">explained</th></tr>` + "\n")
	for _, w := range at.Parts {
		p.printf("<tr><td>%v</td><td>%v</td><td class=\"number\">%v</td><td class=\"number\">%v</td><td class=\"number\">%v</td></tr>\n",
			w.Param, w.Best, w.AtSafe(), w.AtWorst(), w.ExplainedShare())
	}
	p.printf("</table></div>\n")
	if len(at.Pairs) > 0 {
		p.printf("<h4>Least time by each pair of parameters, over the best of size %v</h4>\n<div class=\"figures\">", at.Size)
		for _, pair := range at.Pairs {
			p.printf("<figure>%v</figure>", pair)
		}
		p.printf("</div>\n")
	}
	p.printf("</div>\n")
}
