package auction

import (
	"math/rand/v2"
	"os"
	"strings"
	"testing"
)

// checkRead reads whatever it is given: an error, or an auction that can be
// reduced and solved.
func checkRead(t *testing.T, text string) {
	a, err := read(text)
	if err != nil {
		if !strings.HasPrefix(err.Error(), "a.txt:") {
			t.Errorf("%q: the error does not begin with the file: %v", text, err)
		}
		return
	}
	r := reduction(t, a)
	if len(r.Items) > 12 {
		return
	}
	if _, err := r.ToCSG(); err != nil && !strings.Contains(err.Error(), "prices") {
		t.Errorf("%q: %v", text, err)
	}
	res, err := Reference(a)
	if err != nil {
		return
	}
	if err := a.Check(res.Winners); err != nil {
		t.Errorf("%q: %v", text, err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(small)
	f.Add("goods 2\nbids 2\ndummy 1\n0\t5\t0\t2#\n1\t3e-3\t1\t-2#")
	f.Add("% x\ngoods 1\nbids 1\ndummy 0\n0 1e+06 0 #")
	f.Fuzz(checkRead)
}

// A fixed number of random edits of good files, in every run of the tests.
func TestReadEdited(t *testing.T) {
	data, err := os.ReadFile("testdata/scheduling_g20_b100_s51.txt")
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(3, 4))
	pieces := []string{"#", "\n", "%", "-", " ", "e", ".", "9", "99999999999999999999", "goods", "\x00", ""}
	for i := range 2000 {
		text := small
		if i%20 == 0 {
			text = string(data)
		}
		for range 1 + rng.IntN(4) {
			at := rng.IntN(len(text) + 1)
			to := min(len(text), at+rng.IntN(4))
			text = text[:at] + pieces[rng.IntN(len(pieces))] + text[to:]
		}
		checkRead(t, text)
	}
}
