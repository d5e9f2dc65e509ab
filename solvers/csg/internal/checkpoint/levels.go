package checkpoint

// Levels is the last finished level for each size of tiles, by the number of bits of a tile.
type Levels map[int]int

// LastFinished is the last level that is finished for tiles of so many bits, -1 for none, whatever the
// sizes of the tiles that were written. A coalition with p members above the bits of these tiles
// has at most p above the bits of larger tiles. Above the bits of smaller tiles it has at most p
// plus the difference of the bits.
func (d Levels) LastFinished(bits int) int {
	last := -1
	for b, level := range d {
		last = max(last, level-max(0, bits-b))
	}
	return last
}
