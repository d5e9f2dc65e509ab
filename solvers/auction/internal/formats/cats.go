package formats

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"coalesce/solvers/auction/problem"
	"coalesce/solvers/formats"
	"coalesce/solvers/formats/text"
)

// A catsReader reads the text format of CATS in tokens: words between blanks, and #.
type catsReader struct {
	in     *text.File
	memory *formats.Budget
	words  [][]byte // of the line, not yet read
	goods  []int64  // of the bid
}

func (c *catsReader) errorf(format string, args ...any) error { return c.in.Errorf(format, args...) }

// token is the next token, good until the next call; nil at the end of the file.
func (c *catsReader) token() ([]byte, error) {
	if len(c.words) == 0 {
		var err error
		if c.words, err = c.in.Fields(); errors.Is(err, io.EOF) {
			return nil, nil
		} else if err != nil {
			return nil, err
		}
	}
	word, end := c.words[0], len(c.words[0])
	if word[0] == '%' { // a comment, up to the end of the line
		c.words = nil
		return c.token()
	}
	if k := bytes.IndexByte(word, '#'); k >= 0 {
		end = max(1, k)
	}
	if end > maxToken {
		return nil, c.errorf("found a word of more than %d bytes, expected numbers", maxToken)
	}
	if c.words[0] = word[end:]; end == len(word) {
		c.words = c.words[1:]
	}
	return word[:end], nil
}

// skipComment passes over the rest of a line, unless it begins with the number of the next bid.
func (c *catsReader) skipComment() {
	if len(c.words) > 0 {
		if _, ok := text.ParseInt(c.words[0]); !ok {
			c.words = nil
		}
	}
}

// quoteToken is a token in an error.
func quoteToken(token []byte) string {
	if token == nil {
		return "the end of the file"
	}
	return formats.Quote(token)
}

// header reads the numbers of goods, bids and dummies, and what rows of bids look like: lines `goods N`, `bids M` and
// `dummy D` in any order, or a line `N M #`, or a line `N M` before rows of a price and goods from 1.
func (c *catsReader) header(a *problem.Auction) (bids int64, rows rowForm, err error) {
	counts := []struct {
		name string
		n    *int64
		read bool
	}{{"goods", &a.Goods, false}, {"bids", &bids, false}, {"dummy", &a.Dummies, false}}
	for range counts {
		word, err := c.token()
		for ; err == nil && string(word) == "#"; word, err = c.token() { // a line that is a comment
			c.words = nil
		}
		if err != nil {
			return 0, 0, err
		}
		if _, number := text.ParseInt(word); number && !counts[0].read && !counts[1].read && !counts[2].read {
			return c.shortHeader(a, word)
		}
		if strings.EqualFold(string(word), "maximums") {
			return 0, 0, c.errorf("found maximums: a multi-unit auction, expected one unit of each good")
		}
		missing := -1
		for k := range counts {
			if count := &counts[k]; !count.read {
				if strings.EqualFold(string(word), count.name) {
					missing = k
					break
				}
				if missing < 0 {
					missing = k
				}
			}
		}
		count := &counts[missing]
		if !strings.EqualFold(string(word), count.name) {
			return 0, 0, c.errorf("found %s, expected %q and a number", quoteToken(word), count.name)
		}
		if *count.n, err = c.count(count.name); err != nil {
			return 0, 0, err
		}
		count.read = true
	}
	return bids, records, nil
}

// count reads the number behind a word of the header.
func (c *catsReader) count(behind string) (int64, error) {
	word, err := c.token()
	if err != nil {
		return 0, err
	}
	n, ok := text.ParseInt(word)
	if !ok || n>>31 != 0 {
		return 0, c.errorf("found %s after %q, expected a number of at least 0", quoteToken(word), behind)
	}
	return n, nil
}

// A rowForm is what rows of bids look like.
type rowForm int

const (
	records        rowForm = iota // as CATS has them
	countedRecords                // so too; the header does not count dummies
	priceRows                     // a price and goods, numbered from 1, a bid a line
)

// shortHeader reads a header of two numbers, of which the first was read.
func (c *catsReader) shortHeader(a *problem.Auction, goods []byte) (bids int64, rows rowForm, err error) {
	n, _ := text.ParseInt(goods)
	if n>>31 != 0 {
		return 0, 0, c.errorf("found %s, expected the number of goods", quoteToken(goods))
	}
	a.Goods = n
	if len(c.words) == 0 {
		return 0, 0, c.errorf(`found a number alone, expected "goods" and a number, or the numbers of goods and bids`)
	}
	if bids, err = c.count("goods"); err != nil {
		return 0, 0, err
	}
	switch {
	case len(c.words) == 0:
		return bids, priceRows, nil
	case len(c.words) == 1 && string(c.words[0]) == "#":
		c.words = nil
		return bids, countedRecords, nil
	}
	return 0, 0, c.errorf("found %s after the numbers of goods and bids, expected the end of the line, or #", quoteToken(c.words[0]))
}

// bytesPerBid is the memory of a bid without its goods: the Bid, its price before scaling, and its
// entry in a map, each with room to grow.
const bytesPerBid = 400

func (c *catsReader) auction() (*problem.Auction, error) {
	a := &problem.Auction{}
	bids, rows, err := c.header(a)
	if err != nil {
		return nil, err
	}
	switch rows {
	case countedRecords:
		a.Dummies = math.MaxInt32
	case priceRows:
		if err := c.numberFromOne(a); err != nil {
			return nil, err
		}
	}
	var prices []problem.Amount
	seen := map[int64]int{}
	for {
		word, err := c.token()
		if err != nil {
			return nil, err
		}
		if word == nil {
			break
		}
		if string(word) == "#" { // a line that is a comment
			c.words = nil
			continue
		}
		if strings.EqualFold(string(word), "maximums") {
			return nil, c.errorf("found maximums: a multi-unit auction, expected one unit of each good")
		}
		if int64(len(a.Bids)) == bids {
			return nil, c.errorf("found %s after %s, expected the end of the file: the header says %[2]s", quoteToken(word), formats.Count(bids, "bid"))
		}
		read := c.record
		if rows == priceRows {
			read = c.priceRow
		}
		b, price, err := read(a, word)
		if err != nil {
			return nil, err
		}
		if line, ok := seen[b.Number]; ok {
			return nil, formats.Errorf(c.in.Name(), b.Line, "found bid %d again, expected each once: it is on line %d", b.Number, line)
		}
		if err := c.memory.Reserve(bytesPerBid); err != nil {
			return nil, c.errorf("%d bids and more take %w", len(a.Bids), err)
		}
		seen[b.Number] = b.Line
		a.Bids = append(a.Bids, b)
		prices = append(prices, price)
	}
	if int64(len(a.Bids)) < bids {
		return nil, c.errorf("found the end of the file after %s, expected the %d of the header", formats.Count(len(a.Bids), "bid"), bids)
	}
	if rows == countedRecords {
		a.Dummies = 0
		for _, b := range a.Bids {
			for _, g := range b.Goods {
				a.Dummies = max(a.Dummies, g-a.Goods+1)
			}
		}
	}
	several, empty := 0, 0
	for _, b := range a.Bids {
		dummies := 0
		for _, g := range b.Goods {
			if a.IsDummy(g) {
				dummies++
			}
		}
		if dummies > 1 {
			several++
		}
		if dummies == len(b.Goods) {
			empty++
		}
	}
	if several > 0 {
		a.Notes = append(a.Notes, fmt.Sprintf("bids with more than one id beyond the %d goods: %d; the highest id names the bidder", a.Goods, several))
	}
	if empty > 0 {
		a.Notes = append(a.Notes, fmt.Sprintf("bids for none of the %d goods: %d", a.Goods, empty))
	}
	return a, a.SetPrices(c.in.Name(), prices, nil)
}

// record reads a bid whose number has been read.
func (c *catsReader) record(a *problem.Auction, word []byte) (problem.Bid, problem.Amount, error) {
	number, ok := text.ParseInt(word)
	if !ok {
		return problem.Bid{}, problem.Amount{}, c.errorf("found %s, expected the number of a bid", quoteToken(word))
	}
	b := problem.Bid{Line: c.in.LineNumber(), Number: number}
	word, err := c.token()
	if err != nil {
		return b, problem.Amount{}, err
	}
	price, ok := problem.ParseAmount(string(word))
	if !ok {
		return b, problem.Amount{}, c.errorf("found %s, expected a price in at most %d digits", quoteToken(word), problem.MaxDigits)
	}
	for c.goods = c.goods[:0]; ; {
		if word, err = c.token(); err != nil {
			return b, problem.Amount{}, err
		}
		if string(word) == "#" {
			c.skipComment()
			break
		}
		id, ok := text.ParseInt(word)
		if !ok {
			return b, problem.Amount{}, c.errorf("found %s in bid %d, expected the id of a good, or #", quoteToken(word), b.Number)
		}
		if id >= a.Goods+a.Dummies {
			return b, problem.Amount{}, c.errorf("found good %d in bid %d, expected at most %d: the header has %s and %s", id, b.Number, a.Goods+a.Dummies-1, formats.Count(a.Goods, "good"), formats.Count(a.Dummies, "dummy"))
		}
		if c.goods, err = formats.Append(c.memory, c.goods, id); err != nil {
			return b, problem.Amount{}, c.errorf("the goods of bid %d take %w", b.Number, err)
		}
	}
	return b, price, c.setGoods(&b)
}

// numberFromOne names the goods by their numbers in the file, and says so.
func (c *catsReader) numberFromOne(a *problem.Auction) error {
	a.Notes = append(a.Notes, "rows of a price and its goods; goods and bids are numbered from 1")
	if err := c.memory.Reserve(bytesPerName * a.Goods); err != nil {
		return c.errorf("the numbers of %s take %w", formats.Count(a.Goods, "good"), err)
	}
	for g := range a.Goods {
		a.Names = append(a.Names, strconv.FormatInt(g+1, 10))
	}
	return nil
}

// priceRow reads a bid whose price has been read, up to the end of its line.
func (c *catsReader) priceRow(a *problem.Auction, word []byte) (problem.Bid, problem.Amount, error) {
	b := problem.Bid{Line: c.in.LineNumber(), Number: int64(len(a.Bids)) + 1}
	price, ok := problem.ParseAmount(string(word))
	if !ok {
		return b, problem.Amount{}, c.errorf("found %s, expected a price in at most %d digits", quoteToken(word), problem.MaxDigits)
	}
	for c.goods = c.goods[:0]; len(c.words) > 0; {
		if c.words[0][0] == '%' {
			c.words = nil
			break
		}
		word, err := c.token()
		if err != nil {
			return b, problem.Amount{}, err
		}
		id, ok := text.ParseInt(word)
		if !ok || id < 1 || id > a.Goods {
			return b, problem.Amount{}, c.errorf("found %s in a bid, expected a good from 1 to %d", quoteToken(word), a.Goods)
		}
		if c.goods, err = formats.Append(c.memory, c.goods, id-1); err != nil {
			return b, problem.Amount{}, c.errorf("the goods of bid %d take %w", b.Number, err)
		}
	}
	return b, price, c.setGoods(&b)
}

// setGoods gives a bid the goods that were read.
func (c *catsReader) setGoods(b *problem.Bid) (err error) {
	if b.Goods, err = formats.Append(c.memory, b.Goods, c.goods...); err != nil {
		return c.errorf("the goods of bid %d take %w", b.Number, err)
	}
	slices.Sort(b.Goods)
	for i := 1; i < len(b.Goods); i++ {
		if b.Goods[i] == b.Goods[i-1] {
			return c.errorf("found good %d twice in bid %d, expected each once", b.Goods[i], b.Number)
		}
	}
	return nil
}
