package autotune

import (
	"encoding/json"
	"fmt"
	"maps"
	"time"

	"coalesce/autotune/search"
	"coalesce/autotune/trial"
	"coalesce/autotune/tuned"
	"coalesce/autotune/worker"
	"coalesce/runtime/device"
)

// resumeWithin is the greatest age of a trial that a run takes over: times that are compared with each
// other have to be of one state of the device.
const resumeWithin = 24 * time.Hour

// pastTrials holds the trials of searches that were cut short, by the question that each answers, in the
// order in which they were made. A search asks in an order that depends only on the answers, so
// that it repeats its steps up to the point where it was cut, without running a trial.
type pastTrials map[string][]trial.Trial

// unfinishedTrials finds, among the records of a file, the trials of a family on this card
// that a run with this seed may go on from.
func unfinishedTrials(records []trial.Trial, family string, facts device.Facts, seed uint64, now time.Time) pastTrials {
	p := pastTrials{}
	for i := range records {
		t := &records[i]
		if t.Family != family || t.Class != facts.Class() || t.UUID != facts.UUID || t.Driver != facts.Driver {
			continue
		}
		if t.Action == trial.ActionDone {
			maps.DeleteFunc(p, func(_ string, ts []trial.Trial) bool { return maps.Equal(ts[0].Fixed, t.Fixed) })
			continue
		}
		if t.Protocol != trial.Protocol || t.Status == trial.Skipped || now.Sub(t.Time) > resumeWithin {
			continue
		}
		if t.Seed != seed && (t.Action != trial.ActionMeasure || !drawn(t.Seed, seed)) {
			continue
		}
		key := question(t.Variant, t.VariantHash, t.Fixed, t.Size, t.Seed, t.Action, t.Phase)
		p[key] = append(p[key], *t)
	}
	return p
}

// drawn reports whether a run with a seed draws an instance by of.
func drawn(of, seed uint64) bool {
	for range search.MostInstances {
		if of == seed {
			return true
		}
		seed += nextInstance
	}
	return false
}

// takeAnswer removes and returns the next answer to a request, if there is one.
func (p pastTrials) takeAnswer(r *worker.Request, phase string) (trial.Trial, bool) {
	key := question(r.Variant, fmt.Sprintf("%016x", r.Hash), r.Fixed, r.Size, r.Seed, r.Action, phase)
	ts := p[key]
	if len(ts) == 0 {
		return trial.Trial{}, false
	}
	if p[key] = ts[1:]; len(ts) == 1 {
		delete(p, key)
	}
	return ts[0], true
}

// screenedCount is how many variants of a workload have been screened.
func (p pastTrials) screenedCount(fixed map[string]string) int {
	seen := map[string]bool{}
	for _, ts := range p {
		for i := range ts {
			if t := &ts[i]; t.Phase == search.PhaseScreen && maps.Equal(t.Fixed, fixed) {
				seen[t.Variant] = true
			}
		}
	}
	return len(seen)
}

// firstTrialTime is when the first trial of a workload ran; the zero time for none.
func (p pastTrials) firstTrialTime(fixed map[string]string) (first time.Time) {
	for _, ts := range p {
		for i := range ts {
			if t := &ts[i]; maps.Equal(t.Fixed, fixed) && (first.IsZero() || t.Time.Before(first)) {
				first = t.Time
			}
		}
	}
	return first
}

// includesEntry reports whether an entry is of trials that a run goes on from: nothing was measured of
// its size in a final after it was kept. Entries keep whole seconds.
func (p pastTrials) includesEntry(e *tuned.Entry) bool {
	finals := 0
	for _, ts := range p {
		for i := range ts {
			if t := &ts[i]; t.Phase == search.PhaseFinal && t.Size == e.Size && maps.Equal(t.Fixed, e.Fixed) {
				if t.Time.Truncate(time.Second).After(e.Time) {
					return false
				}
				finals++
			}
		}
	}
	return finals > 0
}

// question is the request that a trial answers, as a key.
func question(variant, hash string, fixed map[string]string, size int, seed uint64, action, phase string) string {
	if action == trial.ActionVerify {
		phase, size = "", 0 // verification runs the same cases in every phase and at every size
	}
	text, err := json.Marshal(fixed) // keys in order
	if err != nil {
		panic(err) // a map of texts always has a JSON form
	}
	return fmt.Sprint(variant, " ", hash, " ", string(text), " ", size, " ", seed, " ", action, " ", phase)
}

// endRecord is the record that a workload's search came to its end: a later run does not use the trials
// before it.
func endRecord(f *device.Family, facts device.Facts, fixed map[string]string, session string, now time.Time) *trial.Trial {
	t := trial.New(f, &device.Variant{}, facts)
	t.Session, t.Time, t.Fixed, t.Action, t.Status = session, now.UTC(), fixed, trial.ActionDone, trial.OK
	return &t
}
