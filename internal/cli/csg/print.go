package csg

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"coalesce/internal/ui"
	"coalesce/runtime/memory"
	"coalesce/solvers/csg"
	"coalesce/solvers/solve"
)

// Estimate returns a function that describes the progress of a solve: the share of the work done, the
// time left at the pace since its first call, and the best so far.
func Estimate() func(now solve.Incumbent) string {
	began, first := 0.0, -1.0
	return func(now solve.Incumbent) string {
		var parts []string
		if now.Share > 0 {
			parts = append(parts, fmt.Sprintf("%.0f %% done", 100*now.Share))
		}
		if first < 0 {
			began, first = now.Seconds, now.Share
		}
		if done := now.Share - first; done > 0 {
			left := (now.Seconds - began) / done * (1 - now.Share)
			parts = append(parts, fmt.Sprintf("about %s left", time.Duration(left)*time.Second))
		}
		if now.Value != "" {
			parts = append(parts, now.String())
		}
		return strings.Join(parts, ", ")
	}
}

// Largest adds to the error of takes(n) the largest number of agents for which takes returns none.
func Largest(n int, takes func(n int) error) error {
	err := takes(n)
	for m := n - 1; err != nil && m > 0; m-- {
		if takes(m) == nil {
			return fmt.Errorf("%w: at most %d agents fit", err, m)
		}
	}
	return err
}

// Fits returns an error if the values of n agents exceed the free memory. Go
// ends the program when an allocation fails, so the check comes first.
func Fits(n int, value csg.Value, free memory.Free) error {
	return free.CheckFits(fmt.Sprintf("the %s values of %s", value, ui.Count(n, "agent")), float64(csg.Footprint(n, value)))
}

// Compare compares a result with the reference's: their totals may differ by the larger of their gaps.
// It returns the text for the user, and sets the result's time of verification.
func Compare(r, ref *csg.Result) (string, error) {
	r.Seconds.Verify = ref.Seconds.Solve
	if gap := math.Abs(r.Value.Float() - ref.Value.Float()); r.Value != ref.Value && !(gap <= max(*r.Gap, *ref.Gap)) {
		return "", fmt.Errorf("the answer is worth %s, the reference finds %s", r.Value, ref.Value)
	}
	same := "too"
	if r.Value != ref.Value {
		same = "(rounding leaves both open)"
	}
	return fmt.Sprintf("the sequential reference finds %s %s (its solve took %s, %.3g times this one's)",
		ref.Value, same, ui.Seconds(ref.Seconds.Solve), ref.Seconds.Solve/r.Seconds.Solve), nil
}

// An Answer has the best structures of a coalition, best first, and the seconds of reading and of the
// search.
type Answer struct {
	Instance    *csg.Instance
	Coalition   uint64
	Found       []csg.Ranked
	Read, Solve float64
}

type object struct {
	Problem    string             `json:"problem"`
	Instance   string             `json:"instance"`
	Coalition  []string           `json:"coalition"`
	Structures []ranked           `json:"structures"`
	Seconds    map[string]float64 `json:"seconds"`
}

type ranked struct {
	Value  float64    `json:"value"`
	Blocks [][]string `json:"blocks"`
}

// Object is the JSON object that query prints with --json.
func (a *Answer) Object() any {
	x := object{Problem: "csg", Instance: a.Instance.Source, Coalition: names(a.Instance, a.Coalition), Structures: []ranked{},
		Seconds: map[string]float64{"read": a.Read, "solve": a.Solve}}
	for _, f := range a.Found {
		y := ranked{f.Value, make([][]string, len(f.Structure))}
		for k, b := range f.Structure {
			y.Blocks[k] = names(a.Instance, b)
		}
		x.Structures = append(x.Structures, y)
	}
	return x
}

// Write writes a table for people.
func (a *Answer) Write(w io.Writer) error {
	if len(a.Found) == 0 {
		_, err := fmt.Fprintf(w, "every structure of %s has a forbidden block\n", a.Instance.Coalition(a.Coalition))
		return err
	}
	var t ui.Table
	t.AlignRight(0)
	t.Row("value", "structure")
	for _, f := range a.Found {
		var blocks []string
		for _, b := range f.Structure {
			blocks = append(blocks, a.Instance.Coalition(b))
		}
		t.Row(strconv.FormatFloat(f.Value, 'f', -1, 64), strings.Join(blocks, " "))
	}
	return t.Write(w)
}

// names are the names of a coalition's agents.
func names(inst *csg.Instance, coalition uint64) []string {
	list := []string{}
	for _, agent := range csg.Agents(coalition) {
		list = append(list, inst.Name(agent))
	}
	return list
}
