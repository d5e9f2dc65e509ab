package page

import (
	"bytes"
	"encoding/csv"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"coalesce/autotune/search"
	"coalesce/autotune/trial"
	"coalesce/runtime/device"
)

// toy is a family whose safe point is a=1,b=1.
func toy() *device.Family {
	f := &device.Family{Name: "toy/k", Params: []string{"a", "b"}}
	for _, v := range [][]string{{"1", "1"}, {"2", "1"}, {"10", "1"}, {"2", "x"}, {"10", "x"}} {
		f.Variants = append(f.Variants, device.Variant{Label: "a=" + v[0] + ",b=" + v[1], Values: v, Safe: len(f.Variants) == 0})
	}
	return f
}

// recorder makes trials of toy/k, each a second after the one before it.
type recorder struct{ trials []trial.Trial }

func (r *recorder) add(label string, size int, change func(*trial.Trial)) {
	t := trial.Trial{
		Schema: trial.Schema, Protocol: trial.Protocol, Family: "toy/k", Class: "host|<A & B>", Variant: label, VariantHash: "1",
		Fixed: map[string]string{"value": "int32"}, Size: size, Action: trial.ActionMeasure, Status: trial.OK,
		Time: time.Unix(int64(1000+len(r.trials)), 0).UTC(), Wall: int64(time.Second),
	}
	change(&t)
	r.trials = append(r.trials, t)
}

func (r *recorder) time(label string, size int, millis float64, phase string) {
	r.add(label, size, func(t *trial.Trial) {
		ns := int64(millis * 1e6)
		t.Ceiling = &trial.Ceiling{Bytes: 1e6, Bandwidth: 1e9}
		t.Phase, t.Hot = phase, &trial.Sample{N: 5, Median: ns, Q1: ns, Q3: ns, Min: ns, MAD: ns / 1000, Repeat: 1}
	})
}

func (r *recorder) fail(label string, size int, status trial.Status, why string) {
	r.add(label, size, func(t *trial.Trial) { t.Action, t.Status, t.Error = trial.ActionVerify, status, why })
}

// record is a search of two sizes: of three, of which one answers wrongly at last.
func record() []trial.Trial {
	var r recorder
	r.time("a=1,b=1", 8, 4, search.PhaseScreen)
	r.time("a=2,b=1", 8, 3, search.PhaseScreen)
	r.time("a=10,b=1", 8, 2.5, search.PhaseScreen)
	r.time("a=10,b=x", 8, 1, search.PhaseScreen)
	r.fail("a=10,b=x", 8, trial.Verify, "case <b>ties</b>: 5, expected 6")
	r.fail("a=10,b=x", 8, trial.Verify, "case <b>ties</b>: 5, expected 6")
	r.time("a=2,b=x", 8, 1.5, search.PhaseScreen)
	r.time("a=2,b=x", 8, 2, search.PhaseFinal)
	r.time("a=2,b=x", 8, 2.2, search.PhaseFinal)
	r.time("a=1,b=1", 8, 4.2, search.PhaseFinal)
	r.time("a=1,b=1", 24, 10, search.PhaseSize)
	r.time("a=2,b=1", 24, 10, search.PhaseSize)
	r.time("a=2,b=x", 24, 20, search.PhaseSize)
	r.add("", 0, func(t *trial.Trial) { t.Action = trial.ActionDone })
	return r.trials
}

func only(t *testing.T, trials []trial.Trial) *Study {
	t.Helper()
	list := Studies(trials, []*device.Family{toy()})
	if len(list) != 1 {
		t.Fatalf("%d studies, want 1", len(list))
	}
	return list[0]
}

func TestStudy(t *testing.T) {
	s := only(t, record())
	if len(s.Sizes) != 2 || s.Sizes[0].Size != 8 || s.Sizes[1].Size != 24 {
		t.Fatalf("sizes %+v", s.Sizes)
	}
	small, large := s.Sizes[0], s.Sizes[1]
	// What answered wrongly has no time, though it was the fastest; final rounds stand for
	// brief trials, and come before them.
	if b := small.Best(); b.Variant != "a=2,b=x" || b.Nanos != 2.1e6 || b.Rounds != 2 || len(small.Points) != 4 || small.CountTied() != 0 {
		t.Errorf("best %+v of %d, %d tied", b, len(small.Points), small.CountTied())
	}
	if last := small.Points[3]; last.Variant != "a=2,b=1" {
		t.Errorf("the slowest of those measured briefly stands last, not %s", last.Variant)
	}
	if got := small.Speedup(); s.Safe != "a=1,b=1" || got != 2 {
		t.Errorf("%v times as fast as the safe point %q, want 2", got, s.Safe)
	}
	if got := large.Speedup(); large.Best().Variant != "a=1,b=1" || got != 1 || large.CountTied() != 1 {
		t.Errorf("size 24: %s, speed-up %v; want the label that comes first of equals", large.Best().Variant, got)
	}
	if s.Spent != 13*time.Second || s.Counts[trial.OK] != 11 || s.Counts[trial.Verify] != 2 {
		t.Errorf("spent %v, counts %v", s.Spent, s.Counts)
	}
	if len(s.Failed) != 1 || s.Failed[0].Times != 2 || s.Failed[0].Status != trial.Verify {
		t.Errorf("failures %+v", s.Failed)
	}
	if len(s.Params) != 2 || strings.Join(s.Params[0].Values, " ") != "1 2 10" || strings.Join(s.Params[1].Values, " ") != "1 x" {
		t.Errorf("parameters %+v", s.Params)
	}
}

func TestWorths(t *testing.T) {
	s := only(t, record())
	w := s.ParameterEffects(s.Sizes[0])
	if len(w) != 2 || w[0].Param != "a" || w[0].Value != "1" || math.Abs(w[0].Worst-1) > 1e-12 || math.Abs(w[0].Safe-1) > 1e-12 || w[0].Best != "2" {
		t.Errorf("%+v; want a: twice the time at 1, which the safe point has", w)
	}
	if w[1].Param != "b" || w[1].Value != "1" || math.Abs(w[1].Worst-(2.5/2.1-1)) > 1e-12 {
		t.Errorf("%+v", w[1])
	}
	// One parameter explains all of the variance where the other changes nothing.
	var r recorder
	for _, a := range []string{"1", "2"} {
		for _, b := range []string{"1", "x"} {
			r.time("a="+a+",b="+b, 8, map[string]float64{"1": 3, "2": 5}[a], search.PhaseSize)
		}
	}
	s = only(t, r.trials)
	if w := s.ParameterEffects(s.Sizes[0]); math.Abs(w[0].Part-1) > 1e-9 || w[0].Param != "a" || w[1].Part > 1e-9 || w[1].Worst != 0 {
		t.Errorf("%+v", w)
	}
}

func TestRules(t *testing.T) {
	rules := only(t, record()).Rules()
	var names []string
	for _, r := range rules {
		names = append(names, r.Name)
	}
	if got := strings.Join(names, "; "); got != "safe point, winner at 24; best of all sizes; winner at 8" {
		t.Fatalf("rules are %s", got)
	}
	if r := rules[1]; r.Variant != "a=2,b=1" || math.Abs(r.Slower[0]-3/2.1) > 1e-12 || r.Slower[1] != 1 {
		t.Errorf("%+v", r)
	}
	if r := rules[2]; r.Variant != "a=2,b=x" || r.Slower[0] != 1 || r.Slower[1] != 2 {
		t.Errorf("%+v, want the time of the best at 8 and twice that at 24", r)
	}
	if r := rules[0]; r.Slower[0] != 2 || r.Slower[1] != 1 {
		t.Errorf("%+v, want twice the time at 8", r)
	}
}

// Trials of a text that has changed since are left out.
func TestLastTextStands(t *testing.T) {
	var r recorder
	r.time("a=1,b=1", 8, 9, search.PhaseSize)
	r.time("a=1,b=1", 8, 5, search.PhaseSize)
	r.trials[1].VariantHash = "2"
	s := only(t, r.trials)
	if s.Stale != 1 || s.Sizes[0].Best().Nanos != 5e6 || s.Counts[trial.OK] != 1 {
		t.Errorf("%d left out, %v ns", s.Stale, s.Sizes[0].Best().Nanos)
	}
}

// Pages of no trial, of failures alone, of one time, and of a family that this binary
// does not know are whole.
func TestLittleIsEnough(t *testing.T) {
	one, failed := recorder{}, recorder{}
	one.time("a=1", 1, 1, search.PhaseSize)
	one.trials[0].Family = "unknown/family"
	failed.fail("a=1,b=1", 0, trial.Timeout, "no answer within 1m0s")
	for name, tc := range map[string]struct {
		trials []trial.Trial
		want   string
	}{"none": {nil, "hold no trial"}, "failures": {failed.trials, "no answer within 1m0s"}, "one": {one.trials, "unknown/family"}} {
		studies := Studies(tc.trials, []*device.Family{toy()})
		var b bytes.Buffer
		if err := HTML(&b, studies); err != nil || !strings.Contains(b.String(), tc.want) || !strings.Contains(b.String(), "</html>") {
			t.Errorf("%s: %v\n%s", name, err, &b)
		}
		if n, err := SVG(t.TempDir(), studies); err != nil || n > 0 {
			t.Errorf("%s: %d figures, %v; want none", name, n, err)
		}
	}
}

// Users' texts do not become part of the page, and the page loads nothing.
func TestPageIsClosed(t *testing.T) {
	var b bytes.Buffer
	if err := HTML(&b, Studies(record(), []*device.Family{toy()})); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	if strings.Contains(text, "<b>ties") || !strings.Contains(text, "&lt;b&gt;ties") || strings.Contains(text, "<A & B>") {
		t.Error("a reason or a device's name is not escaped")
	}
	rest := strings.ReplaceAll(text, `xmlns="http://www.w3.org/2000/svg"`, "")
	for _, bad := range []string{"http:", "https:", "src=", "@import", "url(", "fetch("} {
		if strings.Contains(rest, bad) {
			t.Errorf("the page holds %q", bad)
		}
	}
	if !strings.Contains(text, `<td class="number">48 % of bandwidth</td>`) {
		t.Error("the page has no share of the ceiling: 2.1 ms for 1 ms at the bandwidth")
	}
	if !strings.Contains(text, "default-src 'none'") {
		t.Error("the page may load from elsewhere")
	}
}

func TestSVG(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "new")
	n, err := SVG(folder, Studies(record(), []*device.Family{toy()}))
	files, _ := filepath.Glob(filepath.Join(folder, "*.svg"))
	if err != nil || n != 7 || len(files) != n { // three of all sizes, worth and a pair at each of two
		t.Fatalf("%d figures, %d files, %v", n, len(files), err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		d := xml.NewDecoder(bytes.NewReader(text))
		for {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Errorf("%s is no XML: %v", name, err)
				break
			}
		}
		if bytes.Contains(text, []byte("NaN")) || bytes.Contains(text, []byte("Inf")) || !bytes.Contains(text, []byte("<style>")) {
			t.Errorf("%s:\n%s", name, text)
		}
	}
}

func TestCSV(t *testing.T) {
	var b bytes.Buffer
	if err := CSV(&b, record()); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&b).ReadAll()
	if err != nil || len(rows) != 14 {
		t.Fatalf("%d rows, %v; want 13 trials and the names", len(rows), err)
	}
	column := map[string]int{}
	for k, name := range rows[0] {
		column[name] = k
	}
	for k, want := range map[string]string{"seconds": "0.004", "param_a": "1", "param_b": "1", "status": "ok", "workload": "value=int32", "cache": "hot", "trial_seconds": "1",
		"bytes": "1e+06", "operations": "", "ceiling_share": "0.25", "ceiling": "bandwidth"} {
		if got := rows[1][column[k]]; got != want {
			t.Errorf("%s is %q, want %q", k, got, want)
		}
	}
	if got := rows[5]; got[column["seconds"]] != "" || got[column["error"]] != "case <b>ties</b>: 5, expected 6" {
		t.Errorf("a failure: %q", got)
	}
}

// other is a search of another family, at size 8 alone.
func other() []trial.Trial {
	var r recorder
	r.time("a=1", 8, 4, search.PhaseScreen)
	r.time("a=2", 8, 2, search.PhaseScreen)
	for i := range r.trials {
		r.trials[i].Family = "toy/other"
	}
	return r.trials
}
