// Package separated cuts the lines of tables of bids into cells.
package separated

import "strings"

// Delimiter is the first of a comma, a semicolon and a tab in a line, outside quotes; a
// comma where there is none.
func Delimiter(line []byte) byte {
	quoted := false
	for _, c := range line {
		switch {
		case c == '"':
			quoted = !quoted
		case !quoted && (c == ',' || c == ';' || c == '\t'):
			return c
		}
	}
	return ','
}

// Split appends the cells of a line: text between delimiters without blanks round it, or
// between quotes, in which two quotes are one. False: a quote has no end.
func Split(cells []string, line []byte, delimiter byte) ([]string, bool) {
	for at := 0; ; {
		for at < len(line) && (line[at] == ' ' || line[at] == '\t' && delimiter != '\t') {
			at++
		}
		var cell []byte
		if at < len(line) && line[at] == '"' {
			for at++; ; at++ {
				if at == len(line) {
					return cells, false
				}
				if line[at] == '"' {
					if at++; at == len(line) || line[at] != '"' {
						break
					}
				}
				cell = append(cell, line[at])
			}
			from := at
			for at < len(line) && line[at] != delimiter {
				at++
			}
			if strings.TrimSpace(string(line[from:at])) != "" {
				return cells, false
			}
			cells = append(cells, string(cell))
		} else {
			from := at
			for at < len(line) && line[at] != delimiter {
				at++
			}
			cells = append(cells, strings.TrimSpace(string(line[from:at])))
		}
		if at == len(line) {
			return cells, true
		}
		at++
	}
}
