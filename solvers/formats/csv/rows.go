package csv

import (
	"bytes"

	"coalesce/solvers/formats/text"
)

// Rows are the lines of a table that hold data, one after the other, for callers that read cells of several kinds.
type Rows struct {
	Separated bool   // the first line is sep= and a delimiter, or should be
	Delimiter byte   // of that line; 0: there is none
	Aside     string // the first line above the table that was left out, a comment without a blank behind its mark; empty: there is none

	in       *text.File
	marks    string
	begun    bool
	lastLine []byte // the last line above the table that was left out so
	lastAt   int    // its number
}

// NewRows begins to read the lines of a file whose comments begin with one of the marks.
func NewRows(in *text.File, marks string) *Rows { return &Rows{in: in, marks: marks} }

// Next is the next line that holds data, good until the next call; io.EOF at the end of the file. above says that it may be
// the table's first line, which Passed tells from more comments.
func (r *Rows) Next(above bool) ([]byte, error) {
	for {
		line, err := r.in.Line()
		if err != nil {
			return nil, err
		}
		if first := !r.begun; first {
			r.begun = true
			if r.Delimiter, r.Separated, err = ReadSeparator(line); err != nil {
				return nil, r.in.Errorf("%w", err)
			}
			if r.Separated {
				continue
			}
		}
		if !IsBlankOrComment(line, r.marks, above) {
			return line, nil
		}
		if !IsBlankOrComment(line, r.marks, false) {
			r.lastLine, r.lastAt = bytes.Clone(line), r.in.LineNumber()
			if r.Aside == "" {
				r.Aside = string(bytes.TrimSpace(line))
			}
		}
	}
}
