package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"coalesce/bench/result"
	"coalesce/runtime/device"
	solver "coalesce/solvers/auction"
)

// timeCompanion times branch and cut on the auctions of a folder, each without the device and then
// with searches over many starts and bounds of children on it.
func (b *bench) timeCompanion() error {
	paths, known, err := b.auctionFiles()
	if err != nil {
		return err
	}
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".txt")
		a, err := solver.Read(path)
		if err != nil {
			return err
		}
		for _, devices := range [][]device.Device{nil, {b.Dev}} {
			if b.LacksTimeFor(b.settings.limit) {
				return nil
			}
			row := result.Auction{Name: ours, Goods: int(a.Goods), Bids: len(a.Bids),
				Proof: result.Proof{Instance: name, Threads: b.settings.threads, Limit: b.settings.limit.Seconds(), Known: known[name]}}
			if devices != nil {
				row.Name += " and " + b.Settings.Device
			}
			res, err := b.timeBranchAndCut(a, devices, &row)
			if err != nil {
				row.Failed = err.Error()
			} else {
				row.Found, row.Last, row.Flips = res.Search.Found, res.Search.Last, res.Search.Flips
				row.Bounded, row.Children = res.Search.Nodes, res.Search.Children
			}
			b.AddRow(row)
			fmt.Printf("%-30s %-22s %10s of %s after %.3g s, bound %.10g, %8.2f s, %8.2f s of processors, %d nodes, primal integral %.3g s, the device found %d in %.3g flips, the last after %.3g s, and bounded %d children of %d nodes %s\n",
				name, row.Name, row.Value, row.Known, row.Reached, row.Bound, row.Took, row.CPU, row.Nodes, row.Primal, row.Found, float64(row.Flips), row.Last, row.Children, row.Bounded, row.Failed)
		}
	}
	return nil
}
