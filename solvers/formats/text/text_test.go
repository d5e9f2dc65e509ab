package text

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"coalesce/solvers/formats"
)

// A number and its line.
type found struct {
	value int64
	line  int
}

// numbers reads all whole numbers of a text with their lines, the first error
// in the file with what came before it.
func numbers(ctx context.Context, r io.Reader, o Options, cut BlockBoundary) ([]found, error) {
	f, err := New(r, "a.txt", o)
	if err != nil {
		return nil, err
	}
	var all []found
	err = ParseBlocks(ctx, f, cut, func(b *Block) ([]found, error) {
		var part []found
		for {
			word, ok := b.Word()
			if !ok {
				return part, nil
			}
			v, ok := ParseInt(word)
			if !ok {
				return part, fmt.Errorf("found %s, expected a number", formats.Quote(word))
			}
			part = append(part, found{v, b.LineNumber()})
		}
	}, func(b *Block, part []found) error {
		for _, x := range part {
			all = append(all, found{x.value, x.line + b.FirstLine()})
		}
		return nil
	})
	return all, err
}

// plain is what numbers should find, without blocks.
func plain(text string) (all []found, wrong int) {
	for k, line := range strings.Split(text, "\n") {
		for _, word := range strings.Fields(line) {
			v, err := strconv.ParseInt(word, 10, 64)
			if err != nil {
				return all, k + 1
			}
			all = append(all, found{v, k + 1})
		}
	}
	return all, 0
}

// Numbers, their lines and the first error are the same wherever blocks end.
func TestBlocksKeepTheOrderOfTheFile(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for try := range 200 {
		var text strings.Builder
		for range rng.IntN(200) {
			text.WriteString([]string{" ", "\n", "\r\n", "\t", "\n\n", "   "}[rng.IntN(6)])
			fmt.Fprint(&text, rng.Int64N(1<<(1+rng.IntN(62)))-50)
			if try%3 == 0 && rng.IntN(150) == 0 {
				text.WriteString(" wrong")
			}
		}
		want, wrong := plain(text.String())
		for _, cut := range []BlockBoundary{Lines, Words} {
			got, err := numbers(t.Context(), strings.NewReader(text.String()), Options{Block: 1 + rng.IntN(60)}, cut)
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Fatalf("%q, cut %d:\n got %v\nwant %v", text.String(), cut, got, want)
			}
			if wrong == 0 && err != nil || wrong > 0 && (err == nil || err.Error() != fmt.Sprintf("a.txt:%d: found \"wrong\", expected a number", wrong)) {
				t.Fatalf("%q, cut %d: %v, want an error on line %d", text.String(), cut, err, wrong)
			}
		}
	}
}

// A reader that fails after its text.
type failing struct {
	r   io.Reader
	err error
}

func (f *failing) Read(p []byte) (int, error) {
	k, err := f.r.Read(p)
	if err == io.EOF {
		err = f.err
	}
	return k, err
}

type zeros struct{ with byte }

func (z zeros) Read(p []byte) (int, error) {
	for k := range p {
		p[k] = z.with
	}
	return len(p), nil
}

func TestStreamsThatFail(t *testing.T) {
	broken := errors.New("broken disk")
	for _, c := range []struct {
		r    io.Reader
		o    Options
		cut  BlockBoundary
		want string
	}{
		{&failing{strings.NewReader("1\n2\n3"), broken}, Options{}, Lines, "a.txt:3: broken disk"},
		{&failing{strings.NewReader("1\n2\n3\n"), io.ErrUnexpectedEOF}, Options{Block: 2}, Words, "a.txt:4: unexpected EOF"},
		{&failing{strings.NewReader("1\nx\n3\n"), broken}, Options{}, Lines, `a.txt:2: found "x", expected a number`},
		{&failing{strings.NewReader("1\n2\n3"), &formats.LimitError{Limit: 5}}, Options{}, Lines, "a.txt: more than 5 B when unpacked"},
		{zeros{0}, Options{Line: 1 << 21}, Lines, "a.txt:1: found a line of more than 2097152 bytes"},
		{zeros{0}, Options{}, Words, "a.txt:1: found a word of more than 65536 bytes"},
		{zeros{'7'}, Options{Budget: formats.NewBudget(1 << 20)}, Lines, "a.txt:1: found a line that takes"},
		{io.MultiReader(strings.NewReader("1\n2\n"), zeros{'7'}), Options{Word: 100, Block: 16}, Words, "a.txt:3: found a word of more than 100 bytes, expected a shorter one"},
		{strings.NewReader("\xff\xfe1\x00"), Options{}, Words, "a.txt:1: found UTF-16, expected UTF-8"},
		{strings.NewReader("1\x00\n\x002\x00"), Options{}, Words, "a.txt:1: found UTF-16"},
		{&failing{strings.NewReader(""), broken}, Options{}, Words, "a.txt:1: broken disk"},
	} {
		_, err := numbers(t.Context(), c.r, c.o, c.cut)
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("got %v\nwant %s", err, c.want)
		}
		if c.cut == Lines && strings.Contains(c.want, "broken") && !errors.Is(err, broken) {
			t.Errorf("%v does not unwrap to the cause", err)
		}
	}
	got, err := numbers(t.Context(), strings.NewReader("\ufeff1 2"), Options{}, Lines)
	if err != nil || fmt.Sprint(got) != "[{1 1} {2 1}]" {
		t.Errorf("byte order mark: %v %v", got, err)
	}
}

// A context that is done ends the reading at once, a stream without end
// and one that never answers included.
func TestCancel(t *testing.T) {
	silent, w := io.Pipe()
	defer w.Close()
	for what, r := range map[string]io.Reader{"endless": zeros{' '}, "silent": silent} {
		ctx, cancel := context.WithCancelCause(t.Context())
		stop := errors.New("stop")
		f := &File{name: "a", o: Options{Block: 1 << 16, Line: 1 << 20, Word: 1 << 10}, r: bufio.NewReader(r)}
		time.AfterFunc(20*time.Millisecond, func() { cancel(stop) })
		err := ParseBlocks(ctx, f, Words, func(b *Block) (int, error) { return 0, nil }, func(*Block, int) error { return nil })
		if !errors.Is(err, stop) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestSequential(t *testing.T) {
	f, err := New(strings.NewReader("% said\n\n  n 12\r\n7 8\n 9 "), "a.txt", Options{Comment: "%", ReadComment: func(line int, comment string) error {
		if line != 1 || comment != "said" {
			t.Errorf("line %d: comment %q", line, comment)
		}
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	words, err := f.Fields()
	if err != nil || string(words[1]) != "12" || f.LineNumber() != 3 {
		t.Fatalf("%q %v, line %d", words, err, f.LineNumber())
	}
	word, err := f.Word()
	if err != nil || string(word) != "7" || f.LineNumber() != 4 {
		t.Fatalf("%q %v, line %d", word, err, f.LineNumber())
	}
	n := &Numbers{}
	if err := CollectNumbers(t.Context(), f, n, 2, func([]byte) error { return errors.New("bad") }); err != nil || fmt.Sprint(n.Whole) != "[8 9]" || f.LineNumber() != 5 {
		t.Errorf("%v %v, line %d", n, err, f.LineNumber())
	}
}

func TestLongLines(t *testing.T) {
	long := strings.Repeat("12 ", 100000)
	f, err := New(strings.NewReader(long+"\n"+long), "a.txt", Options{Line: 300000})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if line, err := f.Line(); err != nil || len(line) != 300000 {
			t.Errorf("%d bytes, %v", len(line), err)
		}
	}
	for _, o := range []Options{{Line: 299999}, {Budget: formats.NewBudget(200000)}} {
		f, err := New(strings.NewReader(long), "a.txt", o)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Line(); err == nil || !strings.HasPrefix(err.Error(), "a.txt:1: found a line") {
			t.Errorf("%v", err)
		}
	}
}

func TestCollect(t *testing.T) {
	for _, c := range []struct {
		text     string
		count    int
		infinite float64
		want     string
	}{
		{"1 2\n3", 3, 0, "[1 2 3] [] 0"},
		{"1 2\n3.5", 3, 0, "[] [1 2 3.5] 0"},
		{"9007199254740993 2\n3.5", 3, 0, "[] [9.007199254740992e+15 2 3.5] 1"},
		{"9223372036854775807 -9223372036854775808", 2, 0, "[9223372036854775807 -9223372036854775808] [] 0"},
		{"9223372036854775807 1", 2, math.Inf(1), "[9223372036854775807 1] [] 0"},
		{"9223372036854775807 -1 inf", 3, math.Inf(1), "[] [9.223372036854776e+18 -1 +Inf] 1"},
		{"18446744073709551616 1", 2, math.Inf(1), "[] [1.8446744073709552e+19 1] 0"},
		{"18446744073709551615 -1", 2, math.Inf(1), "[] [1.8446744073709552e+19 -1] 1"},
		{"9223372036854775808 9223372036854775809 1e30", 3, 0, "[] [9.223372036854776e+18 9.223372036854776e+18 1e+30] 1"},
		{"inf 1", 2, math.Inf(1), "[9223372036854775807 1] [] 0"},
		{"-inf 1 .5", 3, math.Inf(-1), "[] [-Inf 1 0.5] 0"},
		{".5 Infinity 9007199254740993", 3, math.Inf(1), "[] [0.5 +Inf 9.007199254740992e+15] 1"},
		{"1 2\n3", 2, 0, `a.txt:2: found "3" after 2 numbers, expected the end of the file`},
		{"1 2\n3 x 5", 9, 0, "a.txt:2: bad x at 3"},
		{"1 -inf", 9, math.Inf(1), "a.txt:1: bad -inf at 1"},
		{"1 1e999", 9, 0, "a.txt:1: bad 1e999 at 1"},
		{"1 0x5", 9, 0, "a.txt:1: bad 0x5 at 1"},
		{"1 1_5", 9, 0, "a.txt:1: bad 1_5 at 1"},
		{"1 2", 1 << 20, 0, "a.txt:1: 1048576 numbers take 8 MiB, more than the limit of 4 MiB"},
	} {
		for block := range 6 {
			f, err := New(strings.NewReader(c.text), "a.txt", Options{Block: 1 + block, Budget: formats.NewBudget(1 << 22)})
			if err != nil {
				t.Fatal(err)
			}
			n := &Numbers{Infinite: c.infinite}
			err = CollectNumbers(t.Context(), f, n, c.count, func(word []byte) error { return fmt.Errorf("bad %s", word) })
			got := fmt.Sprint(n.Whole, n.Real, n.Rounded)
			if err != nil {
				got = err.Error()
				if strings.Contains(got, "bad") {
					got += fmt.Sprintf(" at %d", n.Len())
				}
			}
			if got != c.want {
				t.Errorf("%q, blocks of %d:\n got %s\nwant %s", c.text, 1+block, got, c.want)
			}
		}
	}
}

// Costs of 64 bits are exact, signed or unsigned, however blocks divide them. They become floats only
// beside fractions, where no integer type holds all, or where an infinity and the largest number come together.
func TestCollectLarge(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	ends := []string{"9223372036854775806", "9223372036854775807", "9223372036854775808", "+18446744073709551614", "18446744073709551615"}
	others := []string{"0", "7", "123456789012", "inf", "-3", "-9223372036854775808", "0.5", "18446744073709551616"}
	kinds := map[string]int{}
	for range 20000 {
		words := make([]string, 1+rng.IntN(6))
		for k := range words {
			if words[k] = ends[rng.IntN(len(ends))]; rng.IntN(2) == 0 {
				words[k] = others[rng.IntN(2+rng.IntN(len(others)-1))]
			}
		}
		negative, fraction, infinite, most := false, false, false, new(big.Int)
		for _, w := range words {
			v, ok := new(big.Int).SetString(w, 10)
			switch {
			case w == "inf":
				infinite = true
				continue
			case !ok:
				fraction = true
				continue
			}
			negative = negative || v.Sign() < 0
			if v.Cmp(most) > 0 {
				most = v
			}
		}
		room := func(bits uint) bool { // no larger number than 2^bits-1, less than that beside an infinity
			return most.BitLen() <= int(bits) && !(infinite && new(big.Int).Add(most, big.NewInt(1)).BitLen() > int(bits))
		}
		want := "floats"
		switch {
		case fraction:
		case room(63):
			want = "signed"
		case !negative && room(64):
			want = "unsigned"
		}
		n := &Numbers{Infinite: math.Inf(1)}
		f, err := New(strings.NewReader(strings.Join(words, " ")), "a.txt", Options{Block: 1 + rng.IntN(60), Budget: formats.NewBudget(1 << 22)})
		if err == nil {
			err = CollectNumbers(t.Context(), f, n, len(words), func(word []byte) error { return fmt.Errorf("bad %s", word) })
		}
		if err != nil || n.Len() != len(words) {
			t.Fatalf("%v: %d numbers, %v", words, n.Len(), err)
		}
		kind := "signed"
		if n.Floats {
			kind = "floats"
		} else if n.Unsigned {
			kind = "unsigned"
		}
		kinds[kind]++
		rounded := 0
		for k, w := range words {
			var got string
			switch {
			case n.Floats:
				x, _ := strconv.ParseFloat(w, 64)
				if whole, ok := new(big.Int).SetString(w, 10); ok {
					if held, _ := new(big.Float).SetFloat64(x).Int(nil); held.Cmp(whole) != 0 {
						rounded++
					}
				}
				if n.Real[k] != x {
					t.Fatalf("%v: found %v, want %v", words, n.Real, x)
				}
				continue
			case n.Whole[k] == math.MaxInt64 && !n.Every:
				got = "inf"
			case n.Unsigned:
				got = strconv.FormatUint(uint64(n.Whole[k])^1<<63, 10)
			default:
				got = strconv.FormatInt(n.Whole[k], 10)
			}
			if got != strings.TrimPrefix(w, "+") {
				t.Fatalf("%v: found %s for %s, %+v", words, got, w, n)
			}
		}
		if n.Rounded != rounded || kind != want {
			t.Fatalf("%v: %s, %d rounded, want %s, %d: %+v", words, kind, n.Rounded, want, rounded, n)
		}
	}
	if len(kinds) != 3 || min(kinds["floats"], kinds["signed"], kinds["unsigned"]) < 1000 {
		t.Errorf("drawn were %v", kinds)
	}
}

// What follows in a file is estimated from its size, to a hundredth where all lines are alike; 0 where no size is known.
func TestFollow(t *testing.T) {
	const count = 10000
	data := strings.Repeat("123\n", count)
	for _, size := range []int64{int64(len(data)), -1, 0} {
		f, err := New(strings.NewReader(data), "a.txt", Options{Block: 1000, Size: size})
		if err != nil {
			t.Fatal(err)
		}
		read := 0
		err = ParseBlocks(t.Context(), f, Lines, func(b *Block) (int, error) {
			part := 0
			for _, ok := b.Line(); ok; _, ok = b.Line() {
				part++
			}
			return part, nil
		}, func(_ *Block, part int) error {
			read += part
			if left, got := count-read, f.EstimateRest(read); size > 0 && (got < left || got > left+count/50) || size <= 0 && got != 0 {
				t.Errorf("size %d, %d lines read: %d follow, expected %d", size, read, got, left)
			}
			return nil
		})
		if err != nil || read != count {
			t.Errorf("%d lines, %v", read, err)
		}
	}
}

func TestNumbers(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 20000 {
		v := rng.Int64() >> rng.IntN(64)
		if rng.IntN(2) == 0 {
			v = -v
		}
		word := strconv.FormatInt(v, 10)
		if got, ok := ParseInt([]byte(word)); !ok || got != v || !IsNumber([]byte(word)) {
			t.Fatalf("%s: %d %v", word, got, ok)
		}
		f := math.Float64frombits(rng.Uint64())
		word = strconv.FormatFloat(f, 'g', -1, 64)
		if got, ok := ParseFloat([]byte(word)); ok == (math.IsNaN(f) || math.IsInf(f, 0)) || ok && got != f || !IsNumber([]byte(word)) {
			t.Fatalf("%s: %v %v", word, got, ok)
		}
	}
	for word, want := range map[string]bool{"": false, "-": false, "+5": true, "5-": false, "1 ": false, "NaN": true, "-Infinity": true, "1e999": true, "0x1p3": false, "1_0": false, "1.": true, ".": false, "9223372036854775808": true} {
		if IsNumber([]byte(word)) != want {
			t.Errorf("%q is a number: %v", word, !want)
		}
	}
	for word, want := range map[string]int{"inf": 1, "+INF": 1, "-inf": -1, "infinity": 1, "-Infinity": -1, "in": 0, "infi": 0, "": 0, "-": 0, "infinitx": 0} {
		if got := ParseInfinity([]byte(word)); got != want {
			t.Errorf("%q: %d, want %d", word, got, want)
		}
	}
	if _, err := ParseWhole([]byte("7x\x1b[31m"), "row", 0, 9); err == nil || err.Error() != `found the row "7x\x1b[31m", expected a whole number from 0 to 9` {
		t.Error(err)
	}
}

func FuzzEach(f *testing.F) {
	for _, s := range []string{"1 2\n3\r\n4", "\ufeff7\n\n x", "\xff\xfe1\x00", "9223372036854775807\f-1", strings.Repeat("1", 99)} {
		f.Add([]byte(s), uint8(3))
	}
	f.Fuzz(func(t *testing.T, data []byte, block uint8) {
		o := Options{Word: 64, Line: 256, Budget: formats.NewBudget(1 << 16)}
		all, whole := numbers(t.Context(), bytes.NewReader(data), o, Words)
		o.Block = 1 + int(block)
		parts, cut := numbers(t.Context(), bytes.NewReader(data), o, Words)
		// Larger blocks bear longer words; all else is the same.
		if fmt.Sprint(whole) != fmt.Sprint(cut) && (cut == nil || !strings.Contains(cut.Error(), "shorter")) || cut == nil && fmt.Sprint(all) != fmt.Sprint(parts) {
			t.Errorf("%q, blocks of %d: %v %v, else %v %v", data, o.Block, parts, cut, all, whole)
		}
	})
}

// BenchmarkCollect reads the assignment problem of OR-Library's form with 4,900
// rows, 24 million numbers, from a file:
//
//	go test ./solvers/formats/text -run none -bench Collect -cpu 1,2,16
func BenchmarkCollect(b *testing.B) {
	const n = 4900
	for _, kind := range []string{"whole", "real"} {
		rng := rand.New(rand.NewPCG(1, 2))
		var text []byte
		for k := range n * n {
			if kind == "whole" {
				text = strconv.AppendInt(text, rng.Int64N(1000000), 10)
			} else {
				text = strconv.AppendFloat(text, rng.Float64(), 'e', 17, 64)
			}
			text = append(text, " \n"[k%12/11])
		}
		path := b.TempDir() + "/matrix"
		if err := os.WriteFile(path, text, 0o600); err != nil {
			b.Fatal(err)
		}
		size := int64(len(text))
		text = nil
		b.Run(kind, func(b *testing.B) {
			b.SetBytes(size)
			for b.Loop() {
				r, err := os.Open(path)
				if err != nil {
					b.Fatal(err)
				}
				f, err := New(r, path, Options{Budget: formats.NewBudget(1 << 32)})
				if err != nil {
					b.Fatal(err)
				}
				numbers := &Numbers{}
				if err := CollectNumbers(b.Context(), f, numbers, n*n, func(word []byte) error { return errors.New("bad") }); err != nil || numbers.Len() != n*n {
					b.Fatal(err, numbers.Len())
				}
				r.Close()
			}
		})
	}
}

// Lines that end with carriage returns alone are an error that says so; line feeds after them, and blanks at
// the end, are none.
func TestCarriageReturns(t *testing.T) {
	for text, wrong := range map[string]bool{
		"1,2\r3,4\r":             true,
		"\ufeff1,2\r3,4":         true,
		"\r\r1,2":                true,
		"1,2\r\n3,4\r\n":         false,
		"1,2\r\r\n3,4":           false,
		"1,2\n3\r4":              false, // the readers quote the cell
		"1,2\r":                  false,
		"1,2\r\r":                false,
		"":                       false,
		"\"a\rb\",1\n" + "c,2\n": false,
	} {
		_, err := New(strings.NewReader(text), "a.csv", Options{})
		if is := err != nil && strings.HasPrefix(err.Error(), "a.csv:1: ") && strings.Contains(err.Error(), "carriage return alone"); is != wrong {
			t.Errorf("%q: got %v, expected an error: %t", text, err, wrong)
		}
	}
}
