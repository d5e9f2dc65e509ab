package hungarian

import (
	"context"
	"testing"

	"coalesce/generated/assignment"
	"coalesce/runtime/emulated/emulatedtest"
	"coalesce/solvers/assignment/internal/draw"
	"coalesce/solvers/assignment/internal/engine"
	"coalesce/solvers/assignment/internal/enginetest"
	"coalesce/solvers/assignment/problem"
)

// Engines that launch again and again tell between launches how many rows are matched:
// never fewer than before, and less than all until the end.
func TestTold(t *testing.T) {
	d := emulatedtest.Open(t)
	inst, err := draw.Generate("machol", 24, 24, 0, 3, problem.Int32)
	if err != nil {
		t.Fatal(err)
	}
	p, err := problem.Normalise(inst)
	if err != nil {
		t.Fatal(err)
	}
	s, err := d.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	m := enginetest.MatrixOn(t, d, s, p)
	for name, open := range map[string]func() (engine.Engine, error){
		"tree": func() (engine.Engine, error) {
			v := assignment.Tree.Variant("block=512,items=4,rows=4,barrier=host,paths=many,matchedtrees=stop,value=int32")
			return OpenTree(d, v, p.Rows, p.Cols)
		},
		"classical": func() (engine.Engine, error) {
			v := assignment.Classical.Variant("block=512,items=16,rows=2,resident=1,barrier=grid,singleblock=16,zeros=lists,slack=bounded,forest=kept,paths=many,devices=one,value=int32")
			e, err := OpenClassical(d, v, p.Rows, p.Cols)
			if err == nil {
				e.LimitSteps(1 << 40) // and with it few augmentations and dual updates a launch
			}
			return e, err
		},
	} {
		e, err := open()
		if err != nil {
			t.Fatal(name, err)
		}
		var told []int
		e.SetReporter(engine.Reporter{Report: func(s engine.Progress) { told = append(told, s.Matched) }})
		sol, err := e.Solve(context.Background(), s, p, m, nil)
		if err != nil {
			t.Fatal(name, err)
		}
		if _, err := enginetest.CheckOptimal(p, sol); err != nil {
			t.Error(name, err)
		}
		if len(told) == 0 {
			t.Errorf("%s: told nothing", name)
		}
		for k, matched := range told {
			if matched < 0 || matched >= p.Rows || k > 0 && matched < told[k-1] {
				t.Errorf("%s: told of %v matched rows of %d", name, told, p.Rows)
			}
		}
		if err := e.Close(); err != nil {
			t.Error(name, err)
		}
	}
}
