package text

import (
	"context"
	"sync"

	"coalesce/solvers/formats"
)

// CollectNumbers reads the rest of a file as count numbers, in lines of any length, and adds them to n. bad
// makes the error of a word that is no number; n then holds the numbers before that word, so that
// n.Len() is the word's index. More than count words are an error; fewer are not, and the caller
// compares n.Len() with count. Memory comes from the file's budget, for all numbers at once.
func CollectNumbers(ctx context.Context, f *File, n *Numbers, count int, bad func(word []byte) error) error {
	before := n.Len()
	if err := n.Reserve(f.o.Budget, count); err != nil {
		return f.Errorf("%d numbers take %w", count, err)
	}
	parts := Pool(n.Infinite)
	return ParseBlocks(ctx, f, Words, func(b *Block) (*Numbers, error) {
		part := parts.Get().(*Numbers)
		if wrong := b.addNumbers(part); wrong != nil {
			return part, bad(wrong)
		}
		return part, nil
	}, func(b *Block, part *Numbers) error {
		if have := n.Len() - before; have+part.Len() > count {
			for range count - have {
				b.Word()
			}
			word, _ := b.Word()
			return b.Errorf("found %s after %s, expected the end of the file", formats.Quote(word), formats.Count(count, "number"))
		}
		if err := n.Append(f.o.Budget, part); err != nil {
			return b.Errorf("the numbers take %w", err)
		}
		part.Reset()
		parts.Put(part)
		return nil
	})
}

// Pool has memory for the numbers of blocks, which blocks reuse: parse takes Numbers from it, and
// keep puts them back after Reset. Infinite is Numbers.Infinite.
func Pool(infinite float64) *sync.Pool {
	return &sync.Pool{New: func() any { return &Numbers{Infinite: infinite} }}
}
