// Package matchings writes the answers to assignments, and draws instances.
package matchings

import (
	"fmt"
	"io"
	"math"

	"coalesce/internal/cli/facets"
	"coalesce/internal/ui"
	"coalesce/runtime/device"
	"coalesce/solvers/assignment"
)

// uncertified is the reason why an answer has no certificate.
func uncertified(r *assignment.Result) string {
	switch {
	case r.Bound() != "":
		return fmt.Sprintf("ended before the proof: no matching is better than %s", r.Bound())
	case r.Stopped:
		return "ended before the proof: no bound is known"
	}
	return "no: that was switched off"
}

// Print writes an answer for people; verified is the text about the reference's answer, empty without
// --verify.
func Print(out io.Writer, r *assignment.Result, facts device.Facts, verified string) error {
	var pairs ui.Table
	pairs.AlignRight(0)
	pairs.Row("cost", "row", "column")
	for i, j := range r.Column {
		if j >= 0 {
			pairs.Row(r.Cost(i), r.RowName(i), r.ColName(int(j)))
		}
	}
	pairs.Row(r.Exact, "total", ui.Count(r.Matched, "pair"))
	if err := pairs.Write(out); err != nil {
		return err
	}
	fmt.Fprintln(out)

	sense := "minimised"
	if r.Maximize {
		sense = "maximised"
	}
	report := r.Report()
	told := facets.Answer{
		Report:   &report,
		Instance: fmt.Sprintf("%s (%d x %d, %s, %s)", r.Instance, r.Rows, r.Cols, r.Type, sense),
		Checked:  uncertified(r),
		Verified: verified, Name: facts.Name,
	}
	if c := r.Certificate; c != nil {
		told.Checked = fmt.Sprintf("a matching; duals that bound %s add up to its cost", ui.Count(int(c.Pairs), "cost"))
		if !c.Exact {
			told.Checked += fmt.Sprintf(" in multiples of %.2g; the pairs within rounding", math.Abs(1/c.Scale))
			switch {
			case c.Gap > 0:
				told.Checked += fmt.Sprintf(" leave %.2g open", c.Gap)
			case c.Rounds > 0:
				told.Checked += fmt.Sprintf(" were solved again in finer units, in %s", ui.Count(c.Rounds, "round"))
			default:
				told.Checked += " allow no other optimum"
			}
		}
	}
	if r.Counts.Switch != "" {
		report.Notes = append(report.Notes, r.Counts.Switch)
	}
	return told.Write(out)
}
