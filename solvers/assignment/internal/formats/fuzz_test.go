package formats_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"

	"coalesce/runtime/device"
	"coalesce/runtime/host"
	"coalesce/solvers/assignment"
	"coalesce/solvers/assignment/internal/formats"
	"coalesce/solvers/assignment/problem"
	"coalesce/solvers/solve"
)

// What is read is a sound instance, and small ones solve, or say why not.
func fuzz(f *testing.F, name, format string, seeds ...string) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		inst, err := formats.ReadFrom(bytes.NewReader(data), int64(len(data)), name, formats.ReadOptions{Format: format, Memory: 1 << 20})
		if err != nil {
			return
		}
		if err := inst.Check(); err != nil {
			t.Fatal(err)
		}
		if inst.Rows > 20 || inst.Cols > 20 {
			return
		}
		d := host.Open(1)
		defer d.Close()
		algorithm := "reference"
		if inst.Transports() {
			algorithm = ""
		}
		r, err := assignment.Solve(t.Context(), inst, assignment.Options{Settings: solve.Settings{Devices: []device.Device{d}, Algorithm: algorithm}})
		var none *problem.InfeasibleError
		switch {
		case errors.Is(err, problem.ErrCost) || errors.As(err, &none):
		case err != nil:
			t.Fatal(err)
		case !r.Proven:
			t.Fatal("not proven")
		}
	})
}

func FuzzNPY(f *testing.F) {
	fuzz(f, "a.npy", "", string(file("<i4", "(2, 3)", false, []int32{1, 2, 3, 4, 5, 6}, binary.LittleEndian)),
		string(file(">f8", "(2, 1)", true, []float64{1, 2}, binary.BigEndian)), string(file("|b1", "(1, 1)", true, []bool{true}, binary.BigEndian)))
}

func FuzzCSV(f *testing.F) {
	fuzz(f, "a.csv", "", "1,2\n3,4\n", "who,a,\"b, c\"\nann,1,2\nbob,3,inf\n", "1;2.5\n-1e9;4", "1 2\n3 4",
		"sep=;\r\n1;2\r\n#DIV/0!;4\r\n", ",2,9\n6,3,1\n", "#made by hand\n,a\nx,1\n", "NA,1\nNA,2\n")
}

func FuzzTriples(f *testing.F) {
	fuzz(f, "a.csv", "triples", "row,col,cost\n0,0,1\n1,1,2.5\n", "0 0 1\n0 1 inf", "worker,task,cost\nida,mow,4\nida,\"rake \",1\n", "0.0e+00 1.0e+00 4\n", "1,1,4\n1,2,1\n", "x,1,3\n")
}

func FuzzOrlib(f *testing.F) { fuzz(f, "a.txt", "orlib", "2\n1 2\n3 4\n", "1\n1.5", "0") }

func FuzzAssignP(f *testing.F) { fuzz(f, "assignp2.txt", "", "2\n1 1 5\n2 2 -3.5\n", "# none\n0\n") }

func FuzzMarket(f *testing.F) {
	fuzz(f, "a.mtx", "", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 5\n2 2 -3.5\n",
		"%%MatrixMarket matrix array integer general\n2 1\n1\n2\n", "%%MatrixMarket matrix coordinate integer symmetric\n2 2 1\n2 1 4\n")
}

func FuzzASN(f *testing.F) { fuzz(f, "a.asn", "", dimacs, "c x\np asn 2 1\nn 1\na 1 2 3\n") }

func FuzzMin(f *testing.F) {
	fuzz(f, "a.min", "", "p min 4 3\nn 1 2\nn 2 1\nn 3 -2\nn 4 -1\na 1 3 0 2 5\na 2 4 0 9 -1\na 2 3 0 1 4\n", "p min 2 0\nc x\n")
}
