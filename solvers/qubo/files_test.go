package qubo

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"coalesce/runtime/host"
	"coalesce/solvers/qubo/problem"
)

// Files of the field are read for what they are, or asked about, or named.
func TestFilesOfTheField(t *testing.T) {
	d := host.Open(1)
	defer d.Close()
	minimize := ReadOptions{Sense: problem.Minimize}
	for _, c := range []struct {
		file     string
		o        ReadOptions
		want     string // the value, or a part of the error
		solution string // where it is the only one
		names    string
	}{
		{"q01_qoblib.qs", ReadOptions{}, "4", "11", ""},
		{"q02_qubist.qh", ReadOptions{}, "-5", "", ""},
		{"g05_10.0", ReadOptions{}, "14", "", ""},
		{"q03_torus.dat", ReadOptions{}, "10", "", ""},
		{"q03_grid.gsg", ReadOptions{}, "q03_grid.gsg:2: found a spin glass, whose couplings have one sign or the other, expected to be told what they are: --format rudy ", "", ""},
		{"q03_grid.gsg", ReadOptions{Format: "sg"}, "14", "", ""},
		{"q03_grid.gsg", ReadOptions{Form: problem.Ising}, "14", "", ""},
		{"q03_grid.gsg", ReadOptions{Form: problem.MaxCut}, "10", "", ""},
		{"q04_bqpjson.json", ReadOptions{}, "0", "01", "[3 8]"},
		{"q05_tofile.bqm", ReadOptions{}, "-1.5", "01", "[north south]"},
		{"q06_labels.json", ReadOptions{}, "-1.5", "01", "[north south]"},
		{"q10_offset.qubo", ReadOptions{}, "8", "", ""},
		{"q11_unweighted.rud", ReadOptions{}, "2", "", ""},
		{"q12_dimacs.col", ReadOptions{}, "2", "", ""},
		{"q13_model.lp", ReadOptions{}, "-1", "", "[x y]"},
		{"q14_matrix.csv", minimize, "-1", "", ""},
		{"q15_dense.mtx", minimize, "-1", "", ""},
		{"q16_hubo.coo", ReadOptions{}, "q16_hubo.coo:2: found 3 variables and a coefficient, a term of degree 3 (HUBO)", "", ""},
		{"q17.npz", ReadOptions{}, "1", "11", ""},
		{"spin_v1.bqm", ReadOptions{}, "-7.5", "110", `[a ["t", 2] 7]`},
		{"range_float32.bqm", ReadOptions{}, "-2.5", "111", ""},
		{"dimod.lp", ReadOptions{}, "0.5", "011", "[x y z]"},
		{"graph.mtx", ReadOptions{}, "graph.mtx: found a symmetric matrix without a diagonal", "", ""},
		{"graph.mtx", ReadOptions{Form: problem.MaxCut}, "2", "", ""},
		{"graph.npy", ReadOptions{}, "expected to be told: --form maxcut, ising or qubo", "", ""},
		{"graph.npy", ReadOptions{Form: problem.MaxCut}, "2", "", ""},
		{"graph.npy", ReadOptions{Form: problem.Ising, Sense: problem.Minimize}, "-6", "", ""},
		{"skewq.mtx", ReadOptions{}, "0", "", ""},
		{"symq.mtx", ReadOptions{}, "7", "011", ""},
	} {
		inst, err := Read(filepath.Join("testdata", "files", c.file), c.o)
		if err != nil {
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s %+v: %v, expected %s", c.file, c.o, err, c.want)
			}
			continue
		}
		r, err := Solve(t.Context(), inst, on(d, Options{}))
		if err != nil {
			t.Errorf("%s: %v", c.file, err)
			continue
		}
		if r.Value.String() != c.want || c.solution != "" && r.Solution.String() != c.solution {
			t.Errorf("%s %+v: %s by %s, expected %s by %s", c.file, c.o, r.Value, r.Solution, c.want, c.solution)
		}
		if names := fmt.Sprint(r.Names); c.names != names && (c.names != "" || r.Names != nil) {
			t.Errorf("%s: names %s, expected %s", c.file, names, c.names)
		}
	}
}
