package formats

import (
	"bytes"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"coalesce/solvers/formats/npy"
	"coalesce/solvers/qubo/problem"
)

// A matrix of several squares, in a file of known size and as a stream of unknown
// size, has the value that its definition gives.
func TestMatrixFromFile(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{0, 1, 7, 8, 9, 129, 200} {
		q := make([]byte, n*n)
		for k := range q {
			q[k] = byte(rng.IntN(7) - 3)
		}
		var file bytes.Buffer
		if err := npy.Write(&file, "|i1", []int{n, n}, q); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "q.npy")
		if err := os.WriteFile(path, file.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		known, err := Read(path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		stream, err := ReadFrom(bytes.NewReader(file.Bytes()), "q.npy", Options{})
		if err != nil {
			t.Fatal(err)
		}
		x := make([]uint64, problem.Words(n))
		for i := range n {
			x[i>>6] |= uint64(rng.IntN(2)) << (i & 63)
		}
		var want int64
		for k, v := range q {
			want += int64(int8(v)) * int64(problem.Bit(x, k/n)&problem.Bit(x, k%n))
		}
		for _, inst := range []*problem.Instance{known, stream} {
			p, err := inst.Normal()
			if err != nil {
				t.Fatal(err)
			}
			if got := p.Value(x); got != want {
				t.Errorf("n = %d: value %d, want %d", n, got, want)
			}
			for i := range n {
				col, _ := p.Row(i)
				for k := 1; k < len(col); k++ {
					if col[k-1] >= col[k] {
						t.Fatalf("n = %d: row %d has columns %v, want them ascending", n, i, col)
					}
				}
			}
		}
		for what, b := range map[string][]byte{"short": file.Bytes()[:file.Len()-min(n, 1)], "long": append(file.Bytes(), 0)} {
			if err := os.WriteFile(path, b, 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := Read(path, Options{}); (n > 0 || what == "long") && (err == nil || !strings.Contains(err.Error(), "bytes after the header, expected")) {
				t.Errorf("n = %d, %s: %v", n, what, err)
			}
		}
	}
}

// The error names the first wrong entry, whichever core meets one first.
func TestMatrixNamesTheFirstWrongEntry(t *testing.T) {
	const n = 300
	q := make([]float32, n*n)
	q[270*n+4], q[130*n+5], q[130*n+9] = float32(math.Inf(-1)), float32(math.NaN()), float32(math.NaN())
	if _, err := checkMatrix(n, q, problem.QUBO); err == nil || !strings.Contains(err.Error(), "row 130, column 5: found NaN") {
		t.Error(err)
	}
	q = make([]float32, n*n)
	q[201*n+200], q[7*n+6] = 1, 1
	if _, err := checkMatrix(n, q, problem.MaxCut); err == nil || !strings.Contains(err.Error(), "row 6, column 7: found 0") {
		t.Error(err)
	}
}
