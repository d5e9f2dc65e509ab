package trial

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
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
	write := func(label string) []Trial {
		t.Helper()
		f, before, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		r := record(label)
		if err := f.Append(&r); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		return before
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
	trials, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	var labels []string
	for _, tr := range trials {
		labels = append(labels, tr.Variant)
	}
	if got := strings.Join(labels, " "); got != "a=1 a=2 a=3 a=4" {
		t.Errorf("trials %s", got)
	}
}

func TestDecodeErrors(t *testing.T) {
	good, _ := json.Marshal(record("a=1"))
	for text, want := range map[string]string{
		string(good) + "\nnonsense\n":              "x:2: invalid character",
		`{"schema":"tuned/1","entries":[]}`:        `x:1: "schema" is "tuned/1", expected "trial/1"`,
		`{"schema": "tuned/1", "ent`:               "x:1: unexpected end of JSON input",
		"notes of mine":                            "x:1: invalid character",
		string(good) + "\n" + `{"schema":"tuned`:   "x:2: unexpected end of JSON input",
		`{"schema":"trial/2"}` + "\n":              "x:1: schema 2 of trials is not known: this build reads schema 1",
		`{"schema":"tuned/1"}` + "\n":              `x:1: "schema" is "tuned/1", expected "trial/1"`,
		`{"schema":"trial/1","status":"?"}` + "\n": `x:1: status "?" is not known`,
	} {
		if _, _, err := Decode("x", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", text, err, want)
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
		trials, whole, err := Decode("fuzz", data)
		if err != nil {
			if len(tail) == 0 {
				t.Fatalf("cut at %d: %v", cut, err)
			}
			return
		}
		if whole > int64(len(data)) {
			t.Fatalf("whole = %d of %d bytes", whole, len(data))
		}
		if want := strings.Count(string(file[:cut]), "\n"); len(trials) < want {
			t.Fatalf("cut at %d: %d trials, want at least %d", cut, len(trials), want)
		}
		if again, w, err := Decode("again", data[:whole]); err != nil || w != whole || len(again) != len(trials) {
			t.Fatalf("the whole part reads as %d trials, %d bytes, %v; before %d, %d", len(again), w, err, len(trials), whole)
		}
	})
}

// A file that does not end is refused before it fills the memory.
func TestLoadEndless(t *testing.T) {
	for _, text := range []string{"\x00", "{}", "\n\n{"} {
		if _, err := readAll(endless(text), "trials", 1<<22); err == nil || !strings.HasPrefix(err.Error(), "trials") {
			t.Errorf("%q without end: found %v", text, err)
		}
	}
	if data, err := readAll(io.LimitReader(endless("ab\n"), 1<<21), "trials", 1<<22); err != nil || len(data) != 1<<21 {
		t.Errorf("lines of 2 bytes: found %d bytes, %v", len(data), err)
	}
	if _, err := readAll(io.LimitReader(io.MultiReader(strings.NewReader("{}\n{}\n"), endless("a")), 1<<21), "trials", 1<<22); err == nil || !strings.HasPrefix(err.Error(), "trials:3: ") {
		t.Errorf("a third line that is too long: found %v", err)
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
		if err := Regular(c.path); (err == nil) != c.ok {
			t.Errorf("%s: found %v", c.path, err)
		}
		if _, _, err := Open(c.path); !c.ok && (err == nil || !strings.Contains(err.Error(), "no regular file")) {
			t.Errorf("open %s: found %v", c.path, err)
		}
	}
}
