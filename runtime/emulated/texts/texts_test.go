package texts

import (
	"errors"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
)

// Texts are read as they are, or unpacked: those of a folder take little more than one.
func TestFiles(t *testing.T) {
	var body strings.Builder
	for k := range 400 {
		body.WriteString("int x" + strings.Repeat("y", k%7) + " = " + strings.Repeat("1", k%11+1) + ";\n")
	}
	folder := map[string][]byte{"1.cu": []byte("constexpr int BLOCK = 32;\n" + body.String()), "2.cu": {}, "3.cu": []byte("constexpr int BLOCK = 64;\n" + body.String()),
		"4.cu": []byte("4 5\nno line's end")}
	packed, err := Pack(folder)
	if err != nil {
		t.Fatal(err)
	}
	one, err := Pack(map[string][]byte{"1.cu": folder["1.cu"]})
	if err != nil {
		t.Fatal(err)
	}
	if got, alone := len(packed["1.cu"]), len(one["1.cu"]); got > alone+100 || len(packed["3.cu"]) > 20 {
		t.Errorf("two like texts take %d bytes and %d, one %d", got, len(packed["3.cu"]), alone)
	}
	files := fstest.MapFS{"b/1.cu": {Data: []byte("plain")}, "b/3.cu": {Data: packed["3.cu"]}, "c/1.cu": {Data: one["1.cu"]}, "c/3.cu": {Data: packed["3.cu"]}, "empty.cu": {},
		"torn/1.cu": {Data: packed["1.cu"][:len(packed["1.cu"])-1]}, "torn/3.cu": {Data: packed["3.cu"]}, "bit.cu": {Data: packed["1.cu"][:4]}, "astray/3.cu": {Data: packed["3.cu"]}}
	for name, text := range packed {
		files["a/"+name] = &fstest.MapFile{Data: text}
	}
	source := Files{files}
	for name, want := range map[string]string{"a/1.cu": string(folder["1.cu"]), "a/2.cu": "", "a/3.cu": string(folder["3.cu"]), "a/4.cu": string(folder["4.cu"]),
		"b/1.cu": "plain", "c/1.cu": string(folder["1.cu"]), "empty.cu": ""} {
		if text, err := fs.ReadFile(source, name); err != nil || string(text) != want {
			t.Errorf("%s: %q, %v; want %q", name, text, err, want)
		}
	}
	for _, name := range []string{"torn/1.cu", "torn/3.cu", "bit.cu", "b/3.cu"} {
		if text, err := source.ReadFile(name); err == nil {
			t.Errorf("%s: %q, want an error", name, text)
		}
	}
	for _, name := range []string{"none.cu", "astray/3.cu", "c/3.cu"} {
		if text, err := source.ReadFile(name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %q, %v; want that it is not there", name, text, err)
		}
	}
	if none, err := Pack(nil); err != nil || len(none) > 0 {
		t.Errorf("a folder of no texts: %v, %v", none, err)
	}
}
