package autotune

import (
	"maps"
	"time"

	"coalesce/autotune/search"
	"coalesce/autotune/trial"
)

// An Event is the state of tuning after a trial, for a progress line.
type Event struct {
	Family    string               `json:"family"`
	Fixed     map[string]string    `json:"fixed"`
	Phase     string               `json:"phase"` // of package search
	Size      int                  `json:"size"`
	Done      int                  `json:"done"` // of the phase
	Total     int                  `json:"total"`
	OK        int                  `json:"ok"`     // trials of this search
	Failed    int                  `json:"failed"` // of them; constraint and skipped are neither
	Counts    map[trial.Status]int `json:"counts"`
	Best      string               `json:"best"` // variant, "" for none yet
	BestTime  time.Duration        `json:"best_ns"`
	SafeTime  time.Duration        `json:"safe_ns"`      // 0 if not yet known
	VsSafe    float64              `json:"vs_safe"`      // BestTime/SafeTime - 1: -0.18 is 18 % less time
	Remaining time.Duration        `json:"remaining_ns"` // of the budget, 0 without one
	Trial     trial.Trial          `json:"trial"`        // that just ended
}

// reportProgress tells Options.Progress of a trial.
func (r *run) reportProgress(p search.Progress) {
	if r.Progress == nil {
		return
	}
	e := Event{
		Family: r.family.Name, Fixed: r.fixed, Phase: p.Phase, Size: p.Size, Done: p.Done, Total: p.Total,
		Counts: maps.Clone(p.Counts), Best: p.Best, BestTime: p.BestTime, SafeTime: p.SafeTime, Trial: p.Trial,
	}
	for s, n := range p.Counts {
		switch s {
		case trial.OK:
			e.OK += n
		case trial.Constraint, trial.Skipped:
		default:
			e.Failed += n
		}
	}
	if p.SafeTime > 0 && p.BestTime > 0 {
		e.VsSafe = float64(p.BestTime)/float64(p.SafeTime) - 1
	}
	switch {
	case !r.end.IsZero():
		e.Remaining = max(0, r.end.Sub(r.Now()))
	case r.Budget > 0:
		e.Remaining = max(0, r.Budget-r.Now().Sub(r.begin))
	}
	r.Progress(e)
}
