package tuned

import (
	"errors"
	"testing"

	"coalesce/runtime/device"
)

// held holds the variants with these hashes.
type held map[uint64]bool

func (h *held) CheckVariant(_ *device.Family, v *device.Variant) error {
	if !(*h)[v.Hash] {
		return errors.New("no image")
	}
	return nil
}

// TestLoads: variants without code for the device are passed over at every level, for
// kernels of its kind alone.
func TestLoads(t *testing.T) {
	db, err := New(tunedAt(20, 50, 10, 20))
	if err != nil {
		t.Fatal(err)
	}
	f := family()
	f.Target = device.CUDA
	for _, c := range []struct {
		held held
		db   *Database
		want string
	}{
		{held{1: true, 2: true, 3: true, 4: true}, db, "a=2,value=int32"},
		{held{1: true, 3: true}, db, "a=3,value=int32"},
		{held{1: true}, db, "a=1,value=int32"},
		{held{4: true}, db, "a=4,value=int32"},
		{held{1: true, 2: true}, nil, "a=1,value=int32"},
		{held{4: true}, nil, "a=4,value=int32"},
		{held{}, db, ""},
	} {
		here := facts
		here.Images = &c.held
		w := Workload{Fixed: int32s, Size: 20}
		choice, err := c.db.Choose(f, here, w, nil)
		if c.want == "" {
			if !errors.Is(err, ErrNoVariant) {
				t.Errorf("%v: %v, expected ErrNoVariant", c.held, err)
			}
			continue
		}
		if err != nil || choice.Variant.Label != c.want {
			t.Errorf("%v: %+v, %v, expected %s", c.held, choice.Variant, err, c.want)
		}
	}
	host := *f
	host.Target = device.Host
	here := facts
	here.Images = &held{}
	if c, err := db.Choose(&host, here, Workload{Fixed: int32s, Size: 20}, nil); err != nil || c.Variant.Label != "a=2,value=int32" {
		t.Errorf("kernels of a host: %+v, %v", c.Variant, err)
	}
}
