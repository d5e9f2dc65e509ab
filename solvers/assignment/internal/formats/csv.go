package formats

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"coalesce/solvers/assignment/problem"
)

// readCSV reads a matrix, a row a line. Lines without text and those that
// begin with # are left out. A first line without any cost is names of columns;
// where the first row begins with what is no cost, every row begins with its
// name.
func readCSV(in *lines, o ReadOptions) (*problem.Instance, error) {
	c := newCosts(o)
	inst := &problem.Instance{Cols: -1}
	var header []string
	named := false
	for {
		fields, err := record(in)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if inst.Rows == 0 && header == nil && allNames(fields) {
			header = names(fields)
			continue
		}
		if inst.Rows == 0 {
			named = !isCost(fields[0])
		}
		if named {
			inst.RowNames = append(inst.RowNames, names(fields[:1])...)
			fields = fields[1:]
		}
		if inst.Cols < 0 {
			inst.Cols = len(fields)
		}
		if len(fields) != inst.Cols {
			return nil, in.errorf("found %d costs, expected %d as in the first row", len(fields), inst.Cols)
		}
		for j, word := range fields {
			if err := c.add(word); err != nil {
				return nil, in.errorf("column %d: %w", j+1, err)
			}
		}
		inst.Rows++
	}
	if inst.Rows == 0 {
		return nil, in.errorf("found no costs, expected a row a line")
	}
	if header != nil {
		if named && len(header) == inst.Cols+1 {
			header = header[1:]
		}
		if len(header) != inst.Cols {
			return nil, fmt.Errorf("%s:1: found %d names, expected %d, one a column", in.name, len(header), inst.Cols)
		}
		inst.ColNames = header
	}
	c.set(inst, nil)
	return inst, nil
}

// record is the next line's fields, without quotes and blanks around them.
func record(in *lines) ([][]byte, error) {
	for {
		text, err := in.next()
		if err != nil {
			return nil, err
		}
		text = bytes.TrimSpace(bytes.TrimPrefix(text, []byte("\ufeff")))
		if len(text) == 0 || text[0] == '#' {
			continue
		}
		sep := separator(text)
		if sep == ' ' {
			return bytes.Fields(text), nil
		}
		return cutFields(text, sep), nil
	}
}

// separator is the first of a comma, a semicolon and a tab outside quotes,
// else a space.
func separator(text []byte) byte {
	quoted := false
	for _, b := range text {
		switch {
		case b == '"':
			quoted = !quoted
		case !quoted && (b == ',' || b == ';' || b == '\t'):
			return b
		}
	}
	return ' '
}

// cutFields cuts at separators outside quotes.
func cutFields(text []byte, sep byte) [][]byte {
	var fields [][]byte
	quoted, from := false, 0
	for k := 0; k <= len(text); k++ {
		switch {
		case k < len(text) && text[k] == '"':
			quoted = !quoted
		case k == len(text) || text[k] == sep && !quoted:
			f := bytes.TrimSpace(text[from:k])
			if len(f) > 1 && f[0] == '"' && f[len(f)-1] == '"' {
				f = bytes.ReplaceAll(f[1:len(f)-1], []byte(`""`), []byte(`"`))
			}
			fields = append(fields, f)
			from = k + 1
		}
	}
	return fields
}

// allNames reports whether no field is a cost.
func allNames(fields [][]byte) bool {
	for _, f := range fields {
		if isCost(f) {
			return false
		}
	}
	return true
}

func names(fields [][]byte) []string {
	list := make([]string, len(fields))
	for k, f := range fields {
		list[k] = strings.ToValidUTF8(string(f), "�")
	}
	return list
}

// readTriples reads lines of row, column and cost, numbered from 0. A first
// line of names is left out.
func readTriples(in *lines, o ReadOptions) (*problem.Instance, error) {
	c := newCosts(o)
	var pairs []coordinate
	rows, cols := 0, 0
	for first := true; ; first = false {
		f, err := record(in)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if first && !isCost(f[0]) {
			continue
		}
		if len(f) != 3 {
			return nil, in.errorf("found %d fields, expected row, column and cost", len(f))
		}
		i, err := number(f[0], "row", problem.MaxSide-1)
		if err != nil {
			return nil, in.errorf("%w", err)
		}
		j, err := number(f[1], "column", problem.MaxSide-1)
		if err != nil {
			return nil, in.errorf("%w", err)
		}
		if err := c.add(f[2]); err != nil {
			return nil, in.errorf("%w", err)
		}
		pairs = append(pairs, coordinate{int32(i), int32(j), in.line})
		rows, cols = max(rows, i+1), max(cols, j+1)
	}
	if err := o.roomSparse(rows, cols); err != nil {
		return nil, fmt.Errorf("%s: %w", in.name, err)
	}
	return sparseOf(rows, cols, pairs, c, in.name)
}
