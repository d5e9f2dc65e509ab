package formats

import (
	"errors"
	"io"
	"slices"
	"strings"

	"coalesce/solvers/auction/problem"
	"coalesce/solvers/formats"
	"coalesce/solvers/formats/csv"
	"coalesce/solvers/formats/names"
	"coalesce/solvers/formats/text"
)

// The columns of a table of bids.
const (
	columnBid = iota
	columnBidder
	columnPrice
	columnGoods
	columnXOR
	columnQuantities
	columns
)

var columnNames = [columns]string{"bid", "bidder", "price", "goods", "xor", "quantities"}

// comments are what comments begin with.
const comments = "#%"

// A csvReader reads a CSV file: settings, a header, and a bid a line.
type csvReader struct {
	*builder
	in        *text.File
	delimiter byte
	header    [columns]int // the place of each column, -1: it is not there
	width     int          // columns of the header; 0: it has not come
	members   []string     // goods that columns of 0 and 1 are named for, "" for other columns; nil: there are none
	disposal  bool         // the setting has come
	minimize  bool         // the setting has come
}

// readCSV reads CSV, as docs/auction.md describes it.
func readCSV(f *text.File, memory *formats.Budget) (*problem.Auction, error) {
	t := &csvReader{builder: newBuilder(f.Name(), memory), in: f}
	var cells []string
	rows := csv.NewRows(f, comments)
	for {
		line, err := rows.Next(t.width == 0)
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		if t.delimiter == 0 {
			t.delimiter = rows.Delimiter
		}
		if t.delimiter == 0 {
			t.delimiter = csv.DetectDelimiter(line)
		}
		if cells, err = csv.SplitCells(cells[:0], line, t.delimiter); err != nil {
			return nil, f.Errorf("%w", err)
		}
		for len(cells) > 1 && cells[len(cells)-1] == "" { // as spreadsheets fill lines up
			cells = cells[:len(cells)-1]
		}
		switch {
		case t.width > 0:
			err = t.readRow(cells)
		case strings.HasSuffix(cells[0], ":"):
			err = t.readSetting(strings.ToLower(cells[0]), cells[1:])
		default:
			err = t.readHeader(cells)
		}
		if err != nil {
			return nil, err
		}
	}
	if t.width == 0 {
		return nil, f.Errorf("found the end of the file, expected a header with the columns price and goods")
	}
	if rows.Aside != "" {
		t.a.Notes = append(t.a.Notes, "the comment "+formats.Quote(rows.Aside)+" was left out")
	}
	return t.auction()
}

// readSetting reads a line before the header.
func (t *csvReader) readSetting(name string, cells []string) error {
	line := t.in.LineNumber()
	want := map[string]int{"goods:": 1, "count:": 1, "units:": 1, "reserve:": 2, "most:": 2, "disposal:": 1, "minimize:": 1}
	n, ok := want[name]
	if !ok {
		return t.in.Errorf("found the setting %s, expected goods:, count:, units:, reserve:, most:, disposal: or minimize:", formats.Quote(name))
	}
	if len(cells) != n {
		return t.in.Errorf("found %s after %s, expected %d", formats.Count(len(cells), "cell"), name, n)
	}
	switch name {
	case "goods:":
		goods, err := t.names("goods", cells[0])
		for _, good := range goods {
			if err := t.addListedGood(good, line); err != nil {
				return err
			}
		}
		return err
	case "count:":
		return t.setGoodsCount(cells[0], line)
	case "units:":
		if t.unitsLine > 0 {
			return t.in.Errorf("found units: again, expected it once")
		}
		list, err := names.ParseList(cells[0], nil)
		if err != nil {
			return t.in.Errorf("units: %w", err)
		}
		t.unitsLine = line
		for _, word := range list {
			t.units = append(t.units, strings.Clone(word))
		}
		if t.units == nil {
			return t.in.Errorf("found no numbers after units:, expected those of the goods")
		}
	case "minimize:":
		if t.minimize {
			return t.in.Errorf("found minimize: again, expected it once")
		}
		t.minimize = true
		switch strings.ToLower(cells[0]) {
		case "yes":
			t.a.Minimize = true
		case "no":
		default:
			return t.in.Errorf("found %s after minimize:, expected yes or no", formats.Quote(cells[0]))
		}
	case "reserve:":
		goods, err := t.names("goods", cells[1])
		if err != nil {
			return err
		}
		return t.addReserve(cells[0], goods, line)
	case "most:":
		return t.setLimit(cells[0], cells[1], line)
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

// readHeader reads the header.
func (t *csvReader) readHeader(cells []string) error {
	for c := range t.header {
		t.header[c] = -1
	}
	isGoods := func(cell string) bool { return strings.EqualFold(cell, columnNames[columnGoods]) }
	var members []string
	if !slices.ContainsFunc(cells, isGoods) {
		members = make([]string, len(cells))
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
		if !found && members != nil && cell != "" {
			members[k], found, t.members = names.Clean(cell), true, members
			if err := t.addListedGood(members[k], t.in.LineNumber()); err != nil {
				return err
			}
		}
		if !found {
			return t.in.Errorf("found the column %s, expected bid, bidder, price, goods, quantities or xor", formats.Quote(cell))
		}
	}
	if len(t.ids) > 1 && t.members != nil && t.header[columnPrice] >= 0 {
		t.listed = true
		t.a.Notes = append(t.a.Notes, "goods are columns of 0 and 1")
		t.width = len(cells)
		return nil
	}
	if t.members != nil && t.header[columnPrice] >= 0 {
		return t.in.Errorf("found the one column %s beside bid, bidder, price, quantities and xor, expected goods, or several that stand for goods", formats.Quote(slices.MaxFunc(t.members, strings.Compare)))
	}
	if t.header[columnPrice] < 0 || t.header[columnGoods] < 0 {
		return t.in.Errorf("found a header without the columns price and goods, expected both")
	}
	t.width = len(cells)
	return nil
}

// readRow reads a bid.
func (t *csvReader) readRow(cells []string) error {
	if len(cells) > t.width {
		return t.in.Errorf("found %s, expected at most the %d of the header", formats.Count(len(cells), "cell"), t.width)
	}
	cell := func(column int) string {
		if k := t.header[column]; k >= 0 && k < len(cells) {
			return cells[k]
		}
		return ""
	}
	number := names.Clean(cell(columnBid))
	if _, ok := text.ParseInt([]byte(strings.TrimPrefix(number, "#"))); ok {
		number = strings.TrimPrefix(number, "#")
	}
	if number == "" && t.header[columnBid] >= 0 {
		return t.in.Errorf("column %d: found an empty cell, expected the number of a bid", t.header[columnBid]+1)
	}
	b := namedBid{number: number, bidder: cell(columnBidder), price: cell(columnPrice), line: t.in.LineNumber()}
	if b.bidder != "" && names.IsMissing(b.bidder) {
		return t.in.Errorf("column %d: found %s for a bidder, expected a name, or an empty cell", t.header[columnBidder]+1, formats.Quote(b.bidder))
	}
	var err error
	if t.members != nil {
		b.goods, b.units, err = t.memberGoods(cells)
	} else {
		b.goods, err = t.names("goods", cell(columnGoods))
	}
	if err != nil {
		return err
	}
	if text := cell(columnQuantities); text != "" {
		if t.members != nil {
			return t.in.Errorf("found quantities where columns are goods, expected them in these columns")
		}
		if b.units, err = names.ParseList(text, nil); err != nil {
			return t.in.Errorf("quantities: %w", err)
		}
	}
	if b.xor, err = t.names("xor", cell(columnXOR)); err != nil {
		return err
	}
	return t.addBid(b)
}

// memberGoods are the goods whose columns have 1 in a row, or more where the file has units, and how many; nil: one of each.
func (t *csvReader) memberGoods(cells []string) (goods, units []string, err error) {
	for k, good := range t.members {
		if good == "" {
			continue
		}
		cell := ""
		if k < len(cells) {
			cell = cells[k]
		}
		switch strings.ToLower(cell) {
		case "0", "0.0", "false":
		case "1", "1.0", "true":
			goods, units = append(goods, good), append(units, "1")
		default:
			if t.units == nil {
				return nil, nil, t.in.Errorf("column %d: found %s, expected 0 or 1: the header names a good, and no units: says how many there are of each", k+1, formats.Quote(cell))
			}
			if _, err := t.parseUnits(cell, 0, t.in.LineNumber()); err != nil {
				return nil, nil, err
			}
			goods, units = append(goods, good), append(units, cell)
		}
	}
	return goods, units, nil
}

// names reads a cell that lists goods or groups; what the cell is, errors say.
func (t *csvReader) names(what, cell string) ([]string, error) {
	var known func(name string) bool
	if t.listed && what == "goods" {
		known = func(name string) bool { _, ok := t.ids[name]; return ok }
	}
	list, err := names.ParseList(cell, known)
	if err != nil {
		return nil, t.in.Errorf("%s: %w", what, err)
	}
	return list, nil
}
