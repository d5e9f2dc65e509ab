package lines

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"coalesce/solvers/formats"
	"coalesce/solvers/formats/text"
)

// grammar reads lines of letters, which may have a number, lines of n, and others that are passed over, behind a head.
func grammar(t testing.TB, data string, o text.Options, more bool) (string, error) {
	f, err := text.New(strings.NewReader(data), "a.txt", o)
	if err != nil {
		return "", err
	}
	head, err := ReadHead(f, Kind{Key: "p list", Fields: []Field{Int("number of pairs", 0, 9)}}, Kind{Key: "p", Fields: []Field{Word("name"), Int("number of pairs", 0, 9)}})
	if err != nil {
		return "", err
	}
	count := head.Int(head.Kind)
	var got []string
	totals, err := Read(t.Context(), f, Body[*[]string]{
		Count: count, Noun: "pair", More: more,
		Kinds: []Kind{
			{Key: "a|e", Fields: []Field{Index("letter", 1, 26), Index("place", 0, 5), Word("weight")}, Optional: 1},
			{Key: "n", Fields: []Field{Int("node", -5, 5)}},
			{Key: "v", Rest: true},
		},
		Take: func(part *[]string, r *Record) error {
			switch {
			case r.Kind == 2: // passed over
			case r.Kind == 1:
				*part = append(*part, fmt.Sprintf("%d:node%d", r.Line, r.Int(0)))
			case r.Has(2) && string(r.Words[2]) == "x":
				return WordError(r.Words[2], fmt.Errorf("found a weight x"))
			default:
				*part = append(*part, fmt.Sprintf("%d:%c%d%s", r.Line, 'A'+rune(r.Int(0)), r.Int(1), r.Words[2:]))
			}
			return nil
		},
		New:   func() *[]string { return new([]string) },
		Reset: func(part *[]string) { *part = (*part)[:0] },
		Keep: func(b *text.Block, part *[]string) error {
			for _, x := range *part {
				var line int
				var rest string
				fmt.Sscanf(x, "%d:%s", &line, &rest)
				got = append(got, fmt.Sprintf("%d:%s", line+b.FirstLine(), rest))
			}
			return nil
		},
	})
	return fmt.Sprint(got, totals), err
}

var cases = []struct {
	text string
	more bool
	want string
}{
	{"p list 0\n", false, "[] [{0 0} {0 0} {0 0}]"},
	{"p x 0", true, "[] [{0 0} {0 0} {0 0}]"},
	{"p list 0\nx\n", true, "[] [{0 0} {0 0} {0 0}]"},
	{"# none\np list 2\n\na 1 0\n# none\nn -5\ne 26 4", false, "[4:A0[] 6:node-5 7:Z4[]] [{2 2} {1 0} {0 0}]"},
	{"p list 2\na 1 0 x1\nv\nv 7 8 9\nn 2\na 2 0 y\n", true, "[2:A0[x1] 5:node2 6:B0[y]] [{2 3} {1 0} {2 0}]"},
	{"p list 1\na 1 0\nq\n", true, "[2:A0[]] [{1 2} {0 0} {0 0}]"},
	{"p list 4\na 00000001 0\na 000000000000001 0\na 0000000000000001 0\na 0000000000000000000000000001 0 \n", false, "[2:A0[] 3:A0[] 4:A0[] 5:A0[]] [{4 2} {0 0} {0 0}]"},
	{"p list 1\na 1 0\nn 1\n", false, "[2:A0[] 3:node1] [{1 2} {1 0} {0 0}]"},

	{"", false, "a.txt:1: found the end of the file, expected a line of p list: number of pairs, or a line of p: name and number of pairs"},
	{"q list\n", false, `a.txt:1:1: found "q list", expected a line of p list`},
	{" p 7", false, "a.txt:1: found 2 words, expected a line of p list"},
	{"\n p list 10", false, `a.txt:2:9: found the number of pairs "10", expected a whole number from 0 to 9`},
	{"p list 0\n q 1\n", false, `a.txt:2:2: found "q", expected a line of a/e: letter, place and weight, or a line of n: node, or a line of v`},
	{"p list 0\na 1 0\n", false, `a.txt:2:1: found "a" after 0 pairs, expected the end of the file`},
	{"p list 1\na 1 0\n\na 1 0\na 1\n", false, `a.txt:4:1: found "a" after 1 pair, expected the end of the file`},
	{"p list 1\na 1 0\na 0\n", false, `a.txt:3:1: found "a" after 1 pair, expected the end of the file`},
	{"p list 2\na 1 0\n", false, "a.txt:2: found the end of the file after 1 of 2 pairs: the file is truncated"},
	{"p list 2\na 1 0\na 0 0\nq\n", true, `a.txt:3:3: found the letter "0", expected a whole number from 1 to 26`},
	{"p list 1\na 1 -1\n", false, `a.txt:2:5: found the place "-1", expected a whole number from 0 to 4`},
	{"p list 1\na 1\n", false, "a.txt:2: found 1 word after a/e, expected a line of a/e: letter, place and weight"},
	{"p list 3\na 1 0\nn 1\na 1 1 2\n", false, "a.txt:4: found a line with a weight, expected none as in the lines before it"},
	{"p list 3\na 1 0 3\na 1 1\n", false, "a.txt:3: found a line without a weight, expected one as in the lines before it"},
	{"p list 3\na 1 0  x\na 1 1\n", false, "a.txt:2:8: found a weight x"},
	{"# stop\np list 0\n", false, "a.txt:1: found a comment that stops"},
	{"p list 1\n# none\na 1 0\n #stop \nq\n", false, "a.txt:4: found a comment that stops"},
	{"p list 1\na 1 0\n#stop\n", true, "[2:A0[]] [{1 2} {0 0} {0 0}]"},
	{"p list 1\nq\n#stop \n", false, `a.txt:2:1: found "q"`},
}

// options are those of the cases: a comment that says so is an error.
func options(block int) text.Options {
	return text.Options{Comment: "#", Block: block, ReadComment: func(_ int, comment string) error {
		if comment == "stop" {
			return fmt.Errorf("found a comment that stops")
		}
		return nil
	}}
}

// Lines are read as declared, and what does not fit is an error at its place, wherever blocks end.
func TestRead(t *testing.T) {
	for _, c := range cases {
		for block := range 12 {
			got, err := grammar(t, c.text, options(block), c.more)
			if err != nil {
				got = err.Error()
			}
			if got != c.want && (err == nil || !strings.HasPrefix(got, c.want)) {
				t.Errorf("%q, blocks of %d:\n got %s\nwant %s", c.text, block, got, c.want)
			}
		}
	}
}

// check reads a text in blocks of two lengths.
func check(t *testing.T, data string, block int, more bool) {
	whole, first := grammar(t, data, options(0), more)
	parts, second := grammar(t, data, options(block), more)
	if fmt.Sprint(first) != fmt.Sprint(second) || first == nil && whole != parts {
		t.Errorf("%q, blocks of %d: %s %v, else %s %v", data, block, parts, second, whole, first)
	}
	if first != nil && !strings.HasPrefix(first.Error(), "a.txt:") {
		t.Errorf("%q: the error does not begin with the file: %v", data, first)
	}
}

// Where blocks end changes nothing, whatever is read.
func TestEditedFiles(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	pieces := []string{"\n", "\r", " ", "-", "9", "0", "a 1 1\n", "n 1\n", "x", "#", "\x00", "99999999999999999999", ""}
	for _, c := range cases {
		for range 60 {
			data := c.text
			for range 1 + rng.IntN(3) {
				at := rng.IntN(len(data) + 1)
				data = data[:at] + pieces[rng.IntN(len(pieces))] + data[min(len(data), at+rng.IntN(4)):]
			}
			check(t, data, 1+rng.IntN(12), c.more)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, c := range cases {
		f.Add(c.text, uint8(4), c.more)
	}
	f.Fuzz(func(t *testing.T, data string, block uint8, more bool) { check(t, data, 1+int(block), more) })
}

// Entries of blocks are put together within a budget.
func TestEntries(t *testing.T) {
	var all, part Entries
	part.Add(0, 3, 4, []byte("7"))
	if part.Add(1, 0, 0, []byte("x")) {
		t.Error("x is a number")
	}
	for first := range 3 {
		if err := all.Append(nil, &part, 10*first, 5); err != nil {
			t.Fatal(err)
		}
	}
	if got := fmt.Sprint(all.Row, all.Column, all.Numbers.Whole, all.Lines.Line(2)); got != "[3 3 3] [4 4 4] [7 7 7] 20" {
		t.Error(got)
	}
	if err := all.Append(formats.NewBudget(1), &part, 0, 0); err == nil {
		t.Error("found no error, expected more than the limit of 1")
	}
	if MaxEntries(1e9, 60) != 10 || MaxEntries(5, 60) != 5 || MaxEntries(5, -1) != 0 {
		t.Error(MaxEntries(1e9, 60), MaxEntries(5, 60), MaxEntries(5, -1))
	}
}
