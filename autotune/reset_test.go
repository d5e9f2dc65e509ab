package autotune_test

import (
	"bytes"
	"testing"

	"coalesce/autotune/internal/fake"
	"coalesce/internal/problems"
	"coalesce/runtime/device"
	"coalesce/runtime/host"
)

// TestResetOverwrites holds Reset of every family to its word: of memory that an earlier run may have
// left right answers in, Reset overwrites at least a part, the inputs or the outputs. That the rest is
// poison before the first run is the guard's work.
func TestResetOverwrites(t *testing.T) {
	for _, sub := range problems.List().Subjects() {
		f := sub.Family()
		if f.Target == "" || f.Name == "assignment/hostscan" || f.Name == "assignment/points" {
			continue // their Reset forgets an answer in Go's memory, and nothing is uploaded
		}
		t.Run(f.Name, func(t *testing.T) {
			facts := device.Facts{Kind: device.CUDA, Name: "hollow", Major: 9, SMs: 132, SharedPerBlock: 227 << 10, L2: 50 << 20}
			k := &keeper{Device: &fake.Device{F: facts, Hollow: true}}
			if f.Target == device.Host {
				k.Device = hollow{host.Open(1)}
			}
			s, err := k.NewStream()
			if err != nil {
				t.Fatal(err)
			}
			v, cases := safeCases(t, sub)
			r, err := sub.Open(k, v)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			c := cases[len(cases)/2]
			job, err := r.Prepare(c.Instance)
			if err != nil {
				t.Fatal(err)
			}
			defer job.Close()
			if err := job.Reset(s); err != nil {
				t.Fatal(err)
			}
			for _, b := range k.buffers {
				if err := s.Fill(b, 0, b.Len(), stale); err != nil {
					t.Fatal(err)
				}
			}
			if err := job.Reset(s); err != nil {
				t.Fatal(err)
			}
			left, changed := int64(0), int64(0)
			for _, b := range k.buffers {
				data := make([]byte, b.Len())
				if err := s.Download(data, b, 0); err != nil {
					t.Fatal(err)
				}
				same := int64(bytes.Count(data, []byte{stale}))
				left, changed = left+same, changed+b.Len()-same
			}
			if changed == 0 {
				t.Errorf("%s: Reset leaves all %d bytes of %d buffers as they were", c.Name, left, len(k.buffers))
			}
		})
	}
}

// stale is the byte that stands for what an earlier run left.
const stale = 0x3c

// A keeper is a device that knows the buffers which were made on it.
type keeper struct {
	device.Device
	buffers []device.Buffer
}

func (k *keeper) Alloc(n int64) (device.Buffer, error) {
	b, err := k.Device.Alloc(n)
	if err == nil {
		k.buffers = append(k.buffers, b)
	}
	return b, err
}
