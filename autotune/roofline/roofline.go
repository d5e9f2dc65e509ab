// Package roofline has the most that a device moves and computes in a second: the roofline of Williams, Waterman and
// Patterson, "Roofline: an insightful visual performance model", Communications of the ACM 52 (2009), section 3. A run takes
// at least its bytes over the bandwidth, and its operations over the rate of their type.
//
// A GPU's peaks follow from its clocks, the width of its memory bus and the lanes of its multiprocessors. A host's are measured,
// because no interface states them. The emulated device has none: its times say nothing of the memory that a kernel would meet.
package roofline

import (
	"runtime"
	"sync"
	"time"

	"coalesce/runtime/device"
)

// A Peak has what a device does in a second at most. Zero means not known.
type Peak struct {
	Bandwidth float64 // bytes that it moves between its memory and its processors
	instructs float64 // a second, of one lane of all processors
	facts     device.Facts
}

// FindPeak is the peak of a device. A host's is measured, which takes a quarter of a second and two pieces of memory, each a
// 32nd of what is free and at most 256 MiB.
func FindPeak(d device.Device) Peak {
	f := d.Facts()
	switch f.Kind {
	case device.CUDA:
		return Peak{Bandwidth: float64(f.Bandwidth), instructs: float64(f.SMs) * float64(f.Clock), facts: f}
	case device.Host:
		return Peak{Bandwidth: copied(f), instructs: added(f.SMs), facts: f}
	}
	return Peak{facts: f}
}

// Operations are those of a type that the device computes in a second: additions and multiplications, a fused
// multiplication and addition of floats as two.
func (p Peak) Operations(v device.Value) float64 { return p.instructs * float64(lanes(p.facts, v)) }

// lanes are the operations of a type that a multiprocessor, or a core, begins in a cycle. Those of GPUs are from the CUDA
// C++ Programming Guide, "Throughput of Native Arithmetic Instructions"; int64 take two instructions of 32 bits. Those of a
// host are what its vectors hold; a core that adds half a vector a cycle reaches half of that.
func lanes(f device.Facts, v device.Value) int {
	if f.Kind == device.Host {
		return max(1, map[string]int{"avx512": 64, "avx2": 32, "sse4.2": 16, "neon": 16}[f.Instructions]/max(1, v.Size()))
	}
	capability := 10*f.Major + f.Minor
	double := 2 // GPUs without fast float64
	switch capability {
	case 70, 72, 80:
		double = 32
	case 90, 100, 103:
		double = 64
	}
	single := 64
	if capability >= 86 {
		single = 128
	}
	switch v {
	case device.Float32:
		return 2 * single
	case device.Float64:
		return 2 * double
	case device.Int16:
		if capability >= 90 { // two in a register
			return 128
		}
		return 64
	case device.Int32:
		return 64
	case device.Int64:
		return 32
	}
	return 0
}

// copied is the bytes that all cores read and write in a second, where each copies a part of memory larger than caches.
func copied(f device.Facts) float64 {
	const most, least = 256 << 20, 8 << 20
	size := most
	if f.Free > 0 {
		size = int(min(most, max(least, f.Free/32)))
	}
	part := size / max(1, f.SMs)
	from, to := make([]byte, part*f.SMs), make([]byte, part*f.SMs)
	for i := 0; i < len(from); i += 512 { // memory that nobody wrote is one page of zeros
		from[i] = 1
	}
	once := func(core int) { copy(to[core*part:(core+1)*part], from[core*part:(core+1)*part]) }
	return 2 * float64(len(from)) / fastest(f.SMs, once)
}

// added is the additions of numbers, one after another in each core, that all cores compute in a second.
func added(cores int) float64 {
	const turns = 1 << 20
	sums := make([][8]float32, cores*8) // far apart
	once := func(core int) {
		var a, b, c, d, e, f, g, h float32
		x := float32(core) + 0.5
		for range turns {
			a, b, c, d, e, f, g, h = a+x, b+x, c+x, d+x, e+x, f+x, g+x, h+x
		}
		sums[core*8] = [8]float32{a, b, c, d, e, f, g, h}
	}
	return 8 * turns * float64(cores) / fastest(cores, once)
}

// fastest is the seconds that all cores take at once, the least of all tries within an eighth of a second, five at least.
func fastest(cores int, once func(core int)) float64 {
	least := time.Duration(1 << 62)
	for begin, tries := time.Now(), 0; tries < 5 || time.Since(begin) < time.Second/8; tries++ {
		var all sync.WaitGroup
		start := time.Now()
		for core := range cores {
			all.Go(func() { once(core) })
		}
		all.Wait()
		least = min(least, time.Since(start))
	}
	runtime.KeepAlive(once)
	return least.Seconds()
}
