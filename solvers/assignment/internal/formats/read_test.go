package formats_test

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"coalesce/solvers/assignment/internal/enginetest"
	"coalesce/solvers/assignment/internal/formats"
	"coalesce/solvers/assignment/problem"
	"coalesce/solvers/formats/csv"
	"coalesce/solvers/formats/npy"
)

// shown writes an instance's costs row by row.
func shown(inst *problem.Instance) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %dx%d", inst.Type, inst.Rows, inst.Cols)
	for i := range inst.Rows {
		b.WriteString(" |")
		for j := range inst.Cols {
			s := inst.CostDecimals(i, j)
			if s == "forbidden" {
				s = "-"
			}
			b.WriteString(" " + s)
		}
	}
	return b.String()
}

const dimacs = `c Five jobs and five machines.
p asn 10 25
n 1
n 2
n 3
n 4
n 5
a 1 6 22
a 1 7 30
a 1 8 26
a 1 9 16
a 1 10 25
a 2 6 27
a 2 7 29
a 2 8 28
a 2 9 20
a 2 10 32
a 3 6 33
a 3 7 25
a 3 8 21
a 3 9 29
a 3 10 23
a 4 6 24
a 4 7 24
a 4 8 30
a 4 9 19
a 4 10 26
a 5 6 30
a 5 7 33
a 5 8 32
a 5 9 37
a 5 10 31
`

func TestReadText(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"a.csv", "1,2\n3,4\n", "int32 2x2 | 1 2 | 3 4"},
		{"a.csv", "1;2\r\n\r\n# none\r\n3;-4", "int32 2x2 | 1 2 | 3 -4"},
		{"a.txt", " 1  2\n 3\tinf\n", "int32 2x2 | 1 2 | 3 -"},
		{"a.tsv", "1\t2.5\nInf\t4\n", "float64 2x2 | 1 2.5 | - 4"},
		{"a.csv", "inf,9223372036854775806\n1,2\n", "int64 2x2 | - 9223372036854775806 | 1 2"},
		{"a.csv", "2147483647,0\n1,+inf\n", "int64 2x2 | 2147483647 0 | 1 -"},
		{"a.csv", "9223372036854775807,0\n", "int64 1x2 | 9223372036854775807 0"},
		{"a.csv", "9223372036854775807,-1\n", "int64 1x2 | 9223372036854775807 -1"},
		{"a.csv", "9223372036854775807,-1,inf\n", "float64 1x3 | 9223372036854776000 -1 -"},
		{"a.csv", "9223372036854775807,1,inf\n", "int64 1x3 | 9223372036854775807 1 -"},
		{"a.csv", "9223372036854775808,-1\n", "float64 1x2 | 9223372036854776000 -1"},
		{"a.csv", "a,b\n9223372036854775809,7\n18446744073709551614,inf\n", "int64 2x2 | 9223372036854775809 7 | 18446744073709551614 -"},
		{"a.csv", "18446744073709551615,inf\n", "float64 1x2 | 18446744073709552000 -"},
		{"a.csv", "18446744073709551616,1\n", "float64 1x2 | 18446744073709552000 1"},
		{"a.txt", "2\n1 18446744073709551615\n9223372036854775807 0\n", "int64 2x2 | 1 18446744073709551615 | 9223372036854775807 0"},
		{"assignp2.txt", "2\n1 1 18446744073709551615\n2 1 5\n2 2 9223372036854775807\n", "int64 2x2 | 18446744073709551615 - | 5 9223372036854775807"},
		{"a.asn", "p asn 4 3\nn 1\nn 2\na 1 3 18446744073709551615\na 2 4 9223372036854775808\na 2 3 1\n", "int64 2x2 | 18446744073709551615 - | 1 9223372036854775808"},
		{"a.mtx", "%%MatrixMarket matrix array unsigned-integer symmetric\n2 2\n1\n9223372036854775809\n18446744073709551615\n", "int64 2x2 | 1 9223372036854775809 | 9223372036854775809 18446744073709551615"},
		{"a.mtx", "%%MatrixMarket matrix coordinate unsigned-integer symmetric\n2 2 2\n1 1 5\n2 1 18446744073709551615\n", "int64 2x2 | 5 18446744073709551615 | 18446744073709551615 -"},
		{"a.mtx", "%%MatrixMarket matrix coordinate integer skew-symmetric\n2 2 1\n2 1 18446744073709551615\n", "float64 2x2 | - -18446744073709552000 | 18446744073709552000 -"},
		{"a.mtx", "%%MatrixMarket matrix coordinate integer skew-symmetric\n2 2 1\n2 1 9223372036854775807\n", "int64 2x2 | - -9223372036854775807 | 9223372036854775807 -"},
		{"a.mtx", "%%MatrixMarket matrix array integer skew-symmetric\n2 2\n9223372036854775807\n", "int64 2x2 | 0 -9223372036854775807 | 9223372036854775807 0"},
		{"a.mtx", "%%MatrixMarket matrix array integer skew-symmetric\n2 2\n9223372036854775808\n", "float64 2x2 | 0 -9223372036854776000 | 9223372036854776000 0"},
		{"a.csv", "who,paint,\"cook, clean\"\nann,1,2\nbob,3,4\n", "int32 2x2 | 1 2 | 3 4"},
		{"a.csv", "paint,cook\n1,2\n", "int32 1x2 | 1 2"},
		{"a.csv", "ann,1,2\nbob,3,4\n", "int32 2x2 | 1 2 | 3 4"},
		{"pandas.csv", ",0,1,2\n0,5,9,1\n1,2,3,4\n2,7,7,0\n", "int32 3x3 | 5 9 1 | 2 3 4 | 7 7 0"},
		{"named.csv", ",a,b,c\n0,5,9,1\n1,2,3,4\n2,7,7,0\n", "int32 3x3 | 5 9 1 | 2 3 4 | 7 7 0"},
		{"excel.csv", "\ufeff1;2\r\n3;4\r\n", "int32 2x2 | 1 2 | 3 4"},
		{"a.txt", "2\n1 2 3\n4\n", "int32 2x2 | 1 2 | 3 4"},
		{"a.txt", "  2\n1 2\n3 inf\n", "int32 2x2 | 1 2 | 3 -"},
		{"a.mtx", "%%MatrixMarket matrix coordinate real general\n% none\n2 3 3\n1 1 0\n2 3 1.5\n\n2 1 7\n", "float64 2x3 | 0 - - | 7 - 1.5"},
		{"a", "%%MatrixMarket matrix coordinate integer symmetric\n2 2 2\n1 1 3\n2 1 4\n", "int32 2x2 | 3 4 | 4 -"},
		{"a.mtx", "%%MatrixMarket matrix coordinate integer skew-symmetric\n2 2 1\n2 1 4\n", "int32 2x2 | - -4 | 4 -"},
		{"a.mtx", "%%MatrixMarket matrix array real general\n2 3\n1\n2\n3\n4\n5\n6\n", "int32 2x3 | 1 3 5 | 2 4 6"},
		{"a.mtx", "%%MatrixMarket matrix array integer symmetric\n%\n3 3\n0\n4\n7\n1\n3\n2\n", "int32 3x3 | 0 4 7 | 4 1 3 | 7 3 2"},
		{"a.mtx", "%%MatrixMarket matrix array real skew-symmetric\n%\n3 3\n-4.5\n7\ninf\n", "float64 3x3 | 0 4.5 -7 | -4.5 0 - | 7 - 0"},
		{"a.mtx", "%%MatrixMarket matrix array integer skew-symmetric\n2 2\n4\n", "int32 2x2 | 0 -4 | 4 0"},
		{"a.mtx", "%%MatrixMarket matrix array unsigned-integer symmetric\n1 1\n9\n", "int32 1x1 | 9"},
		{"a.mtx", "%%MatrixMarket matrix array real symmetric\n0 0\n", "int32 0x0"},
		{"a.mtx", "%%MatrixMarket matrix coordinate unsigned-integer general\n%\n2 2 2\n1 1 5\n2 2 18446744073709551615\n", "int64 2x2 | 5 - | - 18446744073709551615"},
		{"a.mtx", "%%MatrixMarket matrix coordinate pattern general\n2 2 3\n1 1\n1 2\n2 2\n", "int32 2x2 | 1 1 | - 1"},
		{"a.mtx", "%%MatrixMarket matrix coordinate pattern symmetric\n2 2 1\n2 1\n", "int32 2x2 | - 1 | 1 -"},
		{"a.mtx", "%%MatrixMarket matrix coordinate integer general\n1 2 2\n1 2 2147483647\n1 1 inf\n", "int64 1x2 | - 2147483647"},
		{"a.asn", "p asn 3 2\nn 1\na 1 3 2147483647\na 1 2 -2147483648\n", "int64 1x2 | -2147483648 2147483647"},
		{"a.mtx", "%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 2\n2 1 4.5\n3 1 inf\n", "float64 3x3 | - -4.5 - | 4.5 - - | - - -"},
		{"a.mtx", "%%MatrixMarket matrix coordinate integer symmetric\n3 3 2\n1 3 4\n1 2 5\n", "int32 3x3 | - 5 4 | 5 - - | 4 - -"},
		{"a.asn", "c none\np asn 5 3\nn 4\nn 2\na 4 1 9\na 2 5 7\na 2 1 -8\n", "int32 2x3 | -8 - 7 | 9 - -"},
		{"a.min", "c none\np min 5 3\nn 4 3\nn 1 -2\nn 2 1\nn 5 -2\na 4 1 0 2 9\na 2 5 0 7 7\na 2 1 0 1 -8\n", "int32 2x3 | -8 - 7 | 9 - -"},
		{"a", "p min 2 1\nn 1 5\nn 2 -5\na 1 2 0 5 3\n", "int32 1x1 | 3"},
		{"assignp3.txt", "3\n1 2 5\n\n1 1 inf\n3 3 -7\n", "int32 3x3 | - 5 - | - - - | - - -7"},
		{"a", dimacs, "int32 5x5 | 22 30 26 16 25 | 27 29 28 20 32 | 33 25 21 29 23 | 24 24 30 19 26 | 30 33 32 37 31"},
	} {
		inst, err := formats.ReadFrom(strings.NewReader(c.text), int64(len(c.text)), c.name, formats.ReadOptions{})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		} else if got := shown(inst); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
	list, err := formats.ReadFrom(strings.NewReader("0 0 18446744073709551615\n0 1 3\n1 1 9223372036854775807\n"), -1, "a.txt", formats.ReadOptions{Format: "triples"})
	if err != nil || shown(list) != "int64 2x2 | 18446744073709551615 3 | - 9223372036854775807" {
		t.Errorf("found %v, %v", list, err)
	}
	triples := "row,col,cost\n1,0,5\n0,2,4\n0,0,inf\n"
	inst, err := formats.ReadFrom(strings.NewReader(triples), -1, "a.csv", formats.ReadOptions{Format: "triples", Header: csv.Yes})
	if err != nil || shown(inst) != "int32 2x3 | - - 4 | 5 - -" {
		t.Errorf("triples: %v %v", shown(inst), err)
	}
	for _, c := range []struct{ text, want, names string }{
		{"0.000000000000000000e+00 1.000000000000000000e+00 4.500000000000000000e+00\n1.000000000000000000e+00 0.000000000000000000e+00 2.000000000000000000e+00\n", "float64 2x2 | - 4.5 | 2 -", `[] []`},
		{"worker,task,cost\nida,mow,4\nida,rake,1\nolaf,mow,2\nolaf,rake,5\n", "int32 2x2 | 4 1 | 2 5", `["ida" "olaf"] ["mow" "rake"]`},
		{"\"ida \",mow,4\nolaf, mow,2\nida,rake,1\n", "int32 2x2 | 4 1 | 2 -", `["ida" "olaf"] ["mow" "rake"]`},
		{"sep=;\n1;1;4\n1;2;1\n2;1;2\n2;2;5\n", "int32 2x2 | 4 1 | 2 5", `["1" "2"] ["1" "2"]`},
		{"1,mow,4\n3,rake,1\n", "int32 3x2 | 4 - | - - | - 1", `["1" "2" "3"] ["mow" "rake"]`},
		{"0,mow,4\n1,rake,1\n", "int32 2x2 | 4 - | - 1", `[] ["mow" "rake"]`},
		{"1,0,4\n2,1,1\n", "int32 3x2 | - - | 4 - | - 1", `[] []`},
	} {
		inst, err := formats.ReadFrom(strings.NewReader(c.text), -1, "a.csv", formats.ReadOptions{Format: "triples"})
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
		} else if found := fmt.Sprintf("%q %q", inst.RowNames, inst.ColNames); shown(inst) != c.want || found != c.names {
			t.Errorf("%s: %s %s, want %s %s", c.text, shown(inst), found, c.want, c.names)
		}
	}
	inst, err = formats.ReadFrom(strings.NewReader("0,1,2147483647\n0,0,7\n"), -1, "a.csv", formats.ReadOptions{Format: "triples"})
	if err != nil || shown(inst) != "int64 1x2 | 7 2147483647" || inst.Notes != nil {
		t.Errorf("triples: %v %v", shown(inst), err)
	}
	inst, err = formats.ReadFrom(strings.NewReader("1,-inf\n"), -1, "a.csv", formats.ReadOptions{Maximize: true})
	if err != nil || shown(inst) != "int32 1x2 | 1 -" {
		t.Errorf("maximising: %v", err)
	}
}

func TestReadNames(t *testing.T) {
	text := "who,paint,\"cook, clean\"\nann,1,2\nbob,3,4\n"
	inst, err := formats.ReadFrom(strings.NewReader(text), -1, "a.csv", formats.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprintf("%q %q", inst.RowNames, inst.ColNames); got != `["ann" "bob"] ["paint" "cook, clean"]` {
		t.Errorf("found %s", got)
	}
}

func TestReadTextErrors(t *testing.T) {
	market := "%%MatrixMarket matrix coordinate real general\n"
	for _, c := range []struct{ name, text, want string }{
		{"a.csv", "", "a.csv:1: found no numbers, expected a row a line"},
		{"a.csv", "x,y\n", "found names and no numbers below them"},
		{"a.csv", "1,2\n3\n", "a.csv:2: found 1 cell, expected 2 as in line 1"},
		{"a.csv", "1,2\n3,\n", `a.csv:2: column 2: cost: found "", expected a number, or inf to forbid`},
		{"a.csv", "1,2\n3,many\n", `a.csv:2: column 2: cost: found "many"`},
		{"a.csv", "1,2,many\n", `a.csv:1: column 3: cost: found "many"`},
		{"a.csv", "1,nan\n", `a.csv:1: column 2: cost: found "nan"`},
		{"a.csv", "1,-inf\n", `found "-inf", expected a number, or inf`},
		{"a.csv", "1,0x10\n", `found "0x10"`},
		{"a.csv", "1,1e999\n", `found "1e999"`},
		{"na.csv", "7,2,9\n#N/A,3,1\n4,8,6\n5,5,2\n", `na.csv:2: column 1: cost: found "#N/A", expected a number, or inf to forbid the pair`},
		{"div.csv", "7;2;9\n#DIV/0!;3;1\n4;8;6\n", `div.csv:2: column 1: cost: found "#DIV/0!"`},
		{"points.csv", "0,0\n#N/A,4\n9,9\n", `points.csv:2: column 1: cost: found "#N/A"`},
		{"corner.csv", ",2,9\n6,3,1\n4,8,6\n", "corner.csv:1: column 1: found an empty cell before numbers in the first line, expected to be told: --header"},
		{"empty.csv", ",,\n6,3,1\n4,8,6\n", "empty.csv:1: found a first line of empty cells"},
		{"nas.csv", "NA,2,9\nNA,3,1\nNA,8,6\n", "--index"},
		{"typo.csv", "l,2\n3,4\n", "--header"},
		{"id.csv", "id,a,b\n0,5,9\n1,2,3\n", "--index"},
		{"one.csv", "ann,1,2\n", "--header"},
		{"count.csv", "0,1,2\n5,9,1\n2,3,4\n7,7,0\n", "--header"},
		{"comma.csv", "1,5;2,5\n3;4\n", "decimal"},
		{"a.csv", "a,b,c\n1,2\n", "a.csv:1: found 3 names, expected 2"},
		{"a.txt", "3\n1 2 3\n", "a.txt:2: found the end of the file after 3 costs, expected 3 x 3"},
		{"a.txt", "1\n5 6\n", `a.txt:2: found "6" after 1 number, expected the end of the file`},
		{"a.txt", "9999999\n1\n", "a.txt:1: 9999999 x 9999999 costs take 728 TiB, more than the limit"},
		{"a.mtx", "2 2\n", `a.mtx:1: found "2 2", expected %%MatrixMarket`},
		{"a.mtx", "%%MatrixMarket matrix coordinate complex general\n2 2 0\n", `found "complex" entries, expected integer, real or pattern`},
		{"a.mtx", "%%MatrixMarket matrix coordinate real hermitian\n", `a.mtx:1: found a "hermitian" matrix`},
		{"a.mtx", "%%MatrixMarket matrix array real symmetric\n2 2\n1\n2\n", "a.mtx:4: found the end of the file after 2 of 3 entries"},
		{"a.mtx", "%%MatrixMarket matrix array integer skew-symmetric\n2 2\n-9223372036854775808\n", "a.mtx: found -9223372036854775808 in a skew-symmetric matrix, expected more than -2^63"},
		{"a.csv", "%PDF-1.7\n", "a.csv: found a PDF document, expected costs, in one of the formats npy, csv"},
		{"a", "Minimize\n obj: x\nEnd\n", "a: found a model in LP format, expected costs"},
		{"a.mtx", market + "2 2 1\n", "a.mtx:2: found the end of the file after 0 of 1 entry: the file is truncated"},
		{"a.mtx", market + "2 2 1\n3 1 5\n", `a.mtx:3:1: found the row "3", expected a whole number from 1 to 2`},
		{"a.mtx", market + "2 2 1\n0 1 5\n", `a.mtx:3:1: found the row "0", expected a whole number from 1 to 2`},
		{"a.mtx", market + "2 2 2\n1 1 5\n1 1 6\n", "a.mtx:4: found the pair of line 3 again"},
		{"a.mtx", market + "2 2 1\n1 1 5\n1 2 6\n", `a.mtx:4:1: found "1" after 1 entry`},
		{"a.mtx", market + "2000000000 2000000000 1\n1 1 5\n", "a.mtx:2: 2000000000 rows and 2000000000 columns take 59.6 GiB"},
		{"a.mtx", "%%MatrixMarket matrix array real general\n90000 90000\n", "more than the limit"},
		{"a.mtx", "%%MatrixMarket matrix coordinate integer skew-symmetric\n2 2 2\n1 1 3\n2 1 4\n", "a.mtx:3: found an entry on the diagonal, row 1, of a skew-symmetric matrix"},
		{"a.mtx", "%%MatrixMarket matrix coordinate integer symmetric\n2 2 2\n2 1 4\n1 2 4\n", "a.mtx:4: found entries on both sides of the diagonal, that of line 3 on the other"},
		{"a.mtx", "%%MatrixMarket matrix coordinate integer symmetric\n3 3 4\n3 1 4\n2 2 5\n% none\n2 1 4\n3 1 6\n", "a.mtx:7: found the pair of line 3 again"},
		{"a.asn", "p asn 4 3\nn 1\nc none\na 1 3 5\nn 2\na 2 4 1\na 1 3 6\n", "a.asn:7: found the pair of line 4 again"},
		{"a.asn", "p asn 4 1\nn 0\n", `a.asn:2:3: found the node "0", expected a whole number from 1 to 4`},
		{"a.asn", "n 1\n", `a.asn:1:1: found "n 1", expected a line of p asn: number of nodes and number of arcs`},
		{"a.asn", "p asn 4 1\na 1 3 5\n", "a.asn:2: found an arc from node 1 to 3, expected one from a source"},
		{"a.min", "p min 3 2\nn 1 1\nn 3 -1\na 1 2 0 1 5\na 2 3 0 1 5\n", "a.min:5: found an arc from node 2 to 3, expected one from a node of supply to another kind of node: flows through nodes are not supported"},
		{"a.min", "p min 2 1\nn 1 4\nn 2 -4\na 1 2 0 3 5\n", "a.min:4: found an arc of capacity 3, expected at least 4, what its ends have: bounds of arcs are not supported"},
		{"a.min", "p min 2 1\nn 1 4\nn 2 -4\na 1 2 1 9 5\n", `a.min:4:7: found the lower bound "1", expected a whole number from 0 to 0`},
		{"a.min", "p min 2 1\nn 1 4\nn 2 -3\na 1 2 0 9 5\n", "a.min: found supplies of 4 and demands of 3 in sum, expected as much of both"},
		{"a.asn", "p asn 4 2\nn 1\na 1 3 5\n", "a.asn:3: found the end of the file after 1 of 2 arcs: the file is truncated"},
		{"a.asn", "p asn 4 1\nn 1\na 1 3 5\na 1 4 5\nn 2\n", `a.asn:4:1: found "a" after 1 arc, expected the end of the file`},
		{"a.asn", "p asn 4 1\na 1 9 5\n", `a.asn:2:5: found the target "9", expected a whole number from 1 to 4`},
		{"a.asn", "p asn 4 1\na 1  3 many\n", `a.asn:2:8: cost: found "many", expected a number`},
		{"a.asn", "p asn 4 2\nn 9\n", `found the node "9"`},
		{"a.asn", "p max 4 2\n", "a.asn: found a DIMACS maximum-flow problem, expected costs"},
		{"a.asn", "p asm 4 2\n", `a.asn:1:1: found "p asm", expected a line of p asn: number of nodes and number of arcs`},
		{"a.asn", "p asn 4 1\nn 1\na 1 3\n", "a.asn:3: found 2 words after a, expected a line of a: source, target and cost"},
		{"a.asn", "p asn 1 1\nq\n", `a.asn:2:1: found "q", expected a line of a: source, target and cost, or a line of n: node`},
		{"assignp3.txt", "3\n1 4 5\n", `assignp3.txt:2:3: found the column "4", expected a whole number from 1 to 3`},
		{"assignp3.txt", "3\n1 2\n", "assignp3.txt:2: found 2 words, expected row, column and cost"},
		{"assignp3.txt", "3\n1 2 5\n1 2 6\n", "assignp3.txt:3: found the pair of line 2 again"},
		{"a.asn", "", "a.asn:1: found the end of the file, expected a line of p asn: number of nodes and number of arcs"},
	} {
		o := formats.ReadOptions{}
		if strings.Contains(c.text, "2000000000") || strings.Contains(c.text, "9") {
			o.Memory = 1 << 33
		}
		_, err := formats.ReadFrom(strings.NewReader(c.text), int64(len(c.text)), c.name, o)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q:\n got %v\nwant %s", c.text, err, c.want)
		} else if strings.Contains(err.Error(), "expected a number, or") != errors.Is(err, problem.ErrCost) {
			t.Errorf("%q: %v wraps ErrCost: %v", c.text, err, errors.Is(err, problem.ErrCost))
		}
	}
	for _, c := range []struct{ text, want string }{
		{"0,0,1\n0,0,2\n", "a.csv:2: found the pair of line 1 again"},
		{"0,0\n", "a.csv:1: found 2 cells, expected 3: row, column and cost"},
		{"x0,0,5\n1,0,2\n", `a.csv:2: found the number "1" of a row, expected a name`},
		{"0,x,5\n1,0,2\n", `a.csv:2: found the number "0" of a column, expected a name`},
		{"0,0,5\nx,0,2\n", `a.csv:2: found the row "x", expected a whole number`},
		{"0,0.5,5\n", `a.csv:1: found the column "0.5", expected a whole number`},
		{"ida,mow,x\nida,rake,1\n", `a.csv:1: found "ida" in the first line and as a row below it`},
		{"worker,task,cost\nida,NA,1\n", `a.csv:2: found the column "NA", expected a name`},
		{"#N/A,0,1\n1,0,1\n", `a.csv:1: found the row "#N/A", expected a name`},
		{"ida,mow,4\nida,mow,5\n", "a.csv:2: found the pair of line 1 again"},
		{"0,-1,3\n", `found the column "-1"`},
	} {
		if _, err := formats.ReadFrom(strings.NewReader(c.text), -1, "a.csv", formats.ReadOptions{Format: "triples"}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q:\n got %v\nwant %s", c.text, err, c.want)
		}
	}
}

// Reading takes no more memory than it may, whatever grows.
func TestReadMemory(t *testing.T) {
	const market = "%%MatrixMarket matrix coordinate real general\n"
	var sorted, backwards strings.Builder
	for k := range 100 {
		fmt.Fprintf(&sorted, "1 %d 5\n", k+1)
		fmt.Fprintf(&backwards, "1 %d 5\n", 100-k)
	}
	for _, c := range []struct {
		name, text string
		memory     int64
		want       string
	}{
		{"a.mtx", market + "1 100 100\n" + sorted.String(), 4000, ""},
		{"a.mtx", market + "1 100 100\n" + backwards.String(), 3500, "a.mtx: 100 pairs take 2.0 KiB, more than the 1.8 KiB that are left of the limit of 3.4 KiB"},
		{"a.mtx", market + "1 100 100\n" + sorted.String(), 1700, ""},
		{"a.mtx", market + "1 100 9000000000000000\n" + sorted.String(), 4000, "found the end of the file after 100 of 9000000000000000 entries"},
		{"a.asn", "p asn 1000 1\nn 1\na 1 2 5\n", 4000, "a.asn:1: 1000 nodes take 15.6 KiB, more than the limit of 3.9 KiB"},
		{"a.asn", "p asn 2 100\nn 1\n" + strings.Repeat("a 1 2 5\n", 100), 1500, "a.asn: 100 pairs and more take 800 B, more than the 668 B that are left of the limit of 1.5 KiB"},
		{"a.asn", "c" + strings.Repeat("c", 1<<21), 1 << 30, "a.asn:1: found a line"},
	} {
		_, err := formats.ReadFrom(strings.NewReader(c.text), -1, c.name, formats.ReadOptions{Memory: c.memory})
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s %.60q:\n got %v\nwant %s", c.name, c.text, err, c.want)
		}
	}
}

// The negative of a cost that is the number of forbidden pairs is refused.
func TestSkewLimit(t *testing.T) {
	const head = "%%MatrixMarket matrix coordinate integer skew-symmetric\n2 2 1\n2 1 "
	for _, word := range []string{"-9223372036854775807", "-9223372036854775808"} {
		_, err := formats.ReadFrom(strings.NewReader(head+word), -1, "a.mtx", formats.ReadOptions{})
		if want := "a.mtx:3: cost: found " + word + " in a skew-symmetric matrix"; !errors.Is(err, problem.ErrCost) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v\nwant %s", err, want)
		}
	}
	inst, err := formats.ReadFrom(strings.NewReader(head+"-9223372036854775806"), -1, "a.mtx", formats.ReadOptions{})
	if err != nil || shown(inst) != "int64 2x2 | - 9223372036854775806 | -9223372036854775806 -" {
		t.Errorf("%v %v", shown(inst), err)
	}
}

// file makes a .npy file of a header and raw values.
func file(descr, shape string, fortran bool, values any, order binary.ByteOrder) []byte {
	first := map[bool]string{false: "False", true: "True"}[fortran]
	text := fmt.Sprintf("{'descr': '%s', 'fortran_order': %s, 'shape': %s, }", descr, first, shape)
	text += strings.Repeat(" ", 63-(10+len(text))%64) + "\n"
	var b bytes.Buffer
	b.WriteString(npy.Magic)
	b.Write([]byte{1, 0, byte(len(text)), byte(len(text) >> 8)})
	b.WriteString(text)
	binary.Write(&b, order, values)
	return b.Bytes()
}

func TestReadNPY(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		descr   string
		fortran bool
		values  any
		want    string
	}{
		{"i4", false, []int32{1, 2, 3, 4, 5, math.MaxInt32}, "int32 2x3 | 1 2 3 | 4 5 -"},
		{"i4", true, []int32{1, 2, 3, 4, 5, 6}, "int32 2x3 | 1 3 5 | 2 4 6"},
		{"i8", false, []int64{1, 2, 3, 4, 5, math.MaxInt64}, "int32 2x3 | 1 2 3 | 4 5 -"},
		{"i8", false, []int64{1, 2, 3, 4, 5, math.MaxInt32}, "int64 2x3 | 1 2 3 | 4 5 2147483647"},
		{"u1", false, []uint8{1, 2, 3, 4, 5, 255}, "int32 2x3 | 1 2 3 | 4 5 255"},
		{"f4", false, []float32{1, 2.5, 3, 4, 5, float32(inf)}, "float32 2x3 | 1 2.5 3 | 4 5 -"},
		{"f8", true, []float64{1, 2.5, 3, 4, 5, inf}, "float64 2x3 | 1 3 5 | 2.5 4 -"},
	} {
		for mark, order := range map[string]binary.ByteOrder{"<": binary.LittleEndian, ">": binary.BigEndian} {
			data := file(mark+c.descr, "(2, 3)", c.fortran, c.values, order)
			path := filepath.Join(t.TempDir(), "a.npy")
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
			inst, err := formats.Read(path, formats.ReadOptions{})
			if err != nil {
				t.Errorf("%s%s: %v", mark, c.descr, err)
				continue
			}
			if got := shown(inst); got != c.want {
				t.Errorf("%s%s:\n got %s\nwant %s", mark, c.descr, got, c.want)
			}
			native := mark == "<" && !c.fortran && c.descr != "u1" && !strings.HasPrefix(c.want+c.descr, "int32 2x3 | 1 2 3 | 4 5 -i8")
			if mapped := inst.Unmap != nil; mapped != native {
				t.Errorf("%s%s: mapped is %v", mark, c.descr, mapped)
			}
			if err := inst.Close(); err != nil {
				t.Error(err)
			}
			var packed bytes.Buffer
			w := gzip.NewWriter(&packed)
			w.Write(data)
			w.Close()
			if inst, err = formats.ReadFrom(&packed, 1, "a.npy.gz", formats.ReadOptions{}); err != nil || shown(inst) != c.want {
				t.Errorf("%s%s.gz: %v", mark, c.descr, err)
			}
		}
	}
}

// Unsigned integers are read to their end; beyond 2^63-1 they are kept less 2^63.
func TestReadUnsigned(t *testing.T) {
	for _, c := range [][2]uint64{{1, 7}, {1, 1<<63 - 1}, {1, 1 << 63}, {1, 1<<64 - 2}, {1<<63 + 1, 1 << 63}} {
		least, largest := c[0], c[1]
		data := file("<u8", "(1, 2)", false, c[:], binary.LittleEndian)
		inst, err := formats.ReadFrom(bytes.NewReader(data), int64(len(data)), "a.npy", formats.ReadOptions{})
		if err != nil || inst.CostDecimals(0, 0) != fmt.Sprint(least) || largest != 1<<63-1 && inst.CostDecimals(0, 1) != fmt.Sprint(largest) || inst.Unsigned != (largest >= 1<<63) {
			t.Errorf("%d: found %+v, %v", largest, inst, err)
		}
	}
}

// What text says of unsigned costs, files written of them say too, and points of them are where they stand.
func TestWriteUnsigned(t *testing.T) {
	read := func(name, text string) *problem.Instance {
		inst, err := formats.ReadFrom(strings.NewReader(text), -1, name, formats.ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return inst
	}
	sparse := read("a.mtx", "%%MatrixMarket matrix coordinate integer general\n2 2 3\n1 1 18446744073709551615\n2 1 5\n1 2 9223372036854775808\n")
	var b bytes.Buffer
	if err := formats.WriteMarket(&b, sparse); err != nil || !strings.Contains(b.String(), " unsigned-integer ") || shown(read("b.mtx", b.String())) != shown(sparse) {
		t.Errorf("found %s, %v", b.String(), err)
	}
	dense := read("a.csv", "18446744073709551614,inf\n2,1\n")
	b.Reset()
	if err := formats.WriteNPY(&b, dense); err != nil || shown(read("b.npy", b.String())) != shown(dense) {
		t.Errorf("found %v", err)
	}
	for _, text := range []string{"18446744073709551615,1\n", "9223372036854775807,-1\n"} {
		if err := formats.WriteNPY(io.Discard, read("a.csv", text)); err == nil || !strings.Contains(err.Error(), "largest number of its type") {
			t.Errorf("%s: found %v", text, err)
		}
	}
	rows, cols := filepath.Join(t.TempDir(), "rows.csv"), filepath.Join(t.TempDir(), "cols.csv")
	for path, text := range map[string]string{rows: "9223372036854775808,2\n", cols: "1,2\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if inst, err := formats.ReadPoints(rows, cols, "manhattan", false, formats.ReadOptions{}); err != nil || inst.CostFloat(0, 0) != 1<<63 {
		t.Errorf("found %v, %v", inst, err)
	}
}

func TestReadNPYErrors(t *testing.T) {
	six := []int32{1, 2, 3, 4, 5, 6}
	for _, c := range []struct {
		data []byte
		want string
	}{
		{file("<i4", "(6,)", false, six, binary.LittleEndian), "found an array of 1 dimension, expected two"},
		{file("<i4", "(3, 3)", false, six, binary.LittleEndian), "found 24 bytes after the header, expected 36: 3 x 3 values"},
		{file("<c8", "(1, 3)", false, six, binary.LittleEndian), `found type "<c8"`},
		{file("<i4", "(4294967296, 3)", false, six, binary.LittleEndian), "expected at most 2147483647"},
		{file("<i4", "(2147483647, 2147483647)", false, six, binary.LittleEndian), "expected at most 2^62 bytes"},
		{file("|b1", "(1, 2)", false, []uint8{1, 2}, binary.LittleEndian), "row 0, column 1 (from 0): found a value outside"},
	} {
		path := filepath.Join(t.TempDir(), "a.npy")
		if err := os.WriteFile(path, c.data, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := formats.Read(path, formats.ReadOptions{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v\nwant %s", err, c.want)
		}
	}
	data := file("<i4", "(60000, 60000)", false, six, binary.LittleEndian)
	if _, err := formats.ReadFrom(bytes.NewReader(data), -1, "a.npy", formats.ReadOptions{Memory: 1000}); err == nil || !strings.Contains(err.Error(), "more than the limit of 1000 B") {
		t.Errorf("found %v", err)
	}
	if _, err := formats.ReadFrom(bytes.NewReader(data), -1, "a.npy", formats.ReadOptions{}); err == nil || !strings.Contains(err.Error(), "found 6 values, expected 60000 x 60000") {
		t.Errorf("found %v", err)
	}
}

// A cost that is not a number names its entry, whatever the type.
func TestNotANumber(t *testing.T) {
	nan := math.NaN()
	for _, inst := range []*problem.Instance{
		enginetest.MatrixOf(t, 3, 1.0, 2, 3, 4, nan, nan),
		enginetest.MatrixOf(t, 3, 1, 2, 3, 4, float32(nan), 6),
		enginetest.MatrixOf(t, 3, 1.0, 2, 3, 4, math.Inf(-1), 6),
	} {
		_, err := problem.Normalise(inst)
		var entry *problem.EntryError
		if !errors.As(err, &entry) || entry.Row != 1 || entry.Col != 1 || !errors.Is(err, problem.ErrCost) {
			t.Errorf("found %v", err)
		}
	}
	sparse := &problem.Instance{Rows: 2, Cols: 2, Type: problem.Float64, F64: []float64{1, nan}, Sparse: &problem.Sparse{Start: []int64{0, 1, 2}, Col: []int32{0, 1}}}
	if _, err := problem.Normalise(sparse); err == nil || !strings.Contains(err.Error(), "row 1, column 1 (from 0): found NaN") {
		t.Errorf("found %v", err)
	}
}

// Costs whose sums leave 2^60 lose their last bits in what engines solve.
func TestDroppedBits(t *testing.T) {
	for _, c := range []int64{1 << 60, -1 << 60, math.MinInt64, 1<<59 + 1} {
		p, err := problem.Normalise(enginetest.MatrixOf(t, 2, 0, 0, 3, c))
		if err != nil || p.Dropped == 0 || p.Exact || p.Max > problem.MaxScaled(2) || p.Min < -problem.MaxScaled(2) {
			t.Errorf("%d: found %+v, %v", c, p, err)
			continue
		}
		for j, want := range []int64{3, c} {
			units, rest := p.Split(1, j)
			if units<<p.Dropped+int64(rest) != want {
				t.Errorf("%d: found %d units of 2^%d and %v", want, units, p.Dropped, rest)
			}
		}
	}
	if p, err := problem.Normalise(enginetest.MatrixOf[int64](t, 2, 1<<59, -1<<59, 0, 0)); err != nil || p.Dropped > 0 {
		t.Errorf("found %+v, %v", p, err)
	}
}
