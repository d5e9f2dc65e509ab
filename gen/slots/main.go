// Slots writes the tables of templates/csg/tiles that share out the slots of a tile among the threads
// of a block, a file for each number of slots that go.generate has:
//
//	go run ./gen/slots
package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
)

// folder is where the tables stand, below the module's root.
const folder = "templates/csg/tiles"

// A table is the order of the slots of block threads that have each slots each, of 2^slot chunks.
type table struct {
	file              string
	slot, each, block int
}

var tables = []table{
	{"slots4.cuh", 4, 1, 128},
	{"slots5.cuh", 5, 1, 256},
	{"slots5by2.cuh", 5, 2, 128},
	{"slots6by2.cuh", 6, 2, 384},
}

// banks is how many groups of banks shared memory has, of the 16 bytes that a thread reads at once.
const banks = 8

func main() {
	for _, t := range tables {
		text, err := t.text()
		if err == nil {
			err = os.WriteFile(filepath.Join(folder, t.file), text, 0o666)
		}
		if err != nil {
			fmt.Fprintf(os.Stderr, "slots: %v\n", err)
			os.Exit(1)
		}
	}
}

// text is the table as CUDA.
func (t table) text() ([]byte, error) {
	o, err := orderDisjointPairs(t.slot, t.each, t.block, banks)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t.file, err)
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, `// The slots of %d threads with %d each, for 2^%d chunks: written by go run ./gen/slots.
#include "cuda/variant.cuh"

namespace VARIANT {

static_assert(SLOT == %d && EACH == %d && BLOCK == %d, "the table of another shape");

// The slots of each thread: its first chunk, its second chunks, and the rows of
// bests that take its bests. Threads past the last slot repeat slots of others and
// store nothing (row %d). Bank conflicts make accesses of shared memory take
// %.3f times the least.
constexpr u32 NONE = %d;
static __device__ const unsigned short slots[BLOCK][1 + 2 * EACH] = {
`, t.block, t.each, t.slot, t.slot, t.each, t.block, o.None, o.Conflicts, o.None)
	for _, th := range o.Threads {
		fmt.Fprintf(&b, "    {%d,", th.First)
		for _, list := range [][]int{th.Second, th.Row} {
			for _, x := range list {
				fmt.Fprintf(&b, "%d,", x)
			}
		}
		b.WriteString("},\n")
	}
	fmt.Fprintf(&b, `};

// The first row of each chunk of the target; the rows of a chunk's slots are adjacent.
constexpr u32 ROWS = %d;
static __device__ const unsigned short starts[CHUNKS + 1] = {`, o.Rows)
	for _, x := range o.Starts {
		fmt.Fprintf(&b, "%d,", x)
	}
	b.WriteString("};\n\n}  // namespace VARIANT\n")
	return b.Bytes(), nil
}
