package qubo

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"coalesce/internal/cli/run"
	"coalesce/internal/picture"
	"coalesce/internal/ui"
	"coalesce/runtime/device"
	"coalesce/solvers/qubo"
	"coalesce/solvers/qubo/problem"
)

// writeResult writes an answer for people; verified is the text about the reference's answer, empty without --verify.
func writeResult(out io.Writer, r *qubo.Result, inst *problem.Instance, facts device.Facts, verified string) error {
	var t ui.Table
	t.Row("value", fmt.Sprintf("%s (%sd)", r.Value, r.Sense))
	const shown = 200
	if text := r.Solution.String(); len(text) <= shown {
		t.Row("solution", text)
	} else {
		t.Row("solution", fmt.Sprintf("%s… (%d variables; --json prints all)", text[:shown/4], r.N))
	}
	if r.Names != nil {
		t.Row("variables", byName(r, shown))
	}
	t.Row("instance", fmt.Sprintf("%s (%s, read as %s)", r.Instance, inst, r.Format))
	switch {
	case r.Proven:
		t.Row("proven", "optimal: "+r.Proof)
	case r.Bound != "":
		t.Row("bound", fmt.Sprintf("%s (%s): %s", r.Bound, r.BoundKind, r.Proof))
	default:
		t.Row("bound", "none: "+r.Proof)
	}
	t.Row("checked", "the value was recomputed from the coefficients")
	if verified != "" {
		t.Row("verified", verified)
	}
	if r.Target != nil {
		t.Row("target", run.TargetText(&r.Report))
	}
	last := r.History[len(r.History)-1]
	t.Row("time", fmt.Sprintf("read %s, solve %s, the best after %s", ui.Seconds(r.Seconds.Read), ui.Seconds(r.Seconds.Solve), ui.Seconds(last.Seconds)))
	if r.Work.Flips > 0 {
		t.Row("work", fmt.Sprintf("%s (%s flips/s), %s, seed %d", ui.Count(int(r.Work.Flips), "flip"), ui.Rate(float64(r.Work.Flips)/r.Seconds.Solve), ui.Count(int(r.Work.Restarts), "restart"), r.Seed))
	}
	if r.Rules != (qubo.Rules{}) {
		t.Row("rules", r.Rules.String())
	}
	if r.Reduced < r.N {
		t.Row("searched", fmt.Sprintf("%d of %s, in %s", r.Reduced, ui.Count(r.N, "variable"), ui.Count(r.Parts, "component")))
	}
	if len(r.Fixed) > 0 {
		t.Row("fixed", fixedText(r.Fixed))
	}
	for _, one := range r.Solutions {
		t.Row("found", fmt.Sprintf("%s after %s", one.Value, ui.Seconds(one.Seconds)))
	}
	t.Row("device", fmt.Sprintf("%s (%s)", r.Device, facts.Name))
	t.Row("variant", r.Variant)
	t.Row("reason", r.Reason)
	for _, note := range r.Notes {
		t.Row("note", note)
	}
	return t.Write(out)
}

// fixedText names the first of the variables that are fixed, with their values.
func fixedText(fixed map[int]int) string {
	const named = 10
	var list []string
	for _, i := range slices.Sorted(maps.Keys(fixed)) {
		if len(list) == named {
			list = append(list, "…")
			break
		}
		list = append(list, fmt.Sprintf("%d=%d", i, fixed[i]))
	}
	return fmt.Sprintf("%s: %s", ui.Count(len(fixed), "variable"), strings.Join(list, ", "))
}

// draw draws the cut that a solution makes, of few variables, above the best value over time.
func draw(inst *problem.Instance, r *qubo.Result) (*picture.Drawing, error) {
	steps := make([]picture.Step, len(r.History))
	for k, h := range r.History {
		steps[k] = picture.Step{Seconds: h.Seconds, Value: h.Value.Float()}
	}
	last := steps[len(steps)-1]
	title := fmt.Sprintf("%s: %sd %s after %s", r.Instance, r.Sense, r.Value, ui.Seconds(last.Seconds))
	progress := picture.Progress(title, steps, r.Seconds.Solve, ui.Seconds)
	const most = 60
	if inst.N > most {
		return progress, nil
	}
	cut, err := Picture(inst, r)
	if err != nil {
		return nil, err
	}
	return picture.Stack(cut, progress), nil
}

// Picture draws the cut that a solution makes of the graph of the pairs.
func Picture(inst *problem.Instance, r *qubo.Result) (*picture.Drawing, error) {
	names, ones := make([]string, inst.N), make([]bool, inst.N)
	var pairs [][2]int
	for i := range names {
		names[i] = strconv.Itoa(i)
		if inst.Names != nil {
			names[i] = inst.Names[i]
		}
		ones[i] = r.Solution.At(i) == 1
		for _, j := range inst.Col[inst.Start[i]:inst.Start[i+1]] {
			if int(j) > i {
				pairs = append(pairs, [2]int{i, int(j)})
			}
		}
	}
	return picture.Cut(fmt.Sprintf("%s: variables that are 0 on the left, 1 on the right", r.Instance), names, ones, pairs)
}

// byName is a solution as names and values, of at most so many characters.
func byName(r *qubo.Result, most int) string {
	var b strings.Builder
	for i, name := range r.Names {
		pair := fmt.Sprintf("%s=%d", name, r.Solution.At(i))
		if b.Len()+len(pair) > most {
			return b.String() + " …"
		}
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(pair)
	}
	return b.String()
}

// describeFormats describes the formats, one a line.
func describeFormats() string {
	var b strings.Builder
	for _, name := range qubo.Formats() {
		fmt.Fprintf(&b, "  %-8s%s\n", name, ui.Wrap(qubo.DescribeFormat(name), 68, "\n"+strings.Repeat(" ", 10)))
	}
	return strings.TrimRight(b.String(), "\n")
}
