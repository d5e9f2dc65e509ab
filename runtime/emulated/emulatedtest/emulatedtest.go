// Package emulatedtest has what tests of generated kernels on the emulated
// device share.
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
	"coalesce/templates"
)

// COALESCE_VARIANTS says how many variants of a family tests run: of every value
// of a parameter one (the default), of every pair of values one ("pairs"), or all
// that are committed ("every"); with it, kernels run under the address and
// undefined-behaviour sanitizers, which double their time. With COALESCE_REQUIRE_EMULATED set a missing C++
// compiler is a failure. CI sets both.
var (
	depth    = os.Getenv("COALESCE_VARIANTS")
	required = os.Getenv("COALESCE_REQUIRE_EMULATED") != ""
)

// Every reports whether all committed variants are asked for, and all cases of each;
// Thorough whether more than the default is: large cases that take long.
var (
	Every    = depth == "every"
	Thorough = depth != ""
)

// Open opens the emulated device for a test, which it skips where there is no
// C++ compiler.
func Open(t *testing.T) device.Device {
	t.Helper()
	return Several(t, 1)[0]
}

// Several opens emulated devices, numbered from 0.
func Several(t *testing.T, count int) []device.Device {
	t.Helper()
	var devices []device.Device
	for k := range count {
		d := OpenWith(t, emulated.Options{Index: k, Sanitize: Thorough, Seed: uint64(k + 1), Files: templates.Files})
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

// OpenWith opens a device that the test closes; under -short it skips the test.
func OpenWith(t *testing.T, o emulated.Options) device.Device {
	t.Helper()
	if testing.Short() {
		t.Skip("-short: compiling kernels for the emulated device takes long")
	}
	d, err := emulated.Open(o)
	if errors.Is(err, emulated.ErrNoCompiler) && !required {
		t.Skipf("no C++ compiler for the emulated device: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// Variants are those of a family that COALESCE_VARIANTS asks for.
func Variants(f *device.Family) []*device.Variant {
	switch depth {
	case "every":
		list := make([]*device.Variant, len(f.Variants))
		for i := range list {
			list[i] = &f.Variants[i]
		}
		return list
	case "pairs":
		return Sample(f, 2)
	case "":
		return Sample(f, 1)
	}
	panic(fmt.Sprintf("COALESCE_VARIANTS is %q, expected pairs, every or nothing", depth))
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
