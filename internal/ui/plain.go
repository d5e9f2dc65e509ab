package ui

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// EscapeControl returns a text with its control characters, line ends and bytes that are no UTF-8
// included, as \x1b, \n and so on: what a file or its names hold must not steer a
// terminal.
func EscapeControl(text string) string {
	if utf8.ValidString(text) && !strings.ContainsFunc(text, steers) {
		return text
	}
	var b strings.Builder
	for at, r := range text {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(text[at:], string(r)):
			fmt.Fprintf(&b, `\x%02x`, text[at])
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case !steers(r):
			b.WriteRune(r)
		case r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// steers reports control characters, and those that turn the direction of text.
func steers(r rune) bool {
	return unicode.IsControl(r) || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}

// longest is how many bytes of an error are shown.
const longest = 1000

// OneLine is an error's text on one line: each of several errors once, also where the
// first of them has words before it, control characters as EscapeControl writes them, the end of a
// context and JSON values of another type in a user's words.
func OneLine(err error) string {
	var list []string
	known := []string{context.Canceled.Error(), "interrupted", context.DeadlineExceeded.Error(), "the time limit has ended"}
	if wrong := new(json.UnmarshalTypeError); errors.As(err, &wrong) {
		known = append(known, wrong.Error(), mistyped(wrong))
	}
	words := strings.NewReplacer(known...)
	for line := range strings.Lines(err.Error()) {
		line = words.Replace(EscapeControl(strings.TrimRight(line, "\r\n")))
		if len(line) > longest { // an error of a library may quote all of a file's number
			line = strings.ToValidUTF8(line[:longest], "") + "…"
		}
		said := func(before string) bool { return before == line || strings.HasSuffix(before, ": "+line) }
		if line != "" && !slices.ContainsFunc(list, said) {
			list = append(list, line)
		}
	}
	return strings.Join(list, "; ")
}

// mistyped says which JSON value was found and which is read there, without the names of Go's types.
func mistyped(wrong *json.UnmarshalTypeError) string {
	expected := "a number"
	switch wrong.Type.Kind() {
	case reflect.Struct, reflect.Map, reflect.Interface:
		expected = "an object"
	case reflect.Slice, reflect.Array:
		expected = "a list"
	case reflect.String:
		expected = "a text"
	case reflect.Bool:
		expected = "true or false"
	}
	at := ""
	if wrong.Field != "" {
		at = " as " + wrong.Field[strings.LastIndexByte(wrong.Field, '.')+1:]
	}
	return fmt.Sprintf("found a JSON %.40s%s, expected %s", wrong.Value, at, expected) // the value of a number is all its digits
}

// DiscardsOutput reports whether standard output is /dev/null, open for reading too. Go opens that
// in place of a closed one, before main; some callers do, for output that they do not want.
func DiscardsOutput(stdout io.Writer) bool {
	f, ok := stdout.(*os.File)
	if !ok {
		return false
	}
	here, err := f.Stat()
	null, missing := os.Stat(os.DevNull)
	if err != nil || missing != nil || !os.SameFile(here, null) {
		return false
	}
	text, _ := os.ReadFile(fmt.Sprintf("/proc/self/fdinfo/%d", f.Fd()))
	_, flags, _ := strings.Cut(string(text), "flags:")
	flags, _, _ = strings.Cut(strings.TrimSpace(flags), "\n")
	mode, err := strconv.ParseInt(flags, 8, 64)
	return err == nil && mode&int64(os.O_WRONLY|os.O_RDWR) == int64(os.O_RDWR)
}
