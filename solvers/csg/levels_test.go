package csg

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"coalesce/runtime/device"
	"coalesce/runtime/emulated/emulatedtest"
	"coalesce/runtime/host"
	"coalesce/solvers/csg/internal/levels"
	"coalesce/solvers/csg/internal/reference"
	"coalesce/solvers/solve"
)

// DP and IDP on a host make the reference's table: every value of it by DP, the grand coalition's by
// IDP, whose others lie between v and that.
func TestLevels(t *testing.T) {
	for n := 1; n <= 11; n++ {
		for _, draw := range []func(int, uint64) float64{drawn(1, 1000, 0), drawn(2, 1000, -2000), drawn(3, 3, -1)} {
			v := make([]int64, 1<<n)
			for c := range v[1:] {
				v[c+1] = int64(draw(n, uint64(c+1)))
			}
			want, _ := Table(v, DP)
			for _, m := range []Method{DP, IDP} {
				f := slices.Clone(v)
				if err := levels.Raise(t.Context(), f, m == IDP, 3, func(float64) {}); err != nil {
					t.Fatal(err)
				}
				if m == DP && !slices.Equal(f, want) || f[len(f)-1] != want[len(f)-1] {
					t.Errorf("%d agents by %s: f(A) = %d, expected %d, or another value differs", n, m, f[len(f)-1], want[len(f)-1])
				}
				for c := range f {
					if f[c] < v[c] || f[c] > want[c] {
						t.Fatalf("%d agents by %s: f(%#b) = %d, between %d and %d", n, m, c, f[c], v[c], want[c])
					}
				}
			}
		}
	}
}

// IDP and DP solve every value type on a host and by kernels alike.
func TestMethodsOfEveryType(t *testing.T) {
	d := host.Open(2)
	defer d.Close()
	devices := []device.Device{d}
	if !testing.Short() {
		devices = append(devices, emulatedtest.Open(t))
	}
	for _, value := range []Value{Int32, Int64, Float32, Float64} {
		for _, n := range []int{1, 2, 3, 7, 9} {
			inst, err := drawInstance(value, n, drawnMask)
			if err != nil {
				t.Fatal(err)
			}
			want, err := Reference(inst, DP)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range devices {
				for _, m := range []Method{DP, IDP} {
					o := on(d)
					o.Algorithm = string(m)
					r, err := Solve(t.Context(), inst, o)
					if err != nil {
						t.Fatalf("%s, %d agents by %s on %s: %v", value, n, m, d.Facts(), err)
					}
					if r.Value != want.Value || r.Algorithm != string(m) || r.Splittings != reference.SplittingCount(m, n) {
						t.Errorf("%s, %d agents by %s on %s: %s, %s, %v splittings; expected %s", value, n, m, d.Facts(), r.Value, r.Algorithm, r.Splittings, want.Value)
					}
				}
			}
		}
	}
}

// Where tiles do not run, the published kernel does, by the method that was measured to be quicker: on an
// H200 DP at 18 agents, IDP at 22; DP on a device that nothing is known of.
func TestQuickerMethod(t *testing.T) {
	h200 := device.Facts{Kind: device.CUDA, Name: "NVIDIA H200", Major: 9, SMs: 132, SharedPerBlock: 232448, ThreadsPerBlock: 1024}
	unknown := device.Facts{Kind: device.Emulated, Name: "unknown", SMs: 1, SharedPerBlock: 49152, ThreadsPerBlock: 1024}
	for _, c := range []struct {
		facts device.Facts
		n     int
		want  Method
	}{{h200, 18, DP}, {h200, 22, IDP}, {unknown, 22, DP}} {
		if got := quicker(c.facts, c.n, Options{}); got != c.want {
			t.Errorf("%d agents on %s: %s, expected %s", c.n, c.facts, got, c.want)
		}
	}
	d := small{emulatedtest.Open(t)}
	inst, err := drawInstance(Int32, 7, drawnMask)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Solve(t.Context(), inst, on(d))
	if err != nil || !strings.HasPrefix(r.Variant, "csg/splits ") || r.Algorithm != string(DP) {
		t.Errorf("without room for tiles: %v, %v", r, err)
	}
	o := on(d)
	o.Algorithm = string(Apart)
	if r, err := Solve(t.Context(), inst, o); err == nil {
		t.Errorf("tiles without room, by name: %v", r)
	}
}

// small is a device whose blocks have too little shared memory for tiles.
type small struct{ device.Device }

func (s small) Facts() device.Facts {
	f := s.Device.Facts()
	f.SharedPerBlock = 1 << 10
	return f
}

func TestLevelsRefuse(t *testing.T) {
	d := host.Open(1)
	defer d.Close()
	inst, err := drawInstance(Int32, 4, drawnMask)
	if err != nil {
		t.Fatal(err)
	}
	o := on(d)
	o.Algorithm = string(IDP)
	if _, err := SolveKept(t.Context(), inst, o, &Checkpoint{Path: "x"}); err == nil || !strings.Contains(err.Error(), "checkpoint") {
		t.Errorf("a checkpoint: %v", err)
	}
	o.Devices = append(o.Devices, d)
	if _, err := Solve(t.Context(), inst, o); err == nil || !strings.Contains(err.Error(), "2 devices") {
		t.Errorf("two devices: %v", err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if r, err := Solve(ctx, inst, Options{Devices: []device.Device{d}, Algorithm: "dp"}); err != nil || !r.Stopped || r.Proven {
		t.Errorf("ended: %v, %v", r, err)
	}
	v := make([]float64, 16)
	for c := range v {
		if c&1 != 0 {
			v[c] = math.Inf(-1)
		}
	}
	forbidden, err := NewInstance(v, "agent 1 is in no coalition")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []Method{DP, IDP} {
		if r, err := Solve(t.Context(), forbidden, Options{Devices: []device.Device{d}, Algorithm: string(m)}); !errors.Is(err, solve.ErrInfeasible) {
			t.Errorf("%s, no structure is allowed: %v, %v", m, r, err)
		}
	}
}

func BenchmarkLevels(b *testing.B) {
	for _, m := range []Method{DP, IDP} {
		for _, workers := range []int{1, 2} {
			b.Run(fmt.Sprint(m, workers), func(b *testing.B) {
				v := make([]int32, 1<<17)
				for c := range v[1:] {
					v[c+1] = int32(mix(uint64(c)) % 1000)
				}
				for b.Loop() {
					if err := levels.Raise(b.Context(), slices.Clone(v), m == IDP, workers, func(float64) {}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
