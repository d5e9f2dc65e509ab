package ui

import (
	"bytes"
	"context"
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
		if got := Plain(text); got != want {
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
}

// Bytes that are no UTF-8 are shown, the character for such bytes itself is kept.
func TestPlainBytes(t *testing.T) {
	if got, want := Plain("a\xb0n \ufffd\x1b"), "a\\xb0n \ufffd\\x1b"; got != want {
		t.Errorf("found %q, expected %q", got, want)
	}
}
