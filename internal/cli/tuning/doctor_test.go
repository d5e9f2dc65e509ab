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
		noise, spread float64
		want          string
	}{{0, 0.02, "yes"}, {0.02, 0.3, "hardly"}, {0.2, 0.3, "no:"}, {0.2, 0, "no:"}} {
		if got := (&steady{n: 100, noise: c.noise, spread: c.spread}).verdict(); !strings.HasPrefix(got, c.want) {
			t.Errorf("noise %v, spread %v: %q, expected %q", c.noise, c.spread, got, c.want)
		}
	}
}

// The page of a host says how it measures, and that it is fit, hardly or not.
func TestDoctorOfAHost(t *testing.T) {
	d := host.Open(1)
	defer d.Close()
	var out bytes.Buffer
	e := Env{Out: &out, Path: func() (string, error) { return "", errors.New("no folder") }}
	if err := e.doctor(context.Background(), d, ""); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"noise floor", "clock spread", "fit to tune"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
}
