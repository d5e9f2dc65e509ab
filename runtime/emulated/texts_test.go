package emulated

import (
	"errors"
	"io/fs"
	"testing"
	"testing/fstest"

	"github.com/klauspost/compress/zstd"
)

// Texts are read as they are, or unpacked.
func TestTexts(t *testing.T) {
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	packed := z.EncodeAll([]byte("__global__"), nil)
	source := texts{fstest.MapFS{"plain.cu": {Data: []byte("__device__")}, "packed.cu": {Data: packed}, "torn.cu": {Data: packed[:len(packed)-1]}, "empty.cu": {}}}
	for name, want := range map[string]string{"plain.cu": "__device__", "packed.cu": "__global__", "empty.cu": ""} {
		if text, err := fs.ReadFile(source, name); err != nil || string(text) != want {
			t.Errorf("%s: %q, %v; want %q", name, text, err, want)
		}
	}
	if text, err := source.ReadFile("torn.cu"); err == nil {
		t.Errorf("a torn text: %q", text)
	}
	if _, err := source.ReadFile("none.cu"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no text: %v", err)
	}
}
