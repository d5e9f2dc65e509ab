package tabu

import (
	"errors"
	"fmt"
	"time"

	"coalesce/generated/qubo"
	"coalesce/runtime/device"
	"coalesce/solvers/cores"
	"coalesce/solvers/qubo/internal/draw"
	"coalesce/solvers/qubo/internal/search"
	"coalesce/solvers/qubo/problem"
)

// A Flipping times a variant of qubo/bulk on a dense problem whose matrix is drawn on its way to
// the device: the host never holds all of it.
type Flipping struct {
	Variant  string
	Searches int
	Threads  int // of a search
	Row      int // bytes of a row of the matrix
	device.Resources
	on   *Island
	draw dense
}

// dense is a problem that has a weight between any two variables, a function of the seed.
type dense struct {
	row     string
	largest int64
	seed    uint64
}

func drawDense(row string, n int) dense { return dense{row, largestWeight(row, n), 1} }

// largestWeight is the largest size of a weight with which rows of a type hold a dense problem of
// n variables; 0 where row is no type of rows.
func largestWeight(row string, n int) int64 {
	size := int64(max(1, n))
	return map[string]int64{"bits": 14, "int8": 127, "int16": min(1<<15-1, 1<<22/size), "int32": 1 << 29 / size,
		"pairs": min(127, pairs/size), "float32": float32s / size, "int64": 1 << 40}[row]
}

func (d dense) at(i, j int) int64 {
	u := draw.RandomWord(d.seed, uint64(min(i, j)), uint64(max(i, j)))
	switch {
	case i == j:
		return 0
	case d.row == "bits":
		return d.largest * int64(u&2-1)
	}
	return int64(u%uint64(2*d.largest+1)) - d.largest
}

func (d dense) requirements(n int) requirements {
	s := requirements{weight: d.largest, delta: d.largest * int64(n), grain: 1, n: n, row: d.row}
	if d.row == "bits" {
		s.size = d.largest
	}
	return s
}

// FlippingVariants are the labels of the variants that hold a drawn problem of n
// variables with rows of a type, and have little room to spare.
func FlippingVariants(facts device.Facts, n int, row string) (labels []string, err error) {
	needs, least := drawDense(row, n).requirements(n), 0
	for _, all := range []bool{false, true} { // first the least capacity, then all variants within a quarter of it
		for i := range qubo.Bulk.Variants {
			v := &qubo.Bulk.Variants[i]
			f, refused := needs.formOn(facts, v)
			switch {
			case refused != nil:
				err = refused
			case !all && (least == 0 || f.capacity() < least):
				least = f.capacity()
			case all && 4*f.capacity() <= 5*least:
				labels = append(labels, v.Label)
			}
		}
	}
	if len(labels) == 0 {
		return nil, errors.Join(fmt.Errorf("%s has no variant for %d variables and rows of type %s on %s", qubo.Bulk.Name, n, row, facts), err)
	}
	return labels, nil
}

// OpenFlipping draws a problem of 1 to 65,536 variables that rows of a type hold, and loads the
// variant of a label; an empty label stands for the variant that is chosen where nothing is tuned.
// Errors name an unknown type or label, and a variant that does not hold the problem.
func OpenFlipping(d device.Device, n int, row, label string) (f *Flipping, err error) {
	if n <= 0 || n > 1<<16 || drawDense(row, n).largest == 0 {
		return nil, fmt.Errorf("%d variables with rows of type %q: expected 1 to %d, fewer than gains hold, and one of bits, int8, int16, int32, int64, float32, pairs", n, row, 1<<16)
	}
	draw := drawDense(row, n)
	needs := draw.requirements(n)
	v := qubo.Bulk.Variant(label)
	if label == "" {
		if v, err = needs.variant(d.Facts()); err != nil {
			return nil, err
		}
	}
	if v == nil {
		return nil, fmt.Errorf("%s has no variant %q", qubo.Bulk.Name, label)
	}
	form, err := needs.formOn(d.Facts(), v)
	if err != nil {
		return nil, err
	}
	p := &problem.Normal{N: n, Start: make([]int64, n+1), Diag: make([]int64, n), Sense: 1, Exact: true}
	b, err := takeIsland(d, v, form, p, nil)
	if err != nil {
		return nil, err
	}
	f = &Flipping{Variant: v.Label, Searches: b.rules.searches, Threads: form.threads(), Row: form.rowBytes(),
		Resources: b.kernels.Resources("search"), on: b, draw: draw}
	if err := errors.Join(islandGroup{b}.upload(f.rows), b.resetPool(search.Options{}), b.streams[0].Sync()); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return f, nil
}

// rows draws rows first to last-1 into room, in the layout of the device.
func (f *Flipping) rows(first, last int, room []byte) {
	n, size := f.on.p.N, f.on.form.rowBytes()
	col := make([]int32, n)
	for j := range col {
		col[j] = int32(j)
	}
	cores.Pieces(last-first, func(k int) {
		weight := make([]int64, n)
		for j := range weight {
			weight[j] = f.draw.at(first+k, j)
		}
		f.on.form.layOut(room[k*size:][:size], col, weight)
	})
}

// Round makes flips flips in each search and lets the best solutions into the pool. It returns the
// time on the device's clock. Rounds are numbered from 0.
func (f *Flipping) Round(number, flips int64) (time.Duration, error) {
	s := f.on.streams[0]
	begin, err := s.Record()
	if err != nil {
		return 0, err
	}
	if err := f.on.enqueueRound(search.Options{Seed: 1}, number, flips); err != nil {
		return 0, err
	}
	end, err := s.Record()
	if err != nil {
		return 0, err
	}
	if err := s.Sync(); err != nil {
		return 0, err
	}
	return end.Since(begin)
}

// Check holds count of the searches against the weights: some gains of each, and its value, which
// follows from all gains. Errors wrap problem.ErrCheck.
func (f *Flipping) Check(count int) error {
	b, s := f.on, f.on.streams[0]
	form, n := b.form, b.p.N
	gains, record, words := make([]byte, form.capacity()*form.gain()), make([]uint32, form.record()), make([]int64, qubo.BulkScoreScores)
	for part := range int64(count) {
		k := part * int64(f.Searches) / int64(count)
		err := errors.Join(s.Download(device.Bytes(words), b.scores, 8*qubo.BulkScoreScores*k), s.Download(device.Bytes(record), b.now, k*int64(4*len(record))),
			s.Download(gains, b.gains, k*int64(len(gains))))
		if err != nil {
			return err
		}
		x, value := form.unpack(record, n), int64(0)
		for t := range form.threads() {
			for item := range form.items {
				i := form.variable(t, item)
				if i >= n {
					continue
				}
				gain := form.gainAt(gains, t, item)
				if problem.Bit(x, i) == 1 {
					value -= gain
				}
				if i%max(1, n/64) != 0 {
					continue
				}
				want := int64(0)
				for j := range n {
					want += f.draw.at(i, j) * int64(problem.Bit(x, j))
				}
				if want *= 1 - 2*int64(problem.Bit(x, i)); gain != want {
					return fmt.Errorf("%w: %s: search %d gains %d by variable %d, expected %d", problem.ErrCheck, f.Variant, k, gain, i, want)
				}
			}
		}
		if value/2 != words[qubo.BulkScoreValue] {
			return fmt.Errorf("%w: %s: search %d is at %d, by its gains at %d", problem.ErrCheck, f.Variant, k, words[qubo.BulkScoreValue], value/2)
		}
	}
	return nil
}

// Close frees the device's memory and unloads the module.
func (f *Flipping) Close() error { return f.on.Close() }
