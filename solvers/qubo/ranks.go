package qubo

import (
	"fmt"
	"hash/crc32"

	"coalesce/runtime/collective"
	"coalesce/runtime/device"
	"coalesce/solvers/qubo/problem"
)

// broadcastWord returns rank 0's word on all ranks. Decisions by the clock, which differs among ranks, go
// through it.
func (r *run) broadcastWord(word uint64) (uint64, error) {
	if r.o.RankCount() == 1 {
		return word, nil
	}
	all, err := collective.GatherLists(r.o.Ranks, []uint64{word})
	if err != nil {
		return 0, err
	}
	return all[0][0], nil
}

// Digest is a checksum of an instance's form and numbers and of the solution to begin with, by which ranks notice that these
// differ.
func Digest(inst *problem.Instance, start problem.Bits) []byte {
	h := crc32.New(crc32.MakeTable(crc32.Castagnoli))
	fmt.Fprintln(h, inst.N, inst.Form, inst.Sense, inst.Fixed, start.Words())
	for _, list := range [][]byte{device.Bytes(inst.Start), device.Bytes(inst.Col)} {
		h.Write(list)
	}
	if t := inst.Int; t != nil {
		fmt.Fprintln(h, t.Offset)
		h.Write(device.Bytes(t.Linear))
		h.Write(device.Bytes(t.Pair))
	}
	if t := inst.Real; t != nil {
		fmt.Fprintln(h, t.Offset)
		h.Write(device.Bytes(t.Linear))
		h.Write(device.Bytes(t.Pair))
	}
	return h.Sum(nil)
}
