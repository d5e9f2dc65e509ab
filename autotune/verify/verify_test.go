package verify_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"coalesce/autotune/internal/fake"
	"coalesce/autotune/subject"
	"coalesce/autotune/trial"
	"coalesce/autotune/verify"
	"coalesce/runtime/device"
)

func TestCases(t *testing.T) {
	for _, tc := range []struct {
		plant  string
		memory int64
		cases  int
		status trial.Status
		text   string
	}{
		{"", 0, 2, trial.OK, ""},
		{"wrong", 0, 1, trial.Verify, "case seven: sum below 7 is 22, expected 21"},
		{"late", 0, 2, trial.OK, ""}, // right so far; see the second round below
		{"infeasible", 0, 0, trial.Constraint, "not verified"},
		{"", 4, 0, trial.Memory, "case four: prepare: 8 bytes: out of device memory"},
	} {
		d := &fake.Device{F: device.Facts{Memory: tc.memory}}
		s := &fake.Subject{Plants: []string{tc.plant}}
		v := &s.Family().Variants[0]
		r, err := s.Open(d, v)
		if err != nil {
			t.Fatal(err)
		}
		cases, _ := s.Cases(nil)
		stream, _ := d.NewStream()
		n, err := verify.Cases(t.Context(), d, stream, s, v, r, cases)
		if n != tc.cases || verify.Status(err) != tc.status {
			t.Errorf("%q: %d cases, %v (%s), want %d, %s", tc.plant, n, err, verify.Status(err), tc.cases, tc.status)
		}
		if err != nil && !strings.Contains(err.Error(), tc.text) {
			t.Errorf("%q: error %q, want %q", tc.plant, err, tc.text)
		}
		if d.Buffers != 0 {
			t.Errorf("%q: %d buffers not freed", tc.plant, d.Buffers)
		}
		if tc.plant == "late" {
			var wrong *verify.Failure
			if _, err := verify.Cases(t.Context(), d, stream, s, v, r, cases); !errors.As(err, &wrong) || wrong.Case != "four" {
				t.Errorf("late: the second verification says %v", err)
			}
		}
	}
}

func TestStatus(t *testing.T) {
	for want, err := range map[trial.Status]error{
		trial.Launch:  errors.New("illegal address"),
		trial.Skipped: fmt.Errorf("x: %w", context.Canceled),
		trial.Memory:  fmt.Errorf("x: %w", device.ErrMemory),
		trial.Verify:  fmt.Errorf("x: %w", &verify.Failure{Case: "c", Run: 2, Err: errors.New("y")}),
	} {
		if got := verify.Status(err); got != want {
			t.Errorf("%v: %s, want %s", err, got, want)
		}
	}
}

// A variant runs the cases of its own parameters, and a wrong one says so.
func TestVariant(t *testing.T) {
	for plant, want := range map[string]trial.Status{"": trial.OK, "wrong": trial.Verify} {
		d, s := &fake.Device{}, &fake.Subject{Plants: []string{plant}}
		stream, err := d.NewStream()
		if err != nil {
			t.Fatal(err)
		}
		if n, err := verify.Variant(t.Context(), d, stream, s, &s.Family().Variants[0], 0); verify.Status(err) != want || n == 0 {
			t.Errorf("%q: %d cases, %v, want %s", plant, n, err, want)
		}
	}
}

// Cases up to a size are fewer, but never none: those of four and seven numbers.
func TestVariantUpTo(t *testing.T) {
	for largest, want := range map[int]int{0: 2, 1: 1, 4: 1, 6: 1, 7: 2, 100: 2} {
		d, s := &fake.Device{}, &fake.Subject{Plants: []string{""}}
		stream, err := d.NewStream()
		if err != nil {
			t.Fatal(err)
		}
		if n, err := verify.Variant(t.Context(), d, stream, s, &s.Family().Variants[0], largest); err != nil || n != want {
			t.Errorf("up to %d: %d cases (%v), want %d", largest, n, err, want)
		}
	}
}

// drawer is a subject whose cases are drawn otherwise than what is timed.
type drawer struct {
	fake.Subject
	drawn int
}

func (d *drawer) DrawCase(fixed map[string]string, size int, seed uint64) (subject.Instance, error) {
	d.drawn++
	return d.Instance(fixed, size, seed)
}

// What is drawn anew has the work of a case, where the subject tells.
func TestFreshIsACase(t *testing.T) {
	d, s := &fake.Device{}, &drawer{Subject: fake.Subject{Plants: []string{""}}}
	v := &s.Family().Variants[0]
	r, err := s.Open(d, v)
	if err != nil {
		t.Fatal(err)
	}
	cases, _ := s.Cases(nil)
	stream, _ := d.NewStream()
	if err := verify.Fresh(d, stream, s, v, r, cases, nil, 5); err != nil || s.drawn != 1 {
		t.Errorf("%d drawn as a case, %v", s.drawn, err)
	}
}
