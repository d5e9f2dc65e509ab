package attempt

import (
	"context"
	"testing"
	"time"

	"coalesce/solvers/csg/problem"
	"coalesce/solvers/solve"
)

// The bound of a pass reaches the progress while an algorithm runs, and the incumbent at its end, also where that comes before the pass is over.
func TestBoundBeside(t *testing.T) {
	inst, err := problem.NewInstance([]int32{0, 1, 2, 7, 3, 4, 5, 6}, "three")
	if err != nil {
		t.Fatal(err)
	}
	told := make(chan solve.Incumbent, 1)
	task := func() *Task {
		return &Task{Instance: inst, Settings: &solve.Settings{Progress: func(now solve.Incumbent) { told <- now }}, Incumbent: problem.NewIncumbent(inst)}
	}
	running := task()
	report := running.shareReporter(time.Now())
	finish := running.BoundBeside(t.Context(), 0, 0)
	for bound := solve.Number(""); bound != "10"; bound = (<-told).Bound {
		time.Sleep(time.Millisecond)
		report(0.5)
	}
	if finish(); running.Incumbent.Bound != "10" {
		t.Errorf("found the bound %q, expected 10", running.Incumbent.Bound)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	stopped := task()
	if stopped.BoundBeside(ended, 0, time.Minute)(); stopped.Incumbent.Bound != "10" {
		t.Errorf("found the bound %q at the end, expected 10", stopped.Incumbent.Bound)
	}
	early := task()
	if early.BoundBeside(ended, time.Hour, 0)(); early.Incumbent.Bound != "" {
		t.Errorf("found the bound %q of no pass", early.Incumbent.Bound)
	}
}
