package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"coalesce/autotune/t4"
	"coalesce/runtime/device"
	"coalesce/solvers/formats/packed"
)

// A space is a recorded search space: every configuration of a kernel, measured on one device.
type space struct {
	kernel, device string
	family         device.Family // a variant for each configuration
	rows           []hubRow      // by variant
	at             map[string]int
	cutoff         float64 // ms
	optimum        float64 // ms
	median         float64 // ms, of all configurations that are valid
	// baseline is what a random order has found, in the mean, at each of the points in time.
	baseline [points]float64
}

// A hubRow holds the recorded times of a configuration, in milliseconds.
type hubRow struct {
	fixed float64   // compiling, checking and framework
	runs  []float64 // every run
	value float64   // the objective; 0 where it does not compile, launch or agree
}

// The score's numbers (arXiv 2509.26300).
const (
	points      = 50   // in time, up to the cutoff
	closeness   = 0.05 // of the way from the optimum to the median, where the cutoff is
	orders      = 300  // random orders of the baseline
	compactRuns = 32   // runs of a configuration, of which the compact form has the sum
)

// hubSpaces are the spaces below a folder: the hub's own files (GPU_T4.json.gz in a folder for each kernel) and those in compact
// form (KERNEL-GPU.txt.xz), in the order of their names.
func hubSpaces(dir string) (list []*space, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		bare := packed.TrimExtension(d.Name())
		var read func(io.Reader) ([]*space, error)
		if name, ok := strings.CutSuffix(bare, "_T4.json"); ok {
			read = func(r io.Reader) ([]*space, error) { return readT4(r, filepath.Base(filepath.Dir(path)), name) }
		} else if name, ok := strings.CutSuffix(bare, ".txt"); ok && bare != d.Name() {
			s := newSpace(strings.Cut(name, "-"))
			read = func(r io.Reader) ([]*space, error) { return []*space{s}, s.readCompact(r) }
		} else {
			return nil
		}
		f, err := packed.OpenFile(path, 1<<32)
		if err != nil {
			return err
		}
		defer f.Close()
		found, err := read(f)
		for _, s := range found {
			if err == nil {
				err = s.prepare()
			}
		}
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		list = append(list, found...)
		return nil
	})
	if err == nil && len(list) == 0 {
		err = fmt.Errorf("%s has no space: no *_T4.json.gz and no *.txt.xz", dir)
	}
	slices.SortStableFunc(list, func(a, b *space) int { return cmp.Compare(a.name(), b.name()) })
	return list, err
}

// newSpace is empty.
func newSpace(kernel, on string, _ bool) *space {
	return &space{kernel: kernel, device: on, family: device.Family{Name: "hub"}, at: map[string]int{}}
}

func (s *space) name() string { return s.kernel + "-" + s.device }

// add adds a configuration.
func (s *space) add(values []string, row hubRow) error {
	var label []string
	for k, v := range values {
		label = append(label, s.family.Params[k]+"="+v)
	}
	slices.Sort(label) // alike in all files of a kernel
	v := device.Variant{Label: strings.Join(label, ","), Values: values}
	if _, twice := s.at[v.Label]; twice {
		return fmt.Errorf("two results of %s", v.Label)
	}
	s.at[v.Label] = len(s.rows)
	s.family.Variants, s.rows = append(s.family.Variants, v), append(s.rows, row)
	return nil
}

// readT4 reads results in T4 form: of each size a space, where they are a tune's of several sizes.
func readT4(r io.Reader, kernel, on string) (list []*space, err error) {
	f, err := t4.Read(r)
	if err != nil {
		return nil, err
	}
	bySize := map[string]*space{}
	for i := range f.Results {
		result := &f.Results[i]
		at := on
		if size, ok := result.Text(t4.Size); ok && f.Metadata["workload"] != "" {
			at += ", " + size
			delete(result.Configuration, t4.Size)
		}
		s := bySize[at]
		if s == nil {
			s = newSpace(kernel, at, true)
			s.family.Params = slices.Sorted(maps.Keys(result.Configuration))
			bySize[at], list = s, append(list, s)
		}
		var values []string
		for _, param := range s.family.Params {
			v, ok := result.Text(param)
			if !ok || len(result.Configuration) != len(s.family.Params) {
				return nil, fmt.Errorf("result %d has other parameters than the first", i+1)
			}
			values = append(values, v)
		}
		if err := s.add(values, hubRow{fixed: result.Cost(), runs: result.Times.Runs, value: result.Time()}); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// readCompact reads a line of JSON with the parameters, their values and the cutoff, then a line for each configuration: indices of the
// values, ms of compiling, checking and framework, ms of all runs, the objective in ms or -.
func (s *space) readCompact(r io.Reader) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	var head struct {
		Params []struct {
			Name   string
			Values []string
		}
		Cutoff float64 `json:"cutoff_ms"`
	}
	if lines.Scan(); lines.Err() == nil {
		if err := json.Unmarshal(lines.Bytes(), &head); err != nil {
			return err
		}
	}
	for _, p := range head.Params {
		s.family.Params = append(s.family.Params, p.Name)
	}
	s.cutoff = head.Cutoff
	for lines.Scan() {
		wrong := fmt.Errorf("line %d is %q, expected indices, two times and an objective", len(s.rows)+2, lines.Text())
		fields := strings.Fields(lines.Text())
		if len(fields) != 4 {
			return wrong
		}
		var values []string
		for k, text := range strings.Split(fields[0], ",") {
			i, err := strconv.Atoi(text)
			if err != nil || k >= len(head.Params) || i < 0 || i >= len(head.Params[k].Values) {
				return wrong
			}
			values = append(values, head.Params[k].Values[i])
		}
		var x [3]float64 // the last stays 0 for -
		for k := range x {
			if text := fields[k+1]; k < 2 || text != "-" {
				var err error
				if x[k], err = strconv.ParseFloat(text, 64); err != nil {
					return wrong
				}
			}
		}
		if len(values) != len(head.Params) {
			return wrong
		}
		if err := s.add(values, hubRow{x[0], slices.Repeat([]float64{x[1] / compactRuns}, compactRuns), x[2]}); err != nil {
			return err
		}
	}
	return lines.Err()
}

// prepare computes what the score needs. Where the record has no cutoff, it is where a random order is expected to have come 95 % of
// the way from the median to the optimum: so many draws without replacement, each as long as the median one.
func (s *space) prepare() error {
	var values, costs []float64
	for i := range s.rows {
		if r := &s.rows[i]; r.value > 0 {
			values, costs = append(values, r.value), append(costs, r.fixed+sum(r.runs))
		}
	}
	if len(values) < 2 {
		return errors.New("fewer than two configurations are valid")
	}
	slices.Sort(values)
	slices.Sort(costs)
	n := len(values)
	s.optimum, s.median = values[0], (values[(n-1)/2]+values[n/2])/2
	if s.cutoff == 0 {
		within, _ := slices.BinarySearch(values, math.Nextafter(s.optimum+closeness*(s.median-s.optimum), math.Inf(1)))
		s.cutoff = float64((n+1)/(within+1)) * (costs[(n-1)/2] + costs[n/2]) / 2
	}
	rng := rand.New(rand.NewPCG(7, 7))
	for range orders {
		c := &clock{space: s, best: math.Inf(1)}
		for _, i := range rng.Perm(len(s.rows)) {
			if c.expired() {
				break
			}
			c.charge(i, 0)
		}
		for k, best := range c.curve() {
			s.baseline[k] += best / orders
		}
	}
	return nil
}

func sum(x []float64) (total float64) {
	for _, x := range x {
		total += x
	}
	return total
}

// A clock charges trials with their recorded times.
type clock struct {
	*space
	now, best float64 // ms
	trials    int
	near      int          // of them, until one was within nearOptimum of the optimum; 0: none yet
	better    [][2]float64 // when a trial was better than all before, and the best from there on
}

const nearOptimum = 1.05

// warmup is how many runs a hopeless configuration is given before the one that decides it: a clock that ramps
// up is the same for it and for the best.
const warmup = 3

// expired reports whether the cutoff has come, or nothing better can.
func (c *clock) expired() bool { return c.now >= c.cutoff || c.best <= c.optimum }

// charge runs a configuration, all recorded runs or, where the run after the warm-up takes longer than bound,
// these. It returns what it is taken to take; 0 where it failed.
func (c *clock) charge(i int, bound float64) (took float64) {
	r := &c.rows[i]
	c.trials++
	if c.now += r.fixed; r.value == 0 {
		return 0
	}
	if bound > 0 && len(r.runs) > warmup && r.runs[warmup] > bound {
		c.now += sum(r.runs[:warmup+1])
		return r.runs[warmup]
	}
	c.now += sum(r.runs)
	if r.value < c.best {
		c.best = r.value
		c.better = append(c.better, [2]float64{c.now, c.best})
	}
	if c.near == 0 && c.best <= nearOptimum*c.optimum {
		c.near = c.trials
	}
	return r.value
}

// curve is the best found at each of the points in time; the median of all before the first.
func (c *clock) curve() (best [points]float64) {
	for k := range best {
		best[k] = c.median
		for _, b := range c.better {
			if b[0] <= c.cutoff*float64(k+1)/points {
				best[k] = min(best[k], b[1])
			}
		}
	}
	return best
}

// score is 1 where the optimum is found at once, and 0 for a random order.
func (c *clock) score() (score float64) {
	for k, best := range c.curve() {
		if b := c.baseline[k]; b > c.optimum {
			score += (b - best) / (b - c.optimum) / points
		} else {
			score += 1.0 / points
		}
	}
	return score
}

// winner is the label of the optimum.
func (s *space) winner() string {
	return s.family.Variants[slices.IndexFunc(s.rows, func(r hubRow) bool { return r.value == s.optimum })].Label
}
