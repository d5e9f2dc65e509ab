package tuned

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/klauspost/compress/zstd"

	"coalesce/generated/assignment"
	"coalesce/generated/csg"
	"coalesce/runtime/device"
)

// choosing are choices at all levels, from the data in the binary and others.
func choosing(t testing.TB) map[string]func() (Choice, error) {
	db, err := New(tunedAt(16, 40, 10, 12, 20), tunedAt(24, 90, 90, 21, 20))
	if err != nil {
		t.Fatal(err)
	}
	toy := family()
	list := map[string]func() (Choice, error){}
	for _, size := range []int{16, 20, 25, 60} {
		list[fmt.Sprintf("toy, %d", size)] = func() (Choice, error) { return db.Choose(toy, facts, Workload{Fixed: int32s, Size: size}, nil) }
	}
	gpu := func(name string, major, sms int) device.Facts {
		return device.Facts{Kind: device.CUDA, Name: name, Major: major, SMs: sms, SharedPerBlock: 232448}
	}
	for _, here := range []device.Facts{gpu("NVIDIA H200", 9, 132), gpu("NVIDIA H100 PCIe", 9, 114), gpu("NVIDIA A100", 8, 108), {Kind: device.Emulated, Name: "none", Major: 9}} {
		for _, ranges := range []string{"small", "medium", "huge"} {
			for _, size := range []int{300, 2000, 3000, 100000} {
				w := Workload{Fixed: map[string]string{"value": "int32", "range": ranges}, Size: size}
				list[fmt.Sprintf("classical on %s, %s, %d", here.Name, ranges, size)] = func() (Choice, error) {
					return Shipped().Choose(&assignment.Classical, here, w, nil)
				}
			}
		}
	}
	// What is shipped may be stale after kernels change: of another device's winners one is
	// made here.
	other := tunedAt(20, 50, 10, 20)
	other.Class = gpu("Other GPU", 8, 108).Class()
	made, err := New(other)
	if err != nil {
		t.Fatal(err)
	}
	list["winners of another device"] = func() (Choice, error) {
		return made.Choose(toy, facts, Workload{Fixed: int32s, Size: 20}, nil)
	}
	return list
}

// A choice allocates nothing once the family was looked up, at whatever level.
func TestChooseAllocatesNothing(t *testing.T) {
	levels := map[string]bool{}
	for name, choose := range choosing(t) {
		c, err := choose()
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		levels[c.Level] = true
		if n := testing.AllocsPerRun(10, func() { choose() }); n > 0 {
			t.Errorf("%s (%s): %v allocations", name, c.Level, n)
		}
	}
	for _, level := range []string{Exact, Interpolated, Nearest, Safe} {
		if !levels[level] {
			t.Errorf("no choice is %s", level)
		}
	}
}

func BenchmarkChooseLevels(b *testing.B) {
	for name, choose := range choosing(b) {
		c, err := choose()
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name+" "+c.Level, func(b *testing.B) {
			for b.Loop() {
				choose()
			}
		})
	}
}

func BenchmarkChoose(b *testing.B) {
	db, err := New(tunedAt(16, 40, 10, 12, 20), tunedAt(24, 90, 90, 21, 20))
	if err != nil {
		b.Fatal(err)
	}
	f := family()
	for b.Loop() {
		db.Choose(f, facts, Workload{Fixed: int32s, Size: 20}, nil)
	}
}

// The first choice among a family's variants decodes its entries, and in builds of
// scripts/build-cuda the first of all unpacks the text.
func BenchmarkFirstChoice(b *testing.B) {
	here := device.Facts{Kind: device.CUDA, Name: "NVIDIA H200", Major: 9, SMs: 132, SharedPerBlock: 232448}
	z, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression))
	if err != nil {
		b.Fatal(err)
	}
	packed := z.EncodeAll(embedded, append(bytes.Clone(compressed), make([]byte, 32)...))
	for b.Loop() {
		db := &Database{text: func() ([]byte, error) { return decompress(packed) }}
		if _, err := db.Choose(&csg.Tiles, here, Workload{Fixed: int32s, Size: 20}, nil); err != nil {
			b.Fatal(err)
		}
	}
}
