package main

import (
	"errors"
	"fmt"

	"coalesce/autotune/verify"
	"coalesce/bench/result"
	solver "coalesce/solvers/auction"
)

// verify runs variants on the small cases of their subjects, where the reference is the
// judge.
func (b *bench) verify() (err error) {
	stream, err := b.Dev.NewStream()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stream.Close()) }()
	for _, s := range solver.Subjects() {
		f := s.Family()
		variants, right := verify.Variants(f, b.settings.variant, b.settings.sample), 0
		for _, v := range variants {
			if b.Late() {
				return errors.New("the budget is spent")
			}
			row := result.Auction{Name: f.Name, Variant: v.Label}
			if row.Cases, err = verify.Variant(b.Ctx, b.Dev, stream, s, v, b.settings.largest); err != nil {
				row.Failed = err.Error()
				fmt.Printf("%s %s FAILED: %v\n", f.Name, v.Label, err)
			} else {
				right++
				fmt.Printf("%s %s %d cases right\n", f.Name, v.Label, row.Cases)
			}
			b.Add(row)
		}
		fmt.Printf("%s: %d of %d variants right\n", f.Name, right, len(variants))
	}
	return nil
}
