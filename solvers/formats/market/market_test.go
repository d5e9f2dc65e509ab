package market

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"coalesce/solvers/formats"
	"coalesce/solvers/formats/lines"
	"coalesce/solvers/formats/text"
)

var errValue = errors.New("value")

func bad(word []byte) error {
	return fmt.Errorf("%w: found %s, expected a number", errValue, formats.Quote(word))
}

// read reads a file and shows its entries with their lines, or its array row by
// row.
func read(t testing.TB, data string, block int, limit int64) (string, error) {
	t.Helper()
	f, err := text.New(strings.NewReader(data), "a.mtx", text.Options{Comment: "%", Block: block})
	if err != nil {
		return "", err
	}
	h, err := ReadHead(f, math.MaxInt32)
	if err != nil {
		return "", err
	}
	if h.Array {
		n := &text.Numbers{}
		if err := ReadArray(t.Context(), f, h, formats.NewBudget(limit), n, bad); err != nil {
			return "", err
		}
		if n.Floats {
			return fmt.Sprint(dense(h, n.Real, func(v float64) float64 { return -v })), nil
		}
		return fmt.Sprint(dense(h, n.Whole, func(v int64) int64 { return -v })), nil
	}
	type list struct{ of []Entry }
	var out []string
	err = ReadEntries(t.Context(), f, h, EntrySink[*list]{
		New: func() *list { return &list{} },
		Entry: func(p *list, e Entry) error {
			if e.Word != nil && !text.IsNumber(e.Word) {
				return lines.WordError(e.Word, bad(e.Word))
			}
			e.Word = bytes.Clone(e.Word)
			p.of = append(p.of, e)
			return nil
		},
		Reset: func(p *list) { p.of = p.of[:0] },
		Keep: func(b *text.Block, p *list) error {
			for _, e := range p.of {
				out = append(out, fmt.Sprintf("%d:%d,%d=%s", e.Line+b.FirstLine(), e.Row, e.Column, e.Word))
			}
			return nil
		},
	})
	return string(h.Field) + " " + string(h.Symmetry) + " " + strings.Join(out, " "), err
}

const coordinates = "%%MatrixMarket matrix coordinate "

var cases = []struct{ text, want string }{
	{coordinates + "real general\n% none\n2 3 3\n1 1 0\n2 3 1.5\n\n2 1 7\n", "real general 4:0,0=0 5:1,2=1.5 7:1,0=7"},
	{"%%matrixmarket MATRIX Coordinate Integer Symmetric\r\n2 2 2\r\n1 1 3\r\n2 1 4", "integer symmetric 3:0,0=3 4:1,0=4"},
	{coordinates + "double general\n1 1 1\n1 1 -1e3\n% the end\n", "real general 3:0,0=-1e3"},
	{coordinates + "integer general\n1 2 2\n1 1 inf\n% between\n1 2 +99999999999999999999\n", "integer general 3:0,0=inf 5:0,1=+99999999999999999999"},
	{coordinates + "pattern symmetric\n3 3 2\n2 1\n3 2\n", "pattern symmetric 3:1,0= 4:2,1="},
	{coordinates + "real skew-symmetric\n2 2 1\n2 1 4\n", "real skew-symmetric 3:1,0=4"},
	{coordinates + "real general\n0 0 0\n", "real general "},
	{coordinates + "real symmetric\n3 3 3\n1 2 4\n2 2 5\n1 3 6\n", "real symmetric 3:0,1=4 4:1,1=5 5:0,2=6"},
	{coordinates + "real general\n2 2 2\n1 1 5\n1 1 6\n", "real general 3:0,0=5 4:0,0=6"},
	{"%%MatrixMarket matrix array real general\n2 3\n1\n2\n3\n4\n5\n6.5\n", "[1 3 5 2 4 6.5]"},
	{"%%MatrixMarket matrix array integer general\n% a\n\n2 1\n1\n% b\n2", "[1 2]"},
	{"%%MatrixMarket matrix array integer symmetric\n2 2\n1\n2\n3\n", "[1 2 2 3]"},
	{"%%MatrixMarket matrix array integer skew-symmetric\n3 3\n1\n2\n3\n", "[0 -1 -2 1 0 -3 2 3 0]"},
	{"%%MatrixMarket matrix array integer skew-symmetric\n0 0\n", "[]"},

	{"", "a.mtx:1: found \"\", expected %%MatrixMarket matrix and three words"},
	{"2 2\n", `a.mtx:1: found "2 2", expected %%MatrixMarket`},
	{"%%MatrixMarket vector coordinate real general\n", "expected %%MatrixMarket matrix and three words"},
	{"%%MatrixMarket matrix coordinate real\n", "expected %%MatrixMarket matrix and three words"},
	{"%%MatrixMarket matrix " + strings.Repeat("x", 1000) + " real general\n", "a.mtx:1: found "},
	{"%%MatrixMarket matrix list real general\n", `a.mtx:1: found the layout "list", expected coordinate or array`},
	{coordinates + "complex general\n", `a.mtx:1: found "complex" entries, expected integer, real or pattern`},
	{coordinates + "real hermitian\n", `a.mtx:1: found a "hermitian" matrix, expected a general, symmetric`},
	{coordinates + "pattern skew-symmetric\n", "a.mtx:1: found a pattern of coordinate, skew-symmetric"},
	{"%%MatrixMarket matrix array pattern general\n", "a.mtx:1: found a pattern of array, general"},
	{coordinates + "real general\n", "a.mtx:1: found the end of the file, expected rows, columns and entries"},
	{coordinates + "real general\n2 2\n", "a.mtx:2: found 2 words, expected rows, columns and entries"},
	{coordinates + "real general\n2 -2 1\n", `a.mtx:2:3: found the number of columns "-2", expected a whole number from 0 to 2147483647`},
	{coordinates + "real general\n2 2 99999999999999999\n", "a.mtx:2:5: found the number of entries"},
	{coordinates + "real symmetric\n2 3 1\n", "a.mtx:2: found a symmetric matrix of 2 x 3, expected a square"},
	{coordinates + "real general\n2 2 1\n", "a.mtx:2: found the end of the file after 0 of 1 entry: the file is truncated"},
	{coordinates + "real general\n2 2 3\n1 1 5\n2 1 5", "a.mtx:4: found the end of the file after 2 of 3 entries"},
	{coordinates + "real general\n2 2 1\n3 1 5\n", `a.mtx:3:1: found the row "3", expected a whole number from 1 to 2`},
	{coordinates + "real general\n2 2 1\n1 0 5\n", `a.mtx:3:3: found the column "0", expected a whole number from 1 to 2`},
	{coordinates + "real general\n2 2 1\n1 5\n", "a.mtx:3: found 2 words, expected row, column and value"},
	{coordinates + "pattern general\n2 2 1\n1 1 5\n", "a.mtx:3: found 3 words, expected row and column"},
	{coordinates + "real general\n2 2 1\n1 1 x\n", `a.mtx:3:5: value: found "x", expected a number`},
	{coordinates + "integer general\n2 2 1\n1 1 1.5\n", `a.mtx:3:5: found "1.5" in a matrix of integers, expected a whole number`},
	{coordinates + "integer general\n2 2 1\n1 1 -\n", `a.mtx:3:5: found "-" in a matrix of integers`},
	{coordinates + "real general\n2 2 1\n1 1 5\n1 2 6\n", `a.mtx:4:1: found "1" after 1 entry, expected the end of the file`},
	{coordinates + "real general\n2 2 1\n1 1 5\n\nend\n", `a.mtx:5:1: found "end" after 1 entry, expected the end of the file`},
	{coordinates + "real skew-symmetric\n2 2 2\n2 1 4\n2 2 0\n", "a.mtx:4: found an entry on the diagonal, row 2, of a skew-symmetric matrix, expected none"},
	{coordinates + "real symmetric\n3 3 4\n3 1 4\n2 2 5\n3 2 4\n1 3 4\n", "a.mtx:6: found entries on both sides of the diagonal, that of line 3 on the other, expected one side"},
	{coordinates + "real skew-symmetric\n2 2 2\n1 2 4\n2 1 -4\n", "a.mtx:4: found entries on both sides of the diagonal, that of line 3"},
	{coordinates + "real skew-symmetric\n2 2 2\n1 2 4\n2 1 44\n2", "a.mtx:4: found entries on both sides of the diagonal, that of line 3"}, // before what is wrong behind
	{coordinates + "pattern symmetric\n2 2 2\n1 2\n2 1\n", "a.mtx:4: found entries on both sides of the diagonal, that of line 3"},
	{"%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n", "a.mtx:5: found the end of the file after 3 of 4 entries"},
	{"%%MatrixMarket matrix array real general\n1 2\n1\n2\n3\n", `a.mtx:5:1: found "3" after 2 entries`},
	{"%%MatrixMarket matrix array real general\n1 2\n1 2\n", "a.mtx:3: found 2 words, expected one value"},
	{"%%MatrixMarket matrix array real general\n90000 90000\n", "a.mtx:2: 90000 x 90000 values take 60.3 GiB, more than the limit of 1 MiB"},
	{"%%MatrixMarket matrix array real general\n2147483647 2147483647\n", "a.mtx:2: found an array of 2147483647 x 2147483647, expected at most 2^53 entries"},
}

func TestRead(t *testing.T) {
	for _, c := range cases {
		for _, block := range []int{0, 1, 5, 16} {
			got, err := read(t, c.text, block, 1<<20)
			if err != nil {
				got = err.Error()
			}
			if err == nil && got != c.want || err != nil && !strings.Contains(got, c.want) {
				t.Errorf("%q, blocks of %d:\n got %s\nwant %s", c.text, block, got, c.want)
			}
		}
	}
}

// Where blocks end changes nothing, whatever is read.
func check(t *testing.T, data string, block int) {
	whole, first := read(t, data, 0, 1<<16)
	parts, second := read(t, data, block, 1<<16)
	if fmt.Sprint(first) != fmt.Sprint(second) || first == nil && whole != parts {
		t.Errorf("%q, blocks of %d: %s %v, else %s %v", data, block, parts, second, whole, first)
	}
	if first != nil && !strings.HasPrefix(first.Error(), "a.mtx:") {
		t.Errorf("%q: the error does not begin with the file: %v", data, first)
	}
}

func TestEditedFiles(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	pieces := []string{"\n", "\r", " ", "-", "9", "0", "1 1", "x", "%", "\x00", "99999999999999999999", ""}
	for _, c := range cases {
		for range 60 {
			data := c.text
			for range 1 + rng.IntN(3) {
				at := rng.IntN(len(data) + 1)
				data = data[:at] + pieces[rng.IntN(len(pieces))] + data[min(len(data), at+rng.IntN(4)):]
			}
			check(t, data, 1+rng.IntN(12))
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, c := range cases {
		f.Add(c.text, uint8(4))
	}
	f.Fuzz(func(t *testing.T, data string, block uint8) { check(t, data, 1+int(block)) })
}

// dense arranges the values of an array row by row, those that its symmetry
// implies included: minus is the negative of a value, for skew-symmetric arrays,
// whose diagonal is zero.
func dense[T any](h Header, values []T, minus func(T) T) []T {
	list := make([]T, h.Rows*h.Columns)
	k := 0
	for j := range h.Columns {
		from := 0
		switch h.Symmetry {
		case Symmetric:
			from = j
		case Skew:
			from = j + 1
		}
		for i := from; i < h.Rows; i++ {
			list[i*h.Columns+j] = values[k]
			switch {
			case h.Symmetry == Symmetric:
				list[j*h.Columns+i] = values[k]
			case h.Symmetry == Skew:
				list[j*h.Columns+i] = minus(values[k])
			}
			k++
		}
	}
	return list
}
