package solve

import (
	"errors"
	"fmt"
	"iter"
	"time"
)

// ErrGaveUp is wrapped by the error of an algorithm that met a bound on its own work, so
// that another may go on, from the beginning.
var ErrGaveUp = errors.New("gave up")

// GaveUp is an error that says why and wraps ErrGaveUp.
func GaveUp(why string) error { return gaveUp(why) }

type gaveUp string

func (g gaveUp) Error() string { return string(g) }

func (gaveUp) Unwrap() error { return ErrGaveUp }

// An Attempt is an algorithm that a relay may run.
type Attempt[T any] struct {
	Name string
	Run  func() (T, error)
}

// A Relayed answer is the result of Relay.
type Relayed[T any] struct {
	Answer T
	By     string        // the name of the algorithm that gave it
	After  string        // those that gave up before, each with its reason; empty: there are none
	Spent  time.Duration // by those
}

// Relay runs attempts in turn until one does not give up, and returns what that one
// returned, also with an error. Where all gave up the error wraps ErrGaveUp. The sequence
// has one attempt at least, and is asked for the next when one has given up.
func Relay[T any](attempts iter.Seq[Attempt[T]]) (r Relayed[T], err error) {
	var began time.Time
	for a := range attempts {
		if err != nil {
			r.Spent += time.Since(began)
			if r.After != "" {
				r.After += ", then "
			}
			r.After += r.By + ": " + err.Error()
		}
		r.By, began = a.Name, time.Now()
		if r.Answer, err = a.Run(); !errors.Is(err, ErrGaveUp) {
			break
		}
	}
	if err != nil && r.After != "" {
		err = fmt.Errorf("%w (after %s)", err, r.After)
	}
	return r, err
}
