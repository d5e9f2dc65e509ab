package collective

import (
	"errors"
	"sync"
)

// SplitRows shares rows evenly among devices: device g has rows first[g] to
// first[g+1].
func SplitRows(rows, devices int) []int {
	first := make([]int, devices+1)
	for g := range first {
		first[g] = rows * g / devices
	}
	return first
}

// OnAll calls do for all of n devices at once, with their numbers, and waits
// for every call. It returns their errors, joined.
func OnAll(n int, do func(k int) error) error {
	if n == 1 {
		return do(0)
	}
	errs := make([]error, n)
	var wait sync.WaitGroup
	for k := range n {
		wait.Go(func() { errs[k] = do(k) })
	}
	wait.Wait()
	return errors.Join(errs...)
}
