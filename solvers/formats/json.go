package formats

import (
	"bytes"
	"encoding/json"
	"errors"
)

// UnmarshalJSON is json.Unmarshal for the text of a file, whose name and line its errors begin with.
func UnmarshalJSON(text []byte, file string, to any) error {
	err := json.Unmarshal(text, to)
	if err == nil {
		return nil
	}
	line := 0
	until := func(offset int64) int { return 1 + bytes.Count(text[:min(int(offset), len(text))], []byte("\n")) }
	if syntax := new(json.SyntaxError); errors.As(err, &syntax) {
		line = until(syntax.Offset)
	} else if kind := new(json.UnmarshalTypeError); errors.As(err, &kind) {
		line = until(kind.Offset)
	}
	return Errorf(file, line, "%w", err)
}
