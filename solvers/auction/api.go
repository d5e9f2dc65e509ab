// Package auction determines the winners of combinatorial auctions: which bids
// to accept so that no good is sold twice and the prices add up to the most.
// Goods may stay unsold (free disposal), unless the auction says otherwise. Bidders bid
// in the languages OR, XOR and OR of XOR, may have a limit on what they win, and the
// seller may have reserve prices.
//
// Auctions over few goods are coalition structures: goods are agents, bids are
// the values of the bundles they ask for, and bundles that nobody asks for are
// worth nothing. NewReduction makes that instance, and Reduction.Result takes its
// solution back to the bids.
//
// Prices are decimals and stay decimals: sums are exact.
//
// The rooms: problem, the auction, its atomic bids and its certificate; internal/formats, files;
// internal/packing, branch and cut; internal/bidders, tables; internal/plan, the choice among
// algorithms; internal/payments, what winners pay.
package auction

import (
	"io"

	"coalesce/solvers/auction/internal/formats"
	"coalesce/solvers/auction/problem"
	"coalesce/solvers/solve"
)

// The formats of auctions.
const (
	CATS = formats.CATS // the text format of CATS
	CSV  = formats.CSV  // a table of bids
	JSON = formats.JSON // an object of bidders and their bids
)

// Formats are the names of all formats.
func Formats() []string { return formats.Names() }

// FormatOf is the format that the ending of a file's name stands for, before the ending of a
// compression if there is one; empty where it stands for none.
func FormatOf(path string) string { return formats.OfPath(path) }

// Read reads an auction, plain, compressed with gzip, xz or zstd, or the one file of a zip archive: by its name .csv,
// .tsv, .json or .cats, else in the format that the beginning of its text tells. Ids from the number of goods on, and
// negative ones, are dummies. docs/auction.md describes the formats. Errors begin with `file:line`.
func Read(path string) (*problem.Auction, error) { return formats.Read(path, 0) }

// ReadWithin is Read with a limit on the bytes of memory that bids may take; 0: no limit. An auction
// that takes more is a formats.MemoryError.
func ReadWithin(path string, limit int64) (*problem.Auction, error) { return formats.Read(path, limit) }

// ReadFrom is Read on an open stream; name is what errors call it.
func ReadFrom(r io.Reader, name string) (*problem.Auction, error) {
	return formats.ReadFrom(r, name, 0)
}

// ReadFromWithin is ReadWithin on an open stream; name is what errors call it.
func ReadFromWithin(r io.Reader, name string, limit int64) (*problem.Auction, error) {
	return formats.ReadFrom(r, name, limit)
}

// Write writes an auction in a format, one of Formats, and returns texts about parts that the format
// cannot hold. It is an error if such a part changes which bids can win: CATS holds no limits, no
// reserves and no goods that have to be sold.
func Write(w io.Writer, a *problem.Auction, format string) (notes []string, err error) {
	if err := formats.CheckName(format); err != nil {
		return nil, solve.InvalidInput("format", "%w", err)
	}
	return formats.Write(w, a, format)
}
