package auction

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"coalesce/internal/ui"
	"coalesce/runtime/memory"
	"coalesce/solvers/auction"
)

// A Drawing is the flags of generate auction.
type Drawing struct {
	Distribution string
	Goods, Bids  int
	Seed         uint64
}

// Register adds the flags.
func (d *Drawing) Register(f *pflag.FlagSet) {
	f.StringVar(&d.Distribution, "distribution", "", "one of those above")
	f.IntVar(&d.Goods, "goods", 0, "number of goods, 1 to 4096")
	f.IntVar(&d.Bids, "bids", 0, "least number of bids, up to 32768: those of the last bidder are all drawn")
	f.Uint64Var(&d.Seed, "seed", 1, "of the draws")
}

// Check returns an error if the flags are wrong.
func (d *Drawing) Check() error {
	switch {
	case !slices.Contains(auction.Distributions(), d.Distribution):
		return fmt.Errorf("--distribution is %q, expected one of %s", d.Distribution, strings.Join(auction.Distributions(), ", "))
	case d.Goods < 1 || d.Goods > 4096:
		return fmt.Errorf("--goods is %d, expected 1 to 4096", d.Goods)
	case d.Bids < 0 || d.Bids > 32768:
		return fmt.Errorf("--bids is %d, expected 0 to 32768", d.Bids)
	}
	return nil
}

// Fits returns an error if the bids exceed the free memory.
func (d *Drawing) Fits(free memory.Free) error {
	return free.CheckFits(fmt.Sprintf("%d bids for %s", d.Bids, ui.Count(d.Goods, "good")), float64(auction.Footprint(d.Distribution, d.Goods, d.Bids)))
}

// Draw draws the auction.
func (d *Drawing) Draw() (*auction.Auction, error) {
	return auction.Generate(d.Distribution, d.Goods, d.Bids, d.Seed)
}

// About lists the distributions, one a line.
func About() string {
	var b strings.Builder
	for _, name := range auction.Distributions() {
		fmt.Fprintf(&b, "  %-14s %s\n", name, auction.AboutDistribution(name))
	}
	return strings.TrimRight(b.String(), "\n")
}

// Format is the format that --to names, else that a file's name promises, else CATS.
func Format(to, output string) (string, error) {
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

// Write writes an auction, in CATS after a comment with its source, and returns texts about the parts
// that the format does not hold.
func Write(w io.Writer, a *auction.Auction, format string) ([]string, error) {
	if format == auction.CATS {
		if _, err := fmt.Fprintf(w, "%% %s\n\n", strings.Join(strings.Fields(a.Source), " ")); err != nil {
			return nil, err
		}
	}
	return auction.Write(w, a, format)
}
