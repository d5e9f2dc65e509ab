package trial

import "testing"

// A run is held against the peak that it needs longer for.
func TestShare(t *testing.T) {
	both := &Ceiling{Bytes: 1000, Bandwidth: 1e9, Operations: 100, Arithmetic: "float32", Rate: 1e9}
	for _, c := range []struct {
		of    *Ceiling
		nanos float64
		want  string
	}{
		{both, 2000, "50 % of bandwidth"},
		{&Ceiling{Bytes: 1000, Bandwidth: 1e9, Operations: 3000, Arithmetic: "float32", Rate: 1e9}, 4000, "75 % of float32"},
		{&Ceiling{Operations: 3000, Arithmetic: "int32", Rate: 1e9}, 2000, "150 % of int32"},
		{both, 0, "-"},
		{&Ceiling{Bytes: 1000, Operations: 5}, 1, "-"},
		{nil, 1, "-"},
	} {
		if got := ShareText(c.of.Share(c.nanos)); got != c.want {
			t.Errorf("%+v in %v ns: %q, expected %q", c.of, c.nanos, got, c.want)
		}
	}
}
