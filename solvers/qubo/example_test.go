package qubo_test

import (
	"context"
	"fmt"
	"log"

	"coalesce/runtime/device"
	"coalesce/runtime/host"
	"coalesce/solvers/qubo"
	"coalesce/solvers/qubo/problem"
	"coalesce/solvers/solve"
)

// A session solves programs one after the other; its options may be changed between them.
func ExampleOpen() {
	d := host.Open(0)
	defer d.Close()
	s, err := qubo.Open(qubo.Options{Settings: solve.Settings{Devices: []device.Device{d}, Seed: 7}})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	for _, pair := range []int64{-6, 1} {
		b := problem.NewBuilder(2)
		b.LinearInt(0, 5)
		b.LinearInt(1, 4)
		b.PairInt(0, 1, pair)
		b.Maximize()
		inst, err := b.Build()
		if err != nil {
			log.Fatal(err)
		}
		r, err := s.Solve(context.Background(), inst)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(r.Value, r.Proven)
		s.Seed++
	}
	// Output:
	// 5 true
	// 10 true
}
