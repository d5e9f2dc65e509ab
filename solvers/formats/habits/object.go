package habits

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

// A value is a number or a string that stands for one in JSON, no key.
type value struct {
	from, to int // its bytes
	number   bool
}

// CheckJSON reads an object in all ways of writing it, and fails where FaultsJSON finds one.
func CheckJSON(t *testing.T, object string, read func(data string) (string, error)) {
	t.Helper()
	faults, err := FaultsJSON(object, read)
	failOnFaults(t, faults, err)
}

// FaultsJSON reads an object in all ways of writing it, as Faults does; names are strings with a letter.
func FaultsJSON(object string, read func(data string) (string, error)) (faults []string, err error) {
	plain, err := read(object)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", object, err)
	}
	var indented, compact bytes.Buffer
	if err := errors.Join(json.Indent(&indented, []byte(object), "", "\t"), json.Compact(&compact, []byte(object))); err != nil {
		return nil, err
	}
	object = indented.String()
	list := []text{
		{"a byte order mark", "\ufeff" + object, same, 0},
		{"line ends of Windows", strings.ReplaceAll(object, "\n", "\r\n"), same, 0},
		{"no blanks", compact.String(), same, 0},
		{"UTF-16", "\xff\xfe" + strings.Join(strings.Split(object, ""), "\x00") + "\x00", refused, 1},
		{"two objects", object + "\n" + object, refused, 0},
		{"a comma before the end", strings.TrimRight(object, "]}\n\t ") + ",}", refused, 0},
		{"single quotes", strings.ReplaceAll(object, `"`, "'"), refused, 0},
	}
	values, err := valuesOf(object)
	if err != nil {
		return nil, err
	}
	for _, v := range values {
		with := func(habit, word string, want outcome) {
			list = append(list, text{habit, object[:v.from] + word + object[v.to:], want, 0}) // the line is its record's, or that of the record's end
		}
		old := object[v.from:v.to]
		if v.number {
			for _, word := range []string{"NaN", "Infinity", `"NaN"`, `"#N/A"`, `"1,5"`, "{}", "1e999", "true"} {
				with("a word for a number", word, refused)
			}
			with("a null for a number", "null", either)
			with("a number in quotes", `"`+old+`"`, either)
			continue
		}
		with("blanks round a name", `" `+old[1:len(old)-1]+` "`, same)
		with("a name of blanks", `" "`, refused)
		with("an object for a name", "{}", refused)
		with("an escaped name", escaped(old), same)
	}
	for _, x := range list {
		found, err := read(x.data)
		if fault := x.compareReading(plain, found, err); fault != "" {
			faults = append(faults, fault)
		}
	}
	return faults, nil
}

// escaped is a string with all of its characters as their numbers.
func escaped(quoted string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range quoted[1 : len(quoted)-1] {
		b.WriteString(`\u00` + string("0123456789abcdef"[r>>4&15]) + string("0123456789abcdef"[r&15]))
	}
	b.WriteByte('"')
	return b.String()
}

// valuesOf are the numbers and strings of an object, without its keys.
func valuesOf(object string) (list []value, err error) {
	dec := json.NewDecoder(strings.NewReader(object))
	dec.UseNumber()
	for {
		before := int(dec.InputOffset())
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return list, nil
		}
		if err != nil {
			return nil, err
		}
		to := int(dec.InputOffset())
		_, number := token.(json.Number)
		_, word := token.(string)
		if key := strings.HasPrefix(strings.TrimLeft(object[to:], " \t\n"), ":"); key || !number && !word {
			continue
		}
		from := before + strings.IndexFunc(object[before:to], func(r rune) bool { return !strings.ContainsRune(" \t\n,:", r) })
		list = append(list, value{from, to, number})
	}
}
