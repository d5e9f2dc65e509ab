package text

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"coalesce/solvers/formats"
)

// Lists end where they should, wherever blocks do.
func TestReadList(t *testing.T) {
	for _, c := range []struct {
		text  string
		lines int64
		more  bool
		want  string
	}{
		{"", 0, false, ""},
		{"", 0, true, ""},
		{"x\n", 0, true, ""},
		{"a 1\n# none\n\nb 2", 2, false, "1:a1 4:b2"},
		{"a 1\nb 2\n", 2, true, "1:a1 2:b2"},
		{"a 1\nb 2\nx\ny z\n", 2, true, "1:a1 2:b2"},
		{"a 1\nb 2\nc 3\nd\n", 1, true, "1:a1"},
		{"x\n", 0, false, `a.txt:1: found "x" after 0 pairs, expected the end of the file`},
		{"a 1\nb 2\n\nc 3\nd 4\n", 2, false, `a.txt:4: found "c" after 2 pairs, expected the end of the file`},
		{"a 1\nb 2\nx\n", 2, false, `a.txt:3: found "x" after 2 pairs, expected the end of the file`},
		{"a 1\nb\n", 2, true, "a.txt:2: found 1 word, expected a letter and a number"},
		{"a 1\nb x\nc\n", 3, true, `a.txt:2: found "x"`},
		{"a 1\n", 2, true, "a.txt:1: found the end of the file after 1 of 2 pairs: the file is truncated"},
	} {
		for block := range 9 {
			var got []string
			f, err := New(strings.NewReader(c.text), "a.txt", Options{Comment: "#", Block: block})
			if err == nil {
				err = ReadList(t.Context(), f, List[*[]string]{
					Lines: c.lines, Words: 2, Each: "a letter and a number", All: "pairs", More: c.more,
					New: func() *[]string { return new([]string) },
					Line: func(part *[]string, line int, words [][]byte) error {
						if _, ok := ParseInt(words[1]); !ok {
							return fmt.Errorf("found %q", words[1])
						}
						*part = append(*part, fmt.Sprintf("%d:%s%s", line, words[0], words[1]))
						return nil
					},
					Keep: func(b *Block, part *[]string) error {
						for _, x := range *part {
							var line int
							var rest string
							fmt.Sscanf(x, "%d:%s", &line, &rest)
							got = append(got, fmt.Sprintf("%d:%s", line+b.FirstLine(), rest))
						}
						return nil
					},
				})
			}
			switch found := strings.Join(got, " "); {
			case err == nil && found != c.want:
				t.Errorf("%q, blocks of %d: got %s, want %s", c.text, block, found, c.want)
			case err != nil && !strings.HasPrefix(err.Error(), c.want), err != nil && !strings.HasPrefix(c.want, "a.txt:"):
				t.Errorf("%q, blocks of %d: %v, want %s", c.text, block, err, c.want)
			}
		}
	}
}

// Lines of items are kept through blocks, with gaps between and within them.
func TestPositions(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		var all, part Positions
		var want []int
		first := 1
		for range rng.IntN(6) {
			part.Reset()
			line := 0
			for range rng.IntN(8) {
				if rng.IntN(4) == 0 {
					line += rng.IntN(3)
				}
				part.Add(line)
				want = append(want, line+first)
				line++
			}
			if err := all.Append(nil, &part, first); err != nil {
				t.Fatal(err)
			}
			first += line + rng.IntN(2)
		}
		for k, line := range want {
			if got := all.Line(k); got != line {
				t.Fatalf("item %d of lines %v: line %d", k, want, got)
			}
		}
	}
	var all, part Positions
	part.Add(0)
	if err := all.Append(formats.NewBudget(1), &part, 1); err == nil {
		t.Error("found no error, expected more than the limit of 1")
	}
}
