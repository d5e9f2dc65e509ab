package autotune

import (
	"testing"
	"time"

	"coalesce/autotune/search"
	"coalesce/autotune/trial"
	"coalesce/runtime/device"
)

// A run goes on from trials of the last day on the same card, with the same driver and seed, of a
// workload whose search did not come to its end.
func TestUnfinished(t *testing.T) {
	now := time.Unix(1e9, 0)
	facts := device.Facts{Kind: device.CUDA, Name: "GPU", UUID: "one", Driver: "580"}
	f, v := &device.Family{Name: "toy/k", Params: []string{"value"}}, &device.Variant{Label: "value=int32", Values: []string{"int32"}, Hash: 7}
	at := func(change func(*trial.Trial)) trial.Trial {
		x := trial.New(f, v, facts)
		x.Fixed, x.Size, x.Seed, x.Action, x.Phase = map[string]string{"value": "int32"}, 10, 3, trial.ActionMeasure, search.PhaseFinal
		x.Status, x.Time = trial.OK, now.Add(-time.Hour)
		change(&x)
		return x
	}
	for name, c := range map[string]struct {
		records []trial.Trial
		want    int
	}{
		"one":                  {[]trial.Trial{at(func(*trial.Trial) {})}, 1},
		"another instance":     {[]trial.Trial{at(func(x *trial.Trial) { x.Seed += nextInstance })}, 1},
		"another seed":         {[]trial.Trial{at(func(x *trial.Trial) { x.Seed = 4 })}, 0},
		"another driver":       {[]trial.Trial{at(func(x *trial.Trial) { x.Driver = "575" })}, 0},
		"another card":         {[]trial.Trial{at(func(x *trial.Trial) { x.UUID = "two" })}, 0},
		"another class":        {[]trial.Trial{at(func(x *trial.Trial) { x.Class = "host" })}, 0},
		"another family":       {[]trial.Trial{at(func(x *trial.Trial) { x.Family = "toy/other" })}, 0},
		"two days ago":         {[]trial.Trial{at(func(x *trial.Trial) { x.Time = now.Add(-48 * time.Hour) })}, 0},
		"cut short":            {[]trial.Trial{at(func(x *trial.Trial) { x.Status = trial.Skipped })}, 0},
		"ended since":          {[]trial.Trial{at(func(*trial.Trial) {}), at(func(x *trial.Trial) { x.Action = trial.ActionDone })}, 0},
		"ended before":         {[]trial.Trial{at(func(x *trial.Trial) { x.Action = trial.ActionDone }), at(func(*trial.Trial) {})}, 1},
		"verified, other seed": {[]trial.Trial{at(func(x *trial.Trial) { x.Action, x.Seed = trial.ActionVerify, nextInstance })}, 0},
	} {
		if got := len(unfinishedTrials(c.records, f.Name, facts, 3, now)); got != c.want {
			t.Errorf("%s: %d trials are taken over, expected %d", name, got, c.want)
		}
	}
}
