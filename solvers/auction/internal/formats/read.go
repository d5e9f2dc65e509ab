// Package formats reads and writes auctions: the text format of CATS, tables of bids as CSV, and JSON.
package formats

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"coalesce/solvers/auction/problem"
	"coalesce/solvers/formats"
	"coalesce/solvers/formats/csv"
	"coalesce/solvers/formats/foreign"
	"coalesce/solvers/formats/packed"
	"coalesce/solvers/formats/text"
)

// The formats of auctions.
const (
	CATS = "cats" // the text format of CATS
	CSV  = "csv"  // a table of bids
	JSON = "json" // an object of bidders and their bids
)

// Names are the names of all formats.
func Names() []string { return []string{CATS, CSV, JSON} }

// CheckName returns an error if a text names no format.
func CheckName(format string) error {
	if !slices.Contains(Names(), format) {
		return fmt.Errorf("found %.40q, expected one of %v", format, Names())
	}
	return nil
}

// OfPath is the format that the ending of a file's name stands for, before the ending of a
// compression if there is one; empty where it stands for none.
func OfPath(path string) string {
	switch strings.ToLower(filepath.Ext(packed.TrimExtension(path))) {
	case ".csv", ".tsv":
		return CSV
	case ".json":
		return JSON
	case ".cats":
		return CATS
	}
	return ""
}

// Limits of files.
const (
	maxToken    = 1 << 10 // bytes between blanks, and of a name
	maxLine     = 1 << 26 // bytes
	maxUnpacked = 1 << 34 // bytes of a compressed file, or of a stream
	maxObject   = 1 << 30 // bytes of a JSON file
	maxHead     = 1 << 16 // bytes that tell a format
)

// Read reads an auction, plain, compressed with gzip, xz or zstd, or the one file of a zip archive: by its name .csv,
// .tsv, .json or .cats, else in the format that the beginning of its text tells.
//
// CATS (Leyton-Brown, Pearson and Shoham, EC 2000): after comments, which begin with %,
// come `goods N`, `bids M` and `dummy D` in any order, or a line `N M #`, and M records: a
// number, a price, the ids of goods, and #, behind which a comment may stand. Ids from N on, and negative ones (as SATS
// writes them), are dummies. Multi-unit files, with `maximums`, are refused. After a line
// `N M` alone come M lines of a price and its goods, which are numbered from 1.
//
// A file .lp or .mps is set packing or partitioning (fromProgram).
//
// CSV and JSON, with names, limits and reserves, are described in docs/auction.md. Errors
// begin with `file:line`.
//
// Bids may take limit bytes of memory; 0: no limit. An auction that takes more is a formats.MemoryError.
func Read(path string, limit int64) (*problem.Auction, error) {
	plain, err := packed.OpenFile(path, unpacked(limit))
	return readPlain(plain, err, path, limit)
}

// ReadFrom is Read on an open stream; name is what errors call it.
func ReadFrom(r io.Reader, name string, limit int64) (*problem.Auction, error) {
	plain, err := packed.OpenLimited(r, -1, name, unpacked(limit))
	return readPlain(plain, err, name, limit)
}

// unpacked is the most bytes of text that are read where the length is not known: four times the
// memory that bids may take.
func unpacked(limit int64) int64 {
	if limit <= 0 || limit > maxUnpacked/4 {
		return maxUnpacked
	}
	return 4*limit + maxToken
}

func readPlain(plain *packed.Stream, err error, name string, limit int64) (*problem.Auction, error) {
	if err != nil {
		return nil, err
	}
	defer plain.Close()
	memory := formats.NewBudget(limit)
	in := plain.Reader
	head, _ := in.Peek(min(maxHead, in.Size())) // the next read returns the error again
	if read, kind := programReader(plain.Name); read != nil {
		f, err := text.New(in, name, text.Options{Line: maxLine, Budget: memory})
		if err != nil {
			return nil, err
		}
		p, err := read(f, memory)
		if err != nil {
			return nil, err
		}
		a, err := fromProgram(p, name)
		if err != nil {
			return nil, err
		}
		a.Source, a.Notes = name, append([]string{"read as " + kind}, a.Notes...)
		return a, nil
	}
	if err := foreign.Check(name, head, "an auction, as CATS, CSV or JSON", foreign.JSON); err != nil {
		return nil, err
	}
	format := OfPath(plain.Name)
	if format == "" {
		format = formatOfText(head)
	}
	a, err := readFormat(in, name, format, memory)
	if err != nil {
		return nil, err
	}
	a.Source, a.Notes = name, append([]string{"read as " + strings.ToUpper(format)}, a.Notes...)
	return a, nil
}

func readFormat(in io.Reader, name, format string, memory *formats.Budget) (*problem.Auction, error) {
	if format == JSON {
		return readJSON(in, name, memory)
	}
	o := text.Options{Line: maxLine, Budget: memory}
	if format == CATS {
		o.Comment = "%"
	}
	f, err := text.New(in, name, o)
	if err != nil {
		return nil, err
	}
	if format == CSV {
		return readCSV(f, memory)
	}
	return (&catsReader{in: f, memory: memory}).auction()
}

// formatOfText is the format that the beginning of a text tells: JSON begins with a
// brace or a bracket, CSV with a setting or with a header that has prices and another column. All else is CATS.
func formatOfText(head []byte) string {
	if text := bytes.TrimSpace(head); bytes.HasPrefix(text, []byte("{")) || bytes.HasPrefix(text, []byte("[")) {
		return JSON
	}
	in, err := text.New(bytes.NewReader(head), "", text.Options{Line: maxHead})
	if err != nil {
		return CATS
	}
	rows := csv.NewRows(in, comments)
	line, err := rows.Next(true)
	if rows.Separated {
		return CSV
	}
	if err != nil {
		return CATS
	}
	cells, err := csv.SplitCells(nil, bytes.TrimSpace(line), csv.DetectDelimiter(line))
	if err == nil && (strings.HasSuffix(cells[0], ":") || len(cells) > 1 && slices.ContainsFunc(cells, isColumn("price"))) {
		return CSV
	}
	return CATS
}

func isColumn(name string) func(cell string) bool {
	return func(cell string) bool { return strings.EqualFold(cell, name) }
}
