package formats

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"coalesce/solvers/formats/csv"
	"coalesce/solvers/qubo/internal/qubotest"
	"coalesce/solvers/qubo/problem"
)

// Every format keeps the value of every solution, but for its sense and the
// constant that it leaves out.
func TestFormatsRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for k := range 400 {
		form := []problem.Form{problem.QUBO, problem.Ising, problem.MaxCut}[k%3]
		inst := qubotest.Instance(r, r.IntN(8)+1, form, k%2 == 0)
		for _, format := range FormatNames() {
			var text bytes.Buffer
			if l, _ := layoutOf(format); l.write == nil {
				if _, err := Write(&text, inst, format); err == nil || !strings.Contains(err.Error(), "is read, and not written") {
					t.Fatalf("%s: %v", format, err)
				}
				continue
			}
			if _, err := Write(&text, inst, format); err != nil {
				t.Fatal(err)
			}
			o := Options{Format: format}
			if format == "csv" {
				o.Header, o.Index = csv.No, csv.No
			}
			got, err := ReadFrom(bytes.NewReader(text.Bytes()), "x", o)
			if err != nil {
				t.Fatalf("%v as %s: %v\n%s", inst, format, err, &text)
			}
			if got.N < inst.N || got.N > inst.N+1 {
				t.Fatalf("%v as %s: %d variables", inst, format, got.N)
			}
			constant := 0.0
			for try := range 4 {
				x := qubotest.RandomSolution(r, inst.N)
				if got.N > inst.N {
					x[inst.N/64] |= 1 << (inst.N % 64)
				}
				difference := inst.Value(x) - got.Value(x)
				if got.Sense != inst.Sense {
					difference = inst.Value(x) + got.Value(x)
				}
				if try == 0 {
					constant = difference
				}
				if difference != constant || slices.Contains([]string{"coo", "bqm", "bqpjson", "qs", "qubo", "lp"}, format) && constant != 0 {
					t.Fatalf("%v as %s: values differ by %v, and by %v\n%s", inst, format, difference, constant, &text)
				}
			}
		}
	}
}

// read reads text as a file of a name.
func read(t *testing.T, name, text string, o Options) *problem.Instance {
	t.Helper()
	inst, err := ReadFrom(strings.NewReader(text), name, o)
	if err != nil {
		t.Fatal(err)
	}
	return inst
}

func TestFormatsAreTold(t *testing.T) {
	for _, c := range []struct {
		name, text string
		o          Options
		format     string
		form       problem.Form
		sense      problem.Sense
		ones       float64 // value of all ones
	}{
		{"a.txt", "1\n2 3\n 1 1 5 \n 1 2 -3 \n2 2 1\n", Options{}, "orlib", problem.QUBO, problem.Maximize, 0},
		{"a.txt", "2 3\r\n1 1 5\r\n1 2 -3\r\n2 2 1\r\n", Options{Format: "orlib"}, "orlib", problem.QUBO, problem.Maximize, 0},
		{"a", "2 1\n1 2 4\n", Options{Form: problem.QUBO, Sense: problem.Minimize}, "orlib", problem.QUBO, problem.Minimize, 8},
		{"a", "2 1\n1 2 4\n", Options{Form: problem.MaxCut}, "rudy", problem.MaxCut, problem.Maximize, 0},
		{"a.sparse", "2 2\n1 1 5\n1 2 -3\n", Options{}, "sparse", problem.QUBO, problem.Minimize, -1},
		{"a.sparse", "2 2\n1 1 5\n1 2 -3\n", Options{Sense: problem.Maximize}, "sparse", problem.QUBO, problem.Maximize, -1},
		{"a.rud", "2 1\n1 2 -4\n", Options{}, "rudy", problem.MaxCut, problem.Maximize, 0},
		{"data/G23.txt", "2 1 \n1 2 -4 \n", Options{}, "rudy", problem.MaxCut, problem.Maximize, 0},
		{"G23-20002", "3 1\n1 2 1\n", Options{}, "rudy", problem.MaxCut, problem.Maximize, 0},
		{"G1", "2 1 J\n1 2 1\n", Options{}, "rudy", problem.MaxCut, problem.Maximize, 0},
		{"a.qubo", "c hello\nc\np qubo 0 2 2 1\nc nodes\n0 0 5\n1 1 -2\n0 1 3\n", Options{}, "qubo", problem.QUBO, problem.Minimize, 6},
		{"a.coo", "# vartype=SPIN\n", Options{}, "coo", problem.Ising, problem.Minimize, 0},
		{"a.coo", "0 0 1\n0 2 -3\n0 2 1\n", Options{Form: problem.QUBO}, "coo", problem.QUBO, problem.Minimize, -1},
		{"a", "# vartype=SPIN\n0 1 1.5\n1 1 -2\n", Options{}, "coo", problem.Ising, problem.Minimize, -0.5},
		{"a.mqlib", "# a comment\n2 2\n1 1 3\n1 2 2\n", Options{}, "mqlib", problem.QUBO, problem.Maximize, 7},
		{"a", "# a comment\n2 1\n1 2 2\n", Options{Form: problem.MaxCut}, "rudy", problem.MaxCut, problem.Maximize, 0},
		{"a", "%%MatrixMarket matrix coordinate integer symmetric\n% hi\n2 2 2\n1 1 3\n2 1 2\n", Options{}, "mtx", problem.QUBO, problem.Maximize, 7},
		{"a.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 3\n2 1 2\n1 2 0.5\n", Options{Sense: problem.Minimize}, "mtx", problem.QUBO, problem.Minimize, 5.5},
		{"a.mtx", "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 2\n", Options{Form: problem.MaxCut}, "mtx", problem.MaxCut, problem.Maximize, 0},
		{"a.json", `{"type": "BinaryQuadraticModel", "version": {"bqm_schema": "3.0.0"}, "use_bytes": false, "index_type": "uint16",
			"bias_type": "float32", "num_variables": 2, "num_interactions": 1, "variable_labels": ["a", 7], "variable_type": "SPIN", "offset": 1.5,
			"info": {}, "linear_biases": [1.0, 0.0], "quadratic_biases": [-1.0], "quadratic_head": [0], "quadratic_tail": [1]}`,
			Options{}, "bqm", problem.Ising, problem.Minimize, 1.5},
	} {
		inst := read(t, c.name, c.text, c.o)
		if inst.Format != c.format || inst.Form != c.form || inst.Sense != c.sense {
			t.Errorf("%s %q: read as %s, %v", c.name, c.text, inst.Format, inst)
		}
		x := make([]uint64, 1)
		for i := range inst.N {
			x[0] |= 1 << i
		}
		if v := inst.Value(x); v != c.ones {
			t.Errorf("%s %q: value %v of ones, want %v", c.name, c.text, v, c.ones)
		}
	}
	inst := read(t, "x.txt", "2\n1 1\n1 1 9\n2 1\n1 2 7\n", Options{Problem: 2})
	if inst.N != 2 || inst.Pairs() != 1 || inst.Int.Pair[0] != 14 {
		t.Errorf("problem 2 of 2: %v", inst)
	}
	inst = read(t, "x.txt", "2\n2 1\n1 2 9\n3 1\n3 2 7\n", Options{Problem: 1})
	if inst.N != 2 || inst.Pairs() != 1 || inst.Int.Pair[0] != 18 {
		t.Errorf("problem 1 of 2: %v", inst)
	}
	inst = read(t, "a.coo", "# vartype: SPIN\n0 1 1e3\n", Options{})
	if inst.Form != problem.Ising || inst.Int == nil || inst.Int.Pair[0] != 1000 {
		t.Errorf("vartype: SPIN: %v", inst)
	}
	inst = read(t, "a.json", `{"type": "BinaryQuadraticModel", "version": {"bqm_schema": "3.0.0"}, "num_variables": 0, "num_interactions": 0,
		"variable_type": "BINARY", "offset": 0, "linear_biases": [], "quadratic_biases": [], "quadratic_head": [], "quadratic_tail": [], "linear_bias": [3]}`, Options{})
	if notes := strings.Join(inst.Notes, "; "); !strings.Contains(notes, `the key "linear_bias" was passed over`) {
		t.Errorf("an unknown key: notes %q", notes)
	}
}

func TestWrongFiles(t *testing.T) {
	const bqm = `{"type": "BinaryQuadraticModel", "version": {"bqm_schema": "3.0.0"}, "num_variables": 1, "num_interactions": 1, "variable_labels": [0],
		"variable_type": "BINARY", "offset": 0, "linear_biases": [1], "quadratic_biases": [1], "quadratic_head": [0], "quadratic_tail": [1]}`
	const market = "%%MatrixMarket matrix coordinate real "
	for _, c := range []struct{ name, text, want string }{
		{"a.txt", "", "a.txt:1: found the end of the file, expected the number of problems"},
		{"a.txt", "2\n1 0\n1 0\n", "a.txt:1: found 2 problems, expected to be told which (--problem 1 to 2)"},
		{"a.sparse", "3 2\n1 2 4\n", "a.sparse:2: found the end of the file after 1 of 2 coefficients: the file is truncated"},
		{"G58.txt", "3 3\n1 2 1\n2 3 1\n", "G58.txt:3: found the end of the file after 2 of 3 coefficients: the file is truncated"},
		{"a.sparse", "3 1\n1 2 4\n1 3 4\n", `a.sparse:3:1: found "1" after 1 coefficient, expected the end of the file`},
		{"a.sparse", "3 2\n1 2 4\n2 1 4\n", "a.sparse:3: found the variables of line 2 again, expected each pair once"},
		{"a.sparse", "3 2\n\n1 1 4\n\n1 1 4\n", "a.sparse:5: found the variables of line 3 again"},
		{"a.sparse", "3 1\n0 2 4\n", "a.sparse:2:1: found the variable \"0\", expected a whole number from 1 to 3"},
		{"a.sparse", "3 1\n1 4 4\n", "a.sparse:2:3: found the variable \"4\", expected a whole number from 1 to 3"},
		{"a.sparse", "3 1\n1 x 4\n", `a.sparse:2:3: found the variable "x", expected a whole number from 1 to 3`},
		{"a.sparse", "3 1\n1 2 nan\n", `a.sparse:2:5: coefficient: found "nan", expected a number`},
		{"a.sparse", "3 1\n1 2\n", "a.sparse:2: found 2 words, expected a line of two variables and a coefficient"},
		{"a.sparse", "3 99999999999\n", "a.sparse:1:3: found the number of coefficients \"99999999999\", expected a whole number from 0 to 2147483647"},
		{"a.sparse", "2 1\n1 2 9000000000000000001\n", "coefficient: absolute values add up to 1.8e+19, expected at most 2^56, or numbers that float64 holds: found 9000000000000000001"},
		{"a.rud", "2 1\n1 1 1\n", "a.rud:2: found an edge from 1 to itself"},
		{"a.lp", "Minimize\nMinimize\n obj: x\nBinaries\n x\nEnd\n", `a.lp:2: found "Minimize", expected one objective`},
		{"a.qubo", "0 0 1\n", `a.qubo:1:1: found "0 0 1", expected p qubo, 0, and the numbers of variables`},
		{"a.qubo", "p qubo 0 2 1 1\n0 0 1\n", "a.qubo:2: found the end of the file after 1 of 2 coefficients"},
		{"a.qubo", "p qubo 0 2 0 1\n1 2 1\n", "a.qubo:2:3: found the variable \"2\", expected a whole number from 0 to 1"},
		{"a.coo", "0 1\n", "a.coo:1: found 2 words"},
		{"a.coo", "", "a.coo:1: found no coefficients and no vartype, expected a line of two variables and a coefficient"},
		{"a.coo", "\n# nothing\n", "a.coo:1: found no coefficients and no vartype"},
		{"a.json", "\xff\xfe{\x00}\x00", "a.json:1: found UTF-16, expected UTF-8"},
		{"a.coo", "0 -1 3\n", `a.coo:1:3: found the variable "-1", expected a whole number from 0 to`},
		{"a.mtx", "%%MatrixMarket matrix coordinate complex general\n", `a.mtx:1: found "complex" entries`},
		{"a.mtx", "%%MatrixMarket matrix coordinate real general\n2 3 0\n", "a.mtx:2: found a matrix of 2 x 3, expected a square"},
		{"a.json", "{", "a.json: JSON at byte 1: unexpected end"},
		{"a.qubo", "p qubo 0 3 2 1\n0 0 1\n0 1 1\n1 2 2\n", "a.qubo:4: found 1 node and 2 couplers, expected 2 and 1"},
		{"a.coo", "# vartype=SPAM\n0 1 2\n", "a.coo:1: found \"vartype=SPAM\", expected vartype=BINARY or vartype=SPIN"},
		{"a.json", `{"type": "BinaryQuadraticModel", "offset": 1, "offset": 2}`, `found the key "offset" again`},
		{"a.json", `{"type": "BinaryQuadraticModel", "LINEAR_BIASES": [1]}`, `found the key "LINEAR_BIASES", expected "linear_biases"`},
		{"a.json", `{"type": "BinaryQuadraticModel", "variable_labels": ["a", "b", "a"]}`, `found the label "a" of variables 0 and 2`},
		{"a.json", `{"type": "BinaryQuadraticModel", "variable_labels": ["a", "\u0061"]}`, `found the label "a" of variables 0 and 1`},
		{"a.json", `{"type": "BinaryQuadraticModel", "variable_labels": [1, "1", 1.0]}`, `found the label "1.0" of variables 0 and 2`},
		{"a.json", `{"type": "BinaryQuadraticModel", "variable_labels": [["a", 1], ["\u0061", true]]}`, `of variables 0 and 1, expected different ones`},
		{"a.json", `{"type": "BinaryQuadraticModel", "variable_labels": [{"a": 1}]}`, `of variable 0, expected no object`},
		{"a.json", `{"type": "BinaryQuadraticModel", "variable_labels": [0, {"a": 1, "\u0061": 2}]}`, `a.json: JSON at byte 73: found the key "a" again`},
		{"a.json", `{"type": "BinaryQuadraticModel", "version": {"bqm_schema": "3.0.0", "bqm_schema": "2.0.0"}}`, `found the key "bqm_schema" again`},
		{"a.json", `{"type": "BinaryQuadraticModel", "info": {"a": [{"b": 1, "b": 2}]}}`, `found the key "b" again`},
		{"a.coo", "# vartype=SPIN\n0 1 2\n# vartype: BINARY\n", "a.coo:3: found another vartype than on line 1, expected one"},
		{"a.coo", "# offset=1\n# offset=1\n# offset=2\n0 1 2\n", "a.coo:3: found another offset than on line 1, expected one"},
		{"a.coo", "0 1 2\n# offset=x\n", `a.coo:2: offset: coefficient: found "x", expected a number`},
		{"a.mtx", market + "symmetric\n2 2 2\n2 1 3\n1 2 3\n", "a.mtx:4: found entries on both sides of the diagonal, that of line 3 on the other"},
		{"a.mtx", market + "skew-symmetric\n2 2 1\n1 1 3\n", "a.mtx:3: found an entry on the diagonal, row 1, of a skew-symmetric matrix"},
		{"a.mtx", "%%MatrixMarket matrix array real general\n1 1\nnan\n", `a.mtx:3:1: coefficient: found "nan", expected a number`},
		{"a.json", `{"type": "x"}`, `a.json: found type "x", expected "BinaryQuadraticModel"`},
		{"a.json", bqm, "a.json: found the pair 0, 1, expected two different variables from 0 to 0"},
		{"a.npy", "\x93NUMPY\x01\x00", "a.npy: npy header"},
	} {
		_, err := ReadFrom(strings.NewReader(c.text), c.name, Options{})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %q:\n got %v\nwant %s", c.name, c.text, err, c.want)
		}
	}
	if _, err := ReadFrom(strings.NewReader("3 1\n1 2 4\n"), "a.rud", Options{Memory: 30}); err == nil || !strings.Contains(err.Error(), "more than the limit of 30") {
		t.Errorf("memory: %v", err)
	}
	if _, err := ReadFrom(strings.NewReader("3 1\n1 2 4\n"), "a.qubo", Options{Form: problem.Ising}); err == nil || !strings.Contains(err.Error(), "expected one that can hold form ising") {
		t.Errorf("form: %v", err)
	}
	if _, err := ReadFrom(strings.NewReader(""), "a", Options{Format: "xls"}); err == nil || !strings.Contains(err.Error(), "expected one of orlib, sparse, qs") {
		t.Errorf("format: %v", err)
	}
}

func TestReadCompressed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "G1.txt.gz")
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	fmt.Fprint(z, "2 1\n1 2 3\n")
	z.Close()
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	inst, err := Read(path, Options{})
	if err != nil || inst.Form != problem.MaxCut || inst.Source != path {
		t.Errorf("%v, %v", inst, err)
	}
}

// Reading takes no more memory than it may, whatever grows.
func TestMemory(t *testing.T) {
	long := strings.Repeat("0 1 1\n", 1000)
	for _, c := range []struct{ name, text, want string }{
		{"a.coo", long, "1000 coefficients take 54.7 KiB, more than the 39.0 KiB that are left of the limit of 39.1 KiB"},
		{"a.coo", strings.ReplaceAll(strings.Repeat("0 1 1\n", 600), "\n", "\n\n"), "the lines of 585 coefficients take 9.1 KiB, more than the 7.1 KiB that are left of the limit of 39.1 KiB"},
		{"a.coo", "# vartype=BINARY\n30000 1 1\n", "a.coo: 30001 variables take 938 KiB, more than the limit of 39.1 KiB"},
		{"a.sparse", "9 1000\n" + long, "a.sparse:1: 1000 coefficients take 54.7 KiB, more than the limit of 39.1 KiB"},
		{"a.mtx", "%%MatrixMarket matrix coordinate real general\n9 9 1000\n" + long, "a.mtx:2: 1000 coefficients take 54.7 KiB, more than the limit of 39.1 KiB"},
		{"a.mtx", "%%MatrixMarket matrix coordinate real general\n9 9 9000000000000000\n" + long, "a.mtx:2: 9000000000000000 coefficients take"},
		{"a.sparse", "9 1\n" + strings.Repeat("1", maxLine+1), "a.sparse:2: found a line"},
	} {
		_, err := ReadFrom(strings.NewReader(c.text), c.name, Options{Memory: 40000})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %.60q:\n got %v\nwant %s", c.name, c.text, err, c.want)
		}
	}
}

// Decimals of whole numbers leave integers beyond 2^53 as they are.
func TestIntegersStay(t *testing.T) {
	for _, c := range []struct{ name, text string }{
		{"a.qubo", "p qubo 0 2 1 1\n0 0 9007199254740993\n0 1 1.0\n"},
		{"a.coo", "# vartype=BINARY\n0 0 9007199254740993\n# offset=3.0\n0 1 1e0\n"},
		{"a.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 9007199254740993\n1 2 1.0\n"},
	} {
		if inst := read(t, c.name, c.text, Options{}); inst.Int == nil || inst.Int.Linear[0] != 1<<53+1 || inst.Int.Pair[0] != 1 {
			t.Errorf("%s: %v", c.name, inst)
		}
	}
}

// What keeps a first line from being read is told, not called the end of the file.
func TestFailingStreams(t *testing.T) {
	failed := errors.New("the disk is gone")
	for _, format := range []string{"orlib", "rudy", "sparse", "mqlib", "qubo", "coo"} {
		_, err := ReadFrom(iotest.ErrReader(failed), "a.txt", Options{Format: format})
		if !errors.Is(err, failed) || strings.Contains(err.Error(), "end of the file") {
			t.Errorf("%s: found %v, expected %v", format, err, failed)
		}
	}
}
