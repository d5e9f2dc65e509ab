package checkpoint

import (
	"encoding/binary"
	"fmt"
)

// EncodeBest is the payload of the record of a best structure: its blocks' count, its blocks,
// and the text of a bound.
func EncodeBest(blocks []uint64, bound string) []byte {
	text := binary.LittleEndian.AppendUint64(nil, uint64(len(blocks)))
	for _, block := range blocks {
		text = binary.LittleEndian.AppendUint64(text, block)
	}
	return append(text, bound...)
}

// DecodeBest reads what EncodeBest wrote.
func DecodeBest(text []byte) (blocks []uint64, bound string, err error) {
	if len(text) < 8 || uint64(len(text)-8)/8 < binary.LittleEndian.Uint64(text) {
		return nil, "", fmt.Errorf("%w: the record of the best structure is damaged", ErrRefused)
	}
	count := int(binary.LittleEndian.Uint64(text))
	for k := range count {
		blocks = append(blocks, binary.LittleEndian.Uint64(text[8+8*k:]))
	}
	return blocks, string(text[8+8*count:]), nil
}
