package guard_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	"coalesce/runtime/device"
	"coalesce/runtime/emulated"
	"coalesce/runtime/emulated/emulatedtest"
	"coalesce/runtime/guard"
)

// text has a kernel that writes the element at of y, which may lie before or behind it, or in the middle.
const text = `#include "cuda/prelude.cuh"
extern "C" __global__ void __launch_bounds__(1) k_put(char* y, long long at) { y[at]++; }
extern "C" __global__ void __launch_bounds__(1) k_more(char* x, char* z) { x[0] = z[0]; }
extern "C" __device__ unsigned long long k_hash = 0x12ull;
`

var family = device.Family{
	Name: "toy/put", Target: device.CUDA,
	Entries: []device.Entry{
		{Name: "put", Params: []device.Param{{Name: "y", Type: "buffer"}, {Name: "at", Type: "int64"}}},
		{Name: "more", Params: []device.Param{{Name: "x", Type: "buffer"}, {Name: "z", Type: "buffer"}}},
	},
	Variants: []device.Variant{{Label: "k", Symbol: "k", Hash: 0x12}},
	Source:   fstest.MapFS{"k/pack_000.cu": {Data: []byte("#include \"k.cu\"\n")}, "k/k.cu": {Data: []byte(text)}},
	Packs:    []device.Pack{{File: "k/pack_000.cu"}},
}

// open guards an emulated device.
func open(t *testing.T) (*guard.Device, device.Stream) {
	t.Helper()
	plain := emulatedtest.OpenWith(t, emulated.Options{Files: fstest.MapFS{"cuda/prelude.cuh": {Data: []byte("#pragma once\n")}}})
	t.Cleanup(func() { plain.Close() })
	d, err := guard.New(plain)
	if err != nil {
		t.Fatal(err)
	}
	s, err := d.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	return d, s
}

// A new buffer holds poison. A write replaces it.
func TestBuffersArePoisoned(t *testing.T) {
	d, s := open(t)
	for _, n := range []int64{0, 1, 8, 5000} {
		b, err := d.Alloc(n)
		if err != nil || b.Len() != n {
			t.Fatalf("%d bytes: %v", n, err)
		}
		got := make([]byte, n)
		if err := s.Download(got, b, 0); err != nil || !bytes.Equal(got, bytes.Repeat([]byte{0xa5}, int(n))) {
			t.Errorf("%d bytes: %v, %x", n, err, got[:min(n, 8)])
		}
		if n < 8 {
			continue
		}
		other, err := d.Alloc(4)
		if err != nil {
			t.Fatal(err)
		}
		err = errors.Join(s.Upload(b, 2, []byte("abcd")), s.Copy(other, 1, b, 3, 3), s.Fill(b, 2, 1, 'z'))
		if err := errors.Join(err, s.Download(got[:8], b, 0)); err != nil || string(got[:8]) != "\xa5\xa5zbcd\xa5\xa5" {
			t.Errorf("%v, %q", err, got[:8])
		}
		if err := s.Download(got[:4], other, 0); err != nil || string(got[:4]) != "\xa5bcd" {
			t.Errorf("%v, %q", err, got[:4])
		}
		if err := errors.Join(b.Free(), other.Free()); err != nil {
			t.Error(err)
		}
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}

// Copies that reach over an end are refused, and touch no canary.
func TestCopiesStayWithin(t *testing.T) {
	d, s := open(t)
	b, err := d.Alloc(8)
	if err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{
		"upload behind":   s.Upload(b, 5, make([]byte, 4)),
		"upload before":   s.Upload(b, -1, make([]byte, 4)),
		"download behind": s.Download(make([]byte, 9), b, 0),
		"fill behind":     s.Fill(b, 8, 1, 0),
		"copy behind":     s.Copy(b, 4, b, 0, 5),
	} {
		if err == nil || !strings.Contains(err.Error(), "of a buffer of 8") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := errors.Join(d.Check(), b.Free(), d.Close()); err != nil {
		t.Error(err)
	}
}

// A kernel's write past an end is found by Check, by Free and by Close, and stays known; the error says which
// parameters the buffer was.
func TestOverrun(t *testing.T) {
	for at, want := range map[int64]string{
		8: "from 0 to 1 behind y of put in toy/put and z of more in toy/put, a buffer of 8 bytes", -1: "from 0 to 1 before y of put",
		11: "from 3 to 4 behind y of put", -10: "from 9 to 10 before y of put", 7: "", 0: "",
	} {
		d, s := open(t)
		m, err := d.Load(&family, &family.Variants[0])
		if err != nil {
			t.Fatal(err)
		}
		put, err := m.Kernel("put")
		if err != nil {
			t.Fatal(err)
		}
		more, err := m.Kernel("more")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.Kernel("none"); !errors.Is(err, device.ErrNoEntry) {
			t.Errorf("an entry that is not there: %v", err)
		}
		y, err := d.Alloc(8)
		if err != nil {
			t.Fatal(err)
		}
		x, err := d.Alloc(8)
		if err != nil {
			t.Fatal(err)
		}
		one := device.Grid{Blocks: 1, Threads: 1}
		if err := errors.Join(s.Launch(more, one, device.Ptr(x), device.Ptr(x)), d.Check(), s.Launch(put, one, device.Ptr(y), device.I64(at)), s.Launch(more, one, device.Ptr(x), device.Ptr(y))); err != nil {
			t.Fatal(err)
		}
		if at == 8 { // Check sees the buffer before it is freed
			if err := d.Check(); !errors.Is(err, guard.ErrOverrun) {
				t.Errorf("Check: %v", err)
			}
		}
		if err := errors.Join(y.Free(), x.Free()); err != nil {
			t.Error(err)
		}
		found := d.Overrun()
		switch err := d.Close(); {
		case want == "" && (err != nil || found != nil):
			t.Errorf("at %d: %v, %v, and it is within", at, err, found)
		case want != "" && (!errors.Is(err, guard.ErrOverrun) || !strings.Contains(err.Error(), want) || found == nil):
			t.Errorf("at %d: %v, %v, want %q", at, err, found, want)
		}
	}
}
