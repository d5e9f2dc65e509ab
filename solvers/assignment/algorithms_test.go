package assignment

import (
	"testing"

	"coalesce/solvers/assignment/problem"
)

// What is drawn for a workload of the choice among algorithms is of that workload, whatever its kind.
func TestWorkloadsAreDrawn(t *testing.T) {
	for _, fixed := range deviceAlgorithmsSubject().Workloads() {
		for kind, name := range wayKinds {
			for _, rows := range []int{100, 300} {
				inst, err := drawWay(fixed, rows, kind, 3)
				if err != nil {
					t.Fatalf("%v, %s: %v", fixed, name, err)
				}
				p, err := problem.Normalise(inst)
				if err != nil {
					t.Fatal(err)
				}
				if costs, shape := costClass(p), shapeOf(p); costs != fixed["costs"] || shape != fixed["shape"] || p.Rows != rows {
					t.Errorf("%v, %s of %d rows: drew %d rows, costs %s, shape %s, from %d to %d", fixed, name, rows, p.Rows, costs, shape, p.Min, p.Max)
				}
			}
		}
	}
}
