package option

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
)

// letters reads and writes its own text, which has no digits.
type letters string

func (l letters) MarshalText() ([]byte, error) { return []byte(l), nil }

func (l *letters) UnmarshalText(text []byte) error {
	if strings.ContainsAny(string(text), "0123456789") {
		return fmt.Errorf("found a digit in %q", text)
	}
	*l = letters(text)
	return nil
}

type settings struct {
	count  int
	work   int64
	seed   uint64
	limit  time.Duration
	target *float64
	name   string
	parts  []string
	quiet  bool
	rough  bool
	rules  letters
	share  float64
}

var table = Table{
	{Name: "count", Min: "1", Max: "9", Default: "3", Field: "Count"},
	{Name: "work", Min: "1", Default: "no limit"},
	{Name: "seed"},
	{Name: "time_limit", Min: "0", Default: "10s, or none with {work}"},
	{Name: "target"},
	{Name: "name", Words: []string{"a", "b"}},
	{Name: "parts", Words: []string{"x", "y"}, Flag: "without"},
	{Name: "quiet"},
	{Name: "exact", Negated: true},
	{Name: "share", Min: "0", Max: "1", Default: "all"},
	{Name: "rules", Only: "host", About: "rules, under {time_limit}", Default: "none"},
}

func (s *settings) fields() List {
	return table.Bind([]any{&s.count, &s.work, &s.seed, &s.limit, &s.target, &s.name, &s.parts, &s.quiet, &s.rough, &s.share, &s.rules})
}

// Values come from flags and from JSON, and are refused alike.
func TestValues(t *testing.T) {
	for _, c := range []struct{ name, flag, json, want string }{
		{"count", "2", "2", ""}, {"count", "0", "0", "count: found 0, expected 1 to 9"}, {"count", "10", "10", "count: found 10, expected 1 to 9"},
		{"work", "9223372036854775807", "9223372036854775807", ""}, {"work", "-1", "-1", "work: found -1, expected 1 or more"},
		{"work", "9223372036854775808", "9223372036854775808", "expected a whole number"}, {"work", "1.5", "1.5", "expected a whole number"},
		{"seed", "18446744073709551615", "18446744073709551615", ""}, {"seed", "-1", "-1", "expected a whole number from 0 on"},
		{"time_limit", "1.5", "1.5", ""}, {"time_limit", "0", "0", "expected a time"}, {"time_limit", "-2", "-2", "expected a time"}, {"time_limit", "1e99", "1e99", "expected a time"},
		{"target", "-3.5", "-3.5", ""}, {"target", "x", `"x"`, "expected a number"},
		{"share", "0", "0", ""}, {"share", "0.25", "0.25", ""}, {"share", "1.5", "1.5", "share: found 1.5, expected 0 to 1"}, {"share", "NaN", `"NaN"`, "share: found"}, {"share", "x", `"x"`, "expected a number"},
		{"name", "b", `"b"`, ""}, {"name", "c", `"c"`, `found "c", expected one of a, b`}, {"name", "", `""`, "expected one of a, b"},
		{"parts", "x,y", `["x","y"]`, ""}, {"parts", "x,z", `["x","z"]`, `found "z", expected one of x, y`},
		{"quiet", "true", "true", ""}, {"quiet", "2", "2", "expected true or false"},
		{"exact", "false", "false", ""}, {"exact", "2", "2", "exact: found"}, {"exact", "no", `"no"`, "expected true or false"},
		{"rules", "abc", `"abc"`, ""}, {"rules", "a1", `"a1"`, "found a digit"},
	} {
		for door, set := range map[string]func(l List) error{
			"flag": func(l List) error { return l.Find(c.name).Set(c.flag) },
			"JSON": func(l List) error { return l.Decode([]byte(`{"` + c.name + `":` + c.json + "}")) },
		} {
			var s settings
			switch err := set(s.fields()); {
			case c.want == "" && err != nil:
				t.Errorf("%s %s: %v", door, c.name, err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("%s %s: found the error %v, expected %q", door, c.name, err, c.want)
			}
		}
	}
}

// What was read is what the struct holds, to the last digit.
func TestDecode(t *testing.T) {
	var s settings
	l := s.fields()
	if err := l.Decode([]byte(`{"work": 9007199254740993, "time_limit": 1e-12, "target": 1e300, "parts": ["y"], "quiet": true, "name": null, "rules": "abc"}`)); err != nil {
		t.Fatal(err)
	}
	if s.work != 9007199254740993 || s.limit != 1 || *s.target != 1e300 || len(s.parts) != 1 || !s.quiet || s.name != "" || s.rules != "abc" {
		t.Errorf("found %+v", s)
	}
	if err := l.Decode(nil); err != nil {
		t.Errorf("no options: %v", err)
	}
	for _, text := range []string{`{"wrk": 1}`, `[1]`, `{"work": 1`} {
		if err := l.Decode([]byte(text)); err == nil {
			t.Errorf("%s: found no error", text)
		}
	}
}

// The field of a negated option says the opposite: the option is true unless the field is.
func TestNegated(t *testing.T) {
	for text, rough := range map[string]bool{"true": false, "false": true, "null": false} {
		var s settings
		l := s.fields()
		if o := l.Find("exact"); o.String() != "true" {
			t.Errorf("by default the option is %s, expected true", o)
		}
		if err := l.Decode([]byte(`{"exact": ` + text + "}")); err != nil || s.rough != rough {
			t.Errorf("JSON %s: found %t, %v, expected %t", text, s.rough, err, rough)
		}
		if text == "null" {
			continue
		}
		s = settings{rough: !rough}
		if err := s.fields().Find("exact").Set(text); err != nil || s.rough != rough || s.fields().Find("exact").String() != text {
			t.Errorf("flag %s: found %t, %v, expected %t", text, s.rough, err, rough)
		}
	}
}

// Programs fill a struct; a zero stands for the default there.
func TestCheck(t *testing.T) {
	if err := new(settings).fields().Check(); err != nil {
		t.Errorf("no values: %v", err)
	}
	nan := math.NaN()
	for _, s := range []settings{{count: -1}, {count: 10}, {work: -1}, {limit: -1}, {target: &nan}, {name: "c"}, {parts: []string{"z"}}} {
		wrong := new(ValueError)
		if err := s.fields().Check(); !errors.As(err, &wrong) {
			t.Errorf("%+v: found the error %v, expected a ValueError", s, err)
		}
	}
}

// A description has other options by the names of the door.
func TestDescribe(t *testing.T) {
	l := new(settings).fields()
	dashes := func(d *Declaration) string { return "--" + d.FlagName() }
	for name, want := range map[string]string{
		"rules":      "host: rules, under --time-limit (default: none)",
		"time_limit": " (default: 10s, or none with --work)",
		"parts":      ": x, y",
	} {
		if text := l.Describe(l.Find(name), dashes); text != want {
			t.Errorf("%s: found %q, expected %q", name, text, want)
		}
	}
}

// A struct that holds another one changes what the inner declarations say, and not the inner table.
func TestRefined(t *testing.T) {
	var s settings
	outer := table.WithDefault("count", "4").WithWords("name", []string{"c"}).WithAbout("work", "flips")
	l := outer.Bind([]any{&s.count, &s.work, &s.seed, &s.limit, &s.target, &s.name, &s.parts, &s.quiet, &s.rough, &s.share, &s.rules})
	if l.Find("count").Default != "4" || l.Find("work").About != "flips" || l.Find("name").Words[0] != "c" || l.Find("rules").Set("abc") != nil || s.rules != "abc" {
		t.Errorf("found %+v", l)
	}
	if table[0].Default != "3" {
		t.Error("the inner table has changed")
	}
}

// A part of a list may stand in quotes, with commas. A view of a list sets the same values.
func TestViews(t *testing.T) {
	var o struct{ names, files []string }
	l := Table{{Name: "names", About: "names"}, {Name: "files", Whole: true}}.Bind([]any{&o.names, &o.files})
	view := l.Except("files").ForProblem("csg")
	if len(view) != 1 || view.Describe(&view[0], func(d *Declaration) string { return d.Name }) != "csg: names" || l[0].Only != "" {
		t.Errorf("found %d options, the first %q", len(view), view.Describe(&view[0], func(d *Declaration) string { return d.Name }))
	}
	for _, text := range []string{`ann,"cleo, the second"`, "bob"} {
		if err := view[0].Set(text); err != nil {
			t.Fatal(err)
		}
	}
	if got := strings.Join(o.names, "|"); got != "ann|cleo, the second|bob" {
		t.Errorf("found the names %s", got)
	}
	if err := view[0].Set(`"ann`); err == nil || !strings.Contains(err.Error(), "expected a list of texts") {
		t.Errorf("found the error %v", err)
	}
	if err := l[1].Set("a,b"); err != nil || len(o.files) != 1 {
		t.Errorf("found %q, %v", o.files, err)
	}
}
