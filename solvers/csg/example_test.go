package csg_test

import (
	"context"
	"fmt"
	"log"

	"coalesce/runtime/device"
	"coalesce/runtime/host"
	"coalesce/solvers/csg"
	"coalesce/solvers/csg/problem"
	"coalesce/solvers/solve"
)

// A session keeps kernels loaded, and memory for the next instance of as many agents.
func ExampleOpen() {
	d := host.Open(0)
	defer d.Close()
	s, err := csg.Open(csg.Options{Settings: solve.Settings{Devices: []device.Device{d}}})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	for _, together := range []int32{10, 14} {
		inst, err := problem.NewInstance([]int32{0, 3, 4, 9, 2, 6, 8, together}, "three agents")
		if err != nil {
			log.Fatal(err)
		}
		r, err := s.Solve(context.Background(), inst)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(r.Value, len(r.Structure))
	}
	// Output:
	// 11 2
	// 14 1
}
