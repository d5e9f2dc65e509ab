package autotune_test

import (
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"coalesce/autotune/internal/fake"
	"coalesce/autotune/subject"
	"coalesce/internal/problems"
	"coalesce/runtime/device"
	"coalesce/runtime/host"
	"coalesce/solvers/csg"
)

// TestSkippedKernelsAreFound lets every family of every problem run with kernels that do nothing:
// outputs are poison then, and Check must say so. A case may be right without a kernel if the
// upload already has its answer. On a GPU the sequence of launches is left out, because some wait
// for what kernels write.
func TestSkippedKernelsAreFound(t *testing.T) {
	for _, sub := range problems.List().Subjects() {
		f := sub.Family()
		t.Run(f.Name, func(t *testing.T) {
			if slices.Contains([]string{"assignment/core", "assignment/tree", "assignment/classical"}, f.Name) {
				t.Skip("its Run takes the answer off the device and waits for kernels; its own package plants wrong ones")
			}
			facts := device.Facts{Kind: device.CUDA, Name: "hollow", Major: 9, SMs: 132, SharedPerBlock: 227 << 10, L2: 50 << 20}
			var d device.Device = &fake.Device{F: facts, Hollow: true}
			if f.Target == device.Host {
				d = hollow{host.Open(1)} // its buffers are memory that solvers read
				facts = d.Facts()
			}
			s, err := d.NewStream()
			if err != nil {
				t.Fatal(err)
			}
			v, cases := safeCases(t, sub)
			r, err := sub.Open(d, v)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			found, tried := 0, 0
			for _, c := range cases {
				if sub.Feasible(v, facts, c.Instance.Size()) != nil || tried == 12 {
					continue
				}
				job, err := r.Prepare(c.Instance)
				if err != nil {
					t.Fatal(err)
				}
				tried++
				if err := job.Reset(s); err != nil {
					t.Fatal(err)
				}
				if f.Name == "csg/hosttiles" { // its Check reads what Run makes
					if err := job.Run(s); err != nil {
						t.Fatal(err)
					}
				}
				if refuses(job, s) {
					found++
				}
				if err := job.Close(); err != nil {
					t.Fatal(err)
				}
			}
			if found == 0 {
				t.Errorf("no case of %d was found wrong", tried)
			}
		})
	}
}

// refuses reports whether Check finds fault with the outputs: by an error, or by a panic
// over poison taken for a place in memory, which ends a worker and costs it the trial.
func refuses(job subject.Job, s device.Stream) (refused bool) {
	defer func() {
		if recover() != nil {
			refused = true
		}
	}()
	return job.Check(s) != nil
}

// hollow is a device whose launches do nothing.
type hollow struct{ device.Device }

func (h hollow) NewStream() (device.Stream, error) {
	s, err := h.Device.NewStream()
	return hollowStream{s}, err
}

type hollowStream struct{ device.Stream }

func (hollowStream) Launch(device.Kernel, device.Grid, ...device.Arg) error { return nil }

// TestTablesAreCompared changes f of one coalition that no optimal structure has, in the
// direction in which no structure improves: the answer stays right, and the comparison of
// whole tables alone finds it.
func TestTablesAreCompared(t *testing.T) {
	subjects := csg.Subjects()
	sub := subjects[slices.IndexFunc(subjects, func(s subject.Subject) bool { return s.Family().Name == "csg/splits" })]
	f := sub.Family()
	v := f.Variants[slices.IndexFunc(f.Variants, func(v device.Variant) bool { return v.Safe && f.Value(&v, "value") == "int32" })]
	d := &fake.Device{F: device.Facts{Kind: device.CUDA, SMs: 132, SharedPerBlock: 227 << 10}, Hollow: true}
	plain, err := d.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	s := &spy{Stream: plain}
	cases, err := sub.Cases(map[string]string{"value": "int32", "method": f.Value(&v, "method")})
	if err != nil {
		t.Fatal(err)
	}
	c := cases[slices.IndexFunc(cases, func(c subject.Case) bool { return c.Name == "negative, 4 agents" })]
	r, err := sub.Open(d, &v)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	job, err := r.Prepare(c.Instance)
	if err != nil {
		t.Fatal(err)
	}
	defer job.Close()
	if err := job.Reset(s); err != nil {
		t.Fatal(err)
	}
	if err := job.Check(s); err != nil {
		t.Fatalf("no coalition is worth splitting here: %v", err)
	}
	var word [4]byte
	if err := s.Download(word[:], s.table, 3*4); err != nil {
		t.Fatal(err)
	}
	binary.LittleEndian.PutUint32(word[:], binary.LittleEndian.Uint32(word[:])-1)
	if err := s.Upload(s.table, 3*4, word[:]); err != nil {
		t.Fatal(err)
	}
	if err := job.Check(s); err == nil || !strings.Contains(err.Error(), "f of coalition") {
		t.Errorf("error %v, want one of f of a coalition", err)
	}
}

// spy remembers where the last upload of a table of 16 numbers of 4 bytes went.
type spy struct {
	device.Stream
	table device.Buffer
}

func (s *spy) Upload(dst device.Buffer, off int64, src []byte) error {
	if len(src) == 16*4 {
		s.table = dst
	}
	return s.Stream.Upload(dst, off, src)
}

// safeCases are a family's safe point, or its first, and the small cases that the point can run.
func safeCases(t *testing.T, sub subject.Subject) (*device.Variant, []subject.Case) {
	t.Helper()
	f := sub.Family()
	v := &f.Variants[max(0, slices.IndexFunc(f.Variants, func(v device.Variant) bool { return v.Safe }))]
	fixed := map[string]string{}
	for i, name := range f.Params {
		fixed[name] = v.Values[i]
	}
	cases, err := sub.Cases(fixed)
	if err != nil {
		t.Fatal(err)
	}
	return v, cases
}
