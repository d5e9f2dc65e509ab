package library

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"coalesce/runtime/device"
	"coalesce/runtime/devices"
	"coalesce/runtime/emulated"
	"coalesce/runtime/host"
	"coalesce/solvers/assignment"
	assignmentproblem "coalesce/solvers/assignment/problem"
	"coalesce/solvers/auction"
	"coalesce/solvers/csg"
	csgproblem "coalesce/solvers/csg/problem"
	"coalesce/solvers/qubo"
	quboproblem "coalesce/solvers/qubo/problem"
	"coalesce/solvers/solve"
)

// The value of every coalition of three agents, by number: agent i is bit i-1.
func Example() {
	d := host.Open(0) // all cores
	defer d.Close()

	inst, err := csgproblem.NewInstance([]int32{0, 3, 4, 9, 2, 6, 8, 12}, "three agents")
	if err != nil {
		log.Fatal(err)
	}
	r, err := csg.Solve(context.Background(), inst, csg.Options{Settings: solve.Settings{Devices: []device.Device{d}}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.Value, r.Proven)
	for _, block := range r.Structure {
		fmt.Println(inst.Coalition(block))
	}
	// Output:
	// 12 true
	// {1, 2, 3}
}

// An instance from any reader: a file, a request's body, a string.
func Example_read() {
	d := host.Open(1)
	defer d.Close()

	table := "ann,5\nbob,4\nann bob,12\n"
	inst, err := csg.ReadFrom(strings.NewReader(table), int64(len(table)), "table", csg.ReadOptions{})
	if err != nil {
		log.Fatal(err) // table:2: what was found, what was expected
	}
	r, err := csg.Solve(context.Background(), inst, csg.Options{Settings: solve.Settings{Devices: []device.Device{d}}})
	if err != nil {
		log.Fatal(err)
	}
	for _, block := range r.Certificate.Blocks {
		fmt.Println(block.Value, block.Agents)
	}
	// Output: 12 [ann bob]
}

// Which bids of a combinatorial auction win.
func Example_auction() {
	d := host.Open(0)
	defer d.Close()

	text := "goods 2\nbids 3\ndummy 0\n0 4.5 0 #\n1 5 1 #\n2 8 0 1 #\n"
	bids, err := auction.ReadFrom(strings.NewReader(text), "bids")
	if err != nil {
		log.Fatal(err)
	}
	winners, err := auction.Solve(context.Background(), bids, auction.Options{Settings: solve.Settings{Devices: []device.Device{d}}})
	if err != nil { // errors.Is(err, auctionproblem.ErrSize): more than branch and cut takes
		log.Fatal(err)
	}
	fmt.Println(winners.Value)
	for _, b := range winners.AcceptedBids() {
		fmt.Println(b.Number, b.Goods)
	}
	// Output:
	// 9.5
	// 0 [0]
	// 1 [1]
}

// A session solves many instances, one after another, each with the time limit to itself.
func Example_session() {
	d := host.Open(0)
	defer d.Close()
	s, err := csg.Open(csg.Options{Settings: solve.Settings{Devices: []device.Device{d}, TimeLimit: time.Minute}})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	for seed := range uint64(2) {
		inst, err := csg.Generate("uniform", 6, seed)
		if err != nil {
			log.Fatal(err)
		}
		r, err := s.Solve(context.Background(), inst)
		if err != nil { // errors.Is(err, context.DeadlineExceeded): no answer within a minute
			log.Fatal(err)
		}
		fmt.Println(r.Certificate.Partition, r.Device)
	}
	// Output:
	// true host
	// true host
}

// Every solver takes the same settings.
func Example_settings() {
	d := host.Open(0)
	defer d.Close()
	on := solve.Settings{Devices: []device.Device{d}, TimeLimit: time.Minute}

	costs, err := assignmentproblem.NewInstance(2, 2, []int32{4, 1, 2, 3}, "two rows")
	if err != nil {
		log.Fatal(err)
	}
	matching, err := assignment.Solve(context.Background(), costs, assignment.Options{Settings: on})
	if err != nil {
		log.Fatal(err)
	}
	builder := quboproblem.NewBuilder(2)
	builder.LinearInt(0, 5)
	builder.LinearInt(1, 4)
	builder.PairInt(0, 1, -6)
	builder.Maximize()
	program, err := builder.Build()
	if err != nil {
		log.Fatal(err)
	}
	best, err := qubo.Solve(context.Background(), program, qubo.Options{Settings: on})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(matching.Value.String(), best.Value)
	// Output: 3 5
}

// A solve under an ended context returns its best answer so far, or the context's error.
func TestCancelled(t *testing.T) {
	d := host.Open(1)
	defer d.Close()
	inst, err := csg.Generate("uniform", 12, 1)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	r, err := csg.Solve(ctx, inst, csg.Options{Settings: solve.Settings{Devices: []device.Device{d}}})
	if err == nil && (!r.Stopped || r.Proven) || err != nil && !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a solve after its deadline: %+v, %v; want an answer that is stopped and not proven, or context.DeadlineExceeded", r, err)
	}
}

// Every function that the document shows is here, word for word, whatever the
// module is called.
func TestDocument(t *testing.T) {
	document, err := os.ReadFile("../../docs/library.md")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("library_test.go")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllSubmatch(document, -1)
	if len(blocks) < 3 {
		t.Fatalf("docs/library.md has %d blocks of Go, want 3 at least", len(blocks))
	}
	for _, b := range blocks {
		if !bytes.Contains(source, bytes.TrimSpace(b[1])) {
			t.Errorf("docs/library.md shows what is not in library_test.go:\n%s", b[1])
		}
	}
}

// Devices are opened by the names that the command's --device takes.
func Example_devices() {
	opened, err := devices.Open("host", devices.Options{Threads: 2}) // "auto": a GPU, where there is one
	if err != nil {
		log.Fatal(err)
	}
	defer devices.Close(opened)

	bids, err := auction.ReadFrom(strings.NewReader("goods 1\nbids 2\ndummy 0\n0 4.5 0 #\n1 5 0 #\n"), "bids")
	if err != nil {
		log.Fatal(err)
	}
	winners, err := auction.Solve(context.Background(), bids, auction.Options{Settings: solve.Settings{Devices: opened}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(winners.Value, winners.Device)
	// Output:
	// 5 host
}

// Several devices share one solve: "cuda:0,1" names two GPUs, here two are emulated.
func Example_severalDevices() {
	opened, err := devices.Open("emulated:0,1", devices.Options{})
	if errors.Is(err, emulated.ErrNoCompiler) { // the same answer, from one device
		opened, err = devices.Open("host", devices.Options{})
	}
	if err != nil {
		log.Fatal(err)
	}
	defer devices.Close(opened)

	agents, err := csg.GenerateAs("uniform", 13, 1, csgproblem.Int32)
	if err != nil {
		log.Fatal(err)
	}
	structure, err := csg.Solve(context.Background(), agents, csg.Options{Settings: solve.Settings{Devices: opened}})
	if err != nil {
		log.Fatal(err)
	}
	costs, err := assignmentproblem.NewInstance(2, 2, []int32{4, 1, 2, 3}, "two rows")
	if err != nil {
		log.Fatal(err)
	}
	matching, err := assignment.Solve(context.Background(), costs, assignment.Options{Settings: solve.Settings{Devices: opened}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(structure.Value, structure.Certificate.Partition, matching.Value.String())
	// Output: 128506 true 3
}
