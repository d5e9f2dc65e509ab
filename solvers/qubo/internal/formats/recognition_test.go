package formats

import (
	"strings"
	"testing"

	"coalesce/solvers/formats/csv"
	"coalesce/solvers/qubo/problem"
)

// Names of the field's libraries say what files of n, m and edges are; a diagonal decides against a cut.
func TestNamesOfLibraries(t *testing.T) {
	const edges, program = "3 2\n1 2 4\n2 3 -1\n", "3 2\n1 2 4\n3 3 -1\n"
	for _, c := range []struct {
		name, text, format string
		form               problem.Form
	}{
		{"g05_60.0", edges, "rudy", problem.MaxCut},
		{"pm1s_80.3", edges, "rudy", problem.MaxCut},
		{"pm1d_100.9.txt", edges, "rudy", problem.MaxCut},
		{"w09_100.0", edges, "rudy", problem.MaxCut},
		{"pw01_100.2", edges, "rudy", problem.MaxCut},
		{"ising2.5-100_5555", edges, "rudy", problem.MaxCut},
		{"t2g10_5555", edges, "rudy", problem.MaxCut},
		{"toruspm3-8-50.dat", edges, "rudy", problem.MaxCut},
		{"torusg3-15.dat", edges, "rudy", problem.MaxCut},
		{"mannino_k48.mc", edges, "rudy", problem.MaxCut},
		{"G14.txt", edges, "rudy", problem.MaxCut},
		{"bqp2500-1.txt", program, "orlib", problem.QUBO},
		{"p3000.2", program, "orlib", problem.QUBO},
		{"gka1a.sparse", program, "sparse", problem.QUBO},
		{"be100.1.sparse", program, "sparse", problem.QUBO},
		{"G14.mtx", "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 2\n", "mtx", problem.MaxCut},
		{"G14.mtx", "%%MatrixMarket matrix array integer symmetric\n2 2\n0\n4\n0\n", "mtx", problem.MaxCut},
	} {
		inst := read(t, c.name, c.text, Options{})
		if inst.Format != c.format || inst.Form != c.form {
			t.Errorf("%s: read as %s, %s, expected %s, %s", c.name, inst.Format, inst.Form, c.format, c.form)
		}
		if c.name == "G14.mtx" && inst.Int.Pair[0]%4 > 1 {
			t.Errorf("%s: the weight %d counts twice", c.name, inst.Int.Pair[0])
		}
	}
	for _, c := range []struct {
		name, text string
		o          Options
		want       []string // options that the error names
		not        string   // an option that it does not name
	}{
		{"a", edges, Options{}, []string{"a:1: found n m and lines", "--format rudy", "orlib", "sparse", "qubist", "sg"}, "mqlib"},
		{"a.txt", "# made by us\n\n" + edges, Options{}, []string{"a.txt:3: found n m", "--format rudy"}, "mqlib"},
		{"a.dat", program, Options{}, []string{"--format orlib", "sparse", "qubist"}, "rudy"},
		{"g05_10.0", program, Options{}, []string{"--format orlib"}, "rudy"},
		{"a", "3 2\n0 2 4\n2 1 -1\n", Options{}, []string{"--format qubist"}, "rudy"},
		{"a", edges, Options{Form: problem.QUBO}, []string{"--format orlib (a QUBO to be maximised) or sparse"}, "qubist"},
		{"a", edges, Options{Sense: problem.Minimize}, []string{"--format rudy"}, "mqlib"},
		{"a", edges, Options{Form: problem.Ising}, []string{"--format qubist", "sg"}, "rudy"},
		{"a.gsg", edges, Options{}, []string{"found a spin glass", "--format rudy", "qubist", "sg"}, "sparse"},
		{"a.sg", "# x\n" + edges, Options{}, []string{"a.sg:2: found a spin glass"}, "sparse"},
		{"a", "2 1\n1 2\n", Options{}, []string{"--format rudy or csv"}, "orlib"},
		{"a", "0 1 3\n1 1 2\n2 0 4\n", Options{}, []string{"--format coo", "csv"}, "orlib"},
		{"a.coo", "0 1 3\n", Options{}, []string{"a.coo: found no vartype", "--form qubo", "ising"}, "maxcut"},
		{"a.npz", "PK\x05\x06" + strings.Repeat("\x00", 18), Options{}, []string{"a.npz: found a zip archive of 0 files"}, "--format"},
		{"a.mtx", "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 1\n2 1\n", Options{}, []string{"--form maxcut, ising or qubo"}, "--format"},
		{"a.csv", "0,4\n4,0\n", Options{Header: csv.No}, []string{"--form maxcut, ising or qubo"}, "--format"},
		{"a.json", "[[1, 2], [2, 1]]", Options{}, []string{"a.json:1: found an array of JSON, expected an object"}, "--format"},
		{"a.pdf", "%PDF-1.7\n", Options{}, []string{"a.pdf: found a PDF document, expected a binary quadratic program, in one of the formats orlib"}, "--format"},
		{"a", "p cnf 3 2\n1 0\n", Options{}, []string{"a: found a DIMACS formula (CNF), expected"}, "--format"},
	} {
		_, err := ReadFrom(strings.NewReader(c.text), c.name, c.o)
		for _, want := range c.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s %q %+v: %v, expected %s", c.name, c.text, c.o, err, want)
			}
		}
		if err != nil && strings.Contains(err.Error(), c.not) {
			t.Errorf("%s %q: %v, expected no %s", c.name, c.text, err, c.not)
		}
	}
}

// Comments that state an offset, a scale or the kind of variables count, wherever they stand.
func TestStatements(t *testing.T) {
	const program = "p qubo 0 2 2 1\n0 0 -1\n1 1 -1\n0 1 3\n"
	for _, c := range []struct {
		name, text string
		ones       float64 // value of all ones
	}{
		{"a.qubo", "c offset : 5\nc scale : 2\n" + program, 12},
		{"a.qubo", "c offset:5\nc scale=2\n" + program, 12},
		{"a.qubo", program + "c offset : 5\n", 6},
		{"a.qubo", "c scale : 2.7\nc offset : 1.93\n" + program, 7.911},
		{"a.qubo", "c offset of the model\nc scales : 3\n" + program, 1},
		{"a.qubo", "c scale : 0\n" + program, 0},
		{"a.qs", "# ObjectiveOffset 25\n# Vars Non-zeros\n2 3\n1 1 -9\n1 2 2\n2 2 -16\n", 4},
		{"a.txt", "# Vars Non-zeros\n2 1\n1 2 2.5\n", 5},
		{"a.sparse", "# scale : 0.1\n# offset : 3\n2 1\n1 2 1\n", 0.5},
		{"a.coo", "# written as COO, vartype: SPIN\n# offset = 1\n0 1 0.1\n# scale : 3\n", 3.3},
		{"a.qh", "2 2\n0 1 1.5\n1 0 2\n", 3.5},
	} {
		inst := read(t, c.name, c.text, Options{})
		if v := inst.Value([]uint64{3}); v != c.ones {
			t.Errorf("%s %q: value %v of ones, expected %v", c.name, c.text, v, c.ones)
		}
	}
	for _, c := range []struct{ name, text, want string }{
		{"a.qubo", "c offset : 5\nc offset : 6\n" + program, "a.qubo:2: found another offset than on line 1"},
		{"a.qubo", program + "c scale : -1\n", `a.qubo:5: scale: found "-1", expected 0 or more`},
		{"a.qubo", "c scale : many\n" + program, `a.qubo:1: scale: coefficient: found "many"`},
		{"a.qubo", "c scale : 1000000000000000000\n" + program, "expected at most 2^58"},
		{"a.qubo", "p qubo 0 3 0 1\n0 1 2 5\n", "a.qubo:2: found 3 variables and a coefficient, a term of degree 3 (HUBO)"},
		{"a.sparse", "3 1\n1 2 3 3 5\n", "a term of degree 4 (HUBO)"},
		{"a.rud", "3 2\n1 2\n2 3 4\n", "a.rud:3: found a line with a coefficient, expected none"},
	} {
		if _, err := ReadFrom(strings.NewReader(c.text), c.name, Options{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %q: %v, expected %s", c.name, c.text, err, c.want)
		}
	}
}

func TestDIMACS(t *testing.T) {
	for _, c := range []struct {
		text  string
		pairs int64
		want  string // the sum of the weights, or a part of the error
	}{
		{"c x\np edge 3 3\ne 1 2\ne 2 3\ne 1 3\n", 3, "3"},
		{"p col 3 4\ne 1 2\ne 2 1\ne 2 3\ne 3 2\n", 2, "2"},
		{"p edge 3 2\ne 1 2\ne 2 1\ne 2 3\ne 3 2\n", 2, "2"},
		{"p edge 3 4\ne 1 2\ne 2 3\n", 2, "2"},
		{"p edge 3 2\nn 1 7\ne 1 2 4\ne 2 3 -1.5\n", 2, "2.5"},
		{"p edge 0 0\n", 0, "0"},
		{"p edge 3 5\ne 1 2\n", 0, "a.col:2: found 1 edges, expected 5 as the header says"},
		{"p edge 3 2\ne 1 2\ne 2 3 1\n", 0, "a.col:3: found a line with a coefficient, expected none"},
		{"p edge 3 1\ne 1 1\n", 0, "a.col:2: found an edge from 1 to itself"},
		{"p edge 3 1\ne 1 4\n", 0, `a.col:2:5: found the variable "4", expected a whole number from 1 to 3`},
		{"p edge 3 2\ne 1 2 1\ne 2 1 1\n", 0, "a.col:3: found the variables of line 2 again"},
		{"p edge 3 1\nq 1 2\n", 0, `a.col:2:1: found "q", expected a line of e/a: variable, variable and coefficient, or a line of n/d/v/x`},
		{"c x\n", 0, "expected a line of p edge"},
	} {
		inst, err := ReadFrom(strings.NewReader(c.text), "a.col", Options{})
		if err != nil {
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("%q: %v, expected %s", c.text, err, c.want)
			}
			continue
		}
		sum := 0.0
		for k := range inst.Col {
			if inst.Int != nil {
				sum += float64(inst.Int.Pair[k]) / 2
			} else {
				sum += inst.Real.Pair[k] / 2
			}
		}
		if inst.Pairs() != c.pairs || (value{real: sum, float: true}).String() != c.want || inst.Form != problem.MaxCut {
			t.Errorf("%q: %d pairs of the weight %v, expected %d of %s", c.text, inst.Pairs(), sum, c.pairs, c.want)
		}
	}
}

func TestLP(t *testing.T) {
	end := "\nBinaries\n x y\nEnd\n"
	for _, c := range []struct {
		text string
		ones float64
		want string // sense, or a part of the error
	}{
		{"Minimize\n obj: - x - y + [ 6 x * y ] / 2" + end, 1, "minimize"},
		{"\\ made by us\nMaximize\n x + 2.5 y - [ 2 x ^ 2 - 4 x * y ]/2 + 7" + end, 11.5, "maximize"},
		{"max: 3 x - 2y" + end, 1, "maximize"},
		{"MINIMISE\n3x[0,1] - 2 y\nst\nBINARY\nx[0,1]\ny\nEND", 1, "minimize"},
		{"Minimize\n obj: [ x * y ]\nSubject To\nBounds\n 0 <= x <= 1\n x <= 1\nBinaries\n x\nGenerals\n y\nEnd\n", 0, "a.lp:10: found the variable \"y\", which is not binary"},
		{"Minimize\n obj: 2 x * y\nBounds\n 0 <= x <= 1\n y <= 1\nGenerals\n x y\nEnd\n", 2, "minimize"},
		{"Minimize\n 1e2 x + 1.5e-1 y" + end, 100.15, "minimize"},
		{"Minimize\n obj:" + end, 0, "minimize"},
		{"Minimize\n x + z" + end, 0, `found the variable "z", which is not binary`},
		{"Minimize\n x\nSubject To\n c1: x + y <= 1" + end, 0, "a.lp:4: found a constraint, expected none"},
		{"Minimize\n x * y * x" + end, 0, "a.lp:2: found a term of degree 3 or more"},
		{"Minimize\n x ^ 3" + end, 0, `a.lp:2: found "3", expected the exponent 2`},
		{"Minimize\n x y" + end, 0, `found "y", expected a sign between terms`},
		{"Minimize\n [ x * y" + end, 0, "found a bracket in the objective that is not closed"},
		{"Minimize\n [ x * y ] / 3" + end, 0, `found "3", expected / 2 behind the bracket`},
		{"Minimize\n x\nBounds\n x = 1" + end, 0, `a.lp:4: found the bounds 1 to 1 of the variable "x", expected 0 and 1`},
		{"Minimize\n x\nSOS\n s1: S1:: x:1" + end, 0, `found the section "SOS"`},
	} {
		inst, err := ReadFrom(strings.NewReader(c.text), "a.lp", Options{})
		if err != nil {
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("%q: %v, expected %s", c.text, err, c.want)
			}
			continue
		}
		if v := inst.Value([]uint64{3}); v != c.ones || string(inst.Sense) != c.want || inst.N != 2 {
			t.Errorf("%q: %s %v of %d variables, expected %s %v", c.text, inst.Sense, v, inst.N, c.want, c.ones)
		}
	}
}

// One objective, - x + 2.5 y + 3 x y + 7 - 2 x, as MPS and QPLIB write it.
func TestPrograms(t *testing.T) {
	const mps = "NAME example\nROWS\n N obj\nCOLUMNS\n M1 'MARKER' 'INTORG'\n x obj -1\n y obj 2.5\n M2 'MARKER' 'INTEND'\nRHS\n RHS obj -7\nBOUNDS\n BV B x\nQUADOBJ\n x x -4\n x y 3\nENDATA\n"
	const qplib = "EXAMPLE # name\nQBN\nmaximize\n2\n2\n1 1 -4\n2 1 3\n0 # linear\n2\n1 -1\n2 2.5\n7\n1e30\n0\n0\n0\n0\n0\n"
	for _, c := range []struct{ name, text, sense string }{
		{"a.mps", mps, "minimize"}, {"a.qps", strings.Replace(mps, "ROWS", "OBJSENSE\n    MAX\nROWS", 1), "maximize"}, {"a", mps, "minimize"},
		{"a.qplib", qplib, "maximize"}, {"a", qplib, "maximize"},
	} {
		inst := read(t, c.name, c.text, Options{})
		for x, want := range []float64{7, 4, 9.5, 9.5} {
			if v := inst.Value([]uint64{uint64(x)}); v != want || string(inst.Sense) != c.sense {
				t.Errorf("%s: %s, value %v of %d, expected %v", c.name, inst.Sense, v, x, want)
			}
		}
	}
	for _, c := range []struct{ name, text, want string }{
		{"a.mps", strings.Replace(mps, "COLUMNS", " L c\nCOLUMNS", 1), "a.mps:4: found a constraint, expected none"},
		{"a.mps", strings.Replace(mps, " M1 'MARKER' 'INTORG'\n", "", 1), `a.mps:6: found the variable "y", which is not binary`},
		{"a.qplib", strings.Replace(qplib, "QBN", "QCN", 1), "a.qplib:18: found the end of the file"},
		{"a.qplib", strings.Replace(qplib, "2 1 3", "3 1 3", 1), `a.qplib:7: found the variable "3", expected a whole number from 1 to 2`},
		{"a.mps", strings.Replace(mps, "2.5", "nan", 1), `a.mps:7: coefficient: found "nan", expected a number`},
	} {
		if _, err := ReadFrom(strings.NewReader(c.text), c.name, Options{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, expected %s", c.text, err, c.want)
		}
	}
}

func TestBQPJSON(t *testing.T) {
	text := func(domain, terms string) string {
		return `{"version": "1.0.0", "id": 1, "metadata": {"x": [1]}, "variable_domain": "` + domain + `", "scale": 2.5, "offset": -1, "variable_ids": [7, 0], ` + terms + "}"
	}
	const good = `"linear_terms": [{"id": 7, "coeff": 0.1}], "quadratic_terms": [{"id_tail": 0, "id_head": 7, "coeff": 1.5}]`
	inst := read(t, "a.json", text("boolean", good), Options{})
	if v := inst.Value([]uint64{1}); v != -2.25 || inst.Value([]uint64{3}) != 1.5 || inst.Form != problem.QUBO || strings.Join(inst.Names, " ") != "7 0" {
		t.Errorf("%v: value %v, names %q", inst, v, inst.Names)
	}
	for _, c := range []struct{ text, want string }{
		{text("integer", good), `found variable_domain "integer", expected "spin" or "boolean"`},
		{text("spin", strings.Replace(good, `"id": 7`, `"id": 8`, 1)), "found the variable 8 in linear term 0, expected one of variable_ids"},
		{text("spin", strings.Replace(good, `"id_head": 7`, `"id_head": 0`, 1)), "found the variables 0 and 0 in quadratic term 0"},
		{strings.Replace(text("spin", good), "2.5", "-2.5", 1), "found the scale -2.5, expected 0 or more"},
		{strings.Replace(text("spin", good), "[7, 0]", "[7, 7]", 1), "found the variable 7 in variable_ids again"},
		{strings.Replace(text("spin", good), `"id": 1`, `"sense": "max"`, 1), `found the sense "max", expected min`},
	} {
		if _, err := ReadFrom(strings.NewReader(c.text), "a.json", Options{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, expected %s", c.text, err, c.want)
		}
	}
}
