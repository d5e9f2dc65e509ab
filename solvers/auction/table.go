package auction

import (
	"errors"
	"io"
	"strings"

	"coalesce/solvers/auction/internal/separated"
	"coalesce/solvers/formats"
	"coalesce/solvers/formats/text"
)

// The columns of a table of bids.
const (
	columnBid = iota
	columnBidder
	columnPrice
	columnGoods
	columnXOR
	columns
)

var columnNames = [columns]string{"bid", "bidder", "price", "goods", "xor"}

// A table is a CSV file: settings, a header, and a bid a line.
type table struct {
	*namer
	in        *text.File
	delimiter byte
	header    [columns]int // the place of each column, -1: it is not there
	width     int          // columns of the header; 0: it has not come
	disposal  bool         // the setting has come
}

// readTable reads CSV, as docs/auction.md describes it.
func readTable(f *text.File, memory *formats.Budget) (*Auction, error) {
	t := &table{namer: newNamer(f.Name(), memory), in: f}
	var cells []string
	for {
		line, err := f.Line()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		if trimmed := strings.TrimSpace(string(line[:min(len(line), maxToken)])); trimmed == "" && len(line) <= maxToken || strings.HasPrefix(trimmed, "#") || strings.HasPrefix(trimmed, "%") {
			continue
		}
		if t.delimiter == 0 {
			t.delimiter = separated.Delimiter(line)
		}
		var ok bool
		if cells, ok = separated.Split(cells[:0], line, t.delimiter); !ok {
			return nil, f.Errorf("found a quote that does not end where its cell does, expected its end on the same line")
		}
		for len(cells) > 1 && cells[len(cells)-1] == "" { // as spreadsheets fill lines up
			cells = cells[:len(cells)-1]
		}
		switch {
		case t.width > 0:
			err = t.row(cells)
		case strings.HasSuffix(cells[0], ":"):
			err = t.setting(strings.ToLower(cells[0]), cells[1:])
		default:
			err = t.columns(cells)
		}
		if err != nil {
			return nil, err
		}
	}
	if t.width == 0 {
		return nil, f.Errorf("found the end of the file, expected a header with the columns price and goods")
	}
	return t.auction()
}

// setting reads a line before the header.
func (t *table) setting(name string, cells []string) error {
	line := t.in.Number()
	want := map[string]int{"goods:": 1, "count:": 1, "reserve:": 2, "most:": 2, "disposal:": 1}
	n, ok := want[name]
	if !ok {
		return t.in.Errorf("found the setting %s, expected goods:, count:, reserve:, most: or disposal:", formats.Quote(name))
	}
	if len(cells) != n {
		return t.in.Errorf("found %s after %s, expected %d", formats.Count(len(cells), "cell"), name, n)
	}
	switch name {
	case "goods:":
		for _, good := range strings.Fields(cells[0]) {
			if err := t.list(good, line); err != nil {
				return err
			}
		}
	case "count:":
		return t.count(cells[0], line)
	case "reserve:":
		return t.reserve(cells[0], strings.Fields(cells[1]), line)
	case "most:":
		return t.limit(cells[0], cells[1], line)
	case "disposal:":
		if t.disposal {
			return t.in.Errorf("found disposal: again, expected it once")
		}
		t.disposal = true
		switch strings.ToLower(cells[0]) {
		case "yes":
		case "no":
			t.a.SellAll = true
		default:
			return t.in.Errorf("found %s after disposal:, expected yes or no", formats.Quote(cells[0]))
		}
	}
	return nil
}

// columns reads the header.
func (t *table) columns(cells []string) error {
	for c := range t.header {
		t.header[c] = -1
	}
	for k, cell := range cells {
		found := k == 0 && cell == "" // an index, which numbers the rows
		for c, name := range columnNames {
			if strings.EqualFold(cell, name) {
				if t.header[c] >= 0 {
					return t.in.Errorf("found the column %s twice, expected it once", name)
				}
				t.header[c], found = k, true
			}
		}
		if !found {
			return t.in.Errorf("found the column %s, expected bid, bidder, price, goods or xor", formats.Quote(cell))
		}
	}
	if t.header[columnPrice] < 0 || t.header[columnGoods] < 0 {
		return t.in.Errorf("found a header without the columns price and goods, expected both")
	}
	t.width = len(cells)
	return nil
}

// row reads a bid.
func (t *table) row(cells []string) error {
	if len(cells) > t.width {
		return t.in.Errorf("found %s, expected at most the %d of the header", formats.Count(len(cells), "cell"), t.width)
	}
	cell := func(column int) string {
		if k := t.header[column]; k >= 0 && k < len(cells) {
			return cells[k]
		}
		return ""
	}
	return t.bid(bidLine{number: cell(columnBid), bidder: cell(columnBidder), price: cell(columnPrice),
		goods: strings.Fields(cell(columnGoods)), xor: strings.Fields(cell(columnXOR)), line: t.in.Number()})
}
