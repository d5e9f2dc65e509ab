package bounds

import (
	"errors"
	"strings"
	"testing"

	"coalesce/generated/auction"
	"coalesce/runtime/device"
	"coalesce/runtime/emulated/emulatedtest"
)

// What a run left in the device's memory is right, and passes; a price below 0, whose bound proves
// nothing though it adds up, does not, nor does a bound that its prices do not give or a weak one.
func TestCheckFindsSpoiledMemory(t *testing.T) {
	d := emulatedtest.Open(t)
	v := auction.Bounds.Variants[0]
	for i := range auction.Bounds.Variants {
		if auction.Bounds.Variants[i].Safe {
			v = auction.Bounds.Variants[i]
		}
	}
	c := drawChildren(3, 70, 30, 9)
	for _, x := range []struct {
		name, want string
		spoil      func(y []float32) // of the first child; its bound follows
		bound      float32           // is added to what the prices give
	}{
		{"a negative price", "expected 0 or more", func(y []float32) { y[0] = -1e-3 }, 0},
		{"another bound", "its prices give", func([]float32) {}, 0.5},
		{"a weak bound", "expected about", func(y []float32) { y[0] += 5 }, 0},
	} {
		r, err := tunableFamily{}.Open(d, &v)
		if err != nil {
			t.Fatal(err)
		}
		opened, err := r.Prepare(newTrial(c))
		if err != nil {
			t.Fatal(err)
		}
		j := opened.(*job)
		s, err := d.NewStream()
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(j.Reset(s), j.Run(s), s.Sync(), j.Check(s)); err != nil {
			t.Fatalf("%s: %v before anything is spoiled", x.name, err)
		}
		got, err := j.bounder.download(s, j.lane, j.packed)
		if err != nil {
			t.Fatal(err)
		}
		y := got.Y[0]
		x.spoil(y)
		spoiled := append(append([]float32{}, y...), float32(boundOf(c, 0, y))+x.bound)
		if err := s.Upload(j.lane.prices, 0, device.Bytes(spoiled)); err != nil {
			t.Fatal(err)
		}
		if err := j.Check(s); err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s: error %v, expected one with %q", x.name, err, x.want)
		}
		if err := errors.Join(j.Reset(s), j.Check(s)); err == nil {
			t.Errorf("%s: Check passes after Reset, without a run", x.name)
		}
		if err := errors.Join(s.Close(), j.Close(), r.Close()); err != nil {
			t.Error(err)
		}
	}
}
