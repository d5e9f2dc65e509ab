package autotune

import (
	"maps"
	"slices"
	"time"

	"coalesce/autotune/search"
	"coalesce/autotune/trial"
)

// summary joins those of a task's units. It reports false where the task has none to search.
func (s *budgetedRun) summary(task int) (out Summary, ok bool) {
	for _, u := range s.units {
		if u.of != task {
			continue
		}
		if len(u.sums) > 0 {
			one := u.joined()
			if !ok {
				out, ok = one, true
			} else {
				out.add(&one)
			}
		}
	}
	for _, u := range s.units {
		if u.of != task {
			continue
		}
		if !ok { // the budget did not reach it
			out = Summary{Family: u.Subject.Family().Name, Device: s.Facts.Name, Class: s.Facts.Class(), Seed: s.Seed, Stopped: search.OverBudget, Counts: map[trial.Status]int{}}
			ok = true
		}
		out.Undecided = append(out.Undecided, u.open...)
		for at, done := range u.done {
			if done && !slices.ContainsFunc(out.Winners, func(w Winner) bool { return w.Size == u.order[at] && maps.Equal(w.Fixed, u.Fixed[0]) }) {
				out.Earlier++
			}
		}
	}
	if s.count > 0 {
		out.Missing = time.Duration(len(out.Undecided)) * s.spent / time.Duration(s.count)
	}
	return out, ok
}

// joined is the summary of a unit's searches, of which the later repeat the trials of those before.
func (u *budgetedWorkload) joined() Summary {
	out := u.sums[len(u.sums)-1]
	out.Elapsed, out.Workers, out.Compiled = 0, 0, Compilation{}
	for i := len(u.sums) - 1; i >= 0; i-- { // a later search may have decided a size again
		sum := &u.sums[i]
		out.Elapsed, out.Workers, out.Drift = out.Elapsed+sum.Elapsed, out.Workers+sum.Workers, max(out.Drift, sum.Drift)
		out.Compiled.add(sum.Compiled)
		if sum.Tried > out.Tried {
			out.Points, out.Infeasible, out.Tried, out.Wrong = sum.Points, sum.Infeasible, sum.Tried, sum.Wrong
		}
		out.Timed = max(out.Timed, sum.Timed)
		out.Wrong = max(out.Wrong, sum.Wrong)
		for _, w := range sum.Winners {
			if at := slices.IndexFunc(out.Winners, func(have Winner) bool { return have.Size == w.Size }); at < 0 {
				out.Winners = append(out.Winners, w)
			}
		}
		for _, k := range sum.Noisy {
			if !slices.ContainsFunc(out.Noisy, func(have Key) bool { return have.Size == k.Size }) {
				out.Noisy = append(out.Noisy, k)
			}
		}
		for _, f := range sum.Failures {
			if !slices.ContainsFunc(out.Failures, func(have Failure) bool {
				return have.Size == f.Size && have.Variant == f.Variant && have.Status == f.Status
			}) {
				out.Failures = append(out.Failures, f)
			}
		}
	}
	out.Counts, out.Resumed = map[trial.Status]int{}, u.sums[0].Resumed
	for i := range u.sums {
		for status, n := range u.sums[i].fresh {
			out.Counts[status] += n
		}
	}
	slices.SortFunc(out.Winners, func(a, b Winner) int { return a.Size - b.Size })
	out.Noisy = slices.DeleteFunc(out.Noisy, func(k Key) bool { // that another search decided, or that is to be searched on
		return slices.ContainsFunc(out.Winners, func(w Winner) bool { return w.Size == k.Size }) ||
			slices.ContainsFunc(u.open, func(o Key) bool { return o.Size == k.Size })
	})
	if u.cut || len(u.open) > 0 {
		if out.Stopped == search.Done {
			out.Stopped = search.OverBudget
		}
	}
	return out
}

// add takes in the summary of another workload of the family.
func (s *Summary) add(o *Summary) {
	if o.Stopped != search.Done && s.Stopped != search.Interrupted {
		s.Stopped = o.Stopped
	}
	s.Elapsed += o.Elapsed
	s.Points += o.Points
	s.Infeasible += o.Infeasible
	s.Tried += o.Tried
	s.Timed += o.Timed
	s.Wrong += o.Wrong
	s.Workers += o.Workers
	s.Resumed += o.Resumed
	s.Compiled.add(o.Compiled)
	s.Drift = max(s.Drift, o.Drift)
	s.Counts = maps.Clone(s.Counts)
	for status, n := range o.Counts {
		s.Counts[status] += n
	}
	s.Winners = append(s.Winners, o.Winners...)
	s.Failures = append(s.Failures, o.Failures...)
	s.Noisy = append(s.Noisy, o.Noisy...)
}
