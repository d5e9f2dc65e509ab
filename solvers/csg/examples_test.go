package csg

import (
	"path/filepath"
	"testing"
)

// The instances that the repository shows to newcomers are read, and their
// answers are neither all agents together nor each alone.
func TestExamples(t *testing.T) {
	for _, name := range []string{"couriers.csv", "deliveries.npy.gz"} {
		path := filepath.Join("../../examples", name)
		inst, err := Read(path, ReadOptions{})
		if err != nil {
			t.Error(err)
			continue
		}
		var exact string
		for _, m := range Methods() {
			r, err := Reference(inst, m)
			if err != nil {
				t.Fatal(err)
			}
			if exact == "" {
				exact = r.Value.String()
				t.Logf("%s: %d agents, %s\n%v", path, inst.N, inst.Type, r)
			}
			if r.Value.String() != exact {
				t.Errorf("%s: %s finds %s, %s finds %s", path, Methods()[0], exact, m, r.Value.String())
			}
			if k := len(r.Structure); k < 2 || k >= inst.N {
				t.Errorf("%s: %d blocks of %d agents teach nothing", path, k, inst.N)
			}
		}
	}
}
