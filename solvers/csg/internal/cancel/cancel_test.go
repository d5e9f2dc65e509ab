package cancel

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// Work that ends is waited for. Work that goes on is left: half a second after the end of the
// context, or at once, and then hands over what it has found.
func TestWorkLeftRunning(t *testing.T) {
	for _, c := range []struct {
		takes     time.Duration // of work; the context ends after a second
		left      bool
		within    time.Duration // from the beginning to WithGrace's return
		at        time.Duration
		handsOver bool
	}{
		{time.Millisecond, false, time.Millisecond, time.Millisecond, false},
		{1400 * time.Millisecond, false, 1400 * time.Millisecond, time.Second, true},
		{3 * time.Second, true, 1500 * time.Millisecond, time.Second, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			start, failed := time.Now(), errors.New("work failed")
			left, err := WithGrace(ctx, func() error { time.Sleep(c.takes); return failed })
			if left != c.left || left && !errors.Is(err, context.DeadlineExceeded) || !left && err != failed || time.Since(start) != c.within {
				t.Errorf("WithGrace, work of %v: found %t, %v after %v, expected %t after %v", c.takes, left, err, time.Since(start), c.left, c.within)
			}
			time.Sleep(c.takes) // until work has ended
		})
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			start, late := time.Now(), 0
			got, err := AtOnce(ctx, func() (int, error) { time.Sleep(c.takes); return 7, nil }, func(n int, _ error) { late = n })
			if (got == 7) == c.handsOver || (err != nil) != c.handsOver || time.Since(start) != c.at {
				t.Errorf("AtOnce, work of %v: found %d, %v after %v, expected the value: %t, after %v", c.takes, got, err, time.Since(start), !c.handsOver, c.at)
			}
			time.Sleep(c.takes)
			synctest.Wait()
			if (late == 7) != c.handsOver {
				t.Errorf("AtOnce, work of %v: %d was handed over late, expected that: %t", c.takes, late, c.handsOver)
			}
		})
	}
}
