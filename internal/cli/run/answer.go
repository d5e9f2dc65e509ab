package run

import (
	"fmt"
	"io"
	"strconv"

	"coalesce/internal/ui"
	"coalesce/solvers/solve"
)

// An Answer has the facts that are printed of every answer besides the solution.
type Answer struct {
	Report     *solve.Report
	Instance   string
	Checked    string
	Verified   string
	Splittings float64
	Name       string // of the device
}

// TargetText is the target of a report, and when it was met.
func TargetText(r *solve.Report) string {
	met := "not met"
	if r.Met != nil {
		met = "met after " + ui.Seconds(*r.Met)
	}
	return strconv.FormatFloat(*r.Target, 'f', -1, 64) + ": " + met
}

// Write writes a table for people.
func (x Answer) Write(w io.Writer) error {
	var t ui.Table
	r := x.Report
	t.Row("instance", x.Instance)
	switch {
	case r.Proven && r.Gap != nil && *r.Gap > 0:
		t.Row("proven", fmt.Sprintf("within %.2g of the optimum: none is better than %s", *r.Gap, r.Bound))
	case r.Proven:
		t.Row("proven", "optimal")
	case r.Bound != "":
		t.Row("bound", fmt.Sprintf("none is better than %s, %.2g more", r.Bound, *r.Gap))
	}
	t.Row("checked", x.Checked)
	if x.Verified != "" {
		t.Row("verified", x.Verified)
	}
	if r.Target != nil {
		t.Row("target", TargetText(r))
	}
	speed := ""
	if x.Splittings > 0 && r.Seconds.Solve > 0 {
		speed = fmt.Sprintf(" (%s splittings/s)", ui.Rate(x.Splittings/r.Seconds.Solve))
	}
	t.Row("time", fmt.Sprintf("read %s, solve %s%s", ui.Seconds(r.Seconds.Read), ui.Seconds(r.Seconds.Solve), speed))
	t.Row("device", fmt.Sprintf("%s (%s)", r.Device, x.Name))
	t.Row("variant", r.Variant)
	t.Row("reason", r.Reason)
	for _, note := range r.Notes {
		t.Row("note", note)
	}
	return t.Write(w)
}
