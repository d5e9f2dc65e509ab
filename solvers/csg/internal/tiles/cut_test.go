package tiles

import (
	"math/bits"
	"testing"
)

func TestCut(t *testing.T) {
	const gib = int64(1) << 30
	for _, c := range []struct {
		agents, tile int
		width        int64
		members      int
		free         int64
		bits         int
		fits         bool
	}{
		{33, 11, 4, 2, 0, 0, true},         // free memory that is not known
		{33, 11, 4, 2, 78 * gib, 0, true},  // 32 GiB whole
		{35, 11, 4, 4, 78 * gib, 4, true},  // 64 GiB of 128 GiB
		{35, 11, 4, 2, 78 * gib, 6, true},  // 72 GiB
		{35, 11, 4, 1, 78 * gib, 0, false}, // one device has all slabs, and the window
		{36, 11, 4, 4, 139 * gib, 4, true},
		{36, 11, 4, 2, 139 * gib, 6, false},
		{12, 11, 4, 2, 1 << 12, 0, false}, // no smaller slabs than tiles
		{0, 11, 4, 2, 1 << 12, 0, true},
	} {
		cut := CutTable(c.agents, c.tile, c.width, c.members, c.free)
		fits := c.free == 0 || cut.Bytes(c.width, c.members) <= c.free
		if cut.Bits != c.bits || fits != c.fits || cut.Bits+cut.Low != c.agents {
			t.Errorf("%+v: found %+v, fits %v: %d bytes", c, cut, fits, cut.Bytes(c.width, c.members))
		}
	}
}

// Each splitting of a slab's agents in two comes once.
func TestSplittingsOf(t *testing.T) {
	for slab := uint64(1); slab < 64; slab++ {
		if bits.OnesCount64(slab) < 2 {
			continue
		}
		seen := map[uint64]bool{}
		for part := range splittingsOf(slab) {
			if part == 0 || part&^slab != 0 || part == slab || seen[part] || seen[slab^part] {
				t.Errorf("slab %b: part %b", slab, part)
			}
			seen[part] = true
		}
		if want := 1<<(bits.OnesCount64(slab)-1) - 1; len(seen) != want {
			t.Errorf("slab %b: %d pairs, expected %d", slab, len(seen), want)
		}
	}
	for range splittingsOf(7) {
		break
	}
}

// What docs/notes/cluster.md says that slabs cost.
func TestWork(t *testing.T) {
	for bits, want := range map[int]float64{3: 1.148, 4: 1.346, 5: 1.527, 6: 1.669} {
		work, least := Cut{Bits: bits, Low: 20}.Work()
		if got := work / least; got < want-0.001 || got > want+0.001 {
			t.Errorf("%d bits: %.3f times the work, expected %.3f", bits, got, want)
		}
	}
}
