package guard_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"coalesce/autotune/internal/fake"
	"coalesce/autotune/internal/guard"
	"coalesce/runtime/device"
)

// open guards a fake device, whose memory is nought when it is made.
func open(t *testing.T) (*guard.Device, device.Stream) {
	t.Helper()
	d, err := guard.New(&fake.Device{F: device.Facts{Kind: device.CUDA}})
	if err != nil {
		t.Fatal(err)
	}
	s, err := d.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	return d, s
}

// A buffer holds poison until something is written, and what is written afterwards.
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

// A kernel's write past an end is found by Check, by Free and by Close, and stays known.
func TestOverrun(t *testing.T) {
	for plant, want := range map[string]string{"overrun": "from 0 to 1 behind one of 8", "underrun": "from 0 to 1 before one of 8"} {
		sub := &fake.Subject{Plants: []string{plant}}
		d, s := open(t)
		r, err := sub.Open(d, &sub.Family().Variants[0])
		if err != nil {
			t.Fatal(err)
		}
		inst, err := sub.Instance(nil, 4, 0)
		if err != nil {
			t.Fatal(err)
		}
		job, err := r.Prepare(inst)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(job.Reset(s), d.Check(), job.Run(s), job.Check(s)); err != nil {
			t.Errorf("%s: %v, and its answer is right", plant, err)
		}
		if err := errors.Join(job.Close(), r.Close()); err != nil {
			t.Error(err)
		}
		if err := d.Close(); !errors.Is(err, guard.ErrOverrun) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", plant, err, want)
		}
	}
}
