package checkpoint

import (
	"encoding/binary"
	"fmt"

	"coalesce/solvers/csg/problem"
	"coalesce/solvers/solve"
)

// EncodeBest is the payload of the record of a best structure: its blocks' count, its blocks,
// and the text of a bound.
func EncodeBest(best *problem.Incumbent) []byte {
	text := binary.LittleEndian.AppendUint64(nil, uint64(len(best.Blocks)))
	for _, block := range best.Blocks {
		text = binary.LittleEndian.AppendUint64(text, block)
	}
	return append(text, best.Bound...)
}

// DecodeBest offers a best structure what EncodeBest wrote of another one.
func DecodeBest(text []byte, best *problem.Incumbent) error {
	if len(text) < 8 || uint64(len(text)-8)/8 < binary.LittleEndian.Uint64(text) {
		return fmt.Errorf("%w: the record of the best structure is damaged", ErrRefused)
	}
	var blocks problem.Structure
	count := int(binary.LittleEndian.Uint64(text))
	for k := range count {
		blocks = append(blocks, binary.LittleEndian.Uint64(text[8+8*k:]))
	}
	best.Offer(blocks, solve.Number(text[8+8*count:]))
	return nil
}
