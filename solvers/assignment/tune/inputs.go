package tune

import (
	"errors"

	"coalesce/runtime/device"
	"coalesce/solvers/assignment/problem"
)

// inputs are the costs of a trial on a device. Every Reset brings the costs back as the host has them. On a
// GPU with memory for a second copy, which no kernel is given, Reset copies on the device: to upload a
// hundred megabytes before each sample takes longer than most samples.
type inputs struct {
	costs  device.Buffer // which kernels are given
	second device.Buffer // nil: none
	whole  bool          // second holds the costs
}

// secondPart is the part of a device's free memory, one in so many, that the costs may take where a
// second copy is kept.
const secondPart = 4

// takeInputs takes memory for n bytes of costs.
func takeInputs(d device.Device, n int64) (*inputs, error) {
	f := d.Facts()
	first, err := d.Alloc(n)
	if err != nil {
		return nil, err
	}
	in := &inputs{costs: first}
	if f.Kind == device.CUDA && n > 0 && n <= f.Free/secondPart {
		if in.second, err = d.Alloc(n); errors.Is(err, device.ErrMemory) {
			in.second, err = nil, nil
		}
	}
	if err != nil {
		return nil, errors.Join(err, first.Free())
	}
	return in, nil
}

// restore has the costs as upload brings them to a buffer.
func (in *inputs) restore(s device.Stream, upload func(to device.Buffer) error) error {
	if in.second == nil {
		return upload(in.costs)
	}
	if !in.whole {
		if err := upload(in.second); err != nil {
			return err
		}
		in.whole = true
	}
	return s.Copy(in.costs, 0, in.second, 0, in.costs.Len())
}

// reset has the costs of one instance.
func (in *inputs) reset(s device.Stream, p *problem.Instance) error {
	return in.restore(s, func(to device.Buffer) error { return s.Upload(to, 0, p.Bytes()) })
}

// free gives the memory back.
func (in *inputs) free() error {
	if in.second == nil {
		return in.costs.Free()
	}
	return errors.Join(in.costs.Free(), in.second.Free())
}
