package main

import (
	"coalesce/bench/experiment"
	"coalesce/bench/result"
	solver "coalesce/solvers/qubo"
)

// verifyVariants runs variants on the small cases of their subjects, where the reference is the judge.
func (b *bench) verifyVariants() error {
	return experiment.Verify(&b.Bench, b.settings.Verification, solver.Subjects(), b.settings.engines, func(v experiment.Verdict) result.Binary {
		return result.Binary{Name: v.Family.Name, Variant: v.Variant.Label, Timed: result.Timed{What: "verify", Count: v.Cases}, Attempt: result.Attempt{Seconds: v.Seconds}, Failed: v.Failed}
	})
}
