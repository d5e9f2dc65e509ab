package autotune

import (
	"cmp"
	"path/filepath"
	"slices"
	"time"

	"coalesce/autotune/search"
	"coalesce/autotune/trial"
	"coalesce/autotune/tuned"
)

// recordOutcome adds a search's outcome to the summary and turns it into entries.
func (r *run) recordOutcome(out search.Outcome, db *tuned.Database, fixed map[string]string) []tuned.Entry {
	s := &r.sum
	s.Points += out.Points
	s.Infeasible += out.Infeasible
	s.Tried += out.Tried
	s.Timed += out.Timed
	s.Drift = max(s.Drift, out.Drift)
	for status, n := range out.Counts {
		s.Counts[status] += n
	}
	if out.Stopped != search.Done && s.Stopped != search.Interrupted {
		s.Stopped = out.Stopped
	}
	for _, f := range out.Failures {
		if f.Status == trial.Verify {
			s.Wrong++
		}
		s.Failures = append(s.Failures, Failure{fixed, f.Size, f.Variant.Label, f.Status, f.Error})
	}
	winners := map[string]bool{}
	for i := range out.Sizes {
		winners[out.Sizes[i].Winner.Label] = true
	}
	for _, size := range out.Noisy {
		s.Noisy = append(s.Noisy, Key{fixed, size})
	}
	var entries []tuned.Entry
	for i := range out.Sizes {
		o := &out.Sizes[i]
		s.Winners = append(s.Winners, winner(o, fixed))
		entries = append(entries, r.entry(o, db, fixed, winners))
	}
	for i := range out.Crossed {
		o := &out.Crossed[i]
		e, ok := db.Lookup(r.family.Name, r.Facts.Class(), tuned.Workload{Fixed: fixed, Size: o.Size})
		if !ok {
			continue
		}
		e.Time = r.commitTime(db, fixed, o.Size)
		var fresh []tuned.Result
		for k := range o.Results {
			fresh = append(fresh, result(&o.Results[k]))
		}
		e.Results = joined(fresh, e.Results)
		if o.Winner != nil {
			e.Winner = o.Winner.Label
			w := winner(o, fixed)
			for _, have := range e.Results {
				if v := r.family.Variant(have.Variant); v != nil && v.Safe {
					w.against(have.Nanos)
				}
			}
			s.Winners = append(s.Winners, w)
		}
		entries = append(entries, e)
	}
	return entries
}

// result is a measured variant in the form of the database.
func result(m *search.Measured) tuned.Result {
	return tuned.Result{
		Variant: m.Variant.Label, Hash: tuned.Hash(m.Variant.Hash), Nanos: m.Sample.Median,
		Q1: m.Sample.Q1, Q3: m.Sample.Q3, Samples: m.Sample.N, Work: m.Work,
	}
}

// joined are results, and those of earlier ones whose variants they do not have, the fastest first.
func joined(fresh, earlier []tuned.Result) []tuned.Result {
	all := slices.Clone(fresh)
	for _, e := range earlier {
		if !slices.ContainsFunc(fresh, func(f tuned.Result) bool { return f.Variant == e.Variant }) {
			all = append(all, e)
		}
	}
	slices.SortStableFunc(all, func(a, b tuned.Result) int { return cmp.Compare(a.Nanos, b.Nanos) })
	return all
}

// entry is the outcome at one size in the form of the database. others are the labels of winners at other sizes. Their
// results are kept too, as are the results of the size before that this run, or an earlier one that it goes on from,
// kept: where time runs out, a search may repeat less than these had measured.
func (r *run) entry(o *search.SizeOutcome, db *tuned.Database, fixed map[string]string, others map[string]bool) tuned.Entry {
	e := tuned.Entry{
		Family: r.family.Name, Class: r.Facts.Class(), Fixed: fixed, Size: o.Size, Protocol: trial.Protocol,
		Time: r.commitTime(db, fixed, o.Size), Driver: r.Facts.Driver, Compiler: r.Facts.Compiler, Winner: o.Winner.Label,
	}
	for _, m := range o.Results {
		if label := m.Variant.Label; m.Final || others[label] || label == e.Winner || label == o.Safe || len(e.Results) < tuned.Kept {
			e.Results = append(e.Results, result(&m))
		}
	}
	if old, ok := db.Lookup(e.Family, e.Class, tuned.Workload{Fixed: fixed, Size: o.Size}); ok && !r.since.IsZero() && !old.Time.Before(r.since.Truncate(time.Second)) {
		e.Results = joined(e.Results, old.Results)
	}
	return e
}

// commitTime is now, or just after the earlier entry where that has a time to
// come: a clock set wrong once must not keep newer results out for ever.
func (r *run) commitTime(db *tuned.Database, fixed map[string]string, size int) time.Time {
	now := r.Now()
	old, ok := db.Lookup(r.family.Name, r.Facts.Class(), tuned.Workload{Fixed: fixed, Size: size})
	if next := old.Time.Add(time.Second); ok && now.Before(next) {
		return next
	}
	return now
}

// winner describes the decision at a size.
func winner(o *search.SizeOutcome, fixed map[string]string) Winner {
	w := Winner{Fixed: fixed, Size: o.Size, Variant: o.Winner.Label, Why: o.Why, Complete: o.Complete, Measured: len(o.Results)}
	for i := range o.Results {
		m := &o.Results[i]
		if m.Variant == o.Winner {
			w.Time, w.Noise = time.Duration(m.Sample.Median), m.Scatter
			if m.Sample.Median > 0 {
				w.Rate = m.Work / w.Time.Seconds()
				w.Share, w.Ceiling = m.Ceiling.Share(float64(m.Sample.Median))
			}
		}
	}
	for i := range o.Results {
		if m := &o.Results[i]; m.Variant.Label == o.Safe {
			w.against(m.Sample.Median)
		}
	}
	return w
}

// against notes the safe point's nanoseconds.
func (w *Winner) against(safe int64) {
	if w.SafeTime = time.Duration(safe); w.Time > 0 {
		w.Speedup = float64(w.SafeTime) / float64(w.Time)
	}
}

// SaveWinners puts winners into the file at path, beside those that another run has put there
// meanwhile. A variant that answered wrongly, as sums tell, does not come back with them.
func SaveWinners(path string, db *tuned.Database, sums []Summary) error {
	return trial.WithFolderLock(filepath.Dir(path), func() error {
		if now, err := tuned.Load(path); err == nil {
			db = tuned.Merge(now, db)
			for i := range sums {
				for _, f := range sums[i].Failures {
					if f.Status == trial.Verify {
						db.Drop(sums[i].Family, sums[i].Class, f.Variant)
					}
				}
			}
		}
		return db.Save(path)
	})
}
