package formats

import (
	"strings"
	"testing"
)

// Files of other kinds are named, whatever their name promises.
func TestForeignFiles(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"a.csv", "%PDF-1.7\n", "a.csv: found a PDF document, expected an auction, as CATS, CSV or JSON"},
		{"a.json", "\x93NUMPY\x01\x00", "a.json: found a NumPy array (.npy), expected"},
		{"a", "p min 4 4\nn 1 1\n", "a: found a DIMACS min-cost flow problem, expected"},
		{"a", "%%MatrixMarket matrix array real general\n", "a: found a Matrix Market file, expected"},
	} {
		if _, err := ReadFrom(strings.NewReader(c.text), c.name, 0); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s %q: %v, expected %s", c.name, c.text, err, c.want)
		}
	}
}
