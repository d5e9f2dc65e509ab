package qubo

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"coalesce/runtime/host"
	"coalesce/solvers/formats/csv"
	"coalesce/solvers/qubo/problem"
	"coalesce/solvers/solve"
)

// fuzz: what is read is sound, can be written and read again, and small
// instances solve.
func fuzz(f *testing.F, format string, seeds ...string) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	written := format
	if format == "dimacs" || format == "sg" || format == "mps" || format == "qplib" { // which are read alone
		written = "bqm"
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		inst, err := ReadFrom(bytes.NewReader(data), "a", ReadOptions{Format: format, Memory: 1 << 20})
		if err != nil {
			return
		}
		if len(inst.Start) != inst.N+1 || inst.Start[inst.N] != int64(len(inst.Col)) {
			t.Fatalf("%v: %d rows", inst, len(inst.Start)-1)
		}
		for i := range inst.N {
			for k := inst.Start[i]; k < inst.Start[i+1]; k++ {
				if j := int(inst.Col[k]); j == i || j >= inst.N || k > inst.Start[i] && inst.Col[k-1] >= inst.Col[k] {
					t.Fatalf("%v: row %d has column %d", inst, i, j)
				}
			}
		}
		var text bytes.Buffer
		if _, err := Write(&text, inst, written); err != nil {
			if errors.Is(err, problem.ErrCoefficient) || inst.N > 1<<10 || format == "lp" && strings.Contains(err.Error(), "names that LP format can hold") {
				return
			}
			t.Fatal(err)
		}
		o := ReadOptions{Format: written}
		if written == "csv" {
			o.Header, o.Index = csv.No, csv.No
		}
		back, err := ReadFrom(bytes.NewReader(text.Bytes()), "a", o)
		if err != nil && !errors.Is(err, problem.ErrCoefficient) {
			t.Fatalf("%v\n%s", err, &text)
		}
		if inst.N > 12 || back == nil {
			return
		}
		d := host.Open(1)
		defer d.Close()
		r, err := Solve(t.Context(), inst, on(d, Options{Settings: solve.Settings{TimeLimit: time.Second}}))
		switch {
		case errors.Is(err, problem.ErrCoefficient):
		case err != nil:
			t.Fatal(err)
		case !r.Proven:
			t.Fatalf("%v: not proven", inst)
		}
	})
}

func FuzzOrlib(f *testing.F) {
	fuzz(f, "orlib", "", "1\n2 3\n 1 1 5 \n 1 2 -3 \n2 2 1\n", "3 2\r\n1 2 0.5\r\n2 3 1e9\r\n", "2 1\n1 2 1e300")
}

func FuzzSparse(f *testing.F) { fuzz(f, "sparse", "2 2\n1 1 5\n1 2 -3\n", "# hi\n1 0\n") }

func FuzzRudy(f *testing.F) { fuzz(f, "rudy", "3 2 J\n1 2 1\n2 3 -1\n", "0 0") }

func FuzzQUBO(f *testing.F) { fuzz(f, "qubo", "c\np qubo 0 2 2 1\n0 0 5\n1 1 -2\n0 1 3\n") }

func FuzzCOO(f *testing.F) {
	fuzz(f, "coo", "# vartype=SPIN\n# offset=2.5\n0 1 1.5\n1 1 -2\n", "0 0 1\n0 2 -3\n0 2 1\n")
}

func FuzzBQM(f *testing.F) {
	fuzz(f, "bqm", `{"type": "BinaryQuadraticModel", "version": {"bqm_schema": "3.0.0"}, "num_variables": 2, "num_interactions": 1,
		"variable_labels": ["a", 7], "variable_type": "SPIN", "offset": 1.5, "linear_biases": [1.0, 0.0], "quadratic_biases": [-1.0],
		"quadratic_head": [0], "quadratic_tail": [1]}`)
}

func FuzzBinary(f *testing.F) {
	for _, name := range []string{"q05_tofile.bqm", "spin_v1.bqm", "range_float32.bqm"} {
		data, err := os.ReadFile(filepath.Join("testdata", "files", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	fuzz(f, "bqm")
}

func FuzzBQPJSON(f *testing.F) {
	fuzz(f, "bqpjson", `{"version": "1.0.0", "id": 1, "variable_domain": "spin", "variable_ids": [3, 8], "scale": 2.0, "offset": 1.5,
		"linear_terms": [{"id": 3, "coeff": 0.5}], "quadratic_terms": [{"id_tail": 3, "id_head": 8, "coeff": 1.0}], "metadata": {}}`)
}

func FuzzQS(f *testing.F) {
	fuzz(f, "qs", "# ObjectiveOffset 25\n# Vars Non-zeros\n2 3\n1 1 -9\n1 2 2\n2 2 -16\n", "# scale : 0.5\n1 1\n1 1 3\n")
}

func FuzzQubist(f *testing.F) { fuzz(f, "qubist", "4 4\n1 1 1.5\n3 3 -0.5\n1 2 -1\n2 3 2\n") }

func FuzzSpinGlass(f *testing.F) { fuzz(f, "sg", "# grid\n4 2\n1 2 5\n2 3 -7\n") }

func FuzzDIMACS(f *testing.F) {
	fuzz(f, "dimacs", "c x\np edge 3 3\ne 1 2\ne 2 3\ne 1 3\n", "p col 2 1\nn 1 3\ne 1 2 4\n")
}

func FuzzLP(f *testing.F) {
	fuzz(f, "lp", "Minimize\n obj: - x - 2.5 y + 3 + [ 6 x * y + x ^ 2 ] / 2\nBounds\n 0 <= x <= 1\nBinaries\n x y\nEnd\n", "max x[0,1]\nst\nbin x[0,1]")
}

func FuzzMPS(f *testing.F) {
	fuzz(f, "mps", "NAME\nROWS\n N o\nCOLUMNS\n M 'MARKER' 'INTORG'\n x o -1\n y o 2.5\nRHS\n R o 3\nBOUNDS\n BV B x\nQUADOBJ\n x x -4\n x y 3\nENDATA\n")
}

func FuzzQPLIB(f *testing.F) {
	fuzz(f, "qplib", "EXAMPLE # name\nQBN\nmaximize\n2\n2\n1 1 -4\n2 1 3\n0\n2\n1 -1\n2 2.5\n7\n1e30\n0\n0\n0\n0\n0\n")
}

func FuzzTable(f *testing.F) { fuzz(f, "csv", "-1,3\n0,-1\n", ",a,b\na,-2,3\nb,0,-1.5\n") }

func FuzzMQLib(f *testing.F) { fuzz(f, "mqlib", "# a comment\n2 2\n1 1 3\n1 2 2\n") }

func FuzzMarket(f *testing.F) {
	fuzz(f, "mtx", "%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 3\n2 1 2\n1 2 0.5\n", "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 2\n")
}

func FuzzNPY(f *testing.F) {
	inst, err := Palubeckis(3, 100, 1)
	if err != nil {
		f.Fatal(err)
	}
	var text bytes.Buffer
	if _, err := Write(&text, inst, "npy"); err != nil {
		f.Fatal(err)
	}
	fuzz(f, "npy", text.String(), "\x93NUMPY\x01\x00")
}
