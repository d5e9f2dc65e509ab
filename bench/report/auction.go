package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"coalesce/bench/result"
)

// auctionTables are the regions of auctions: tables of few goods, and solvers side by side.
func auctionTables(root string) (map[string]string, error) {
	regions := map[string]string{}
	for name, table := range map[string]func(*result.Experiment[result.Auction]) string{"auction-tables": fewGoods, "auction-rivals": rivalsTable, "auction-rivals-hard": rivalsTable, "auction-rivals-cores": rivalsTable, "auction-drawn": rivalsTable, "auction-beside": besideTable} {
		f, err := result.Load[result.Auction](filepath.Join(root, "bench", "results", name+".json"))
		if errors.Is(err, fs.ErrNotExist) {
			regions[name] = "Not measured.\n"
			continue
		}
		if err != nil {
			return nil, err
		}
		regions[name] = table(f)
	}
	return regions, nil
}

// fewGoods is the medians of the times to the winners and from there to VCG's payments, bidder by bidder.
func fewGoods(f *result.Experiment[result.Auction]) string {
	median := func(runs []float64) float64 { return result.Row{Runs: runs}.Median() }
	out := tableHead("auction of 1,000 bids", "goods", "winners", "ms to them", "ms more to the payments", "GB by count", "TB a second")
	for _, r := range f.Rows {
		solve, pay := median(r.Solve), median(r.Pay)
		out += tableLine(r.Name, fmt.Sprint(r.Goods), fmt.Sprint(r.Winners), fmt.Sprintf("%.3g", 1e3*solve), fmt.Sprintf("%.3g", 1e3*pay), fmt.Sprintf("%.3g", r.Bytes/1e9), fmt.Sprintf("%.2f", r.Bytes/1e12/(solve+pay)))
	}
	return out + fmt.Sprintf("\n%s, commit %s, %s, medians of %d: `%s`.\n", f.Device, f.Commit, f.Date, len(f.Rows[0].Solve), f.Command)
}

// sided are the rows of one auction.
type sided struct {
	name, known string
	by          map[string]result.Auction
}

// best is the best value of its rows.
func (s *sided) best() (value string) {
	most := math.Inf(-1)
	for _, r := range s.by {
		if v, err := strconv.ParseFloat(r.Value, 64); err == nil && (v > most || v == most && r.Value > value) {
			most, value = v, r.Value
		}
	}
	return value
}

// sides sorts rows by auction, and lists the solvers, that of this project first.
func sides(rows []result.Auction) (list []sided, names []string) {
	for _, r := range rows {
		if !slices.Contains(names, r.Name) {
			names = append(names, r.Name)
		}
		at := slices.IndexFunc(list, func(s sided) bool { return s.name == r.Instance })
		if at < 0 {
			at = len(list)
			list = append(list, sided{r.Instance, r.Known, map[string]result.Auction{}})
		}
		list[at].by[r.Name] = r
	}
	slices.SortStableFunc(names, func(a, b string) int {
		return cmp.Compare(map[bool]int{false: 1}[a == branchAndCut], map[bool]int{false: 1}[b == branchAndCut])
	})
	return list, names
}

// branchAndCut is the name of this project's solver in the rows of bench/auction.
const branchAndCut = "Coalesce"

// rivalsTable is seconds to the proof, how many times those of the fastest other solver has, by
// the clock and by processors, and primal integrals.
func rivalsTable(f *result.Experiment[result.Auction]) string {
	list, names := sides(f.Rows)
	head := []string{"auction", "best known"}
	head = append(head, names...)
	out := tableHead(append(append(head, "others ÷ ours", "in processors' time"), "primal integral: "+strings.Join(names, ", "))...)
	for _, s := range list {
		cells := []string{s.name, cmp.Or(s.known, s.best())}
		var integrals []string
		var clock, work least
		for _, n := range names {
			r, ok := s.by[n]
			if !ok {
				cells, integrals = append(cells, "-"), append(integrals, "-")
				continue
			}
			cells = append(cells, proofTime(r))
			integrals = append(integrals, formatTimeToTarget(r.Primal))
			if n != branchAndCut && r.Succeeded() {
				clock.see(r.Took, r.Proven)
				work.see(r.CPU, r.Proven)
			}
		}
		own := s.by[branchAndCut]
		if !own.Proven {
			clock, work = least{}, least{}
		}
		out += tableLine(append(cells, clock.over(own.Took), work.over(own.CPU), strings.Join(integrals, ", "))...)
	}
	out += fmt.Sprintf("\n%s, %d threads, limit %.0f s, commit %s, %s: `%s`", f.Device, f.Rows[0].Threads, f.Rows[0].Limit, cmp.Or(f.Commit, "not recorded"), f.Date, f.Command)
	if f.Unfinished {
		out += "; ended by its budget"
	}
	return out + ".\n"
}

// besideTable is how soon branch and cut has its best bids and their proof, alone and with a device
// that works for it.
func besideTable(f *result.Experiment[result.Auction]) string {
	out := tableHead("auction", "best known", "solver", "best found", "after, s", "proof, s", "s of processors", "primal integral", "better allocations of the device", "the last after, s", "nodes", "nodes whose children it bounded", "children")
	for _, r := range f.Rows {
		last := "-"
		if r.Found > 0 {
			last = formatTimeToTarget(r.Last)
		}
		out += tableLine(r.Instance, r.Known, r.Name, r.Value, formatTimeToTarget(r.Reached), proofTime(r), formatTimeToTarget(r.CPU), formatTimeToTarget(r.Primal), fmt.Sprint(r.Found), last, fmt.Sprint(r.Nodes), fmt.Sprint(r.Bounded), fmt.Sprint(r.Children))
	}
	return out + fmt.Sprintf("\n%s, %d threads, limit %.0f s, commit %s, %s: `%s`.\n", f.Device, f.Rows[0].Threads, f.Rows[0].Limit, cmp.Or(f.Commit, "not recorded"), f.Date, f.Command)
}

// A least is the least time of solvers.
type least struct {
	seconds float64 // 0: there is none
	cut     bool    // by a limit: the time to the proof is more
}

func (l *least) see(seconds float64, proven bool) {
	if l.seconds == 0 || seconds < l.seconds {
		*l = least{seconds, !proven}
	}
}

// over is the time in another.
func (l least) over(seconds float64) string {
	switch {
	case l.seconds == 0:
		return "-"
	case l.cut:
		return fmt.Sprintf("over %.3g", l.seconds/seconds)
	}
	return fmt.Sprintf("%.3g", l.seconds/seconds)
}

// proofTime is the seconds to the proof, or what was not proven in the limit.
func proofTime(r result.Auction) string {
	if !r.Succeeded() {
		return "failed"
	}
	if r.Proven {
		return formatTimeToTarget(r.Took)
	}
	gap := "no bound"
	if v := number(r.Value); r.Bound > 0 && v > 0 {
		gap = fmt.Sprintf("gap %.2f %%", 100*(r.Bound-v)/v)
	}
	return fmt.Sprintf("%s: %s", formatTimeToTarget(r.Took), gap)
}

func number(text string) float64 {
	v := 0.0
	if _, err := fmt.Sscan(text, &v); err != nil {
		return 0
	}
	return v
}
