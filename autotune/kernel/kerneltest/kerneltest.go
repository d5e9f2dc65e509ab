// Package kerneltest tests families of kernels: their variants on their cases, on the emulated device or the host.
package kerneltest

import (
	"errors"
	"testing"

	"coalesce/autotune/subject"
	"coalesce/autotune/verify"
	"coalesce/runtime/device"
	"coalesce/runtime/emulated/emulatedtest"
	"coalesce/runtime/host"
)

// Run runs variants of each family on its cases, a subtest a variant, and fails where an answer differs from the reference or
// a kernel writes past an end of a buffer. CUDA kernels run on the emulated device, which needs a C++ compiler, and
// COALESCE_VARIANTS says how many variants: unset, of each value of a parameter one; pairs; or every.
func Run(t *testing.T, families ...subject.Subject) {
	t.Helper()
	if err := subject.Check(families); err != nil {
		t.Fatal(err)
	}
	for _, sub := range families {
		f := sub.Family()
		open := func() (device.Device, device.Stream) {
			var d device.Device
			if f.Target == device.Host {
				d = host.Open(0)
				t.Cleanup(func() { d.Close() })
			} else {
				d = emulatedtest.Open(t)
			}
			s, err := d.NewStream()
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { s.Close() })
			return d, s
		}
		d, s := open()
		for _, v := range emulatedtest.Variants(f) {
			lost := false
			t.Run(f.Name+"/"+v.Label, func(t *testing.T) {
				_, err := verify.Variant(t.Context(), d, s, sub, v, 0)
				if err != nil {
					t.Error(err)
				}
				lost = errors.Is(err, device.ErrLost)
			})
			if lost { // by a crash or a hang; the other variants have a device of their own
				d, s = open()
			}
		}
	}
}
