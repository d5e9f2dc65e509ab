package roofline

import (
	"testing"

	"coalesce/runtime/device"
	"coalesce/runtime/host"
)

type named struct {
	device.Device
	facts device.Facts
}

func (d named) Facts() device.Facts { return d.facts }

// The data sheet of the H200 states 4.8 TB/s, 67 Tflop/s of float32 and 34 of float64.
func TestPeakOfGPU(t *testing.T) {
	p := FindPeak(named{facts: device.Facts{Kind: device.CUDA, Major: 9, SMs: 132, Clock: 1_980_000_000, Bandwidth: 4_916_736_000_000}})
	for v, want := range map[device.Value]float64{
		device.Float32: 67e12, device.Float64: 34e12, device.Int32: 16.7e12, device.Int16: 33.5e12, device.Int64: 8.4e12,
	} {
		if got := p.Operations(v); got < 0.98*want || got > 1.02*want {
			t.Errorf("%s: found %.3g operations a second, expected %.3g", v, got, want)
		}
	}
	if p.Bandwidth != 4_916_736_000_000 {
		t.Errorf("found the bandwidth %g", p.Bandwidth)
	}
}

func TestPeakOfHost(t *testing.T) {
	d := host.Open(2)
	defer d.Close()
	p := FindPeak(d)
	if p.Bandwidth < 1e8 || p.Bandwidth > 1e13 {
		t.Errorf("found the bandwidth %g bytes a second", p.Bandwidth)
	}
	single, double := p.Operations(device.Float32), p.Operations(device.Float64)
	if single < 1e8 || single > 1e13 || double > single {
		t.Errorf("found %g operations of float32 a second and %g of float64", single, double)
	}
}

func TestEmulatedHasNone(t *testing.T) {
	p := FindPeak(named{facts: device.Facts{Kind: device.Emulated, Major: 9, SMs: 4}})
	if p.Bandwidth != 0 || p.Operations(device.Float32) != 0 {
		t.Errorf("found %+v, expected nothing known", p)
	}
}
