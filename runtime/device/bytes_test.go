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

func TestSize(t *testing.T) {
	for n, want := range map[int64]string{0: "0 B", 512: "512 B", 1536: "1.5 KiB", 48 << 10: "48 KiB", 99 << 20: "99 MiB", 3 << 29: "1.5 GiB", 139 << 30: "139 GiB", 1 << 62: "4096 PiB"} {
		if got := Size(n); got != want {
			t.Errorf("%d bytes are %q, want %q", n, got, want)
		}
	}
}

// Two numbers of bytes of which one is larger never read alike.
func TestSizes(t *testing.T) {
	for _, c := range []struct {
		need, have  int64
		more, there string
	}{
		{492 << 20, 378 << 20, "492 MiB", "378 MiB"},
		{378<<20 + 5, 378 << 20, "396361733 bytes", "396361728 bytes"},
		{6, 5, "6 B", "5 B"},
	} {
		if more, there := FormatByteSizes(c.need, c.have); more != c.more || there != c.there {
			t.Errorf("%d and %d: found %q and %q", c.need, c.have, more, there)
		}
	}
}
