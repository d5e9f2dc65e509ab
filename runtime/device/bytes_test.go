package device

import (
	"bytes"
	"testing"
)

// Bytes are the slice's memory itself, lowest byte first.
func TestBytes(t *testing.T) {
	words := []uint32{0x01020304, 0xa0b0c0d0}
	raw := Bytes(words)
	if !bytes.Equal(raw, []byte{4, 3, 2, 1, 0xd0, 0xc0, 0xb0, 0xa0}) {
		t.Errorf("found % x", raw)
	}
	if raw[4] = 1; words[1] != 0xa0b0c001 {
		t.Errorf("a byte that is written gives %x", words[1])
	}
	if got := Bytes([]int64(nil)); len(got) != 0 {
		t.Errorf("nothing has %d bytes", len(got))
	}
}
