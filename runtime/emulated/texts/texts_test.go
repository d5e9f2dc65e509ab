package texts

import (
	"errors"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
)

// Texts are read as they are, or unpacked: the first of a folder by itself, the others, which are
// smaller, with that one.
func TestFiles(t *testing.T) {
	var body strings.Builder
	for k := range 400 {
		body.WriteString("int x" + strings.Repeat("y", k%7) + " = " + strings.Repeat("1", k%11+1) + ";\n")
	}
	first, second := "constexpr int BLOCK = 32;\n"+body.String(), "constexpr int BLOCK = 64;\n"+body.String()
	pack := func(text string, with []byte) []byte {
		packed, err := Pack([]byte(text), with)
		if err != nil {
			t.Fatal(err)
		}
		return packed
	}
	alone, beside := pack(first, nil), pack(second, []byte(first))
	if len(beside) > 100 || len(beside) > len(alone)/4 {
		t.Errorf("a text like the first takes %d bytes, the first %d", len(beside), len(alone))
	}
	source := Files{fstest.MapFS{"a/1.cu": {Data: alone}, "a/2.cu": {Data: beside}, "b/1.cu": {Data: []byte("plain")}, "b/2.cu": {Data: beside},
		"torn.cu": {Data: alone[:len(alone)-1]}, "bit.cu": {Data: alone[:4]}, "empty.cu": {}}}
	for name, want := range map[string]string{"a/1.cu": first, "a/2.cu": second, "b/1.cu": "plain", "empty.cu": ""} {
		if text, err := fs.ReadFile(source, name); err != nil || string(text) != want {
			t.Errorf("%s: %q, %v; want %q", name, text, err, want)
		}
	}
	for _, name := range []string{"torn.cu", "bit.cu", "b/2.cu"} { // the last has another first
		if text, err := source.ReadFile(name); err == nil && string(text) == second {
			t.Errorf("%s: %q", name, text)
		} else if err == nil && name != "b/2.cu" {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := source.ReadFile("none.cu"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no text: %v", err)
	}
}
