package formats

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"coalesce/solvers/csg/internal/draw"
	"coalesce/solvers/csg/problem"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"
)

func readText(name, text string, opts ReadOptions) (*problem.Instance, error) {
	return ReadFrom(strings.NewReader(text), int64(len(text)), name, opts)
}

// shown is an instance on one line: type, values, names.
func shown(inst *problem.Instance) string {
	values := make([]string, inst.Len())
	for i := range values {
		values[i] = inst.ValueDecimals(uint64(i))
	}
	return strings.TrimSpace(fmt.Sprintf("%s %s %s", inst.Type, strings.Join(values, " "), strings.Join(inst.Names, ",")))
}

func TestReadTables(t *testing.T) {
	tests := []struct {
		name, text string
		opts       ReadOptions
		want       string
	}{
		{"a.csv", "coalition,value\n1,5\n2,6\n1 2,12\n", ReadOptions{}, "int32 0 5 6 12"},
		{"alone.json", "[0, 5, 6, 12]", ReadOptions{}, "int32 0 5 6 12"},
		{"alone.json", `{"agents": ["ann", "bob"], "values": [0, 5, "-inf", 0.5]}`, ReadOptions{}, "float64 0 5 -inf 0.5 ann,bob"},
		{"number.json", `{"agents": 2, "values": {"1": 5, "2": 6, "1 2": 12}}`, ReadOptions{}, "int32 0 5 6 12"},
		{"order.csv", "2 1,12\n2,6\n\n# a comment\n1,5\n", ReadOptions{}, "int32 0 5 6 12"},
		{"braces.csv", "\ufeff\"{1,2}\",12\n{2},6\n{1},5\n{},0\n", ReadOptions{}, "int32 0 5 6 12"},
		{"separators.csv", "1;2,12\r\n2,6\r\n1,5\r\n3,0\n1|3,1\n2+3,2\n1;2;3,3\n", ReadOptions{}, "int32 0 5 6 12 0 1 2 3"},
		{"semicolons.csv", "coalition;value\n1;2.5\n2;6\n\"1 2\";12\n", ReadOptions{}, "float64 0 2.5 6 12"},
		{"pandas.csv", ",coalition,value\n0,1,5\n1,2,6\n2,1 2,12\n", ReadOptions{}, "int32 0 5 6 12"},
		{"pandas.tsv.csv", "\tcoalition\tvalue\n0\t1\t5\n1\t2\t6\n2\t1 2\t12\n", ReadOptions{}, "int32 0 5 6 12"},
		{"r.csv", "\"\",\"coalition\",\"value\"\n\"1\",\"1\",5\n\"2\",\"2\",6\n\"3\",\"1 2\",12\n", ReadOptions{}, "int32 0 5 6 12"},
		{"excel.csv", "\ufeff\"\"\t\"coalition\"\t\"value\"\r\n\"a, b\"\t\"1;2\"\t12\r\n7\t2\t6\r\n8\t1\t5\r\n", ReadOptions{}, "int32 0 5 6 12"},
		{"sets.csv", "set,v(S)\n{1},5\n{2},6\n{1,2},12\n", ReadOptions{}, "int32 0 5 6 12"},
		{"european.csv", "1 2;12\n2;6\n1;5\n", ReadOptions{}, "int32 0 5 6 12"},
		{"tabs.csv", "1 2\t12\n2\t6\n1\t5\n", ReadOptions{}, "int32 0 5 6 12"},
		{"names.csv", "ann,5\nbob,6\nann bob,12.5\n", ReadOptions{}, "float64 0 5 6 12.5 ann,bob"},
		{"spaces.csv", "New York,5\nRome,6\nRome+New York,7\n", ReadOptions{Names: []string{"Rome", "New York"}}, "int32 0 6 5 7 Rome,New York"},
		{"wide.csv", "1,3000000000\n", ReadOptions{}, "int64 0 3000000000"},
		{"sums.csv", "1,2147483647\n2,1\n1 2,0\n", ReadOptions{}, "int64 0 2147483647 1 0"},
		{"missing.csv", "1,5\n1 2,12\n", ReadOptions{Missing: "-1"}, "int32 0 5 -1 12"},
		{"missing.csv", "1,5\n1 2,12\n", ReadOptions{Missing: "-inf"}, "float64 0 5 -inf 12"},
		{"missing.csv", "3,5\n", ReadOptions{Missing: "0"}, "int32 0 0 0 0 5 0 0 0"},
		{"inf.csv", "1,-inf\n2,1e3\n1 2,.5\n", ReadOptions{}, "float64 0 -inf 1000 0.5"},
		{"excel.csv", "sep=;\r\ncoalition;value\r\n1;5\r\n2;6\r\n1 2;12\r\n", ReadOptions{}, "int32 0 5 6 12"},
		{"comments.csv", "#made by hand\ncoalition,value\n# all of them\n1,5\n2,6\n1 2,12\n", ReadOptions{}, "int32 0 5 6 12"},
		{"masks.csv", "mask,value\n2,6\n1,5\n3,12\n", ReadOptions{}, "int32 0 5 6 12"},
		{"masks.csv", ",bitmask,value\n0,0b10,6\n1,0x1,5\n2,3.0,12\n", ReadOptions{}, "int32 0 5 6 12"},
		{"masks.csv", "mask,value\n3,12\n", ReadOptions{Missing: "0", Names: []string{"ann", "bob"}}, "int32 0 0 0 12 ann,bob"},
		{"members.csv", "a,b,c,value\n1,0,0,30\n0,1,0,40\n0,0,1,25\n1,1,0,50\n1,0,1,60\n0,1,1,55\n1,1,1,90\n", ReadOptions{}, "int32 0 30 40 50 25 60 55 90 a,b,c"},
		{"members.csv", "ann,bob,value\n1,0,5\n0,1,6\n1,1,12\n0,0,0\n", ReadOptions{}, "int32 0 5 6 12 ann,bob"},
		{"members.csv", ",ann,bob,value\n0,True,False,5\n1,False,True,6\n2,1.0,1,12\n", ReadOptions{}, "int32 0 5 6 12 ann,bob"},
		{"odpip.txt", "0.0\n3.0E1\n4.0E1\n7.5E1\n", ReadOptions{}, "float64 0 30 40 75"},
		{"odpip.txt", "value\n0\n5\n", ReadOptions{}, "int32 0 5"},
		{"lists.csv", "coalition,value\n\"frozenset({1})\",5\n[2],6\n\"('1', '2')\",12\n", ReadOptions{}, "int32 0 5 6 12"},
		{"lists.csv", "ann,5\n\"bob \",6\nann/bob,12\n", ReadOptions{}, "int32 0 5 6 12 ann,bob"},
		{"quoted.csv", "'New York',5\nRome,6\n\"['Rome', 'New York']\",7\n", ReadOptions{}, "int32 0 5 6 7 New York,Rome"},
		{"python.json", `{"1": 5, "2": -Infinity, "(1, 2)": 12}`, ReadOptions{}, "float64 0 5 -inf 12"},
		{"records.json", `[{"coalition":["ann"],"value":5},{"value":6,"coalition":["bob "]},{"coalition":["bob","ann"],"value":12}]`, ReadOptions{}, "int32 0 5 6 12 ann,bob"},
		{"records", `[ {"set":"1","worth":5},{"set":2,"worth":6},{"set":"1 2","worth":null}]`, ReadOptions{Missing: "7"}, "int32 0 5 6 7"},
		{"none.csv", ",0\n", ReadOptions{}, "int32 0"},
		{"a.json", `{"1": 5, "2": 6, "1,2": 12}`, ReadOptions{}, "int32 0 5 6 12"},
		{"mark.json", "\ufeff" + `{"1": 5, "2": 6, "1,2": 12}`, ReadOptions{}, "int32 0 5 6 12"},
		{"a.json", `{"1": 5, "2": 6.0, "{1, 2}": "-Infinity"}`, ReadOptions{}, "float64 0 5 6 -inf"},
		{"b.json", `{"agents": ["ann", "bob"], "values": {"bob": 6, "ann": 5, "ann bob": 12}}`, ReadOptions{}, "int32 0 5 6 12 ann,bob"},
		{"b.json", `{"agents": ["ann", "bob"], "values": {"2": 6, "1": 5, "1 bob": 12}}`, ReadOptions{}, "int32 0 5 6 12 ann,bob"},
		{"n.json", `{"n": 2, "values": {"2": 6}}`, ReadOptions{Missing: "1"}, "int32 0 1 6 1"},
		{"null.json", `{"1": 5, "2": null, "1 2": 3}`, ReadOptions{Missing: "7"}, "int32 0 5 7 3"},
		{"noname", `{"1": 5}`, ReadOptions{}, "int32 0 5"},
		{"noname", "{1},5\n", ReadOptions{}, "int32 0 5"},
		{"empty.json", `{"agents": [], "values": {}}`, ReadOptions{}, "int32 0"},
	}
	for _, test := range tests {
		inst, err := readText(test.name, test.text, test.opts)
		if err != nil {
			t.Errorf("%s %q: %v", test.name, test.text, err)
			continue
		}
		if got := shown(inst); got != test.want {
			t.Errorf("%s %q:\n got %s\nwant %s", test.name, test.text, got, test.want)
		}
		if err := inst.Check(); err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}

func TestReadTableErrors(t *testing.T) {
	tests := []struct {
		name, text string
		opts       ReadOptions
		want       string
	}{
		{"a.csv", "1,5\n1 2,12\n", ReadOptions{}, "a.csv: found no value for {2}, expected all coalitions of 2 agents"},
		{"a.csv", "40,5\n", ReadOptions{}, "a.csv: found no value for {1}, {2}, {1, 2} and 1099511627771 more, expected all"},
		{"a.csv", "40,5\n", ReadOptions{Missing: "0"}, "more than the limit of 16 GiB"},
		{"a.csv", "1,5\n2,x\n", ReadOptions{}, `a.csv:2: value: found "x", expected a number`},
		{"a.csv", "1,nan\n", ReadOptions{}, `a.csv:1: value: found "nan", expected a number`},
		{"a.csv", "1,inf\n", ReadOptions{}, `a.csv:1: value: found "inf", expected`},
		{"a.csv", "1,1e999\n", ReadOptions{}, `a.csv:1: value: found "1e999"`},
		{"a.csv", "1,9223372036854775807\n2,9223372036854775807\n1 2,0\n", ReadOptions{}, "a.csv:1: coalition 1 {1}: found 9223372036854775807, expected values whose sum"},
		{"a.csv", "1,9223372036854775807\n2,.5\n1 2,0\n", ReadOptions{}, "a.csv:1: value: found the integer 9223372036854775807, expected at most 2^53"},
		{"a.csv", "1,5\n2,6\n2 1,7\n1 2,8\n", ReadOptions{}, "a.csv:4: found coalition {1, 2} again, expected each once: it is on line 3"},
		{"a.csv", "1 1,5\n", ReadOptions{}, `a.csv:1: found agent "1" twice`},
		{"a.csv", "0,5\n", ReadOptions{}, "a.csv:1: found agent 0, expected 1 to 40"},
		{"a.csv", "41,5\n", ReadOptions{}, "a.csv:1: found agent 41, expected 1 to 40"},
		{"a.csv", "1,5\n01,6\n", ReadOptions{}, "a.csv:2: found agent 01, expected it to be written as before: 1"},
		{"a.csv", "1,5\nbob,6\n", ReadOptions{}, `a.csv:2: found agent "bob", expected a number`},
		{"a.csv", "coalition;value\n1;2,5\n", ReadOptions{Missing: "0"}, `a.csv:2: value: found "2,5", expected a number, or -inf for a forbidden coalition: the comma is a decimal comma`},
		{"a.csv", "1;2\n2;2,5\n", ReadOptions{Missing: "0"}, `a.csv:2: value: found "2,5", expected a number, or -inf for a forbidden coalition: the comma is a decimal comma`},
		{"a.csv", "# from a spreadsheet\n1;2,5\n2;3,5\n1 2;9,0\n", ReadOptions{Missing: "0"}, "a.csv:2: found decimal commas, or agents between semicolons or tabs"},
		{"a.csv", "1\t2,5\n2\t3,5\n", ReadOptions{Missing: "0"}, "a.csv:1: found decimal commas, or agents between semicolons or tabs"},
		{"a.csv", "1,\"2,5\"\n", ReadOptions{Missing: "0"}, `a.csv:1: value: found "2,5", expected a number, or -inf for a forbidden coalition: the comma is a decimal comma`},
		{"a.csv", "coalition,value\n1,2,5\n", ReadOptions{Missing: "0"}, "a.csv:2: found more cells than in the header"},
		{"a.csv", ",coalition,value\n1,5\n", ReadOptions{Missing: "0"}, "a.csv:2: found 2 cells, expected 3 as in the header"},
		{"a.csv", "id,coalition,value\n1,2,5\n", ReadOptions{Missing: "0"}, `a.csv:1: found the column "id", expected the columns coalition and value`},
		{"a.csv", "hello\n", ReadOptions{}, `a.csv:1: found "hello", expected a coalition, a comma and a value`},
		{"a.csv", "", ReadOptions{}, "a.csv:1: found no coalition"},
		{"a.csv", "1,5\n", ReadOptions{Names: []string{"ann", "ann"}}, `found the agent "ann" twice`},
		{"a.csv", "carl,5\n", ReadOptions{Names: []string{"ann", "bob"}}, `a.csv:1: found agent "carl", expected one of ann, bob`},
		{"a.csv", "1," + strings.Repeat("5", maxLine), ReadOptions{}, "a.csv:1: found a line of more than"},
		{"a.json", `{"1": 5`, ReadOptions{}, "a.json:1: found broken JSON"},
		{"a.json", "{\n\"1\": 5,\n\"2\": x}", ReadOptions{}, "a.json:3: found broken JSON"},
		{"a.json", "{\n\"1\": [5]}", ReadOptions{}, "a.json:2: found [ after \"1\""},
		{"a.json", "[1]", ReadOptions{}, "a.json:1: found 1 value alone, expected 2^n, by coalition number from 0"},
		{"a.json", "[0, 1, 2]", ReadOptions{}, "a.json:1: found 3 values alone, expected 2^n, by coalition number from 0"},
		{"a.json", "[0, 1, {}]", ReadOptions{}, "a.json:1: found {, expected a value, as the others of the list are"},
		{"a.json", "[0, null]", ReadOptions{}, "expected a value, as the others of the list are"},
		{"a.json", `[{"coalition": 1, "value": 2}, 3]`, ReadOptions{}, "a.json:1: found 3, expected an object of a coalition and its value"},
		{"a.json", "[[1]]", ReadOptions{}, "a.json:1: found [, expected an object of a coalition and its value"},
		{"a.json", `{"agents": ["a", "b", "c"], "values": [0, 1, 2, 3]}`, ReadOptions{}, "a.json: found no value for {c}"},
		{"a.csv", "*0\n*0\n0 1 5\n", ReadOptions{}, `a.csv:1: found "*0", expected a coalition, a comma and a value; CFSS writes graphs so`},
		{"a.txt", "1 & -> 3\n", ReadOptions{}, "a.txt:1: found & without an agent on each side"},
		{"a.json", "3", ReadOptions{}, "a.json:1: found 3, expected an object of coalitions and values, or a list of records"},
		{"a.json", "[{\"coalition\": [1]}]", ReadOptions{}, "a.json:1: found a record without a coalition or a value"},
		{"a.json", "[{\"coalition\": 1, \"value\": 2},\n{\"coalition\": [2], \"colour\": 2}]", ReadOptions{}, `a.json:2: found the key "colour" of a record`},
		{"a.json", "[{\"coalition\": {}, \"value\": 2}]", ReadOptions{}, "a.json:1: found {, expected the agents of a coalition"},
		{"a.json", "{\n\"1\": NaN}", ReadOptions{}, `a.json:2: value: found "NaN", expected a number`},
		{"a.csv", "coalition,value\n#1,3\n#2,4\n#1 #2,9\nx,1\n", ReadOptions{}, "a.csv: found no value for {#1, x}, {#2, x}, {#1, #2, x}, expected all coalitions of 3 agents"},
		{"a.csv", "coalition,value\n1,3\n#N/A,4\n", ReadOptions{}, `a.csv:3: coalition: found "#N/A", which is no name`},
		{"a.csv", "coalition,value\n1,3\n2,#DIV/0!\n", ReadOptions{}, `a.csv:3: value: found "#DIV/0!", expected a number`},
		{"a.csv", "coalition,value\n1,3\n#2\n", ReadOptions{}, `a.csv:3: found "#2", expected a coalition, a comma and a value`},
		{"a.csv", "id,value\n1,30\n2,40\n3,50\n", ReadOptions{Missing: "0"}, `a.csv:1: found the column "id", expected the columns coalition and value, mask and value`},
		{"a.csv", "1,30\n2,40\n3,50\n4,25\n5,60\n6,55\n7,90\n", ReadOptions{Missing: "0"}, "a.csv:1: found the coalitions 1 to 7, which could be agents or coalition numbers"},
		{"a.csv", "mask,value\n1,30\n-2,40\n", ReadOptions{Missing: "0"}, `a.csv:3: found the coalition number "-2", expected one from 0 to 2^40 - 1`},
		{"a.csv", "mask,value\n1,30\n1,40\n", ReadOptions{}, "a.csv:3: found coalition {1} again"},
		{"a.csv", "mask,value\n9,30\n", ReadOptions{Names: []string{"a", "b"}}, "a.csv:2: found coalition number 9, expected at most 2^2 - 1: there are 2 agents"},
		{"a.csv", "a,b,value\n1,0,3\n0,2,4\n", ReadOptions{}, `a.csv:3: column 2: found "2", expected 1 where agent b is a member, else 0`},
		{"a.csv", "a,b,value\n1,3\n", ReadOptions{}, "a.csv:2: found 2 cells, expected 3 as in the header"},
		{"a.csv", "0\n30\n40\n", ReadOptions{}, "a.csv:3: found 3 values alone, expected 2^n"},
		{"a.csv", "0\n0\n0\n0\n0 1 5\n", ReadOptions{}, `a.csv:5: found "0 1 5" below values alone, expected a value a line, all 2^n by coalition number, as ODP-IP has them; CFSS writes graphs so`},
		{"a.csv", "1,,2,3\n", ReadOptions{}, `a.csv:1: coalition: found "1,,2", expected a list of names: no name stands before a ','`},
		{"a.csv", "sep=|\n1|2\n", ReadOptions{}, `a.csv:1: found "sep=|", expected sep= and a comma`},
		{"a.csv", "\"1 2,3\n", ReadOptions{}, "a.csv:1: found a quote that does not end"},
		{"a.csv", "02,3\n", ReadOptions{Missing: "0"}, "a.csv:1: found agent 02, expected it to be written as 2"},
		{"a.json", `{"1": 5} 6`, ReadOptions{}, "a.json:1: found more after the JSON"},
		{"a.json", `{"agents": ["a"], "values": {"a": 1}, "b": 2}`, ReadOptions{}, `a.json:1: found "b", expected agents, n and values only`},
		{"a.json", `{"values": {"a": 1}, "agents": ["a"]}`, ReadOptions{}, "found the agents' names after coalitions"},
		{"a.json", "{\"agents\": [\"a\", \"b\"], \"values\": {\"a\": 1, \"b\": 2, \"a b\": 3},\n\"agents\": [\"b\", \"a\"]}", ReadOptions{}, "a.json:2: found agents again, expected them once"},
		{"a.json", `{"values": {"1": 1}, "values": {"2": 1, "1,2": 3}}`, ReadOptions{}, "a.json:1: found values again, expected them once"},
		{"a.json", `{"n": 1, "values": {"1": 1}, "agents": ["b"]}`, ReadOptions{}, "found the agents' names after coalitions"},
		{"a.json", `{"n": 99, "values": {}}`, ReadOptions{}, "found 99 agents"},
		{"a.csv.gz", "1,5\n", ReadOptions{}, "a.csv.gz: found no compressed data, expected the beginning of a gz file"},
	}
	for _, test := range tests {
		inst, err := readText(test.name, test.text, test.opts)
		if err == nil {
			t.Errorf("%s %.40q: read as %s, want the error %q", test.name, test.text, shown(inst), test.want)
		} else if !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s %.40q:\n got %v\nwant %s", test.name, test.text, err, test.want)
		}
	}
}

func TestReadCompressed(t *testing.T) {
	inst, err := draw.GenerateAs("uniform", 9, 1, problem.Int32)
	if err != nil {
		t.Fatal(err)
	}
	var plain bytes.Buffer
	if err := WriteNPY(&plain, inst); err != nil {
		t.Fatal(err)
	}
	packed := map[string][]byte{".npy": plain.Bytes()}
	var b bytes.Buffer
	g := gzip.NewWriter(&b)
	g.Write(plain.Bytes())
	g.Close()
	packed[".npy.gz"] = bytes.Clone(b.Bytes())
	b.Reset()
	x, err := xz.NewWriter(&b)
	if err != nil {
		t.Fatal(err)
	}
	x.Write(plain.Bytes())
	x.Close()
	packed[".npy.xz"] = bytes.Clone(b.Bytes())
	b.Reset()
	z, err := zstd.NewWriter(&b)
	if err != nil {
		t.Fatal(err)
	}
	z.Write(plain.Bytes())
	z.Close()
	packed[".npy.zst"] = bytes.Clone(b.Bytes())
	dir := t.TempDir()
	for ext, data := range packed {
		for _, name := range []string{"a" + ext, "a"} { // by name, and by content
			path := filepath.Join(dir, name)
			if err := os.WriteFile(path, data, 0o644); err != nil {
				t.Fatal(err)
			}
			got, err := Read(path, ReadOptions{})
			if err != nil {
				t.Errorf("%s: %v", ext, err)
			} else if got.Type != problem.Int32 || !bytes.Equal(got.Bytes(), inst.Bytes()) {
				t.Errorf("%s: other values than were written", ext)
			}
		}
		// Cut anywhere, a file is an error, never a smaller instance.
		for cut := 0; cut < len(data); cut += 1 + len(data)/37 {
			if got, err := ReadFrom(bytes.NewReader(data[:cut]), int64(cut), "cut"+ext, ReadOptions{}); err == nil {
				t.Errorf("%s cut to %d of %d bytes: read as %d agents", ext, cut, len(data), got.N)
			}
		}
	}
	b.Reset()
	g = gzip.NewWriter(&b)
	g.Write([]byte(`{"1": 5, "2": 6, "1,2": 12}`))
	g.Close()
	for cut := range b.Len() {
		if _, err := ReadFrom(bytes.NewReader(b.Bytes()[:cut]), int64(cut), "a.json.gz", ReadOptions{}); err == nil || cut > 1 && !strings.Contains(err.Error(), "truncated") {
			t.Errorf("JSON cut to %d of %d bytes: %v, expected that the file is truncated", cut, b.Len(), err)
		}
	}
	if _, err := ReadFrom(bytes.NewReader(packed[".npy.gz"]), 1, "a.npy.gz", ReadOptions{Limit: 1000}); err == nil || !strings.Contains(err.Error(), "more than the limit of 1000") {
		t.Errorf("limit of 1000 bytes: %v", err)
	}
}

func TestReadUnreadable(t *testing.T) {
	dir := t.TempDir()
	for _, path := range []string{dir, filepath.Join(dir, "absent.npy")} {
		if _, err := Read(path, ReadOptions{}); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", path, err)
		}
	}
	broken := errors.New("broken disk")
	if _, err := ReadFrom(&failing{strings.NewReader("1,5\n2,"), broken}, -1, "a.csv", ReadOptions{}); !errors.Is(err, broken) {
		t.Errorf("a failing disk: %v", err)
	}
}

// failing reads what it has, then fails.
type failing struct {
	*strings.Reader
	err error
}

func (f *failing) Read(p []byte) (int, error) {
	if f.Len() == 0 {
		return 0, f.err
	}
	return f.Reader.Read(p)
}

// Streams that are cut off, or do not end, end with their cause and with little
// memory taken.
func TestReadEndlessAndCutOff(t *testing.T) {
	packed := func(text string) string {
		var b bytes.Buffer
		g := gzip.NewWriter(&b)
		g.Write([]byte(text))
		g.Close()
		return b.String()
	}
	rows := packed(strings.Repeat("1 2 3 4 5 6 7 8 9,12.5\n", 300))
	pairs := packed("{\n\"1\": 5,\n" + strings.Repeat("\"1 2\": 7,\n", 300) + "\"2\": 3}")
	for _, c := range []struct{ name, data, want string }{
		{"a.csv.gz", rows[:len(rows)-9], "within gzip data: the file is truncated"},
		{"a.json.gz", pairs[:len(pairs)-9], "within gzip data: the file is truncated"},
		{"a.json", "{\n" + strings.Repeat(" ", 3<<20), "a.json:1: found a word, or blanks, of more than 1048576 bytes"},
		{"a.json", `{"` + strings.Repeat("a", 3<<20), "a.json:1: found a word, or blanks, of more than 1048576 bytes"},
		{"a.json", strings.Repeat("\n", 1000) + "{\"1\": 5,\n\"2\": x}", "a.json:1002: found broken JSON"},
		{"a.csv.gz", packed(strings.Repeat("\n", 3<<20)), "a.csv.gz: more than 1.2 MiB when unpacked"},
		{"a.csv", strings.Repeat("1,5\n", 1<<15), "coalitions and more take"},
		{"a.json", `{"1": 5` + strings.Repeat(",\n\"1\": 5", 1<<14) + "}", "coalitions take"},
		{"a.csv", "1," + strings.Repeat("\x1b", 60000), `a.csv:1: value: found "\x1b`},
	} {
		_, err := readText(c.name, c.data, ReadOptions{Limit: 1 << 16})
		if err == nil || !strings.Contains(err.Error(), c.want) || len(err.Error()) > 300 {
			t.Errorf("%s %.40q:\n got %.400v\nwant %s", c.name, c.data, err, c.want)
		}
	}
}
