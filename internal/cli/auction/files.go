package auction

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"coalesce/internal/ui"
	"coalesce/runtime/memory"
	"coalesce/solvers/auction"
	"coalesce/solvers/auction/problem"
)

// A drawing says which auction to draw.
type drawing struct {
	// distribution of the auction
	distribution string `option:"distribution" words:"auction.Distributions()"`
	// number of goods, 1 to 4096
	goods int `option:"goods" min:"1" max:"4096"`
	// least number of bids, up to 32768: those of the last bidder are all drawn
	bids int `option:"bids" max:"32768"`
	// seed of the draws
	seed uint64 `option:"seed"`
}

// checkMemory returns an error if the bids exceed the free memory.
func (d *drawing) checkMemory(free memory.Free) error {
	return free.CheckFits(fmt.Sprintf("%d bids for %s", d.bids, ui.Count(d.goods, "good")), float64(auction.Footprint(d.distribution, d.goods, d.bids)))
}

// draw draws the auction.
func (d *drawing) draw() (*problem.Auction, error) {
	return auction.Generate(d.distribution, d.goods, d.bids, d.seed)
}

// describeDistributions lists the distributions, one a line.
func describeDistributions() string {
	var b strings.Builder
	for _, name := range auction.Distributions() {
		fmt.Fprintf(&b, "  %-14s %s\n", name, auction.AboutDistribution(name))
	}
	return strings.TrimRight(b.String(), "\n")
}

// formatFor is the format that --to names, else that a file's name promises, else CATS.
func formatFor(to, output string) (string, error) {
	if to == "" {
		if to = auction.FormatOf(output); to == "" {
			to = auction.CATS
		}
	}
	if !slices.Contains(auction.Formats(), to) {
		return "", fmt.Errorf("--to is %q, expected one of %s", to, strings.Join(auction.Formats(), ", "))
	}
	return to, nil
}

// encodeAuction writes an auction, in CATS after a comment with its source, and returns texts about the parts
// that the format does not hold.
func encodeAuction(w io.Writer, a *problem.Auction, format string) ([]string, error) {
	if format == auction.CATS {
		if _, err := fmt.Fprintf(w, "%% %s\n\n", strings.Join(strings.Fields(a.Source), " ")); err != nil {
			return nil, err
		}
	}
	return auction.Write(w, a, format)
}
