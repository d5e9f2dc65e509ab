package main

import (
	"coalesce/bench/experiment"
	"coalesce/bench/result"
	solver "coalesce/solvers/auction"
)

// verifyVariants runs variants on the small cases of their subjects, where the reference is the judge.
func (b *bench) verifyVariants() error {
	return experiment.Verify(&b.Bench, b.settings.Verification, solver.Subjects(), nil, func(v experiment.Verdict) result.Auction {
		return result.Auction{Name: v.Family.Name, Variant: v.Variant.Label, Cases: v.Cases, Failed: v.Failed}
	})
}
