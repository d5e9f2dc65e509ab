package csv

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"coalesce/solvers/formats"
	"coalesce/solvers/formats/text"
)

var errCost = errors.New("cost")

func bad(word []byte) error {
	return fmt.Errorf("%w: found %s, expected a number", errCost, formats.Quote(word))
}

// read reads a table and shows it: its layout in letters, names and numbers.
func read(t testing.TB, data string, o Options, block int) (string, error) {
	t.Helper()
	f, err := text.New(strings.NewReader(data), "a.csv", text.Options{Block: block, Budget: o.Budget})
	if err != nil {
		return "", err
	}
	n := &text.Numbers{Infinite: math.Inf(1)}
	l, err := ReadMatrix(t.Context(), f, o, n, bad)
	if err != nil {
		return "", err
	}
	if n.Len() != l.Height*l.Width || l.Header != (l.Columns != nil) || l.Index != (l.Rows != nil) || l.Header && len(l.Columns) != l.Width || l.Index && len(l.Rows) != l.Height {
		t.Errorf("%q: %d numbers, %d and %d names: %+v", data, n.Len(), len(l.Columns), len(l.Rows), l)
	}
	var b strings.Builder
	if l.Header {
		fmt.Fprintf(&b, "%q ", l.Columns)
	}
	if l.Index {
		fmt.Fprintf(&b, "%q ", l.Rows)
	}
	for i := range l.Height {
		if i > 0 {
			b.WriteString(" | ")
		}
		if n.Floats {
			fmt.Fprint(&b, n.Real[i*l.Width:(i+1)*l.Width])
		} else {
			fmt.Fprint(&b, n.Whole[i*l.Width:(i+1)*l.Width])
		}
	}
	return b.String(), nil
}

const square = "[5 9 1] | [1 2 3] | [7 7 0]"

// Tables as programs write them, each with the one right reading.
func TestTablesAreReadRight(t *testing.T) {
	for _, c := range []struct {
		what, text string
		o          Options
		want       string
	}{
		{"pandas, as it is", ",0,1,2\n0,5,9,1\n1,1,2,3\n2,7,7,0\n", Options{}, `["0" "1" "2"] ["0" "1" "2"] ` + square},
		{"pandas, named columns", ",a,b,c\n0,5,9,1\n1,1,2,3\n2,7,7,0\n", Options{}, `["a" "b" "c"] ["0" "1" "2"] ` + square},
		{"pandas, named both", ",a,b,c\nx,5,9,1\ny,1,2,3\nz,7,7,0\n", Options{}, `["a" "b" "c"] ["x" "y" "z"] ` + square},
		{"pandas, index_label and names", "who,a,b,c\nx,5,9,1\ny,1,2,3\nz,7,7,0\n", Options{}, `["a" "b" "c"] ["x" "y" "z"] ` + square},
		{"pandas, index=False", "a,b,c\n5,9,1\n1,2,3\n7,7,0\n", Options{}, `["a" "b" "c"] ` + square},
		{"pandas, header=False, index=False", "5,9,1\n1,2,3\n7,7,0\n", Options{}, square},
		{"pandas, header=False, named", "x,5,9,1\ny,1,2,3\nz,7,7,0\n", Options{}, `["x" "y" "z"] ` + square},
		{"pandas, index=False, told", "0,1,2\n5,9,1\n1,2,3\n7,7,0\n", Options{Header: Yes}, `["0" "1" "2"] ` + square},
		{"pandas, header=False, told", "0,5,9,1\n1,1,2,3\n2,7,7,0\n", Options{Index: Yes}, `["0" "1" "2"] ` + square},
		{"pandas, index_label id, told", "id,a,b,c\n0,5,9,1\n1,1,2,3\n2,7,7,0\n", Options{Index: Yes}, `["a" "b" "c"] ["0" "1" "2"] ` + square},
		{"pandas, ids, told no", "id,a,b\n5,9,1\n1,2,3\n7,7,0\n", Options{Index: No}, `["id" "a" "b"] ` + square},
		{"pandas, quoting all", "\"\",\"a\",\"b\",\"c\"\n\"0\",\"5\",\"9\",\"1\"\n\"1\",\"1\",\"2\",\"3\"\n\"2\",\"7\",\"7\",\"0\"\n", Options{}, `["a" "b" "c"] ["0" "1" "2"] ` + square},
		{"Excel", "\ufeff;a;b;c\r\nx;5;9;1\r\ny;1;2;3\r\nz;7;7;0\r\n", Options{}, `["a" "b" "c"] ["x" "y" "z"] ` + square},
		{"Excel, numbers", "\ufeff5;9;1\r\n1;2;3\r\n7;7;0", Options{}, square},
		{"Excel, names with commas", "who;\"cook, clean\";paint, draw\r\nann;1;2\r\nbob;3;4\r\n", Options{}, `["cook, clean" "paint, draw"] ["ann" "bob"] [1 2] | [3 4]`},
		{"Excel, tabs", "5\t9\t1\n1\t2\t3\n7\t7\t0\n", Options{}, square},
		{"R, write.csv", "\"\",\"V1\",\"V2\",\"V3\"\n\"1\",5,9,1\n\"2\",1,2,3\n\"3\",7,7,0\n", Options{}, `["V1" "V2" "V3"] ["1" "2" "3"] ` + square},
		{"R, write.csv, row.names=FALSE", "\"V1\",\"V2\",\"V3\"\n5,9,1\n1,2,3\n7,7,0\n", Options{}, `["V1" "V2" "V3"] ` + square},
		{"R, write.table", "\"V1\" \"V2\" \"V3\"\n\"1\" 5 9 1\n\"2\" 1 2 3\n\"3\" 7 7 0\n", Options{}, `["V1" "V2" "V3"] ["1" "2" "3"] ` + square},
		{"R, write.table, names", "\"a b\" \"V2\" \"V3\"\n\"x y\" 5 9 1\n\"y\" 1 2 3\n\"z\" 7 7 0\n", Options{}, `["a b" "V2" "V3"] ["x y" "y" "z"] ` + square},
		{"R, write.table, col.names=NA", "\"\" \"V1\" \"V2\" \"V3\"\n\"1\" 5 9 1\n\"2\" 1 2 3\n\"3\" 7 7 0\n", Options{}, `["V1" "V2" "V3"] ["1" "2" "3"] ` + square},
		{"R, write.table, sep", "V1,V2,V3\n1,5,9,1\n2,1,2,3\n3,7,7,0\n", Options{}, `["V1" "V2" "V3"] ["1" "2" "3"] ` + square},
		{"R, write.table, one column", "\"x\"\n\"1\" 5\n\"2\" 7\n", Options{}, `["x"] ["1" "2"] [5] | [7]`},
		{"NumPy, savetxt", "5.000000000000000000e+00 9.000000000000000000e+00 1.000000000000000000e+00\n1.000000000000000000e+00 2.000000000000000000e+00 3.000000000000000000e+00\n", Options{}, "[5 9 1] | [1 2 3]"},
		{"NumPy, savetxt, header", "# a b c\n5 9 1\n1 2 3\n", Options{}, "[5 9 1] | [1 2 3]"},
		{"NumPy, savetxt, right-aligned", "  5   9   1\n 1   2   3\n", Options{}, "[5 9 1] | [1 2 3]"},
		{"blank lines and comments", "1;2\r\n\r\n# none\r\n3;-4", Options{}, "[1 2] | [3 -4]"},
		{"infinities", "1,inf\n+Infinity,4\n", Options{}, "[1 9223372036854775807] | [9223372036854775807 4]"},
		{"one column", "7\n5\n6\n", Options{}, "[7] | [5] | [6]"},
		{"one named column", "unit cost\n5\n7\n", Options{}, `["unit cost"] [5] | [7]`},
		{"a name with a quote", "\"the \"\"one\"\"\",b\n5,7\n", Options{}, `["the \"one\"" "b"] [5 7]`},
		{"a number sign above ids, told", "#,a,b\n17,5,9\n23,1,2\n", Options{Index: Yes}, `["a" "b"] ["17" "23"] [5 9] | [1 2]`},
		{"one row of a name, told", "ann,1,2\n", Options{Header: No, Index: Yes}, `["ann"] [1 2]`},
		{"0 to n-1, told data", "0,1\n1,0\n", Options{Header: No}, "[0 1] | [1 0]"},
		{"0 to n-1 with a name for the index, told", "id,0,1\n0,5,9\n1,1,2\n", Options{Header: Yes, Index: Yes}, `["0" "1"] ["0" "1"] [5 9] | [1 2]`},
		{"0 to n-1 below an index, told", "x,0,1\ny,1,0\n", Options{Header: No, Index: Yes}, `["x" "y"] [0 1] | [1 0]`},
		{"index told, header by the file", "id,a,b\n17,5,9\n", Options{Index: Yes}, `["a" "b"] ["17"] [5 9]`},
		{"index told, no header", "17,5,9\n18,3,4\n", Options{Index: Yes}, `["17" "18"] [5 9] | [3 4]`},
		{"Excel, sep=", "sep=,\r\n5,9,1\r\n1,2,3\r\n7,7,0\r\n", Options{}, square},
		{"Excel, SEP=", "\ufeffSEP=;\r\n;a;b;c\r\nx;5;9;1\r\ny;1;2;3\r\nz;7;7;0\r\n", Options{}, `["a" "b" "c"] ["x" "y" "z"] ` + square},
		{"Excel, sep= and a tab", "sep=\t\n5\t9\t1\n1\t2\t3\n7\t7\t0\n", Options{}, square},
		{"Excel, sep= in quotes", "\"sep=;\"\n5;9;1\n1;2;3\n7;7;0\n", Options{}, square},
		{"Excel, a comment in quotes", "\"# made, by hand\",,\n5,9,1\n1,2,3\n7,7,0\n", Options{}, square},
		{"a comment without a blank", "#made by hand\n5,9,1\n# by hand\n1,2,3\n#\n7,7,0\n", Options{}, square},
		{"names behind a number sign", "#a,b,c\n5,9,1\n1,2,3\n7,7,0\n", Options{}, square},
		{"names behind a number sign, told", "#a,b,c\n5,9,1\n1,2,3\n7,7,0\n", Options{Header: Yes}, `["#a" "b" "c"] ` + square},
		{"rows numbered behind a number sign", "#1,5,9,1\n#2,1,2,3\n#3,7,7,0\n", Options{}, `["#1" "#2" "#3"] ` + square},
		{"blanks in quotes", "\"a \",\" b\",c\n\" 5\",\"9 \",1\n1,2,3\n7,7,0\n", Options{}, `["a" "b" "c"] ` + square},
		{"years above an index", ",2019,2020\nx,5,9\ny,1,2\n", Options{}, `["2019" "2020"] ["x" "y"] [5 9] | [1 2]`},
		{"years in quotes above ids", "\"\",\"2019\",\"2020\"\n17,5,9\n4,1,2\n", Options{}, `["2019" "2020"] ["17" "4"] [5 9] | [1 2]`},
		{"an inch in a name", "5\" nail,b\n5,9\n1,2\n", Options{}, `["5\" nail" "b"] [5 9] | [1 2]`},
		{"NA among names", "who,a\nDE,5\nNA,7\n", Options{}, `["a"] ["DE" "NA"] [5] | [7]`},
		{"rectangular, header", "a,b,c\n5,9,1\n1,2,3\n", Options{}, `["a" "b" "c"] [5 9 1] | [1 2 3]`},
	} {
		for _, block := range []int{0, 1, 7} {
			got, err := read(t, c.text, c.o, block)
			if err != nil {
				t.Errorf("%s: %v", c.what, err)
			} else if got != c.want {
				t.Errorf("%s:\n got %s\nwant %s", c.what, got, c.want)
			}
		}
	}
}

// Tables with two readings are errors that name both flags, and either answer
// resolves them.
func TestTwoReadingsAreErrors(t *testing.T) {
	for _, c := range []struct {
		what, text, want string
		yes, no          Options // answers; zero: none is tried
	}{
		{"a first line of 0 to n-1", "0,1,2\n5,9,1\n1,2,3\n7,7,0\n", "a.csv:1: found the numbers 0 to 2 in the first line", Options{Header: Yes}, Options{Header: No}},
		{"one 0", "0\n5\n", "found the numbers 0 to 0 in the first line", Options{Header: Yes}, Options{Header: No}},
		{"an index without a header", "0,5,9,1\n1,1,2,3\n2,7,7,0\n", "found the numbers 0 to 2 in the first column", Options{Index: Yes}, Options{Index: No}},
		{"0 to m-1 under a header", "who,a,b,c\n0,5,9,1\n1,1,2,3\n2,7,7,0\n", "a.csv:1: found the numbers 0 to 2 in the first column", Options{Index: Yes}, Options{Index: No}},
		{"ids", "id,a,b\n17,5,9\n4,1,2\n9,0,0\n", `found whole numbers below "id" in the first column`, Options{Index: Yes}, Options{Index: No}},
		{"ids of workers", "worker_id,a\n17,5\n4,1\n9,0\n", `found whole numbers below "worker_id"`, Options{Index: Yes}, Options{Index: No}},
		{"a number sign above ids", "#,a,b\n17,5,9\n23,1,2\n", `found whole numbers below "#"`, Options{Index: Yes}, Options{Index: No}},
		{"numbers from 1", "x,a,b\n1,5,9\n2,1,2\n3,1,2\n", "found the numbers 1 to 3 in the first column", Options{Index: Yes}, Options{Index: No}},
		{"ascending beside a square", "x,a,b\n17,5,9\n23,1,2\n", "found ascending numbers in the first column", Options{Index: Yes}, Options{Index: No}},
		{"one typing error", "l,2\n3,4\n", `a.csv:1: column 1: found "l" and numbers in the first line`, Options{Header: Yes}, Options{}},
		{"one row that begins with a name", "ann,1,2\n", `a.csv:1: column 1: found "ann" and numbers in the first line`, Options{Header: No, Index: Yes}, Options{}},
		{"years among names", "who,2019,2020,sum\nx,5,9,1\n", `found "who" and numbers in the first line`, Options{Header: Yes}, Options{Header: No}},
		{"a name above the index of a range", "id,0,1,2\n0,5,9,1\n1,1,2,3\n2,7,7,0\n", `a.csv:1: column 1: found "id" and numbers in the first line`, Options{Header: Yes, Index: Yes}, Options{}},
		{"a name before 0 to n-1", "x,0,1\ny,1,0\n", `found "x" and numbers in the first line`, Options{Header: No}, Options{Header: Yes}},
		{"names, then a number", "a,b,c\nx,5,9\n7,1,2\n", `a.csv:3: found the number "7" in a first column that begins with names`, Options{Index: Yes}, Options{}},
		{"nothing but what is missing", "NA,NA\n1,2\n", `found a first line without any number, of "NA"`, Options{Header: Yes}, Options{}},
		{"quoted numbers", "\"10\",\"20\"\n5,9\n", "found numbers in quotes in the first line", Options{Header: Yes}, Options{Header: No}},
		{"an empty corner", ",2,9\n6,3,1\n4,8,6\n", "a.csv:1: column 1: found an empty cell before numbers in the first line", Options{Header: Yes}, Options{Header: No}},
		{"an empty corner and another empty cell", ",,9\nx,3,1\ny,8,6\n", "a.csv:1: column 1: found an empty cell before numbers", Options{Header: Yes}, Options{}},
		{"0 to n-1 behind an empty cell, ids below", ",0,1\n0,3,1\n4,8,6\n", "a.csv:1: column 1: found an empty cell before the numbers 0 to 1 in the first line", Options{Header: Yes}, Options{Header: No}},
		{"years above words, then a number", ",2019,2020\nx,5,9\n7,1,2\n", `a.csv:3: found the number "7" in a first column that begins with names`, Options{Index: Yes, Header: Yes}, Options{}},
		{"an empty first line", ",,\n6,3,1\n4,8,6\n", "a.csv:1: found a first line of empty cells", Options{Header: Yes}, Options{Header: No}},
		{"a title", "Costs of May,,\n6,3,1\n", "a.csv:1: column 2: found an empty cell in a first line of names", Options{Header: Yes}, Options{}},
		{"a title alone", "Costs of May\n6,3\n4,8\n", `a.csv:1: found "Costs of May" alone in the first line`, Options{}, Options{}},
		{"a title between blanks", "cost matrix\n6 3 1\n4 8 6\n", "a.csv:1: found 2 words above 3 columns, of which the first has numbers", Options{Header: Yes}, Options{}},
		{"a first column of NA", "NA,2,9\nNA,3,1\nNA,8,6\n", `a.csv:1: found a first column without any number or name, of "NA"`, Options{Index: Yes}, Options{Index: No}},
		{"an empty name", "who,a\nx,5\n,7\n", "a.csv:3: found an empty cell in a first column that begins with names", Options{Index: Yes}, Options{}},
		{"after a comment", "# made by hand\n\n0,1\n5,6\n", "a.csv:3: found the numbers 0 to 1", Options{Header: Yes}, Options{Header: No}},
	} {
		for _, block := range []int{0, 1, 7} {
			got, err := read(t, c.text, Options{}, block)
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "--header yes or no") || !strings.Contains(err.Error(), "--index yes or no") {
				t.Errorf("%s: read as %s, %v\nwant %s", c.what, got, err, c.want)
			}
		}
		for _, o := range []Options{c.yes, c.no} {
			if o == (Options{}) {
				continue
			}
			if _, err := read(t, c.text, o, 0); err != nil && strings.Contains(err.Error(), "to be told") {
				t.Errorf("%s, told %+v: %v", c.what, o, err)
			}
		}
	}
}

func TestWrongTables(t *testing.T) {
	for _, c := range []struct {
		text string
		o    Options
		want string
	}{
		{"", Options{}, "a.csv:1: found no numbers, expected a row a line"},
		{"# none\n\n", Options{}, "a.csv:2: found no numbers, expected a row a line"},
		{"x,y\n", Options{}, "a.csv:1: found names and no numbers below them"},
		{"1,2\n3\n", Options{}, "a.csv:2: found 1 cell, expected 2 as in line 1"},
		{"1,2\n3,4\n\n5,6,7\n", Options{}, "a.csv:4: found 3 cells, expected 2 as in line 1"},
		{"1,2\n3,\n", Options{}, `a.csv:2: column 2: cost: found "", expected a number`},
		{"1,2\n3,4\n5,many\n", Options{}, `a.csv:3: column 2: cost: found "many"`},
		{"1,2,many\n", Options{}, `a.csv:1: column 3: cost: found "many"`},
		{"who,a,b\nann,1,2\nbob,3,four\n", Options{}, `a.csv:3: column 2: cost: found "four"`},
		{"a,b,c\n1,2\n", Options{}, "a.csv:1: found 3 names, expected 2, one a column"},
		{"1,nan\n", Options{}, `column 2: cost: found "nan"`},
		{"1,0x10\n", Options{}, `found "0x10"`},
		{"1,5;2,5\n3,5;4,5\n", Options{}, `a.csv:1: column 1: cost: found "1,5", expected a number: the comma is a decimal comma, write a point`},
		{"x;y\n3,5;4,5\n", Options{}, `a.csv:2: column 1: cost: found "3,5", expected a number: the comma is a decimal comma`},
		{"1,5\t2\n3\t4\n", Options{}, "decimal comma"},
		{"1,2\n3," + strings.Repeat("\x1b", 500), Options{}, `found "` + strings.Repeat(`\x1b`, 19) + `…", expected`},
		{"7,2,9\n#N/A,3,1\n", Options{}, `a.csv:2: column 1: cost: found "#N/A"`},
		{"7;2;9\n#DIV/0!;3;1\n", Options{}, `a.csv:2: column 1: cost: found "#DIV/0!"`},
		{"#N/A,3,1\n7,2,9\n", Options{}, `a.csv:1: column 1: found "#N/A", an error value of a spreadsheet`},
		{"#REF!,#REF!\n7,2\n", Options{}, `a.csv:1: column 1: found "#REF!", an error value`},
		{"who,a,b\nx,7,2\n#NAME?,7,2\n", Options{}, `a.csv:3: column 1: found "#NAME?", an error value`},
		{"NA,3,1\n7,2,9\n", Options{}, `a.csv:1: column 1: cost: found "NA"`},
		{"7,2\n#end\n", Options{}, "a.csv:2: found 1 cell, expected 2 as in line 1"},
		{"7,2\n#3,4\n", Options{}, `a.csv:2: column 1: cost: found "#3"`},
		{"#made 5 of May\n7,2\n3,4\n", Options{}, `a.csv:1: found "#made 5 of May" in the first line, which may be a comment`},
		{"#made 5 of May, by hand\n7,2\n3,4\n", Options{}, `a.csv:1: found "#made 5 of May" in the first line, which may be a comment`},
		{"sep=:\n7,2\n", Options{}, `a.csv:1: found "sep=:", expected sep= and a comma, a semicolon or a tab`},
		{"sep=,,,\n7,2\n", Options{}, `a.csv:1: found "sep=,,,"`},
		{"\"a\nb\",c\n1,2\n", Options{}, "a.csv:1: found a quote that does not end where its cell does"},
		{"a,b\n\"1,2\n", Options{}, "a.csv:2: found a quote that does not end where its cell does"},
		{"1,2\n3,4\n\"5\"x,6\n", Options{}, "a.csv:3: found a quote that does not end where its cell does"},
		{"x\nann\n", Options{Index: Yes}, "a.csv:1: found one column, expected numbers beside the names of rows"},
	} {
		for _, block := range []int{0, 1, 7} {
			got, err := read(t, c.text, c.o, block)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%.60q: read as %s, %v\nwant %s", c.text, got, err, c.want)
			} else if strings.Contains(c.want, "cost") != errors.Is(err, errCost) && c.want != "decimal comma" && !strings.HasPrefix(c.want, "found \"") && !strings.HasPrefix(c.want, "column") {
				t.Errorf("%.60q: %v wraps the cell's error: %v", c.text, err, errors.Is(err, errCost))
			}
		}
	}
	names := "who,a\n" + strings.Repeat("a rather long name,1\n", 1000)
	if _, err := read(t, names, Options{Budget: formats.NewBudget(1 << 14)}, 0); err == nil || !strings.Contains(err.Error(), "take") {
		t.Errorf("1,000 names in 16 KiB: %v", err)
	}
}

// triples reads row, column and cost.
func triples(t testing.TB, data string, o Options, block int) (string, error) {
	t.Helper()
	f, err := text.New(strings.NewReader(data), "a.csv", text.Options{Block: block})
	if err != nil {
		return "", err
	}
	type list struct{ rows []string }
	var all []string
	l, err := ReadRecords(t.Context(), f, o, 3, "row, column and cost", RecordSink[*list]{
		First: func([][]byte) {},
		New:   func() *list { return &list{} },
		Line: func(p *list, line int, cells [][]byte) error {
			for _, c := range cells {
				if !text.IsNumber(c) {
					return bad(c)
				}
			}
			p.rows = append(p.rows, fmt.Sprintf("%d:%s", line, bytes.Join(cells, []byte(" "))))
			return nil
		},
		Keep: func(b *text.Block, p *list) error {
			for _, row := range p.rows {
				line, rest, _ := strings.Cut(row, ":")
				k, err := strconv.Atoi(line)
				if err != nil {
					return err
				}
				all = append(all, fmt.Sprintf("%d:%s", k+b.FirstLine(), rest))
			}
			return nil
		},
		Reset: func(p *list) { p.rows = p.rows[:0] },
	})
	if err == nil && l.Height != len(all) {
		t.Errorf("%q: %d records, the layout says %d", data, len(all), l.Height)
	}
	return strings.Join(all, " | "), err
}

func TestTriples(t *testing.T) {
	for _, c := range []struct {
		text string
		o    Options
		want string
	}{
		{"0,0,5\n0,1,7\n\n1,0,inf\n", Options{}, "1:0 0 5 | 2:0 1 7 | 4:1 0 inf"},
		{"0 1 2\n1 1 2\n", Options{}, "1:0 1 2 | 2:1 1 2"},
		{"row,col,cost\n0,0,5\n0,1,7\n", Options{Header: Yes}, "2:0 0 5 | 3:0 1 7"},
		{"row,col,cost\n0,0,5\n", Options{}, "2:0 0 5"},
		{"row,col,cost\n0,0,5\n", Options{Header: No}, `a.csv:1: cost: found "row", expected a number`},
		{"row,col,cost\n", Options{}, `a.csv:1: cost: found "row", expected a number`},
		{"row,col,NA\n0,0,5\n", Options{}, `a.csv:1: cost: found "row", expected a number`},
		{"sep=;\n0;0;5\n#1;2;3\n", Options{}, `a.csv:3: cost: found "#1", expected a number`},
		{"sep=|\n0|0|5\n", Options{}, `a.csv:1: found "sep=|", expected sep= and a comma, a semicolon or a tab`},
		{",row,col,cost\n7,0,0,5\n8,1,0,2\n", Options{}, "2:0 0 5 | 3:1 0 2"},
		{",0,0,5\n7,1,0,2\n", Options{}, "a.csv:1: found 4 cells, expected 3"},
		{"0,0,5\n\"0,1,7\n", Options{}, "a.csv:2: found a quote that does not end where its cell does"},
		{"x0,0,5\n0,1,7\n", Options{}, `a.csv:1: cost: found "x0", expected a number`},
		{"x0,0,5\n0,1,7\n", Options{Header: No}, `a.csv:1: cost: found "x0", expected a number`},
		{"0,0,5\n0,1\n", Options{}, "a.csv:2: found 2 cells, expected 3: row, column and cost"},
		{"0,0,5\n0,1,2\n0,2,2\n0,x,2\n", Options{}, `a.csv:4: cost: found "x", expected a number`},
		{"", Options{}, "a.csv:1: found no numbers"},
	} {
		for _, block := range []int{0, 1, 7} {
			got, err := triples(t, c.text, c.o, block)
			if err != nil {
				got = err.Error()
			}
			if !strings.HasPrefix(got, c.want) {
				t.Errorf("%q:\n got %s\nwant %s", c.text, got, c.want)
			}
		}
	}
}

func TestLayoutInWords(t *testing.T) {
	l := Layout{Delimiter: ';', Header: true, Height: 3, Width: 4}
	if got := l.String(); got != "3 x 4 numbers between semicolons, with header, without index" {
		t.Error(got)
	}
}

var seeds = []string{
	",0,1,2\n0,5,9,1\n1,1,2,3\n2,7,7,0\n", "\ufeff;a;b\r\nx;5;9\r\n", "\"V1\" \"V2\"\n\"1\" 5 9\n", "1.5e+00 2\n3 inf\n",
	"l,2\n3,4\n", "#,a\n\n17,2\n", "a,b\n1,2\n", "\"a\"\"b\",c\n1,2",
	"sep=;\n5;9\n1;2\n", ",2,9\n6,3,1\n", "#N/A,3\n#DIV/0!,1\n", "#made by hand\n1,2\n", "NA,2\nNA,3\n", "\"a \",\" b\"\n1,2\n",
}

// Where blocks end changes nothing, whatever is read.
func check(t *testing.T, data string, o Options, block int) {
	whole, first := read(t, data, o, 0)
	parts, second := read(t, data, o, block)
	if whole != parts || fmt.Sprint(first) != fmt.Sprint(second) {
		t.Errorf("%q, blocks of %d: %s %v, else %s %v", data, block, parts, second, whole, first)
	}
	if first != nil && !strings.HasPrefix(first.Error(), "a.csv:") {
		t.Errorf("%q: the error does not begin with the file: %v", data, first)
	}
}

var answers = []YesOrNo{Ask, Yes, No}

func TestEditedTables(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	pieces := []string{",", ";", "\t", " ", "\"", "\n", "\r", "-", "e", "9", "0", "x", "NA", "#", "\x00", "\xff", "1,5", "99999999999999999999", ""}
	for _, seed := range seeds {
		for range 400 {
			data := seed
			for range 1 + rng.IntN(4) {
				at := rng.IntN(len(data) + 1)
				data = data[:at] + pieces[rng.IntN(len(pieces))] + data[min(len(data), at+rng.IntN(4)):]
			}
			check(t, data, Options{Header: answers[rng.IntN(3)], Index: answers[rng.IntN(3)]}, 1+rng.IntN(9))
		}
	}
}

func FuzzMatrix(f *testing.F) {
	for _, s := range seeds {
		f.Add(s, uint8(0), uint8(3))
	}
	f.Fuzz(func(t *testing.T, data string, given, block uint8) {
		check(t, data, Options{Header: answers[given%3], Index: answers[given/3%3]}, 1+int(block))
	})
}

func FuzzRecords(f *testing.F) {
	f.Add("row,col,cost\n0,0,5\n0,1,7\n", uint8(3))
	f.Add("0 0 5\n\n0 1 7", uint8(1))
	f.Fuzz(func(t *testing.T, data string, block uint8) {
		whole, first := triples(t, data, Options{Header: Yes}, 0)
		parts, second := triples(t, data, Options{Header: Yes}, 1+int(block))
		if fmt.Sprint(first) != fmt.Sprint(second) || first == nil && whole != parts {
			t.Errorf("%q: %s %v, else %s %v", data, parts, second, whole, first)
		}
	})
}

// BenchmarkMatrix reads 3,000 x 3,000 numbers with names on both sides.
func BenchmarkMatrix(b *testing.B) {
	const n = 3000
	rng := rand.New(rand.NewPCG(1, 2))
	var data bytes.Buffer
	for j := range n {
		fmt.Fprintf(&data, ",c%d", j)
	}
	for i := range n {
		fmt.Fprintf(&data, "\nr%d", i)
		for range n {
			fmt.Fprintf(&data, ",%d", rng.IntN(1000000))
		}
	}
	path := b.TempDir() + "/a.csv"
	if err := os.WriteFile(path, data.Bytes(), 0o600); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(data.Len()))
	for b.Loop() {
		r, err := os.Open(path)
		if err != nil {
			b.Fatal(err)
		}
		f, err := text.New(r, path, text.Options{})
		if err != nil {
			b.Fatal(err)
		}
		numbers := &text.Numbers{}
		if l, err := ReadMatrix(b.Context(), f, Options{}, numbers, bad); err != nil || l.Height != n || l.Width != n {
			b.Fatal(l, err)
		}
		r.Close()
	}
}
