package tuning

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"coalesce/runtime/host"
)

// A verdict follows from how the same work scatters: above what crowns a winner the device is not fit,
// and where the clock moves by as much it hardly is.
func TestVerdict(t *testing.T) {
	for _, c := range []struct {
		timingScatter
		want string
	}{
		{timingScatter{spread: 0.02}, "yes"},
		{timingScatter{noise: 0.02, spread: 0.3}, "hardly"},
		{timingScatter{noise: 0.2, spread: 0.3}, "no:"},
		{timingScatter{noise: 0.2}, "no:"},
		{timingScatter{others: 0.04}, "yes"},
		{timingScatter{others: 0.4}, "no: other processes"},
	} {
		if got := c.verdict(); !strings.HasPrefix(got, c.want) {
			t.Errorf("%+v: %q, expected %q", c.timingScatter, got, c.want)
		}
	}
}

// The page of a host says how it measures, and that it is fit, hardly or not.
func TestDoctorOfAHost(t *testing.T) {
	d := host.Open(1)
	defer d.Close()
	var out bytes.Buffer
	e := Env{Out: &out, Path: func() (string, error) { return "", errors.New("no folder") }}
	if err := e.diagnose(context.Background(), d, ""); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"noise floor", "other processes  ", "clock spread", "ceiling ", "fit to tune"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
}
