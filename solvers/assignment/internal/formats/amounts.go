package formats

import (
	"bytes"
	"fmt"
	"strconv"
	"unicode"

	"coalesce/solvers/formats"
)

// amountBytes is the most bytes that one amount of a file takes, with blanks around it.
const amountBytes = 64

// ReadAmounts reads so many supplies or capacities: a whole number, which stands for all of them, or a file of whole numbers from 0 in
// their order, between blanks, commas, semicolons or ends of lines. Lines that begin with # are comments.
func ReadAmounts(source string, count int) ([]int64, error) {
	if x, err := strconv.ParseInt(source, 10, 64); err == nil {
		if x < 0 {
			return nil, fmt.Errorf("found %d, expected 0 or more", x)
		}
		list := make([]int64, count)
		for k := range list {
			list[k] = x
		}
		return list, nil
	}
	text, err := formats.ReadFile(source, int64(count+1)*amountBytes)
	if err != nil {
		return nil, err
	}
	list := make([]int64, 0, count)
	line := 0
	for row := range bytes.Lines(text) {
		line++
		if bytes.HasPrefix(bytes.TrimSpace(row), []byte("#")) {
			continue
		}
		for field := range bytes.FieldsFuncSeq(row, func(r rune) bool { return unicode.IsSpace(r) || r == ',' || r == ';' }) {
			x, err := strconv.ParseInt(string(field), 10, 64)
			switch {
			case err != nil || x < 0:
				return nil, fmt.Errorf("%s:%d: found %.40q, expected a whole number from 0 to %d", source, line, field, int64(1)<<61)
			case len(list) == count:
				return nil, fmt.Errorf("%s:%d: found more than %d amounts, expected one for each", source, line, count)
			}
			list = append(list, x)
		}
	}
	if len(list) != count {
		return nil, fmt.Errorf("%s: found %d amounts, expected %d", source, len(list), count)
	}
	return list, nil
}
