package kernel_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"coalesce/autotune/kernel"
	"coalesce/autotune/kernel/command"
	"coalesce/autotune/kernel/kerneltest"
	"coalesce/autotune/subject"
	"coalesce/autotune/tuned"
	"coalesce/autotune/verify"
	"coalesce/runtime/device"
	"coalesce/runtime/host"
)

// mistakes of the planted kernel, which doubles numbers.
const (
	right = iota
	wrongLast
	changesInput
	writesNothing
)

// doubles are the bindings of a kernel on a host, as gen writes them.
type doubles struct {
	module device.Module
	double device.Kernel
}

func (d *doubles) Close() error { return d.module.Close() }

// family is toy/double with a mistake.
func family(mistake int) *kernel.Family[[]int64, *doubles] {
	table := &device.Family{
		Name: "toy/double", Target: device.Host, Params: []string{"block", "value"},
		Entries: []device.Entry{{Name: "double", Params: []device.Param{{Name: "x", Type: "buffer"}, {Name: "y", Type: "buffer"}}}},
	}
	for _, block := range []string{"4", "8"} {
		table.Variants = append(table.Variants, device.Variant{
			Label: "block=" + block + ",value=int32", Symbol: "toy_double_" + block, Values: []string{block, "int32"}, Safe: block == "4",
			Kernels: map[string]device.HostKernel{"double": func(block, blocks int64, args []device.Arg) {
				x, y := host.Slice[int32](args[0]), host.Slice[int32](args[1])
				for k := block * int64(len(x)) / blocks; k < (block+1)*int64(len(x))/blocks; k++ {
					switch {
					case mistake == changesInput:
						y[k] = 2 * x[k]
						x[k]++
					case mistake == wrongLast && k == int64(len(x))-1:
						y[k] = 2*x[k] + 1
					case mistake != writesNothing:
						y[k] = 2 * x[k]
					}
				}
			}},
		})
	}
	return &kernel.Family[[]int64, *doubles]{
		Kernels: table,
		Load: func(d device.Device, v *device.Variant) (*doubles, error) {
			m, err := d.Load(table, v)
			if err != nil {
				return nil, err
			}
			k, err := m.Kernel("double")
			return &doubles{m, k}, err
		},
		Unit:    "numbers",
		Most:    1000,
		SizesOn: map[string][]int{device.Host: {100}},
		Size:    func(x []int64) int { return len(x) },
		Draw: func(_ kernel.Workload, n int, r *rand.Rand) []int64 {
			x := make([]int64, n)
			for k := range x {
				x[k] = r.Int64N(1000) - 500
			}
			return x
		},
		Edges: func(kernel.Workload) map[string][]int64 {
			return map[string][]int64{"extremes": {math.MinInt32 / 2, 0, math.MaxInt32 / 2}}
		},
		Bind: func(b *kernel.Binder, k *doubles, x []int64) kernel.Launches {
			in := kernel.InputValues(b, "x", x)
			out := kernel.OutputValues(b, "y", len(x), kernel.Equal(func() []float64 {
				want := make([]float64, len(x))
				for k := range x {
					want[k] = 2 * float64(x[k])
				}
				return want
			}))
			return func(s device.Stream) error {
				return s.Launch(k.double, kernel.Grid(len(x), b.Int("block"), 1), device.Ptr(in.Memory), device.Ptr(out.Memory))
			}
		},
	}
}

func TestRight(t *testing.T) { kerneltest.Run(t, family(right)) }

// A wrong element, a changed input and an output that was not written are found, with the buffer's name.
func TestMistakes(t *testing.T) {
	d := host.Open(2)
	defer d.Close()
	s, err := d.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for mistake, want := range map[int]string{wrongLast: "output y: element", changesInput: "the run changed its input x", writesNothing: "output y: element 0 is -1.51587"} {
		f := family(mistake)
		_, err := verify.Variant(t.Context(), d, s, f, &f.Kernels.Variants[0], 0)
		var failure *verify.Failure
		if !errors.As(err, &failure) || !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%v, expected a failure with %q", err, want)
		}
	}
}

// Mistakes of declarations are named: by the test, the program and each trial.
func TestDeclarations(t *testing.T) {
	d := host.Open(1)
	defer d.Close()
	s, err := d.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	type declared = kernel.Family[[]int64, *doubles]
	bind := func(change func(b *kernel.Binder, k *doubles, x []int64) kernel.Launches) func(*declared) {
		return func(f *declared) { f.Bind = change }
	}
	nothing := func(device.Stream) error { return nil }
	always := func([]float64) error { return nil }
	for want, change := range map[string]func(*declared){
		"without Kernels": func(f *declared) { f.Kernels = nil },
		"the kernel.Family of toy/double has no Load, expected the generated loader": func(f *declared) { f.Load = nil },
		"has no SizesOn": func(f *declared) { f.SizesOn = nil },
		"has no Draw":    func(f *declared) { f.Draw = nil },
		"has no Size,":   func(f *declared) { f.Size = nil },
		"has no Bind":    func(f *declared) { f.Bind = nil },
		"Draw was asked for an instance of size 1, and Size counts 7": func(f *declared) {
			f.Draw = func(kernel.Workload, int, *rand.Rand) []int64 { return make([]int64, 7) }
		},
		"declares neither Output nor InOut": bind(func(b *kernel.Binder, _ *doubles, x []int64) kernel.Launches {
			kernel.ScratchValues(b, "y", len(x))
			return nothing
		}),
		"the output y has no check, expected Equal, Near or a function": bind(func(b *kernel.Binder, _ *doubles, x []int64) kernel.Launches {
			kernel.OutputValues(b, "y", len(x), nil)
			return nothing
		}),
		"the buffer y twice": bind(func(b *kernel.Binder, _ *doubles, x []int64) kernel.Launches {
			kernel.OutputValues(b, "y", len(x), always)
			kernel.ScratchValues(b, "y", len(x))
			return nothing
		}),
		"toy/double has no parameter \"blok\", expected one of block value": bind(func(b *kernel.Binder, _ *doubles, x []int64) kernel.Launches {
			kernel.OutputValues(b, "y", len(x)/b.Int("blok"), always)
			return nothing
		}),
		"Bind returns no launches": bind(func(b *kernel.Binder, _ *doubles, x []int64) kernel.Launches {
			kernel.OutputValues(b, "y", len(x), always)
			return nil
		}),
	} {
		f := family(right)
		f.Edges = nil
		change(f)
		err := subject.Check([]subject.Subject{f})
		if err == nil {
			_, err = verify.Variant(t.Context(), d, s, f, &f.Kernels.Variants[0], 0)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("found %v, expected %q", err, want)
		}
	}
	f := family(right)
	if err := subject.Check([]subject.Subject{f, f}); err == nil || !strings.Contains(err.Error(), "the family toy/double twice") {
		t.Errorf("a family twice: %v", err)
	}
	var out strings.Builder
	if code := command.Run("toy-tuner", []subject.Subject{f, f}, []string{"verify"}, strings.NewReader(""), &out, &out); code != 1 || !strings.Contains(out.String(), "twice") {
		t.Errorf("exit code %d: %s", code, out.String())
	}
}

// A launch may work in place, or through scratch memory.
func TestRoles(t *testing.T) {
	in := func(x []int64) (list []int32) {
		for _, v := range x {
			list = append(list, int32(v))
		}
		return list
	}
	times := func(factor int32, x []int64) func() []int32 {
		return func() []int32 {
			want := in(x)
			for k := range want {
				want[k] *= factor
			}
			return want
		}
	}
	f := family(right)
	f.Edges = nil
	f.Bind = func(b *kernel.Binder, k *doubles, x []int64) kernel.Launches {
		own := kernel.InOut(b, "own", in(x), kernel.Equal(times(2, x)))
		from, through := kernel.Input(b, "from", in(x)), kernel.Scratch[int32](b, "through", len(x))
		to := kernel.Output(b, "to", len(x), kernel.Equal(times(4, x)))
		return func(s device.Stream) error {
			grid := kernel.Grid(len(x), b.Int("block"), 1)
			return errors.Join(
				s.Launch(k.double, grid, device.Ptr(own.Memory), device.Ptr(own.Memory)),
				s.Launch(k.double, grid, device.Ptr(from.Memory), device.Ptr(through.Memory)),
				s.Launch(k.double, grid, device.Ptr(through.Memory), device.Ptr(to.Memory)))
		}
	}
	kerneltest.Run(t, f)
}

// The program of a family has its commands, and the exit codes of a check.
func TestCommand(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir()) // without winners of the user
	for _, c := range []struct {
		mistake, code int
		args, want    string
	}{
		{right, 0, "verify --device host", "toy/double: 2 variants right"},
		{wrongLast, 3, "verify --device host", "output y: element"},
		{right, 0, "explain toy --size 100 --device host", "block=4,value=int32"},
		{right, 2, "explain toy --size 1001 --device host", "expected 1 to 1000"},
		{right, 2, "tune toys", "did you mean \"toy\""},
		{right, 1, "verify --device cuda", "build with -tags cuda"},
	} {
		var out strings.Builder
		code := command.Run("toy-tuner", []subject.Subject{family(c.mistake)}, strings.Fields(c.args), strings.NewReader(""), &out, &out)
		if code != c.code || !strings.Contains(out.String(), c.want) {
			t.Errorf("%s: exit code %d, expected %d with %q:\n%s", c.args, code, c.code, c.want, out.String())
		}
	}
}

// What the tuner asks of a family follows from its declaration.
func TestFamily(t *testing.T) {
	f := family(right)
	var _ subject.Subject = f
	if w := f.Workloads(); len(w) != 1 || w[0]["value"] != "int32" {
		t.Errorf("workloads %v, expected one, of int32", w)
	}
	if unit, most := f.SizeUnit(); unit != "numbers" || most != 1000 {
		t.Errorf("sizes are %s up to %d", unit, most)
	}
	cases, err := f.Cases(map[string]string{"value": "int32"})
	if err != nil {
		t.Fatal(err)
	}
	sizes := map[int]bool{}
	for _, c := range cases {
		sizes[c.Instance.Size()] = true
	}
	for _, n := range []int{1, 3, 4, 5, 7, 8, 9, 32} { // 3 of the edge; around blocks of 4 and 8
		if !sizes[n] {
			t.Errorf("no case of size %d", n)
		}
	}
	if sizes[3001] {
		t.Error("a case is larger than the largest size")
	}
	d := host.Open(1)
	defer d.Close()
	c, err := f.Choose(&tuned.Database{}, d.Facts(), kernel.Workload{"value": "int32"}, 100)
	if err != nil || !c.Variant.Safe {
		t.Errorf("chose %v, %v, expected the safe variant where nothing is known", c.Variant, err)
	}
	r, err := f.Open(d, &f.Kernels.Variants[1])
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	j, err := r.Prepare(cases[0].Instance)
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	if j.Work() != 24 {
		t.Errorf("work %v, expected the 24 bytes of three numbers in and out", j.Work())
	}
	if needs := j.(subject.Counted).Demand(); needs != (subject.Demand{Bytes: 24}) {
		t.Errorf("a run needs %+v", needs)
	}
	f.Bytes = func(v kernel.Variant, x []int64) float64 { return 5 * float64(v.Number().Size()*len(x)) }
	f.Operations, f.Arithmetic = func(x []int64) float64 { return float64(len(x)) }, kernel.Number
	counted, err := r.Prepare(cases[0].Instance)
	if err != nil {
		t.Fatal(err)
	}
	defer counted.Close()
	if needs := counted.(subject.Counted).Demand(); needs != (subject.Demand{Bytes: 60, Operations: 3, Arithmetic: device.Int32}) || counted.Work() != 3 {
		t.Errorf("a run needs %+v, and its work is %v", needs, counted.Work())
	}
}

func TestNear(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		got, want float64
		same      bool
	}{{1, 1 + 1e-7, true}, {1, 1.1, false}, {1e9, 1e9 + 1, true}, {nan, nan, true}, {nan, 0, false}, {inf, inf, true}, {1, inf, false}, {inf, 1, false}, {0, 1e-7, true}} {
		if err := kernel.AllClose(1e-6, func() []float64 { return []float64{c.want} })([]float64{c.got}); (err == nil) != c.same {
			t.Errorf("%v for %v: %v", c.got, c.want, err)
		}
	}
	if err := kernel.Equal(func() []int32 { return nil })([]int32{1}); err == nil {
		t.Error("an element more than the reference has is right")
	}
}
