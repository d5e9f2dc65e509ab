package trial

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"coalesce/runtime/device"
)

func record(label string) Trial {
	f := &device.Family{Name: "csg/splits", Hash: 0xabc}
	t := New(f, &device.Variant{Label: label, Hash: 1}, device.Facts{Kind: device.Host, Name: "cpu"})
	t.Status, t.Action, t.Time = OK, ActionMeasure, time.Unix(1e9, 0).UTC()
	t.Hot = &Sample{N: 10, Median: 5, Repeat: 1}
	return t
}

func TestAppendSurvivesATornLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.trials.jsonl")
	var damaged []string
	write := func(label string) []Trial {
		t.Helper()
		f, before, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range before.Damaged {
			damaged = append(damaged, filepath.Base(d.Error()))
		}
		r := record(label)
		if err := f.Append(&r); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		return before.Trials
	}
	if n := len(write("a=1")); n != 0 {
		t.Fatalf("a new file holds %d trials", n)
	}
	tear := func(text string) {
		f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		f.WriteString(text)
		f.Close()
	}
	tear(`{"schema":"trial/1","status":"ok","varia`)
	if n := len(write("a=2")); n != 1 {
		t.Fatalf("%d trials before the torn line, want 1", n)
	}
	line, _ := json.Marshal(record("a=3"))
	tear(string(line)) // whole, its newline lost
	if n := len(write("a=4")); n != 3 {
		t.Fatalf("%d trials, want 3", n)
	}
	tear(strings.Repeat("\x00", 3<<20)) // as a power cut leaves it
	if n := len(write("a=5")); n != 4 {
		t.Fatalf("%d trials before the zeros, want 4", n)
	}
	tear(string(line[:80]) + "\x00\x00\x00\x00")
	if n := len(write("a=6")); n != 5 {
		t.Fatalf("%d trials before the zeros in a line, want 5", n)
	}
	found, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	var labels []string
	for _, tr := range found.Trials {
		labels = append(labels, tr.Variant)
	}
	if got := strings.Join(labels, " "); got != "a=1 a=2 a=3 a=4 a=5 a=6" || len(found.Damaged) > 0 {
		t.Errorf("trials %s, %v", got, found.Damaged)
	}
	const why = "found a trial that is cut off, expected it whole: this line is left out"
	if want := []string{"x.trials.jsonl:2: " + why, "x.trials.jsonl:5: " + why, "x.trials.jsonl:6: " + why}; !slices.Equal(damaged, want) {
		t.Errorf("told %q, want %q", damaged, want)
	}
}

// An unreadable line is left out and reported, wherever it stands. New lines follow the last one.
func TestDamagedLines(t *testing.T) {
	one, _ := json.Marshal(record("a=1"))
	two, _ := json.Marshal(record("a=2"))
	for text, want := range map[string]string{
		"garbage{{{":                           `found "garbage{{{", expected a trial as a JSON object: invalid character 'g'`,
		"\x00\x00\x00":                         "found a trial that is cut off",
		string(one[:60]):                       "found a trial that is cut off",
		strings.Repeat("x", maxLine+5):         "found a line of 1048582 bytes, expected at most 1048576",
		"5":                                    "cannot unmarshal number",
		`{"schema":"tuned/1","entries":[]}`:    `"schema" is "tuned/1", expected "trial/1"`,
		`{"schema":"trial/1","status":"?"}`:    `found the status "?", expected one of [ok `,
		`{"schema":"trial/1","size":"twelve"}`: "found a trial that cannot be read: json: cannot unmarshal string",
	} {
		for at, lines := range [][]string{{text, string(one), string(two)}, {string(one), text, string(two)}, {string(one), string(two), text}} {
			path := filepath.Join(t.TempDir(), "x.jsonl")
			if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			f, found, err := Open(path)
			if err != nil {
				t.Fatalf("%.20q as line %d: %v", text, at+1, err)
			}
			if len(found.Trials) != 2 || len(found.Damaged) != 1 || found.Damaged[0].Line != at+1 || !strings.Contains(found.Damaged[0].Error(), want) {
				t.Errorf("%.20q as line %d: %d trials, %v, want %q", text, at+1, len(found.Trials), found.Damaged, want)
			}
			r := record("a=3")
			if err := errors.Join(f.Append(&r), f.Close()); err != nil {
				t.Fatal(err)
			}
			if after, err := Load(path); err != nil || len(after.Trials) != 3 || len(after.Damaged) != 1 {
				t.Errorf("%.20q as line %d, and a trial appended: %d trials, %v, %v", text, at+1, len(after.Trials), after.Damaged, err)
			}
		}
	}
}

// Files as they were found: with a line that is no trial, and with a tail of zeros after a power cut.
func TestDamagedFiles(t *testing.T) {
	for name, want := range map[string]struct {
		trials, line int
		why          string
	}{
		"garbage_line.jsonl": {8, 4, `found "garbage{{{", expected a trial`},
		"zero_tail.jsonl":    {6, 7, "found a trial that is cut off"},
	} {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		f, found, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if len(found.Trials) != want.trials || len(found.Damaged) != 1 || found.Damaged[0].Line != want.line || !strings.Contains(found.Damaged[0].Error(), want.why) {
			t.Errorf("%s: %d trials, %v", name, len(found.Trials), found.Damaged)
		}
		r := record("a=1")
		if err := errors.Join(f.Append(&r), f.Close()); err != nil {
			t.Fatal(err)
		}
		if after, err := Load(path); err != nil || len(after.Trials) != want.trials+1 {
			t.Errorf("%s, and a trial appended: %d trials, %v", name, len(after.Trials), err)
		}
	}
}

// Files of zeros alone hold nothing; other files that hold no trial are refused, and left as they are.
func TestDecodeErrors(t *testing.T) {
	good, _ := json.Marshal(record("a=1"))
	for text, want := range map[string]string{
		"notes of mine":                             "x:1: found \"notes of mine\", expected a trial",
		"\n\nnotes of mine\nand more\n":             "x:3: found \"notes of mine\", expected a trial",
		`{"schema":"tuned/1","entries":[]}`:         `x:1: "schema" is "tuned/1", expected "trial/1"`,
		`{"schema": "tuned/1", "ent`:                `x:1: found "{\"schema\": \"tuned/1\", \"ent", expected a trial`,
		`{"schema":"trial/2"}` + "\n":               "x:1: schema 2 of trials is not known: this build reads schema 1",
		string(good) + "\n{\"schema\":\"trial/2\"}": "x:2: schema 2 of trials is not known: this build reads schema 1",
		`{"schema":"tuned/1"}` + "\n":               `x:1: "schema" is "tuned/1", expected "trial/1"`,
		`{"schema":"trial/1","status":"?"}` + "\n":  `x:1: found the status "?"`,
	} {
		if found, err := Decode("x", strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, error %v, want %q", text, found, err, want)
		}
	}
	for _, text := range []string{"", "\n", "\x00\x00\x00", `{"sch`} {
		if found, err := Decode("x", strings.NewReader(text)); err != nil || len(found.Trials) > 0 {
			t.Errorf("%q: %v, %v", text, found, err)
		}
	}
}

// However a file is torn, the whole lines before the tear are read.
func FuzzTorn(f *testing.F) {
	var file []byte
	for _, label := range []string{"a=1", "a=2,b=ü", "a=3"} {
		line, _ := json.Marshal(record(label))
		file = append(append(file, line...), '\n')
	}
	for _, n := range []int{0, 1, 100, len(file) / 2, len(file) - 1, len(file)} {
		f.Add(uint16(n), []byte(nil))
	}
	f.Add(uint16(len(file)), []byte(`{"schema":`))
	f.Fuzz(func(t *testing.T, n uint16, tail []byte) {
		cut := min(int(n), len(file))
		data := append(append([]byte(nil), file[:cut]...), tail...)
		found, err := Decode("fuzz", bytes.NewReader(data))
		if err != nil {
			if len(tail) == 0 {
				t.Fatalf("cut at %d: %v", cut, err)
			}
			return
		}
		if found.lines > int64(len(data)) {
			t.Fatalf("lines of %d of %d bytes", found.lines, len(data))
		}
		if want := strings.Count(string(file[:cut]), "\n"); len(found.Trials) < want {
			t.Fatalf("cut at %d: %d trials, want at least %d", cut, len(found.Trials), want)
		}
		again, err := Decode("again", bytes.NewReader(data[:found.lines]))
		if err != nil || again.lines != found.lines || len(again.Trials) != len(found.Trials) || again.ended != found.ended {
			t.Fatalf("the lines read as %d trials, %d bytes, %v; before %d, %d", len(again.Trials), again.lines, err, len(found.Trials), found.lines)
		}
	})
}

// A file that does not end is refused before it fills the memory.
func TestLoadEndless(t *testing.T) {
	for _, text := range []string{"\x00", "{}", "\n\n{", "\n", "ab\n", "{\n"} {
		if _, err := decodeLimited("trials", endless(text), 1<<22); err == nil || !strings.HasPrefix(err.Error(), "trials: found more than ") {
			t.Errorf("%q without end: found %v", text, err)
		}
	}
}

// endless repeats a text.
type endless string

func (e endless) Read(p []byte) (int, error) {
	for k := range p {
		p[k] = e[k%len(e)]
	}
	return len(p), nil
}

// A file of trials is written and read again, which a pipe and a device are not.
func TestRegular(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "file")
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path string
		ok   bool
	}{{path, true}, {filepath.Join(folder, "none"), true}, {folder, false}, {os.DevNull, false}} {
		if err := CheckRegularFile(c.path); (err == nil) != c.ok {
			t.Errorf("%s: found %v", c.path, err)
		}
		if _, _, err := Open(c.path); !c.ok && (err == nil || !strings.Contains(err.Error(), "no regular file")) {
			t.Errorf("open %s: found %v", c.path, err)
		}
	}
}
