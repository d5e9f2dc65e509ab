package solve

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"
)

// Algorithms run until one does not give up; the answer says which did before, and why.
func TestRelay(t *testing.T) {
	broken := errors.New("broken")
	tired := func(why string) error { return fmt.Errorf("after some work: %w", GaveUp(why)) }
	for _, c := range []struct {
		ends  []error // of the algorithms a, b, c
		by    string
		after string
		err   string
	}{
		{[]error{nil, broken}, "a", "", ""},
		{[]error{tired("ties"), nil, broken}, "b", "a: after some work: ties", ""},
		{[]error{tired("ties"), tired("38 steps"), nil}, "c", "a: after some work: ties, then b: after some work: 38 steps", ""},
		{[]error{broken, nil}, "a", "", "broken"},
		{[]error{tired("ties"), broken, nil}, "b", "a: after some work: ties", "broken (after a: after some work: ties)"},
		{[]error{tired("ties"), tired("38 steps")}, "b", "a: after some work: ties", "after some work: 38 steps (after a: after some work: ties)"},
	} {
		var list []Attempt[int]
		ran := 0
		for k, end := range c.ends {
			list = append(list, Attempt[int]{string(rune('a' + k)), func() (int, error) {
				ran++
				time.Sleep(time.Millisecond)
				return k, end
			}})
		}
		r, err := Relay(slices.Values(list))
		said := ""
		if err != nil {
			said = err.Error()
		}
		if r.By != c.by || r.After != c.after || said != c.err || r.Answer != int(c.by[0]-'a') || ran != r.Answer+1 {
			t.Errorf("%v: found %+v, %q after %d runs", c.ends, r, said, ran)
		}
		if before := time.Duration(ran-1) * time.Millisecond; r.Spent < before || ran == 1 && r.Spent > 0 {
			t.Errorf("%v: %v were spent before, expected %v at least", c.ends, r.Spent, before)
		}
		if gave := errors.Is(err, ErrGaveUp); gave != (err != nil && errors.Is(c.ends[len(c.ends)-1], ErrGaveUp)) {
			t.Errorf("%v: gave up: %v", c.ends, gave)
		}
	}
}
