package assignment

import (
	"path/filepath"
	"strings"
	"testing"

	"coalesce/runtime/host"
)

// Files that SciPy, NumPy and others write are read, or refused with the name of their kind.
func TestFilesOfOthers(t *testing.T) {
	d := host.Open(1)
	defer d.Close()
	for _, c := range []struct {
		file string
		want string // the least cost, or a part of the error
	}{
		{"c01_symmetric_array.mtx", "0"},
		{"skew_array.mtx", "-14.5"},
		{"c02_unsigned.mtx", "3"},
		{"c03_pattern.mtx", "3"},
		{"c07_matrix.npz", "0"},
		{"sparse.npz", "found a .npz archive of 5 arrays (indices, indptr, format, shape, data), expected one file"},
		{"c08_list.json", "found JSON, expected costs, in one of the formats npy, csv"},
		{"c09_flow.min", "found a DIMACS min-cost flow problem, expected costs"},
	} {
		inst, err := Read(filepath.Join("testdata", "files", c.file), ReadOptions{})
		if err != nil {
			if !strings.Contains(err.Error(), c.file+": "+c.want) {
				t.Errorf("%s: %v, expected %s", c.file, err, c.want)
			}
			continue
		}
		r, err := Solve(t.Context(), inst, on(Options{}, d))
		if err != nil {
			t.Errorf("%s: %v", c.file, err)
		} else if r.Value.String() != c.want {
			t.Errorf("%s: %s, expected %s", c.file, r.Value.String(), c.want)
		}
	}
}
