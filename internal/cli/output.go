package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"coalesce/internal/ui"
	"coalesce/solvers/solve"
)

// printJSON writes one JSON document, on one line.
func printJSON(w io.Writer, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	_, err = w.Write(append(text, '\n'))
	return err
}

// answer is what is told of every answer besides the solution.
type answer struct {
	report     *solve.Report
	instance   string
	checked    string
	verified   string
	splittings float64
	name       string // of the device
}

func (x answer) write(w io.Writer) error {
	var t ui.Table
	r := x.report
	t.Row("instance", x.instance)
	switch {
	case r.Proven && r.Gap != nil && *r.Gap > 0:
		t.Row("proven", fmt.Sprintf("within %.2g of the optimum: none is better than %s", *r.Gap, r.Bound))
	case r.Proven:
		t.Row("proven", "optimal")
	}
	t.Row("checked", x.checked)
	if x.verified != "" {
		t.Row("verified", x.verified)
	}
	speed := ""
	if x.splittings > 0 && r.Seconds.Solve > 0 {
		speed = fmt.Sprintf(" (%s splittings/s)", ui.Rate(x.splittings/r.Seconds.Solve))
	}
	t.Row("time", fmt.Sprintf("read %s, solve %s%s", ui.Seconds(r.Seconds.Read), ui.Seconds(r.Seconds.Solve), speed))
	t.Row("device", fmt.Sprintf("%s (%s)", r.Device, x.name))
	t.Row("variant", r.Variant)
	t.Row("reason", r.Reason)
	for _, note := range r.Notes {
		t.Row("note", note)
	}
	return t.Write(w)
}

// count is "1 block", "2 blocks".
func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// wrap breaks a text between words into lines of at most width columns.
func wrap(text string, width int, newline string) string {
	var b strings.Builder
	column := 0
	for i, word := range strings.Fields(text) {
		switch {
		case i == 0:
		case column+1+len(word) > width:
			b.WriteString(newline)
			column = 0
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += len(word)
	}
	return b.String()
}
