package devices

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"coalesce/runtime/device"
)

// fake is a device that can be opened and closed.
type fake struct {
	device.Device
	kind  string
	index int
	open  map[int]bool
}

func (f *fake) Close() error {
	if !f.open[f.index] {
		return errors.New("closed twice")
	}
	delete(f.open, f.index)
	return nil
}

// fakes are a kind of count devices; opening those from the index broken on fails.
func fakes(kind string, count, broken int, open map[int]bool) Kind {
	return Kind{
		Name:  kind,
		Auto:  kind != device.Emulated,
		Count: func() (int, error) { return count, nil },
		Open: func(index int, _ Options) (device.Device, error) {
			if index >= min(count, broken) {
				return nil, errors.New("does not open")
			}
			open[index] = true
			return &fake{kind: kind, index: index, open: open}, nil
		},
	}
}

func TestNames(t *testing.T) {
	for name, want := range map[string]Name{
		"auto":         {Kind: "auto"},
		"host":         {Kind: "host"},
		"cuda":         {Kind: "cuda"},
		"cuda:3":       {Kind: "cuda", Indices: []int{3}},
		"cuda:2,0":     {Kind: "cuda", Indices: []int{2, 0}},
		"cuda:all":     {Kind: "cuda", All: true},
		"emulated:0,1": {Kind: "emulated", Indices: []int{0, 1}},
	} {
		got, err := Parse(name)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v; want %+v", name, got, err, want)
		}
		if one := name != "cuda:all" && !strings.Contains(name, ","); got.IsSingle() != one {
			t.Errorf("%s: one device: %v", name, got.IsSingle())
		}
	}
	for _, name := range []string{"", "gpu", "auto:0", "host:0", "cuda:", "cuda:-1", "cuda:0,0", "cuda:1,", "cuda:x", "CUDA"} {
		if n, err := Parse(name); err == nil || !strings.Contains(err.Error(), "expected auto, host") {
			t.Errorf("%q: %+v, %v", name, n, err)
		}
	}
}

func TestOpen(t *testing.T) {
	for _, c := range []struct {
		name          string
		gpus, broken  int
		turn          int
		kind, indices string // what is opened, or
		err, said     string // words of the error, and of the notices
	}{
		{name: "auto", gpus: 2, broken: 9, kind: "cuda", indices: "0"},
		{name: "auto", gpus: 2, broken: 9, turn: 3, kind: "cuda", indices: "1"},
		{name: "auto", gpus: 0, kind: "host", indices: "0"},
		{name: "auto", gpus: 1, broken: 0, kind: "host", indices: "0", said: "going on without a GPU: open device cuda: does not open"},
		{name: "cuda", gpus: 1, broken: 0, err: "open device cuda:0: does not open"},
		{name: "cuda", gpus: 3, broken: 9, turn: 5, kind: "cuda", indices: "2"},
		{name: "cuda", gpus: 0, err: "does not open"},
		{name: "cuda:1", gpus: 3, broken: 9, turn: 2, kind: "cuda", indices: "1"},
		{name: "cuda:1,0", gpus: 3, broken: 9, kind: "cuda", indices: "10"},
		{name: "cuda:all", gpus: 3, broken: 9, kind: "cuda", indices: "012"},
		{name: "cuda:all", gpus: 3, broken: 2, err: "open device cuda:2: does not open"},
		{name: "cuda:all", gpus: 0, err: "there is none"},
		{name: "host", gpus: 2, broken: 9, kind: "host", indices: "0"},
		{name: "emulated", err: "this build has no CUDA devices"},
		{name: "other", err: "expected auto"},
	} {
		open, hosts := map[int]bool{}, map[int]bool{}
		list := List{fakes(device.CUDA, c.gpus, c.broken, open), fakes(device.Host, 1, 1, hosts)}
		said := ""
		opened, err := list.Open(c.name, Options{Turn: c.turn, Say: func(line string) { said += line }})
		if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) || said != c.said {
			t.Errorf("%s of %d GPUs: error %v, said %q; want %q and %q", c.name, c.gpus, err, said, c.err, c.said)
		}
		kind, indices := "", ""
		for _, d := range opened {
			kind, indices = d.(*fake).kind, indices+string(rune('0'+d.(*fake).index))
		}
		if kind != c.kind || indices != c.indices {
			t.Errorf("%s of %d GPUs: opened %s %s, want %s %s", c.name, c.gpus, kind, indices, c.kind, c.indices)
		}
		if err := Close(opened); err != nil || len(open)+len(hosts) > 0 {
			t.Errorf("%s: %v, %v and %v stay open", c.name, err, open, hosts)
		}
	}
}

// What this build can open holds each kind once, and the processor always opens.
func TestKinds(t *testing.T) {
	seen := map[string]bool{}
	for _, k := range Kinds() {
		if seen[k.Name] {
			t.Errorf("%s is in the list twice", k.Name)
		}
		seen[k.Name] = true
	}
	if !seen[device.Host] || !seen[device.Emulated] {
		t.Errorf("the list has %v, want host and emulated at least", seen)
	}
	opened, err := Open("host", Options{Threads: 1})
	if err != nil || len(opened) != 1 || opened[0].Facts().Kind != device.Host {
		t.Fatal(opened, err)
	}
	if err := Close(opened); err != nil {
		t.Error(err)
	}
}

func TestEmulatedMemory(t *testing.T) {
	for text, want := range map[string]int64{"": 0, "65536": 65536, "0": -1, "-5": -1, "1GiB": -1} {
		got, err := emulatedMemory(text)
		if (err != nil) != (want < 0) || err == nil && got != want {
			t.Errorf("%q: %d bytes, %v; want %d", text, got, err, want)
		}
	}
}
