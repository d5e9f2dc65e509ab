package hosttiles

import (
	"coalesce/runtime/collective"
	"coalesce/solvers/csg/internal/levels"
)

// exchangeTiles copies the tiles of p high members to all ranks, 64 MiB at a time. In the order of their
// masks, rank r computed the tiles first[r] to first[r+1]-1. Of a level of t tiles each of R ranks
// sends about t/R tiles, once, and receives the others.
func exchangeTiles(ranks collective.Ranks, f []byte, tile, high, p int, first []int) error {
	if ranks == nil {
		return nil
	}
	size := ranks.Size()
	longest := 0
	for r := range size {
		longest = max(longest, first[r+1]-first[r])
	}
	step := max(1, min(longest, (64<<20)/tile/size))
	room := make([]byte, step*size*tile)
	next := make([]uint64, size) // mask of each rank's next tile
	mask := uint64(1)<<p - 1
	for number, r := 0, 0; r < size; number++ {
		for ; r < size && first[r] == number; r++ {
			next[r] = mask
		}
		mask = levels.NextSet(mask)
	}
	for done := 0; done < longest; done += step {
		bounds := make([]int64, 1+size)
		for r := range size {
			bounds[r+1] = bounds[r] + int64(tile*min(step, max(0, first[r+1]-first[r]-done)))
		}
		mine := next[ranks.Rank()]
		for at := bounds[ranks.Rank()]; at < bounds[ranks.Rank()+1]; at += int64(tile) {
			copy(room[at:], f[int(mine)*tile:][:tile])
			mine = levels.NextSet(mine)
		}
		if err := ranks.AllGather(room, bounds); err != nil {
			return err
		}
		for r := range size {
			for at := bounds[r]; at < bounds[r+1]; at += int64(tile) {
				if r != ranks.Rank() {
					copy(f[int(next[r])*tile:], room[at:][:tile])
				}
				next[r] = levels.NextSet(next[r])
			}
		}
	}
	return nil
}
