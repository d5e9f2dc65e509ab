package bidders

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"coalesce/generated/auction"
	"coalesce/runtime/device"
	"coalesce/runtime/emulated/emulatedtest"
)

// What a run left in the device's memory is right, and passes; each comparison finds its spoiled
// part of that memory.
func TestCheckFindsSpoiledMemory(t *testing.T) {
	d := emulatedtest.Open(t)
	on := DeviceTables{Device: d, Variant: auction.Bidders.Variant("block=128,items=8,bids=256,value=int32")}
	for _, c := range []struct {
		name, want string
		items      int
		spoil      func(j *trialJob, s device.Stream) error
	}{
		{"a value of a table of few items", "of half 1 is worth", 13, func(j *trialJob, s device.Stream) error {
			set, _, err := j.d.downloadBest(j.halves[0], j.halves[1], 13)
			rest := 1<<13 - 1 - set
			looks := j.trial.comparedSets()
			for at := range uint32(1 << 13) {
				if at != rest && !slices.Contains(looks, at) {
					return errors.Join(err, upload(s, j.halves[1].room, int64(at), 123456))
				}
			}
			return errors.New("all sets are looked at")
		}},
		{"a value of a table of many items", "of half 0 is worth", 17, func(j *trialJob, s device.Stream) error {
			return upload(s, j.halves[0].room, int64(j.trial.comparedSets()[5]), 123456)
		}},
		{"the best value", "is worth", 13, func(j *trialJob, s device.Stream) error {
			return results(j, s, func(uint32, int64) (uint32, int64) { return 1<<13 - 1, j.trial.want.halves[0][1<<13-1] })
		}},
		{"the best set", "are worth", 13, func(j *trialJob, s device.Stream) error {
			return results(j, s, func(_ uint32, value int64) (uint32, int64) { return 1<<13 - 1, value })
		}},
	} {
		trial := newTrial(drawProblem(c.items, 40, 3, 1000, 3))
		j, err := on.newTrialJob(trial)
		if err != nil {
			t.Fatal(err)
		}
		s, err := d.NewStream()
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(j.Reset(s), j.Run(s), s.Sync(), j.Check(s)); err != nil {
			t.Fatalf("%s: %v before anything is spoiled", c.name, err)
		}
		if err := c.spoil(j, s); err != nil {
			t.Fatal(err)
		}
		if err := j.Check(s); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, expected one with %q", c.name, err, c.want)
		}
		if err := errors.Join(j.Reset(s), j.Check(s)); err == nil {
			t.Errorf("%s: Check passes after Reset, without a run", c.name)
		}
		if err := errors.Join(s.Close(), j.Close()); err != nil {
			t.Error(err)
		}
	}
}

// upload writes a value of a table.
func upload(s device.Stream, room device.Buffer, at int64, value int32) error {
	return s.Upload(room, 4*at, device.Bytes([]int32{value}))
}

// results replaces what every block of the search for the best set has found.
func results(j *trialJob, s device.Stream, other func(set uint32, value int64) (uint32, int64)) error {
	set, value, err := j.d.downloadBest(j.halves[0], j.halves[1], j.trial.p.Items)
	if err != nil {
		return err
	}
	set, value = other(set, value)
	grid, _ := j.d.bestGrid(j.halves[0], j.halves[1], j.trial.p.Items)
	n := int(grid.Blocks)
	return errors.Join(s.Upload(j.d.worth, 0, device.Bytes(slices.Repeat([]int32{int32(value / j.d.unit)}, n))),
		s.Upload(j.d.sets, 0, device.Bytes(slices.Repeat([]uint32{set}, n))))
}
