package ondemand

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"coalesce/generated/assignment"
	"coalesce/runtime/device"
	"coalesce/runtime/emulated/emulatedtest"
	"coalesce/runtime/emulated/texts"
)

// folder has a point that no binary holds, the safe variant of assignment/check under
// another name, and one that the binary has. It returns a copy of the family to extend.
func folder(t *testing.T) (dir string, f *device.Family, added string) {
	t.Helper()
	own := assignment.Check
	f = &own
	f.Variants, f.Packs = slices.Clone(f.Variants), slices.Clone(f.Packs)
	at := slices.IndexFunc(f.Variants, func(v device.Variant) bool { return v.Safe })
	safe := f.Variants[at]
	text, err := fs.ReadFile(f.Source, path.Join(path.Dir(f.Packs[safe.Pack].File), safe.Symbol+".cu"))
	if err != nil {
		t.Fatal(err)
	}
	x := point{Label: strings.Replace(safe.Label, "block=", "block=1", 1), Symbol: safe.Symbol + "_more", Hash: "00000000000000ab", Values: slices.Clone(safe.Values), File: "check/more.cu"}
	more := strings.ReplaceAll(strings.ReplaceAll(string(text), safe.Symbol, x.Symbol), fmt.Sprintf("0x%016xull", safe.Hash), "0x"+x.Hash+"ull")
	dir = t.TempDir()
	write(t, filepath.Join(dir, "check", "more.cu"), more)
	text, err = json.Marshal(index{Schema, f.Name, fmt.Sprintf("%016x", f.Hash), f.Params,
		[]point{x, {Label: safe.Label, Symbol: safe.Symbol, Hash: fmt.Sprintf("%016x", safe.Hash), Values: safe.Values, File: "check/there.cu"}}})
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, Index), string(text))
	return dir, f, x.Label
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o777), os.WriteFile(file, []byte(text), 0o666)); err != nil {
		t.Fatal(err)
	}
}

// A point that the binary lacks is a variant like others: it loads, and carries its hash.
func TestExtend(t *testing.T) {
	d := emulatedtest.Open(t)
	dir, f, label := folder(t)
	before := len(f.Variants)
	p, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Extend(f); err != nil {
		t.Fatal(err)
	}
	v := f.Variant(label)
	if v == nil || len(f.Variants) != before+1 || p.Len() != 1 || !p.Added(v.Hash) || p.Added(f.Variants[0].Hash) {
		t.Fatalf("%d variants of %d before, %d added", len(f.Variants), before, p.Len())
	}
	for _, v := range []*device.Variant{v, &f.Variants[0]} {
		m, err := d.Load(f, v)
		if err != nil {
			t.Fatalf("%s: %v", v.Label, err)
		}
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
}

// Points of other bodies are refused, and indexes that lead astray.
func TestRefused(t *testing.T) {
	for name, change := range map[string]func(*index){
		"schema":     func(x *index) { x.Schema = "points/2" },
		"family":     func(x *index) { x.Family = "assignment/other" },
		"bodies":     func(x *index) { x.Hash = "0000000000000001" },
		"parameters": func(x *index) { x.Params = x.Params[1:] },
		"hash":       func(x *index) { x.Points[0].Hash = "xyz" },
		"values":     func(x *index) { x.Points[0].Values = nil },
		"file":       func(x *index) { x.Points[0].File = "../../etc/passwd" },
	} {
		dir, f, _ := folder(t)
		text, err := os.ReadFile(filepath.Join(dir, Index))
		if err != nil {
			t.Fatal(err)
		}
		var x index
		if err := json.Unmarshal(text, &x); err != nil {
			t.Fatal(err)
		}
		change(&x)
		if text, err = json.Marshal(x); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, Index), string(text))
		p, err := Open(dir)
		if err == nil {
			err = p.Extend(f)
		}
		if err == nil || !strings.Contains(err.Error(), "expected") {
			t.Errorf("another %s: %v", name, err)
		}
	}
}

// code holds nothing.
type code struct{}

func (code) CheckCapability(int, int) (bool, error) { return false, nil }
func (code) CheckVariant(uint64, int, int) error    { return errors.New("not held") }
func (code) Image(uint64, int, int) (string, []byte, bool, error) {
	return "", nil, false, errors.New("not held")
}
func (code) Needs() (int, string) { return 13000, "580" }
func (code) Compiler() string     { return "" }

// A GPU's code holds what was added, and nvcc makes it once.
func TestCompile(t *testing.T) {
	t.Chdir("../..") // where scripts/toolkit leaves nvcc
	dir, f, label := folder(t)
	p, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Extend(f); err != nil {
		t.Fatal(err)
	}
	v, over := f.Variant(label), p.WithAdded(code{})
	if over.CheckVariant(v.Hash, 9, 0) != nil || over.CheckVariant(f.Variants[0].Hash, 9, 0) == nil {
		t.Errorf("held: added %v, other %v", over.CheckVariant(v.Hash, 9, 0), over.CheckVariant(f.Variants[0].Hash, 9, 0))
	}
	name, image, byPTX, err := over.Image(v.Hash, 9, 0)
	if errors.Is(err, ErrNoCompiler) {
		t.Skip(err)
	}
	if err != nil || byPTX || len(image) < 1000 || !strings.Contains(string(image), v.Symbol+"_hash") {
		t.Fatalf("image %s of %d bytes, by PTX %v: %v", name, len(image), byPTX, err)
	}
	write(t, filepath.Join(dir, name), "kept")
	if _, image, _, err = over.Image(v.Hash, 9, 0); string(image) != "kept" || err != nil {
		t.Errorf("a second compilation: %v", err)
	}
	write(t, filepath.Join(dir, "check", "more.cu"), "what\n")
	if _, _, _, err = over.Image(v.Hash, 8, 0); err == nil || !strings.Contains(err.Error(), "more.cu") {
		t.Errorf("a text that does not compile: %v", err)
	}
}

// What texts include is written as it was, where a binary holds it packed too.
func TestUnpack(t *testing.T) {
	packed, err := texts.Pack(map[string][]byte{"a.cuh": []byte("int a;\n"), "b.cuh": []byte("int b;\n")})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := unpackTexts(fstest.MapFS{"toy/a.cuh": {Data: packed["a.cuh"]}, "toy/b.cuh": {Data: packed["b.cuh"]}, "cuda/plain.cuh": {Data: []byte("int c;\n")}}, dir); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"toy/a.cuh": "int a;\n", "toy/b.cuh": "int b;\n", "cuda/plain.cuh": "int c;\n"} {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != want {
			t.Errorf("%s holds %q, %v", name, got, err)
		}
	}
}
