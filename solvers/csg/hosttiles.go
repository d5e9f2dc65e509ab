package csg

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	gencsg "coalesce/generated/csg"
	"coalesce/runtime/collective"
	"coalesce/runtime/device"
	"coalesce/runtime/host"
	"coalesce/solvers/csg/internal/levels"
	"coalesce/solvers/csg/internal/tables"
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
//
// Each of several ranks makes its share of every level's tiles, and of the last step's
// blocks, and gets those of the others.
func runHostTiles(k *gencsg.HosttilesKernels, s device.Stream, f, out device.Buffer, n, tileBits, lastBlocks, workers int, ranks collective.Ranks, w follow) error {
	if n < 1 || n > 60 {
		return fmt.Errorf("host tiles: %d agents, expected 1 to 60", n)
	}
	if size := f.Len() >> n; size < 4 || out.Len() < size*int64(lastBlocks) || lastBlocks < 1 {
		return fmt.Errorf("host tiles: buffers of %d and %d bytes are too small for %d agents and %d blocks", f.Len(), out.Len(), n, lastBlocks)
	}
	if err := hostTilesLevels(k, s, f, n-1, tileBits, workers, int(f.Len()>>n), ranks, w); err != nil {
		return err
	}
	size := f.Len() >> n
	first := shares(lastBlocks, ranks)
	if err := k.Last(ownPart(s, first, ranks), device.Grid{Blocks: int64(lastBlocks), Threads: 1}, f, uint64(n), out); err != nil {
		return err
	}
	if ranks != nil {
		bounds := make([]int64, len(first))
		for r := range first {
			bounds[r] = int64(first[r]) * size
		}
		if err := ranks.AllGather(host.Slice[byte](device.Ptr(out)), bounds); err != nil {
			return err
		}
	}
	return k.Best(s, device.Grid{Blocks: 1, Threads: 1}, out, uint64(lastBlocks))
}

// hostTilesLevels makes f of the coalitions of m agents, of 2^m values v of size bytes.
func hostTilesLevels(k *gencsg.HosttilesKernels, s device.Stream, f device.Buffer, m, tileBits, workers, size int, ranks collective.Ranks, w follow) error {
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
		tiles := levels.Binomial(int(high), int(p))
		first := shares(int(tiles), ranks)
		grid := device.Grid{Blocks: tiles, Threads: 1}
		if p > 1 {
			split := hostTilesSplit(max(1, tiles/int64(len(first)-1)), workers)
			cut := device.Grid{Blocks: tiles << split, Threads: 1}
			pieces := slices.Clone(first)
			for r := range pieces {
				pieces[r] <<= split
			}
			if err := k.Level(ownPart(s, pieces, ranks), cut, f, high, p, split); err != nil {
				return err
			}
		}
		if err := k.Couple(ownPart(s, first, ranks), grid, f, high, p); err != nil {
			return err
		}
		if err := tables.Exchange(ranks, host.Slice[byte](device.Ptr(f)), size<<tileBits, int(high), int(p), first); err != nil {
			return fmt.Errorf("tiles of %d high members to all ranks: %w", p, err)
		}
		done += float64(tiles) * float64(pairsOf(int(p))+1)
		w.share(shareOf(done, int(high)))
		if err := w.finished(int(p)); err != nil {
			return err
		}
	}
	return nil
}

// shares divides count things among ranks: rank r gets numbers first[r] to first[r+1]-1.
func shares(count int, ranks collective.Ranks) (first []int) {
	if ranks == nil {
		return []int{0, count}
	}
	return collective.Split(count, ranks.Size())
}

// ownPart runs this rank's blocks of every launch on s.
func ownPart(s device.Stream, first []int, ranks collective.Ranks) device.Stream {
	if ranks == nil {
		return s
	}
	return host.Part(s, int64(first[ranks.Rank()]), int64(first[ranks.Rank()+1]))
}

// hostTilesSplit is the number of pieces, a power of two, into which a level divides each of its
// target tiles: about four pieces for each worker, at most 8 for each tile.
func hostTilesSplit(tiles int64, workers int) uint64 {
	if want := int64(4 * workers); tiles < want {
		return min(3, uint64(bits.Len64(uint64((want-1)/tiles))))
	}
	return 0
}

// hostTilesOut is the number of values that out should hold: one for each block of the last step,
// which reads 2^n values once.
func hostTilesOut(n, workers int) int {
	return max(1, min(4*workers, 1<<min(20, max(0, n-13))))
}

// pairsOf is how many pairs of tiles a target with so many high members is split into.
func pairsOf(size int) int64 { return 1<<(size-1) - 1 }

// pairsOfAll is how many pairs all targets of so many high agents have, one with tile 0
// each: the sum of binomial(high, size) 2^(size-1).
func pairsOfAll(high int) float64 { return (math.Pow(3, float64(high)) - 1) / 2 }

// pairsBefore is how many of these pairs belong to levels below `from`.
func pairsBefore(high, from int) float64 {
	done := 0.0
	for p := 1; p < min(from, high+1); p++ {
		done += float64(levels.Binomial(high, p)) * float64(pairsOf(p)+1)
	}
	return done
}

// shareOf divides a number of pairs by the number of all pairs; it is 1 where there are none.
func shareOf(pairs float64, high int) float64 {
	if high == 0 {
		return 1
	}
	return pairs / pairsOfAll(high)
}
