package ui

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
)

func TestPlain(t *testing.T) {
	for text, want := range map[string]string{
		"ann":               "ann",
		"é ∞":               "é ∞",
		"a\x1b[31mb\nc\td":  `a\x1b[31mb\nc\td`,
		"\u202eevil\u0085x": `\u202eevil\x85x`,
	} {
		if got := EscapeControl(text); got != want {
			t.Errorf("%q: found %q, expected %q", text, got, want)
		}
	}
	var table Table
	table.Row("\x1b]0;title\x07", "x")
	var out bytes.Buffer
	if err := table.Write(&out); err != nil || out.String() != "\\x1b]0;title\\x07  x\n" {
		t.Errorf("found %q, %v", out.String(), err)
	}
}

func TestOneLine(t *testing.T) {
	full := errors.New("write x: no space left")
	err := errors.Join(fmt.Errorf("a.txt: %w", full), errors.New("close \x1b[2J"), full, errors.Join(full))
	if got := OneLine(err); got != `a.txt: write x: no space left; close \x1b[2J` {
		t.Errorf("found %q", got)
	}
	err = errors.Join(fmt.Errorf("2 files were not solved: %w", context.Canceled), context.Canceled, fmt.Errorf("verify: %w", context.DeadlineExceeded))
	if got := OneLine(err); got != "2 files were not solved: interrupted; verify: the time limit has ended" {
		t.Errorf("ended contexts: found %q", got)
	}
	for text, want := range map[string]string{
		`[1]`:           "a.json: found a JSON array, expected an object",
		`{"u": "x"}`:    "a.json: found a JSON string as u, expected a list",
		`{"u": ["x"]}`:  "a.json: found a JSON string as u, expected a number",
		`{"name": {}}`:  "a.json: found a JSON object as name, expected a text",
		`{"sure": 5}`:   "a.json: found a JSON number as sure, expected true or false",
		`{"u": [1e99]}`: "a.json: found a JSON number 1e99 as u, expected a number",
	} {
		var x struct {
			U    []int  `json:"u"`
			Name string `json:"name"`
			Sure bool   `json:"sure"`
		}
		if got := OneLine(fmt.Errorf("a.json: %w", json.Unmarshal([]byte(text), &x))); got != want {
			t.Errorf("%s: found %q, expected %q", text, got, want)
		}
	}
}

// Bytes that are no UTF-8 are shown, the character for such bytes itself is kept.
func TestPlainBytes(t *testing.T) {
	if got, want := EscapeControl("a\xb0n \ufffd\x1b"), "a\\xb0n \ufffd\\x1b"; got != want {
		t.Errorf("found %q, expected %q", got, want)
	}
}
