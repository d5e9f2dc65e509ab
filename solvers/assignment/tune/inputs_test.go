package tune

import (
	"bytes"
	"testing"

	"coalesce/runtime/device"
	"coalesce/runtime/host"
)

// gpu is a device that takes itself for a GPU with so much free memory.
type gpu struct {
	device.Device
	free int64
}

func (g gpu) Facts() device.Facts { return device.Facts{Kind: device.CUDA, Free: g.free} }

// Whatever a run did to them, Reset brings the costs back: from a second copy on a GPU with the memory, of
// which no more than one upload is made, by an upload each time elsewhere.
func TestInputsComeBack(t *testing.T) {
	h := host.Open(1)
	defer h.Close()
	s, err := h.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	costs := []byte("the costs of a matrix")
	for _, c := range []struct {
		d       device.Device
		uploads int
	}{{gpu{h, 1 << 20}, 1}, {gpu{h, 2 * int64(len(costs))}, 3}, {h, 3}} {
		in, err := takeInputs(c.d, int64(len(costs)))
		if err != nil {
			t.Fatal(err)
		}
		uploads, got := 0, make([]byte, len(costs))
		for range 3 {
			err := in.restore(s, func(to device.Buffer) error {
				uploads++
				return s.Upload(to, 0, costs)
			})
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Download(got, in.costs, 0); err != nil || !bytes.Equal(got, costs) {
				t.Errorf("found %q, %v, want %q", got, err, costs)
			}
			if err := s.Fill(in.costs, 0, in.costs.Len(), 0xa5); err != nil {
				t.Fatal(err)
			}
		}
		if uploads != c.uploads {
			t.Errorf("%d bytes free: %d uploads, want %d", c.d.Facts().Free, uploads, c.uploads)
		}
		if err := in.free(); err != nil {
			t.Error(err)
		}
	}
}
