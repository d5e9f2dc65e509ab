package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
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
