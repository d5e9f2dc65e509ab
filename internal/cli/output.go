package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"coalesce/internal/ui"
	"coalesce/solvers/csg"
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
	instance   string
	checked    string
	proven     bool
	within     string // of the optimum, that is; empty: the optimum itself
	verified   string
	seconds    csg.Seconds
	splittings float64
	device     string
	name       string // of the device
	variant    string
	reason     string
	notes      []string
}

func (x answer) write(w io.Writer) error {
	var t ui.Table
	t.Row("instance", x.instance)
	switch {
	case x.proven && x.within != "":
		t.Row("proven", "within "+x.within+" of the optimum")
	case x.proven:
		t.Row("proven", "optimal")
	}
	t.Row("checked", x.checked)
	if x.verified != "" {
		t.Row("verified", x.verified)
	}
	speed := ""
	if x.splittings > 0 && x.seconds.Solve > 0 {
		speed = fmt.Sprintf(" (%s splittings/s)", ui.Rate(x.splittings/x.seconds.Solve))
	}
	t.Row("time", fmt.Sprintf("read %s, solve %s%s", ui.Seconds(x.seconds.Read), ui.Seconds(x.seconds.Solve), speed))
	t.Row("device", fmt.Sprintf("%s (%s)", x.device, x.name))
	t.Row("variant", x.variant)
	t.Row("reason", x.reason)
	for _, note := range x.notes {
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
