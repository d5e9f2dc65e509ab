// Package hosttiles runs the kernels of csg/hosttiles: on one host, or a share of them on each of
// several ranks.
package hosttiles

import (
	"fmt"
	"math/bits"
	"slices"

	gencsg "coalesce/generated/csg"
	"coalesce/runtime/collective"
	"coalesce/runtime/device"
	"coalesce/runtime/host"
	"coalesce/solvers/csg/internal/engine"
	"coalesce/solvers/csg/internal/levels"
)

// Run enqueues the whole dynamic program of a host device on s. f
// holds v by bit mask, 2^n values of the kernels' type; afterwards its lower
// half is f(S) for the coalitions S without agent n, its upper half still v,
// and out[0] is f(A), the value of the best structure. f[0] is not read.
//
// tileBits is the variant's parameter k. out holds at least one value; with lastBlocks values the
// last step runs that many blocks at once (OutLen is the best number). workers is the device's number
// of cores (Facts.SMs). Run waits for each level, and then calls the functions of progress.
//
// Each of several ranks computes its share of every level's tiles and of the last step's blocks,
// and receives the shares of the others.
func Run(k *gencsg.HosttilesKernels, s device.Stream, f, out device.Buffer, n, tileBits, lastBlocks, workers int, ranks collective.Ranks, progress engine.Progress) error {
	if n < 1 || n > 60 {
		return fmt.Errorf("host tiles: %d agents, expected 1 to 60", n)
	}
	if size := f.Len() >> n; size < 4 || out.Len() < size*int64(lastBlocks) || lastBlocks < 1 {
		return fmt.Errorf("host tiles: buffers of %d and %d bytes are too small for %d agents and %d blocks", f.Len(), out.Len(), n, lastBlocks)
	}
	if err := runLevels(k, s, f, n-1, tileBits, workers, int(f.Len()>>n), ranks, progress); err != nil {
		return err
	}
	size := f.Len() >> n
	first := sharesOfRanks(lastBlocks, ranks)
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

// runLevels makes f of the coalitions of m agents, of 2^m values v of size bytes.
func runLevels(k *gencsg.HosttilesKernels, s device.Stream, f device.Buffer, m, tileBits, workers, size int, ranks collective.Ranks, progress engine.Progress) error {
	high := uint64(max(0, m-tileBits))
	if progress.From == 0 {
		if err := k.Direct(s, device.Grid{Blocks: 1, Threads: 1}, f, uint64(min(tileBits, m))); err != nil {
			return err
		}
		if err := progress.Finish(0); err != nil {
			return err
		}
	}
	done := levels.PairsBefore(int(high), progress.From)
	progress.Report(levels.ShareOf(done, int(high)))
	for p := uint64(max(1, progress.From)); p <= high; p++ {
		tiles := levels.Binomial(int(high), int(p))
		first := sharesOfRanks(int(tiles), ranks)
		grid := device.Grid{Blocks: tiles, Threads: 1}
		if p > 1 {
			cut := piecesOf(max(1, tiles/int64(len(first)-1)), workers)
			finer := device.Grid{Blocks: tiles << cut, Threads: 1}
			pieces := slices.Clone(first)
			for r := range pieces {
				pieces[r] <<= cut
			}
			if err := k.Level(ownPart(s, pieces, ranks), finer, f, high, p, cut); err != nil {
				return err
			}
		}
		if err := k.Couple(ownPart(s, first, ranks), grid, f, high, p); err != nil {
			return err
		}
		if err := exchangeTiles(ranks, host.Slice[byte](device.Ptr(f)), size<<tileBits, int(high), int(p), first); err != nil {
			return fmt.Errorf("tiles of %d high members to all ranks: %w", p, err)
		}
		done += float64(tiles) * float64(levels.PairsOf(int(p))+1)
		progress.Report(levels.ShareOf(done, int(high)))
		if err := progress.Finish(int(p)); err != nil {
			return err
		}
	}
	return nil
}

// sharesOfRanks divides count things among ranks: rank r gets numbers first[r] to first[r+1]-1.
func sharesOfRanks(count int, ranks collective.Ranks) (first []int) {
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

// piecesOf is the number of pieces, a power of two, into which a level divides each of its
// target tiles: about four pieces for each worker, at most 8 for each tile.
func piecesOf(tiles int64, workers int) uint64 {
	if want := int64(4 * workers); tiles < want {
		return min(3, uint64(bits.Len64(uint64((want-1)/tiles))))
	}
	return 0
}

// OutLen is the number of values that out should hold: one for each block of the last step,
// which reads 2^n values once.
func OutLen(n, workers int) int {
	return max(1, min(4*workers, 1<<min(20, max(0, n-13))))
}
