package main

import (
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"coalesce/autotune"
	"coalesce/autotune/subject"
	"coalesce/autotune/tuned"
	"coalesce/runtime/device"
)

// A workload is the task for which a variant is chosen.
type workload struct {
	subject subject.Subject
	fixed   map[string]string
	size    int
}

// drawWorkloads draws workloads, the problems by turns. Their sizes are uniform in the logarithm,
// between the least and the largest default size of a family. It leaves out default sizes, sizes of
// entries, and sizes for which solves choose no variant. share lowers the largest.
func drawWorkloads(subjects []subject.Subject, entries []tuned.Entry, facts device.Facts, seed string, n int, share float64) []workload {
	h := fnv.New64a()
	h.Write([]byte(seed)) // never fails
	rng := rand.New(rand.NewPCG(h.Sum64(), uint64(n)))
	var problems []string
	of := map[string][]subject.Subject{}
	for _, s := range subjects {
		p, _, _ := strings.Cut(s.Family().Name, "/")
		if of[p] == nil {
			problems = append(problems, p)
		}
		of[p] = append(of[p], s)
	}
	var list []workload
	turn, failed := 0, 0 // of the problems; draws in a row that were of no use
	for tries := 0; len(list) < n && tries < 1000*n && len(problems) > 0; tries++ {
		if failed++; failed > 100 { // the problem has no more sizes
			turn, failed = turn+1, 0
		}
		some := of[problems[turn%len(problems)]]
		s := some[rng.IntN(len(some))]
		fixed, sizes := s.Workloads(), s.Sizes(facts)
		w := workload{subject: s, fixed: fixed[rng.IntN(len(fixed))]}
		low, high := float64(sizes[0]), share*float64(sizes[len(sizes)-1])
		w.size = int(math.Round(low * math.Pow(high/low, rng.Float64())))
		known := slices.ContainsFunc(entries, func(e tuned.Entry) bool {
			return e.Family == s.Family().Name && maps.Equal(e.Fixed, w.fixed) && e.Size == w.size
		})
		if again := slices.ContainsFunc(list, w.equals); known || again || w.size < 1 || slices.Contains(sizes, w.size) || len(w.candidates(facts)) < 2 {
			continue
		}
		if _, chosen, err := autotune.DescribeWorkload(s, w.fixed, facts, w.size); err == nil && !chosen {
			continue
		}
		list = append(list, w)
		turn, failed = turn+1, 0
	}
	return list
}

// partOf are the workloads of a part, K/N, to which they are dealt by turns; all where part is empty.
func partOf(list []workload, part string) ([]workload, error) {
	if part == "" {
		return list, nil
	}
	k, n, err := autotune.ParsePart(part)
	if err != nil {
		return nil, fmt.Errorf("-part is %w", err)
	}
	var mine []workload
	for i := k; i < len(list); i += n {
		mine = append(mine, list[i])
	}
	return mine, nil
}

func (w workload) equals(x workload) bool {
	return w.subject.Family() == x.subject.Family() && maps.Equal(w.fixed, x.fixed) && w.size == x.size
}

// candidates are the variants that can run, but for those of study.
func (w workload) candidates(facts device.Facts) []*device.Variant {
	var list []*device.Variant
	f := w.subject.Family()
	for i := range f.Variants {
		v := &f.Variants[i]
		if !v.Study && f.CheckWorkload(v, w.fixed) == nil && w.checkRunnable(v, facts) == nil {
			list = append(list, v)
		}
	}
	return list
}

// checkRunnable says why a variant does not run.
func (w workload) checkRunnable(v *device.Variant, facts device.Facts) error {
	if err := facts.CheckLoadable(w.subject.Family(), v); err != nil {
		return err
	}
	return w.subject.Feasible(v, facts, w.size)
}
