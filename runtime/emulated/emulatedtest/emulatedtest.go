// Package emulatedtest opens the emulated device for tests of generated kernels,
// and samples their variants.
package emulatedtest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"testing"

	"coalesce/runtime/device"
	"coalesce/runtime/emulated"
	"coalesce/runtime/guard"
	"coalesce/templates"
)

// Names of variables of the environment. Variants says how many variants of a family tests run: of every value
// of a parameter one (the default), of every pair of values one ("pairs"), or all
// that are committed ("every"); with it, kernels run under the address and
// undefined-behaviour sanitizers, which double their time. With required set a missing C++
// compiler is a failure. CI sets both.
//
// Tests read it while they run, so that go test's cache depends on it. The cache does not see reads before that.
const (
	variants = "COALESCE_VARIANTS"
	required = "COALESCE_REQUIRE_EMULATED"
)

// Values of COALESCE_VARIANTS.
const (
	some  = ""
	pairs = "pairs"
	every = "every"
)

// depth is the value of COALESCE_VARIANTS.
func depth() (string, error) {
	switch d := os.Getenv(variants); d {
	case some, pairs, every:
		return d, nil
	default:
		return "", fmt.Errorf("%s is %q, expected %s, %s or nothing", variants, d, pairs, every)
	}
}

// known is depth for those that can return no error: it panics where the value is not known.
func known() string {
	d, err := depth()
	if err != nil {
		panic(err)
	}
	return d
}

// Every reports whether all committed variants are asked for, and all cases of each.
func Every() bool { return known() == every }

// Thorough reports whether more than the default is asked for: large cases that take long.
func Thorough() bool { return known() != some }

// Open opens the emulated device for a test, which it skips where there is no
// C++ compiler.
func Open(t *testing.T) device.Device {
	t.Helper()
	return Several(t, 1)[0]
}

// Several opens emulated devices, numbered from 0, as Open does.
func Several(t *testing.T, count int) []device.Device {
	t.Helper()
	var devices []device.Device
	for k := range count {
		d := OpenWith(t, emulated.Options{Index: k, Sanitize: Thorough(), Seed: uint64(k + 1), Files: templates.Files})
		t.Cleanup(func() { d.Close() })
		devices = append(devices, d)
	}
	return devices
}

// Text is a variant's CUDA text, with the bodies that it includes in their places, and its file: what tests
// plant a fault in.
func Text(t *testing.T, f *device.Family, v *device.Variant) (file, text string) {
	t.Helper()
	file = path.Join(path.Dir(f.Packs[v.Pack].File), v.Symbol+".cu")
	own, err := fs.ReadFile(f.Source, file)
	if err != nil {
		t.Fatal(err)
	}
	return file, body.ReplaceAllStringFunc(string(own), func(line string) string {
		b, err := templates.Files.ReadFile(body.FindStringSubmatch(line)[1])
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	})
}

// body is the line that includes one; headers of all kernels are in cuda/.
var body = regexp.MustCompile(`(?m)^#include "((?:[^c"]|c[^u"])[^"]*)"\n`)

// OpenWith opens a device that the test closes; under -short it skips the test. The test fails where a kernel wrote past an
// end of a buffer: the address sanitizer ends the launch where the device has it, else a guard looks at the
// buffers when they are freed and when the device is closed.
func OpenWith(t *testing.T, o emulated.Options) device.Device {
	t.Helper()
	if _, err := depth(); err != nil {
		t.Fatal(err)
	}
	if testing.Short() {
		t.Skip("-short: compiling kernels for the emulated device takes long")
	}
	d, err := emulated.Open(o)
	if errors.Is(err, emulated.ErrNoCompiler) && os.Getenv(required) == "" {
		t.Skipf("no C++ compiler for the emulated device: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if o.Sanitize { // canaries would hide reads past an end from it
		return d
	}
	g, err := guard.New(d)
	if err != nil {
		t.Fatal(errors.Join(err, d.Close()))
	}
	t.Cleanup(func() {
		if err := g.Overrun(); err != nil {
			t.Error(err)
		}
	})
	return guarded{g, d}
}

// A guarded device closes its guard too, which looks at the buffers that are left.
type guarded struct {
	*guard.Device
	plain device.Device
}

func (d guarded) Close() error { return errors.Join(d.Device.Close(), d.plain.Close()) }

// Variants are those of a family that COALESCE_VARIANTS asks for.
func Variants(f *device.Family) []*device.Variant {
	switch known() {
	case every:
		list := make([]*device.Variant, len(f.Variants))
		for i := range list {
			list[i] = &f.Variants[i]
		}
		return list
	case pairs:
		return Sample(f, 2)
	}
	return Sample(f, 1)
}

// Sample picks variants so that each value of a parameter (strength 1), or each
// pair of values of two parameters that some variant has (strength 2), is in one
// of them: greedily, the variant that adds the most first.
func Sample(f *device.Family, strength int) []*device.Variant {
	covered := map[string]bool{}
	fresh := func(v *device.Variant) (list []string) {
		for i := range v.Values {
			others := []int{i}
			if strength == 2 {
				others = nil
				for j := range i {
					others = append(others, j)
				}
			}
			for _, j := range others {
				if k := fmt.Sprint(i, v.Values[i], j, v.Values[j]); !covered[k] {
					list = append(list, k)
				}
			}
		}
		return list
	}
	var list []*device.Variant
	for {
		var best *device.Variant
		var most []string
		for i := range f.Variants {
			if p := fresh(&f.Variants[i]); len(p) > len(most) {
				best, most = &f.Variants[i], p
			}
		}
		if best == nil {
			return list
		}
		list = append(list, best)
		for _, k := range most {
			covered[k] = true
		}
	}
}
