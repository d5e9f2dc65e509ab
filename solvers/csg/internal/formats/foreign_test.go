package formats

import (
	"strings"
	"testing"
)

// Files of other kinds are named, whatever their name promises.
func TestForeignFiles(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"a.csv", "%PDF-1.7\n", "a.csv: found a PDF document, expected a characteristic function, as .npy, CSV or JSON"},
		{"a.csv", "\x01\x00\x02\x00\x00\x05", "a.csv: found a binary file, expected"},
		{"a", "Maximize\n obj: x\nEnd\n", "a: found a model in LP format, expected"},
		{"a.npy", "%%MatrixMarket matrix array real general\n", "a.npy: found a Matrix Market file, expected"},
	} {
		if _, err := ReadFrom(strings.NewReader(c.text), -1, c.name, ReadOptions{}); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s %q: %v, expected %s", c.name, c.text, err, c.want)
		}
	}
}
