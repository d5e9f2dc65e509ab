package csg

import (
	"context"
	"slices"
	"testing"

	gencsg "coalesce/generated/csg"
	"coalesce/runtime/emulated/emulatedtest"
	"coalesce/solvers/csg/internal/levels"
)

// The solver's choice on a GPU for 0 to 14 agents, every type.
func TestSolveByTiles(t *testing.T) {
	d := emulatedtest.Open(t)
	for _, n := range []int{0, 1, 2, 5, 9, 11, 13} {
		for _, value := range []Value{Int32, Int64, Float32, Float64} {
			inst, err := drawInstance(value, n, func(mask uint64) float64 { return float64(mix(mask)%2000) - 1000 })
			if err != nil {
				t.Fatal(err)
			}
			got, err := Solve(context.Background(), inst, on(d))
			if err != nil {
				t.Fatalf("%d agents, %s: %v", n, value, err)
			}
			want, err := Reference(inst, DP)
			if err != nil {
				t.Fatal(err)
			}
			if got.Value != want.Value || n > 0 && got.Algorithm != string(Apart) {
				t.Errorf("%d agents, %s: found %s by %s, expected %s", n, value, got.Value, got.Algorithm, want.Value)
			}
		}
	}
}

// Values of the last agent's coalitions that go through a small buffer.
func TestTilesInPieces(t *testing.T) {
	d := emulatedtest.Open(t)
	f := &gencsg.Tiles
	inst, err := drawInstance(Int32, 12, func(mask uint64) float64 { return float64(mix(3<<40^mask)%100) - 20 })
	if err != nil {
		t.Fatal(err)
	}
	want, err := Reference(inst, Apart)
	if err != nil {
		t.Fatal(err)
	}
	v := f.Variant("chunk=4,slot=4,each=1,block=128,stages=3,pairs=1,adder=fused,least=1,value=int32")
	if v == nil {
		t.Fatal("no such variant")
	}
	run, err := open(d, f, v)
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	for _, room := range []int64{128, 1024, 1 << 20} {
		small := *run
		small.engine = func(n int) engine {
			e := run.engine(n).(*tiles)
			e.room = room
			return e
		}
		j, err := small.prepare(inst)
		if err != nil {
			t.Fatal(err)
		}
		r := NewResult(inst)
		var told []float64
		if err := j.upload(context.Background(), j.stream, inst.Bytes()); err != nil {
			t.Fatal(err)
		}
		claimed, err := j.solve(context.Background(), r, levels.Follow{Told: func(share float64) { told = append(told, share) }})
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Certify(inst, claimed); err != nil || claimed != want.Value.String() {
			t.Errorf("%d bytes a piece: found %s, %v, expected %s", room, claimed, err, want.Value)
		}
		if !slices.IsSorted(told) || len(told) == 0 || told[len(told)-1] != 1 {
			t.Errorf("told the shares %v, expected rising ones up to 1", told)
		}
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	}
}

// Parts share out a level's pairs where it has few targets.
func TestTilesParts(t *testing.T) {
	for _, c := range []struct{ targets, pairs, blocks, want int64 }{
		{1, 1, 528, 1},
		{1, 3, 528, 3},
		{100000, 127, 528, 1},
		{1, 1 << 20, 528, 528},
	} {
		if got := levels.Parts(c.targets, c.pairs, c.blocks); got != c.want {
			t.Errorf("%d targets of %d pairs on %d blocks: found %d parts, expected %d", c.targets, c.pairs, c.blocks, got, c.want)
		}
	}
}
