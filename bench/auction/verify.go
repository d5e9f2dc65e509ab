package main

import (
	"coalesce/bench/experiment"
	"coalesce/bench/result"
	solver "coalesce/solvers/auction"
)

// verify runs variants on the small cases of their subjects, where the reference is the judge.
func (b *bench) verify() error {
	s := b.settings
	return experiment.Verify(&b.Bench, experiment.Verification{
		Subjects: solver.Subjects(), Variant: s.variant, Sample: s.sample, Largest: s.largest,
	}, func(v experiment.Verdict) result.Auction {
		return result.Auction{Name: v.Family.Name, Variant: v.Variant.Label, Cases: v.Cases, Failed: v.Failed}
	})
}
