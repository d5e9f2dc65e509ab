package solve

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"coalesce/runtime/device"
)

func TestNumbers(t *testing.T) {
	for _, c := range []struct {
		number Number
		float  float64
		text   string
	}{
		{"", math.NaN(), "null"},
		{"9223372036854775807", 1 << 63, "9223372036854775807"},
		{"-0.5", -0.5, "-0.5"},
		{"-inf", math.Inf(-1), `"-inf"`},
		{"inf", math.Inf(1), `"inf"`},
		{NumberOf(math.NaN()), math.NaN(), "null"},
		{NumberOf(math.Inf(-1)), math.Inf(-1), `"-inf"`},
		{NumberOf(1e300), 1e300, "1e+300"},
		{NumberOf(12.25), 12.25, "12.25"},
		{NumberOf(5e-324), 5e-324, "5e-324"},
	} {
		text, err := json.Marshal(c.number)
		if err != nil || string(text) != c.text {
			t.Errorf("%q is written %s, %v, expected %s", c.number, text, err, c.text)
		}
		if got := c.number.Float(); got != c.float && !(math.IsNaN(got) && math.IsNaN(c.float)) {
			t.Errorf("%q is %v, expected %v", c.number, got, c.float)
		}
	}
	if _, err := json.Marshal(Number("many")); err == nil {
		t.Error("a number of letters is written")
	}
}

func TestReports(t *testing.T) {
	r := Report{Problem: "csg", Value: "3"}
	text, err := json.Marshal(r)
	if want := `"value":3,"bound":null,"gap":null,"proven":false`; err != nil || !contains(text, want) || !contains(text, `"notes":[]`) {
		t.Errorf("found %s, %v, expected %s", text, err, want)
	}
	r.SetProvenBound("4")
	if text, err = json.Marshal(r); err != nil || !contains(text, `"value":3,"bound":4,"gap":1,"proven":true`) {
		t.Errorf("found %s, %v", text, err)
	}
}

func contains(text []byte, part string) bool { return bytes.Contains(text, []byte(part)) }

func TestSettings(t *testing.T) {
	var s Settings
	if _, err := s.LeadDevice(); err == nil {
		t.Error("no device is no error")
	}
	ctx, cancel := s.WithTimeLimit(context.Background())
	if _, limited := ctx.Deadline(); limited {
		t.Error("no limit is one")
	}
	cancel()
	s.TimeLimit = time.Nanosecond
	ctx, cancel = s.WithTimeLimit(context.Background())
	defer cancel()
	<-ctx.Done()
	if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		t.Errorf("found %v, expected the limit", ctx.Err())
	}
	s.Logf("nobody listens")
	said := ""
	s.Log = func(line string) { said = line }
	if s.Logf("%d agents", 3); said != "3 agents" {
		t.Errorf("said %q", said)
	}
}

type described struct {
	device.Device
	facts device.Facts
}

func (d described) Facts() device.Facts { return d.facts }

// Unlike devices are chosen for by the weakest, and by what all of them have.
func TestWeakest(t *testing.T) {
	hopper := device.Facts{Name: "hopper", Major: 9, SMs: 114, Free: 10, SharedPerBlock: 300, ThreadsPerBlock: 1024}
	larger := device.Facts{Name: "larger", Major: 9, SMs: 132, Free: 5, SharedPerBlock: 300, ThreadsPerBlock: 1024}
	ada := device.Facts{Name: "ada", Major: 8, Minor: 9, SMs: 142, Free: 7, SharedPerBlock: 100, ThreadsPerBlock: 1024}
	little := device.Facts{Name: "little", Major: 10, SMs: 200, Free: 7, SharedPerBlock: 200, ThreadsPerBlock: 512}
	for _, c := range []struct {
		all          []device.Facts
		name         string
		free, shared int64
		threads      int
	}{
		{nil, "", 0, 0, 0},
		{[]device.Facts{larger}, "larger", 5, 300, 1024},
		{[]device.Facts{larger, hopper}, "hopper", 5, 300, 1024},
		{[]device.Facts{hopper, ada, larger}, "ada", 5, 100, 1024},
		{[]device.Facts{little, hopper}, "hopper", 7, 200, 512},
	} {
		for range 2 {
			var s Settings
			for _, f := range c.all {
				s.Devices = append(s.Devices, described{facts: f})
			}
			if got := s.WeakestFacts(); got.Name != c.name || got.Free != c.free || got.SharedPerBlock != c.shared || got.ThreadsPerBlock != c.threads {
				t.Errorf("of %v: %+v, expected %s with %d free, %d shared, %d threads", c.all, got, c.name, c.free, c.shared, c.threads)
			}
			slices.Reverse(c.all)
		}
	}
}
