package assignment_test

import (
	"context"
	"fmt"
	"log"

	"coalesce/runtime/device"
	"coalesce/runtime/host"
	"coalesce/solvers/assignment"
	"coalesce/solvers/assignment/problem"
	"coalesce/solvers/solve"
)

// A session solves instances one after the other.
func ExampleOpen() {
	d := host.Open(0)
	defer d.Close()
	first, err := problem.NewInstance(2, 2, []int32{4, 1, 2, 3}, "two rows")
	if err != nil {
		log.Fatal(err)
	}
	second, err := problem.NewInstance(3, 3, []int32{4, 1, 2, 3, 5, 1, 2, 2, 6}, "three rows")
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	s, err := assignment.Open(assignment.Options{Settings: solve.Settings{Devices: []device.Device{d}}})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	for _, inst := range []*problem.Instance{first, second} {
		r, err := s.Solve(ctx, inst)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(r.Value.String(), r.Column)
	}
	// Output:
	// 3 [1 0]
	// 4 [1 2 0]
}

// Many instances, of any sizes, are solved together: on a GPU small ones in one launch.
func ExampleSolveBatch() {
	d := host.Open(0)
	defer d.Close()
	var list []*problem.Instance
	for _, costs := range [][]int32{{4, 1, 2, 3}, {1, 7, 7, 1}} {
		inst, err := problem.NewInstance(2, 2, costs, "two rows")
		if err != nil {
			log.Fatal(err)
		}
		list = append(list, inst)
	}
	results, err := assignment.SolveBatch(context.Background(), list, assignment.Options{Settings: solve.Settings{Devices: []device.Device{d}}})
	if err != nil {
		log.Fatal(err)
	}
	for _, r := range results {
		fmt.Println(r.Value.String(), r.Column)
	}
	// Output:
	// 3 [1 0]
	// 2 [0 1]
}
