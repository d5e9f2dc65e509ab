package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"coalesce/bench/experiment"
	"coalesce/bench/result"
	"coalesce/runtime/device"
	solver "coalesce/solvers/auction"
	"coalesce/solvers/auction/problem"
	"coalesce/solvers/solve"
)

//go:embed rivals.py
var script string

type request struct {
	Solver  string    `json:"solver"`
	Prices  []float64 `json:"prices"`
	Goods   [][]int64 `json:"goods"`
	Limit   float64   `json:"limit"`
	Threads int       `json:"threads"`
}

type reply struct {
	Solvers []string          `json:"solvers"`
	Missing map[string]string `json:"missing"`
	Seconds float64           `json:"seconds"`
	CPU     float64           `json:"cpu"`
	Chosen  []int             `json:"chosen"`
	Bound   *float64          `json:"bound"`
	Proven  bool              `json:"proven"`
	Nodes   int64             `json:"nodes"`
	History [][2]float64      `json:"history"`
	Error   string            `json:"error"`
}

// ask has the interpreter, a process a call, solve an auction.
func ask(ctx context.Context, python string, q request) (reply, error) {
	text, err := json.Marshal(q)
	if err != nil {
		return reply{}, err
	}
	c := exec.CommandContext(ctx, python, "-c", script)
	c.Stdin, c.Stderr = bytes.NewReader(text), os.Stderr
	out, err := c.Output()
	if err != nil {
		return reply{}, fmt.Errorf("%s: %w", python, err)
	}
	var r reply
	if err = json.Unmarshal(out[max(0, bytes.LastIndexByte(bytes.TrimSpace(out), '\n')):], &r); err == nil && r.Error != "" {
		err = errors.New(r.Error)
	}
	return r, err
}

// ours is the name of branch and cut in the rows.
const ours = "Coalesce"

// raceRivals times branch and cut and others on the auctions of a folder, one after the other.
func (b *bench) raceRivals() error {
	paths, known, err := b.auctionFiles()
	if err != nil {
		return err
	}
	var list []contest
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".txt")
		list = append(list, contest{name, known[name], func() (*problem.Auction, error) { return solver.Read(path) }})
	}
	return b.race(list)
}

// raceDrawn times branch and cut and others on an auction of every distribution of CATS.
func (b *bench) raceDrawn() error {
	var list []contest
	for _, text := range b.settings.goods {
		goods, err := strconv.Atoi(text)
		if err != nil || goods < 1 {
			return fmt.Errorf("found %q goods, expected a number above 0", text)
		}
		for _, distribution := range solver.Distributions() {
			name := fmt.Sprintf("%s_g%d_b%d_s1", distribution, goods, b.settings.bids)
			if !named(name, b.settings.instances) {
				continue
			}
			list = append(list, contest{name, "", func() (*problem.Auction, error) { return solver.Generate(distribution, goods, b.settings.bids, 1) }})
		}
	}
	return b.race(list)
}

// A contest is an auction that solvers are timed on.
type contest struct {
	name, known string
	auction     func() (*problem.Auction, error)
}

// race times branch and cut and others on auctions, one after the other.
func (b *bench) race(list []contest) error {
	names := []string{ours}
	if b.settings.python != "" {
		there, err := ask(b.Ctx, b.settings.python, request{})
		if err != nil {
			return err
		}
		names = append(names, there.Solvers...)
		for name, why := range there.Missing {
			fmt.Printf("%s cannot be run: %s\n", name, why)
		}
	}
	b.ResumeRows()
	for _, c := range list {
		name := c.name
		a, err := c.auction()
		if err != nil {
			return err
		}
		for _, who := range names {
			if !named(who, b.settings.solvers) {
				continue
			}
			if slices.ContainsFunc(b.Kept, func(r result.Auction) bool { return r.Instance == name && r.Name == who }) {
				continue
			}
			if b.LacksTimeFor(b.settings.limit) {
				return nil
			}
			row := result.Auction{Name: who, Goods: int(a.Goods), Bids: len(a.Bids),
				Proof: result.Proof{Instance: name, Threads: b.settings.threads, Limit: b.settings.limit.Seconds(), Known: c.known}}
			if who == ours {
				_, err = b.timeBranchAndCut(a, []device.Device{b.Dev}, &row)
			} else {
				err = b.other(a, &row)
			}
			if err != nil {
				row.Failed = err.Error()
			}
			b.AddRow(row)
			fmt.Printf("%-30s %-14s %10s of %s, bound %.10g, %8.2f s, %8.2f s of processors, %d nodes, primal integral %.3g s %s\n",
				name, who, row.Value, row.Known, row.Bound, row.Took, row.CPU, row.Nodes, row.Primal, row.Failed)
		}
	}
	return nil
}

// auctionFiles are the files of the folder that were asked for, and the best known values.
func (b *bench) auctionFiles() (paths []string, known map[string]string, err error) {
	all, err := filepath.Glob(filepath.Join(b.settings.data, "*.txt"))
	if err != nil || len(all) == 0 {
		return nil, nil, fmt.Errorf("found no auctions in %q, expected -data FOLDER with files *.txt", b.settings.data)
	}
	for _, path := range all {
		if named(strings.TrimSuffix(filepath.Base(path), ".txt"), b.settings.instances) {
			paths = append(paths, path)
		}
	}
	known, err = optima(b.settings.data)
	return paths, known, err
}

// named reports whether a name has one of the parts; without parts each has.
func named(name string, parts []string) bool {
	return len(parts) == 0 || slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(name, part) })
}

// optima are the best known values that a folder lists in optima.csv, if it does.
func optima(folder string) (map[string]string, error) {
	known := map[string]string{}
	f, err := os.Open(filepath.Join(folder, "optima.csv"))
	if err != nil {
		return known, nil
	}
	defer f.Close()
	lines, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return nil, err
	}
	file, value := slices.Index(lines[0], "file"), slices.Index(lines[0], "value")
	if file < 0 || value < 0 {
		return nil, fmt.Errorf("%s: found the columns %v, expected file and value", f.Name(), lines[0])
	}
	for _, line := range lines[1:] {
		known[strings.TrimSuffix(line[file], ".txt")] = line[value]
	}
	return known, nil
}

// timeBranchAndCut times branch and cut, from the auction in memory to the checked answer, with devices
// that search beside it.
func (b *bench) timeBranchAndCut(a *problem.Auction, devices []device.Device, row *result.Auction) (*solver.Result, error) {
	runtime.GOMAXPROCS(b.settings.threads)
	var history [][2]float64
	o := solver.Options{Settings: solve.Settings{Algorithm: solver.Branch, Devices: devices, TimeLimit: b.settings.limit, Progress: func(i solve.Incumbent) {
		if v, ok := i.Value.Rat(); ok {
			f, _ := v.Float64()
			history = append(history, [2]float64{i.Seconds, f})
		}
	}}}
	start, cpu := time.Now(), experiment.ProcessorSeconds()
	res, err := solver.Solve(b.Ctx, a, o)
	if err != nil {
		return nil, err
	}
	row.Took, row.CPU = time.Since(start).Seconds(), experiment.ProcessorSeconds()-cpu
	row.Value, row.Proven, row.Nodes, row.Variant = res.Value.String(), res.Proven, res.Nodes, res.Variant
	if v, ok := res.Bound.Rat(); ok {
		row.Bound, _ = v.Float64()
	}
	row.Primal = primalIntegral(history, row)
	row.Reached = row.Took
	for k, h := range history {
		if k == 0 || h[1] > history[k-1][1] {
			row.Reached = h[0]
		}
	}
	return res, wrong(row)
}

// other times a rival, from its model in memory.
func (b *bench) other(a *problem.Auction, row *result.Auction) error {
	q := request{Solver: row.Name, Limit: b.settings.limit.Seconds(), Threads: b.settings.threads}
	for _, bid := range a.Bids {
		f, _ := new(big.Rat).SetString(a.FormatPrice(big.NewInt(bid.Price)))
		price, _ := f.Float64()
		q.Prices, q.Goods = append(q.Prices, price), append(q.Goods, bid.Goods)
	}
	r, err := ask(b.Ctx, b.settings.python, q)
	if err != nil {
		return err
	}
	res := solver.NewResult(a)
	if err := res.Accept(r.Chosen); err != nil {
		return err
	}
	row.Value, row.Proven, row.Nodes, row.Took, row.CPU = res.Value.String(), r.Proven, r.Nodes, r.Seconds, r.CPU
	if r.Bound != nil {
		row.Bound = *r.Bound
	}
	row.Primal = primalIntegral(r.History, row)
	return wrong(row)
}

// primalIntegral is the primal integral in seconds (Berthold, Operations Research Letters 41, 2013): the
// integral, over the time to the end, of the share by which the best bids are below the best known
// value, or below their last value where that is more or none is known.
func primalIntegral(history [][2]float64, row *result.Auction) float64 {
	best := amount(row.Value)
	if known := amount(row.Known); known > best {
		best = known
	}
	integral, at, lack := 0.0, 0.0, 1.0
	for _, h := range history {
		t := min(h[0], row.Took)
		if t > at {
			integral += lack * (t - at)
			at = t
		}
		lack = min(lack, max(0, (best-h[1])/best))
	}
	return integral + lack*(row.Took-at)
}

func amount(text string) float64 {
	v, ok := new(big.Rat).SetString(text)
	if !ok {
		return 0
	}
	f, _ := v.Float64()
	return f
}

// wrong is the error of a proven value that is less than the best known.
func wrong(row *result.Auction) error {
	if row.Proven && amount(row.Value) < amount(row.Known)*(1-1e-9) {
		return fmt.Errorf("found %s proven, %s is known", row.Value, row.Known)
	}
	return nil
}
