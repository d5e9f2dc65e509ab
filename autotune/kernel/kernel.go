// Package kernel declares a family of kernels for the tuner. The kernel's author declares its buffers with their roles, its
// launches, and checks of its outputs. The package derives verification (from poisoned buffers, between canaries), timing
// and the choice of a variant.
package kernel

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"coalesce/autotune/subject"
	"coalesce/autotune/tuned"
	"coalesce/runtime/device"
)

// A Workload is what the problem decides of a variant's parameters, such as {"value": "int32"}.
type Workload map[string]string

// Bindings are the generated entry points of a loaded variant.
type Bindings interface{ Close() error }

// A Family declares a family of kernels: I is the type of its instances, K of its generated bindings. It implements
// subject.Subject. Kernels, Load, SizesOn, Draw, Size and Bind are required.
type Family[I any, K Bindings] struct {
	// Kernels is the generated table of variants, such as &sum.Blocks, and Load its loader, such as sum.LoadBlocks.
	Kernels *device.Family
	Load    func(device.Device, *device.Variant) (K, error)
	// Unit is what sizes count, in the plural ("numbers"), and Most the largest size that kernels take; 0: 2^31-1.
	Unit string
	Most int
	// SizesOn are the sizes to tune on a kind of device, ascending, such as {device.CUDA: {1 << 20, 1 << 24}}. A kind that has
	// none takes those of device.Emulated.
	SizesOn map[string][]int
	// Draw draws an instance of a size, and Size is the size of one.
	Draw func(w Workload, size int, r *rand.Rand) I
	Size func(inst I) int
	// Edges are instances by name that break kernels beside drawn ones of small sizes: ties, extreme values. May be nil.
	Edges func(w Workload) map[string]I
	// CaseSizes are the sizes of the drawn cases; nil: 1 to 33, some thousand, and around each value of the parameter block.
	CaseSizes []int
	// Bind declares an instance's buffers and returns the launches, which are timed together.
	Bind func(b *Binder, kernels K, inst I) Launches
	// Bytes counts those that a run moves between device memory and processors at the least; nil: those of inputs and outputs,
	// once each, and of InOut twice. The report gives their time at the device's bandwidth as a share of the run's.
	Bytes func(v Variant, inst I) float64
	// Operations counts the additions and multiplications of a run, or whatever its rate is to be given in; nil: the rate is that
	// of Bytes. With Arithmetic the report gives their time at the device's rate likewise, and takes the longer of the two.
	Operations func(inst I) float64
	// Arithmetic is the type of Operations, where these are additions and multiplications: a type, or Number for the type that the
	// parameter value names.
	Arithmetic device.Value
	// Fits says why a variant cannot run at a size on a device; nil: it runs if the device loads it and a block has room for
	// the variant's parameter block, if it has one.
	Fits func(v Variant, f device.Facts, size int) error
}

// Number is the type that a variant's parameter value names.
const Number device.Value = "value"

// Launches enqueues all launches of a run on a stream.
type Launches func(device.Stream) error

// A Variant is a variant with the names of its parameters.
type Variant struct {
	family *device.Family
	*device.Variant
}

// Int is an integer parameter. It panics with the names that there are if the family has none of that name.
func (v Variant) Int(param string) int {
	if err := v.check(param); err != nil {
		panic(err)
	}
	return v.family.Int(v.Variant, param)
}

// Text is a parameter as go.generate has it. It panics as Int does.
func (v Variant) Text(param string) string {
	if err := v.check(param); err != nil {
		panic(err)
	}
	return v.family.Value(v.Variant, param)
}

// check is an error if the family has no parameter of a name.
func (v Variant) check(param string) error {
	if slices.Contains(v.family.Params, param) {
		return nil
	}
	return fmt.Errorf("%s has no parameter %q, expected one of %s", v.family.Name, param, strings.Join(v.family.Params, " "))
}

// Number is the type that the parameter value names; empty if the family has none.
func (v Variant) Number() device.Value { return device.Value(v.family.Value(v.Variant, "value")) }

// CheckDeclaration says which required field is missing.
func (k *Family[I, K]) CheckDeclaration() error {
	if k.Kernels == nil {
		return errors.New("a kernel.Family without Kernels, expected the generated table of variants, such as &sum.Blocks")
	}
	for _, field := range []struct {
		name, want string
		missing    bool
	}{
		{"Load", "the generated loader, such as sum.LoadBlocks", k.Load == nil},
		{"SizesOn", "sizes to tune on a kind of device", len(k.SizesOn) == 0},
		{"Draw", "a function that draws an instance of a size", k.Draw == nil},
		{"Size", "a function that counts the size of an instance", k.Size == nil},
		{"Bind", "a function that declares buffers and returns launches", k.Bind == nil},
	} {
		if field.missing {
			return fmt.Errorf("the kernel.Family of %s has no %s, expected %s", k.Kernels.Name, field.name, field.want)
		}
	}
	return nil
}

// Family returns the table of variants.
func (k *Family[I, K]) Family() *device.Family { return k.Kernels }

// SizeUnit implements subject.UnitCounted.
func (k *Family[I, K]) SizeUnit() (unit string, most int) {
	return cmp.Or(k.Unit, "elements"), cmp.Or(k.Most, 1<<31-1)
}

// Workloads has each value of the parameter value, or one workload without.
func (k *Family[I, K]) Workloads() []map[string]string {
	at := slices.Index(k.Kernels.Params, "value")
	if at < 0 {
		return []map[string]string{{}}
	}
	var all []map[string]string
	seen := map[string]bool{}
	for _, v := range k.Kernels.Variants {
		if value := v.Values[at]; !seen[value] {
			seen[value] = true
			all = append(all, map[string]string{"value": value})
		}
	}
	return all
}

// Sizes are SizesOn of the device's kind.
func (k *Family[I, K]) Sizes(f device.Facts) []int {
	if sizes, ok := k.SizesOn[f.Kind]; ok {
		return sizes
	}
	return k.SizesOn[device.Emulated]
}

// Feasible is Fits, after what holds of all kernels.
func (k *Family[I, K]) Feasible(v *device.Variant, f device.Facts, size int) error {
	own := Variant{k.Kernels, v}
	if err := f.CheckLoadable(k.Kernels, v); err != nil {
		return err
	}
	if own.check("block") == nil && k.Kernels.Target == device.CUDA {
		if err := f.BlockFits(own.Int("block"), 0); err != nil {
			return err
		}
	}
	if k.Fits == nil {
		return nil
	}
	return k.Fits(own, f, size)
}

// caseSizes are the sizes of drawn cases.
func (k *Family[I, K]) caseSizes() []int {
	if k.CaseSizes != nil {
		return k.CaseSizes
	}
	sizes := []int{1, 2, 31, 32, 33, 3001}
	if at := slices.Index(k.Kernels.Params, "block"); at >= 0 {
		for _, v := range k.Kernels.Variants {
			block := k.Kernels.Int(&v, "block")
			sizes = append(sizes, block-1, block, block+1)
		}
	}
	slices.Sort(sizes)
	return slices.DeleteFunc(slices.Compact(sizes), func(n int) bool { return n < 1 || k.Most > 0 && n > k.Most })
}

// Cases are the edges and drawn instances of small sizes.
func (k *Family[I, K]) Cases(fixed map[string]string) ([]subject.Case, error) {
	var cases []subject.Case
	if k.Edges != nil {
		for name, inst := range k.Edges(fixed) {
			cases = append(cases, subject.Case{Name: name, Instance: k.instance(inst)})
		}
		slices.SortFunc(cases, func(a, b subject.Case) int { return cmp.Compare(a.Name, b.Name) })
	}
	for _, n := range k.caseSizes() {
		inst, err := k.Instance(fixed, n, uint64(n))
		if err != nil {
			return nil, err
		}
		cases = append(cases, subject.Case{Name: fmt.Sprintf("size %d", n), Instance: inst})
	}
	return cases, nil
}

// Instance draws an instance.
func (k *Family[I, K]) Instance(fixed map[string]string, size int, seed uint64) (subject.Instance, error) {
	inst := k.instance(k.Draw(fixed, size, rand.New(rand.NewPCG(seed, uint64(size)))))
	if inst.size != size {
		return nil, fmt.Errorf("%s: Draw was asked for an instance of size %d, and Size counts %d", k.Kernels.Name, size, inst.size)
	}
	return inst, nil
}

// An instance is one with its size.
type instance[I any] struct {
	own  I
	size int
}

// Size is the size that Family.Size counted.
func (i *instance[I]) Size() int { return i.size }

func (k *Family[I, K]) instance(own I) *instance[I] { return &instance[I]{own, k.Size(own)} }

// Open loads a variant.
func (k *Family[I, K]) Open(d device.Device, v *device.Variant) (subject.Runner, error) {
	bindings, err := k.Load(d, v)
	if err != nil {
		return nil, err
	}
	return &runner[I, K]{k, d, v, bindings}, nil
}

// Choose is the fastest variant that a database knows or predicts for instances of a size on a device; see
// tuned.Database.Choose.
func (k *Family[I, K]) Choose(db *tuned.Database, f device.Facts, w Workload, size int) (tuned.Choice, error) {
	return db.Choose(k.Kernels, f, tuned.Workload{Fixed: w, Size: size}, func(v *device.Variant) error { return k.Feasible(v, f, size) })
}

// A runner is a loaded variant.
type runner[I any, K Bindings] struct {
	of       *Family[I, K]
	device   device.Device
	variant  *device.Variant
	bindings K
}

func (r *runner[I, K]) Close() error { return r.bindings.Close() }

// Prepare takes the buffers that Bind declares.
func (r *runner[I, K]) Prepare(inst subject.Instance) (subject.Job, error) {
	own, ok := inst.(*instance[I])
	if !ok {
		return nil, fmt.Errorf("prepare %s: an instance of another family", r.of.Kernels.Name)
	}
	b := &Binder{Variant: Variant{r.of.Kernels, r.variant}, device: r.device}
	launches := r.of.Bind(b, r.bindings, own.own)
	switch checked := slices.ContainsFunc(b.buffers, func(x buffer) bool { return x.check != nil }); {
	case b.err != nil:
	case !checked:
		b.err = fmt.Errorf("%s: Bind declares neither Output nor InOut, by which runs are checked", r.of.Kernels.Name)
	case launches == nil:
		b.err = fmt.Errorf("%s: Bind returns no launches", r.of.Kernels.Name)
	}
	if b.err != nil {
		return nil, errors.Join(b.err, b.scope.Close())
	}
	j := &job{buffers: b.buffers, scope: &b.scope, run: launches}
	j.needs.Bytes = float64(b.moved)
	if r.of.Bytes != nil {
		j.needs.Bytes = r.of.Bytes(b.Variant, own.own)
	}
	j.work = j.needs.Bytes
	if r.of.Operations != nil {
		j.work = r.of.Operations(own.own)
	}
	if r.of.Arithmetic != "" && r.of.Operations != nil {
		j.needs.Operations, j.needs.Arithmetic = j.work, r.of.Arithmetic
		if j.needs.Arithmetic == Number {
			j.needs.Arithmetic = b.Number()
		}
	}
	return j, nil
}
