package main

import (
	"coalesce/bench/experiment"
	"coalesce/bench/result"
	solver "coalesce/solvers/assignment"
)

// verifyVariants runs variants on the small cases of their subjects, where references and the host's certificate are the judges.
func (b *bench) verifyVariants() error {
	return experiment.Verify(&b.Bench, b.settings.Verification, solver.Subjects(), b.settings.families, func(v experiment.Verdict) result.Solve {
		return result.Solve{Name: v.Family.Name, Variant: v.Variant.Label, Value: v.Family.Value(v.Variant, "value"), Failed: v.Failed}
	})
}
