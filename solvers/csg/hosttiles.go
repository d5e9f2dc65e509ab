package csg

import (
	"fmt"
	"math"
	"math/bits"

	gencsg "coalesce/generated/csg"
	"coalesce/runtime/device"
)

// runHostTiles enqueues the whole dynamic program of a host device on s. f
// holds v by bit mask, 2^n values of the kernels' type; afterwards its lower
// half is f(S) for the coalitions S without agent n, its upper half still v,
// and out[0] is f(A), the value of the best structure. f[0] is not read.
//
// tileBits is the variant's parameter k. out holds at least one value; with
// lastBlocks values the last step uses that many blocks at once (hostTilesOut
// says how many pay). workers is the device's number of cores (Facts.SMs). w is told of
// each level: a host's launches are waited for.
func runHostTiles(k *gencsg.HosttilesKernels, s device.Stream, f, out device.Buffer, n, tileBits, lastBlocks, workers int, w follow) error {
	if n < 1 || n > 60 {
		return fmt.Errorf("host tiles: %d agents, expected 1 to 60", n)
	}
	if size := f.Len() >> n; size < 4 || out.Len() < size*int64(lastBlocks) || lastBlocks < 1 {
		return fmt.Errorf("host tiles: buffers of %d and %d bytes are too small for %d agents and %d blocks", f.Len(), out.Len(), n, lastBlocks)
	}
	if err := hostTilesLevels(k, s, f, n-1, tileBits, workers, w); err != nil {
		return err
	}
	if err := k.Last(s, device.Grid{Blocks: int64(lastBlocks), Threads: 1}, f, uint64(n), out); err != nil {
		return err
	}
	return k.Best(s, device.Grid{Blocks: 1, Threads: 1}, out, uint64(lastBlocks))
}

// hostTilesLevels makes f of the coalitions of m agents, of 2^m values v.
func hostTilesLevels(k *gencsg.HosttilesKernels, s device.Stream, f device.Buffer, m, tileBits, workers int, w follow) error {
	high := uint64(max(0, m-tileBits))
	if w.from == 0 {
		if err := k.Direct(s, device.Grid{Blocks: 1, Threads: 1}, f, uint64(min(tileBits, m))); err != nil {
			return err
		}
		if err := w.finished(0); err != nil {
			return err
		}
	}
	done := pairsBefore(int(high), w.from)
	w.share(shareOf(done, int(high)))
	for p := uint64(max(1, w.from)); p <= high; p++ {
		tiles := binomial64(int(high), int(p))
		grid := device.Grid{Blocks: tiles, Threads: 1}
		if p > 1 {
			split := hostTilesSplit(tiles, workers)
			cut := device.Grid{Blocks: tiles << split, Threads: 1}
			if err := k.Level(s, cut, f, high, p, split); err != nil {
				return err
			}
		}
		if err := k.Couple(s, grid, f, high, p); err != nil {
			return err
		}
		done += float64(tiles) * float64(pairsOf(int(p))+1)
		w.share(shareOf(done, int(high)))
		if err := w.finished(int(p)); err != nil {
			return err
		}
	}
	return nil
}

// hostTilesSplit is how finely a level cuts its target tiles (a power of
// two): so that workers have about four pieces each, at most 8 pieces a tile.
func hostTilesSplit(tiles int64, workers int) uint64 {
	if want := int64(4 * workers); tiles < want {
		return min(3, uint64(bits.Len64(uint64((want-1)/tiles))))
	}
	return 0
}

// hostTilesOut is the number of values out should hold: blocks of the last
// step, which reads 2^n values once.
func hostTilesOut(n, workers int) int {
	return max(1, min(4*workers, 1<<min(20, max(0, n-13))))
}

// pairsOf is how many pairs of tiles with high members a target of so many has.
func pairsOf(size int) int64 { return 1<<(size-1) - 1 }

// pairsOfAll is how many pairs all targets of so many high agents have, one with tile 0
// each: the sum of binomial(high, size) 2^(size-1).
func pairsOfAll(high int) float64 { return (math.Pow(3, float64(high)) - 1) / 2 }

// pairsBefore is how many of them the levels below `from` have.
func pairsBefore(high, from int) float64 {
	done := 0.0
	for p := 1; p < min(from, high+1); p++ {
		done += float64(binomial64(high, p)) * float64(pairsOf(p)+1)
	}
	return done
}

// shareOf is the share of all pairs that so many are; 1 where there are none.
func shareOf(pairs float64, high int) float64 {
	if high == 0 {
		return 1
	}
	return pairs / pairsOfAll(high)
}

// binomial64 is exact where the result fits.
func binomial64(n, p int) int64 {
	c := int64(1)
	for i := 1; i <= p; i++ {
		c = c * int64(n-p+i) / int64(i)
	}
	return c
}
