package run

import (
	"encoding/json"
	"fmt"
	"io"
)

// PrintJSON writes one JSON document, on one line.
func PrintJSON(w io.Writer, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	_, err = w.Write(append(text, '\n'))
	return err
}
