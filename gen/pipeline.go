package main

import (
	"cmp"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"coalesce/gen/bind"
	"coalesce/gen/cuda"
	"coalesce/gen/host"
	"coalesce/gen/layout"
	"coalesce/gen/space"
	"coalesce/templates"
)

// folder is where everything generated stands, below the module's root.
const folder = "generated"

// Options of generate.
type Options struct {
	Full  bool              // every point of the spaces, not only the committed ones
	Where *space.Constraint // of those, the ones that satisfy it; nil means all
	Only  []string          // families; none means all
	There []string          // with Only: families that were generated before

	Module string // path of the module that is generated for; empty: this one
}

// Output is the result of generate.
type Output struct {
	Files    map[string][]byte // by path from the module's root
	Families []Family          // those that Options asked for

	foreign bool   // another module is generated for: its bodies include this module's headers
	headers string // import path of that module's bodies; empty: this module
}

// A Family is a space with its points and, for the target cuda, their text.
type Family struct {
	Space  *space.Space
	Points []space.Point
	Hash   uint64
	CUDA   *cuda.Family // nil for the target host
	Hashes []uint64     // of the variants
}

// generate makes every file below generated/ from the bodies of kernels and the
// spaces. For another module it also makes templates/embed.go, which embeds that module's bodies, and lays
// these over the headers here. It reads and writes nothing else.
func generate(bodies fs.FS, spaces []*space.Space, o Options) (*Output, error) {
	out := &Output{Files: map[string][]byte{}, foreign: o.Module != "" && !bind.IsOwn(o.Module)}
	o.Module = cmp.Or(o.Module, bind.ModulePath())
	if out.foreign && slices.ContainsFunc(spaces, func(s *space.Space) bool { return s.Target != space.Host }) {
		text, err := bind.Embed(bodies)
		if err != nil {
			return nil, err
		}
		out.Files["templates/embed.go"], out.headers = text, o.Module+"/templates"
		bodies = templates.Layers{bodies, templates.Files}
	}
	problems := map[string][]string{}
	var order []string
	for _, s := range spaces {
		asked := len(o.Only) == 0 || slices.Contains(o.Only, s.Family)
		if !asked && !slices.Contains(o.There, s.Family) {
			continue // a list that names it would not compile
		}
		if problems[s.Problem()] == nil {
			order = append(order, s.Problem())
		}
		problems[s.Problem()] = append(problems[s.Problem()], s.Family)
		if !asked {
			continue
		}
		points, err := enumerate(s, o)
		if err != nil {
			return nil, err
		}
		if len(points) > maxTexts {
			return nil, fmt.Errorf("%s: space %s has %d points in full, expected at most %d to render: narrow it with --where", s.Pos, s.Family, len(points), maxTexts)
		}
		f := Family{Space: s, Points: points}
		if s.Target == space.Host {
			err = out.host(bodies, &f)
		} else {
			err = out.cuda(bodies, &f)
		}
		if err != nil {
			return nil, err
		}
		out.Families = append(out.Families, f)
	}
	for _, p := range order {
		text, err := bind.Families(p, problems[p])
		if err != nil {
			return nil, err
		}
		out.Files[path.Join(folder, p, "families.go")] = text
	}
	text, err := bind.AllFamilies(o.Module, order)
	if err != nil {
		return nil, err
	}
	out.Files[folder+"/families.go"] = text
	return out, nil
}

// maxTexts is the largest number of variants of a family that are rendered: their texts are kept
// in memory, and so many take an hour to compile.
const maxTexts = 20_000

// enumerate lists the points that o asks for.
func enumerate(s *space.Space, o Options) ([]space.Point, error) {
	switch {
	case !o.Full:
		return s.Enumerate()
	case o.Where != nil:
		return s.EnumerateFull(o.Where)
	}
	return s.EnumerateFull()
}

// cuda renders a family's texts and binds them.
func (out *Output) cuda(bodies fs.FS, f *Family) error {
	family, err := cuda.Render(bodies, f.Space, f.Points)
	if err != nil {
		return err
	}
	f.CUDA, f.Hash = family, family.Hash
	b := binding(f)
	b.CUDA, b.Headers, b.Typed = true, out.headers, out.foreign
	for _, e := range family.Entries {
		entry := bind.Entry{Name: e.Name}
		for _, p := range e.Params {
			entry.Params = append(entry.Params, bind.Param(p))
		}
		b.Entries = append(b.Entries, entry)
	}
	dir := path.Join(folder, f.Space.Problem())
	shared := &layout.Layout{}
	for i, v := range family.Variants {
		var sources []layout.Source
		for _, h := range v.Headers {
			sources = append(sources, layout.Source{Text: h.Text, File: "templates/" + h.Name})
		}
		own, err := layout.Read(sources...)
		if err == nil {
			err = shared.Merge(own)
		}
		if err != nil {
			return err
		}
		f.Hashes = append(f.Hashes, v.Hash)
		b.Variants[i].Hash, b.Variants[i].Pack = v.Hash, v.Pack
		out.Files[path.Join(dir, v.File)] = []byte(v.Text)
	}
	for _, p := range family.Packs {
		b.Packs = append(b.Packs, bind.Pack{File: p.File, Hash: p.Hash})
		out.Files[path.Join(dir, p.File)] = []byte(p.Text)
	}
	if len(shared.Constants)+len(shared.Structs) > 0 {
		text, err := layout.Write(f.Space.Family, shared)
		if err != nil {
			return err
		}
		out.Files[path.Join(folder, f.Space.Family+"_layout.go")] = text
	}
	return out.bind(f, b)
}

// host emits a family's Go kernels, a file a variant, and binds them.
func (out *Output) host(bodies fs.FS, f *Family) error {
	s := f.Space
	emitter, ok, err := host.ReadBody(bodies, s)
	if err == nil && !ok {
		if emitter, ok = host.Lookup(s.Family); !ok {
			err = fmt.Errorf("has the target host: expected its Go text, templates/%s/%s.go", s.Family, s.Kernel())
		}
	}
	if err != nil {
		return fmt.Errorf("%s: space %s: %w", s.Pos, s.Family, err)
	}
	f.Hash = cuda.Digest(cuda.Version, s.Family, bind.PortableText(emitter.Version))
	b := binding(f)
	b.Typed = out.foreign
	for _, e := range emitter.Entries {
		entry := bind.Entry{Name: e.Name}
		for _, p := range e.Params {
			entry.Params = append(entry.Params, bind.Param(p))
		}
		b.Entries = append(b.Entries, entry)
	}
	byLabel := map[string]space.Point{}
	for i, p := range f.Points {
		byLabel[p.Label()] = p
		// The hash is over the kernels' text without the guard, which holds
		// the family's hash, and does not know the module's path.
		name := kernelFile(p)
		text, err := kernelText(emitter, s.Problem(), name, p)
		if err != nil {
			return fmt.Errorf("%s: space %s: %w", s.Pos, s.Family, err)
		}
		file := bind.NewFile(s.Problem())
		file.Commentf("%s %s", s.Family, p.Label())
		file.Line()
		if err := emitter.Kernels(file, p); err != nil {
			return fmt.Errorf("%s: space %s: %w", s.Pos, s.Family, err)
		}
		bind.AppendGuard(file, s.Family, f.Hash)
		guarded, err := bind.Format(name, file)
		if err != nil {
			return err
		}
		out.Files[path.Join(folder, s.Problem(), name)] = guarded
		hash := cuda.Digest(cuda.Version, bind.PortableText(text))
		f.Hashes = append(f.Hashes, hash)
		b.Variants[i].Hash = hash
	}
	b.Kernel = func(v bind.Variant, entry string) string { return host.FuncName(byLabel[v.Label], entry) }
	b.Functions = emitter.Functions
	b.Function = func(v bind.Variant, name string) string { return host.FunctionName(byLabel[v.Label], name) }
	return out.bind(f, b)
}

func kernelText(emitter host.Emitter, problem, name string, p space.Point) (string, error) {
	file := bind.NewFile(problem)
	if err := emitter.Kernels(file, p); err != nil {
		return "", err
	}
	text, err := bind.Format(name, file)
	return string(text), err
}

// kernelFile names the file of a host variant. The last letters keep Go from
// reading a value as the name of a system.
func kernelFile(p space.Point) string {
	_, kernel, _ := strings.Cut(p.Family, "/")
	short := strings.TrimPrefix(p.Symbol(), strings.ReplaceAll(p.Family, "/", "_")+"_")
	return kernel + "_" + short + "_kernels.go"
}

func (out *Output) bind(f *Family, b *bind.Family) error {
	text, err := bind.Bindings(b)
	if err != nil {
		return err
	}
	out.Files[path.Join(folder, f.Space.Family+".go")] = text
	return nil
}

// binding begins the bindings of a family with the parts that both targets share.
func binding(f *Family) *bind.Family {
	b := &bind.Family{Name: f.Space.Family, Hash: f.Hash, Params: f.Space.ParamNames()}
	for _, p := range f.Points {
		b.Variants = append(b.Variants, bind.Variant{Label: p.Label(), Symbol: p.Symbol(), Values: p.Values, Safe: p.Safe, Study: p.Study})
	}
	return b
}
