package assignment

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"coalesce/internal/cli/run"
	"coalesce/internal/picture"
	"coalesce/internal/ui"
	"coalesce/runtime/device"
	"coalesce/solvers/assignment"
	"coalesce/solvers/assignment/problem"
)

// uncertified is the reason why an answer has no certificate.
func uncertified(r *assignment.Result) string {
	switch {
	case r.Bottleneck:
		return "nothing: there are no pairs"
	case r.Bound != "":
		return fmt.Sprintf("ended before the proof: no matching is better than %s", r.Bound)
	case r.Stopped:
		return "ended before the proof: no bound is known"
	}
	return "no: that was switched off"
}

// writeResult writes an answer for people; verified is the text about the reference's answer, empty without
// --verify.
func writeResult(out io.Writer, r *assignment.Result, facts device.Facts, verified string) error {
	table := pairs(r)
	switch {
	case r.Best != nil:
		table = ranking(r)
	case r.Flow != nil:
		table = flow(r)
	}
	if err := table.Write(out); err != nil {
		return err
	}
	fmt.Fprintln(out)

	report := r.Report
	if r.Counts.Switch != "" {
		report.Notes = append(report.Notes, r.Counts.Switch)
	}
	if r.Complete {
		report.Notes = append(report.Notes, "there are no other matchings")
	}
	return run.Answer{
		Report:   &report,
		Instance: fmt.Sprintf("%s (%d x %d, %s, %s)", r.Instance, r.Rows, r.Cols, r.Type, sense(r)),
		Checked:  checked(r),
		Verified: verified, Name: facts.Name,
	}.Write(out)
}

// Picture draws the matched pairs: in the plane where rows and columns are points there, in the matrix of costs where it is
// small, else as lines.
func Picture(inst *problem.Instance, r *assignment.Result) (*picture.Drawing, error) {
	var pairs [][2]int
	words := map[[2]int]string{}
	for i, j := range r.Column {
		if j >= 0 {
			pairs = append(pairs, [2]int{i, int(j)})
		}
	}
	for _, s := range r.Flow {
		at := [2]int{int(s.Row), int(s.Col)}
		pairs = append(pairs, at)
		words[at] = fmt.Sprintf("%d × ", s.Amount)
	}
	title := fmt.Sprintf("%s: %s, %s %s", r.Instance, ui.Count(len(pairs), "pair"), sense(r), r.Value)
	if p := inst.Points; p != nil && p.Dim == 2 {
		return picture.Matching(title, plane(p.Row), plane(p.Col), pairs)
	}
	rows, columns := make([]string, r.Rows), make([]string, r.Cols)
	for i := range rows {
		rows[i] = r.RowName(i)
	}
	for j := range columns {
		columns[j] = r.ColName(j)
	}
	const small = 16
	if max(r.Rows, r.Cols) > small {
		return picture.Sides(title, rows, columns, pairs)
	}
	var cells []picture.Cell
	for i := range rows {
		for j := range columns {
			if at := [2]int{i, j}; inst.Allowed(i, j) {
				cells = append(cells, picture.Cell{Row: i, Column: j, Words: words[at] + inst.CostDecimals(i, j), Chosen: slices.Contains(pairs, at)})
			}
		}
	}
	return picture.Grid(title, rows, columns, cells)
}

// plane are points of two coordinates each.
func plane(coordinates []float64) []picture.Point {
	points := make([]picture.Point, len(coordinates)/2)
	for k := range points {
		points[k] = picture.Point{X: coordinates[2*k], Y: coordinates[2*k+1]}
	}
	return points
}

// pairs is a table of the matched pairs.
func pairs(r *assignment.Result) *ui.Table {
	var t ui.Table
	t.AlignRight(0)
	t.Row("cost", "row", "column")
	for i, j := range r.Column {
		if j >= 0 {
			t.Row(r.Cost(i), r.RowName(i), r.ColName(int(j)))
		}
	}
	name := "total"
	if r.Bottleneck {
		name = "worst"
	}
	t.Row(cmp.Or(r.Value.String(), "-"), name, ui.Count(r.Matched, "pair"))
	return &t
}

// flow is a table of what is shipped.
func flow(r *assignment.Result) *ui.Table {
	var t ui.Table
	t.AlignRight(0)
	t.Row("amount", "row", "column")
	for _, x := range r.Flow {
		t.Row(strconv.FormatInt(x.Amount, 10), r.RowName(int(x.Row)), r.ColName(int(x.Col)))
	}
	t.Row(cmp.Or(r.Value.String(), "-"), "total cost", ui.Count(r.Matched, "pair"))
	return &t
}

// ranking is a table of the best matchings, one a line.
func ranking(r *assignment.Result) *ui.Table {
	var t ui.Table
	t.AlignRight(0)
	t.Row("value", "matching")
	for _, m := range r.Best {
		list := []string{}
		for i, j := range m.Column {
			if j >= 0 {
				list = append(list, r.RowName(i)+":"+r.ColName(int(j)))
			}
		}
		t.Row(string(m.Exact), cmp.Or(strings.Join(list, " "), "no pairs"))
	}
	return &t
}

// answerName says what kind of answer a result has.
func answerName(r *assignment.Result) string {
	if r.Flow != nil {
		return "a flow"
	}
	return "a matching"
}

// sense says what the solve looked for.
func sense(r *assignment.Result) string {
	sense := "minimised"
	if r.Maximize {
		sense = "maximised"
	}
	if r.Bottleneck {
		sense = "the worst cost " + sense
	}
	return sense
}

// checked says what the certificate proves, or why there is none.
func checked(r *assignment.Result) string {
	c := r.Certificate
	switch {
	case c == nil:
		return uncertified(r)
	case r.Bottleneck:
		return fmt.Sprintf("a matching; %d of the %s have together %s at better costs", len(c.Hall.Members), c.Hall.Side, ui.Count(len(c.Hall.Partners), "partner"))
	}
	text := fmt.Sprintf("%s; duals that bound %s add up to its cost", answerName(r), ui.Count(int(c.Pairs), "cost"))
	if !c.Exact {
		text += fmt.Sprintf(" in multiples of %.2g; the pairs within rounding", math.Abs(1/c.Scale))
		switch {
		case c.Gap > 0:
			text += fmt.Sprintf(" leave %.2g open", c.Gap)
		case c.Rounds > 0:
			text += fmt.Sprintf(" were solved again in finer units, in %s", ui.Count(c.Rounds, "round"))
		default:
			text += " allow no other optimum"
		}
	}
	if len(r.Best) > 1 {
		text += "; each further matching is proven best among those left"
	}
	return text
}
