package emulated

import (
	"context"
	"maps"
	"regexp"
	"slices"
	"strings"

	"coalesce/runtime/device"
	"coalesce/runtime/emulated/texts"
	"coalesce/templates"
)

// A Compiler compiles variants into the cache that a device of the same options loads them from.
type Compiler struct {
	opts   Options
	tools  *toolchain
	server string // path of the compiled child
}

// Compile compiles a variant unless the cache has it. Several goroutines may call it.
func (c *Compiler) Compile(ctx context.Context, f *device.Family, v *device.Variant) error {
	_, _, err := c.compile(ctx, f, v)
	return err
}

// compile returns the shared object of a variant, and its entries with the most threads of a launch.
func (c *Compiler) compile(ctx context.Context, f *device.Family, v *device.Variant) (so string, own map[string]int, err error) {
	file, own, err := c.entries(f, v)
	if err != nil {
		return "", nil, err
	}
	unit := []*device.Variant{v}
	if c.opts.Whole {
		file, unit = f.Packs[v.Pack].File, nil
		for i := range f.Variants {
			if f.Variants[i].Pack == v.Pack {
				unit = append(unit, &f.Variants[i])
			}
		}
	}
	var spaces []string
	params := map[string]int{} // of entry points, by name
	for _, u := range unit {
		_, entries, err := c.entries(f, u)
		if err != nil {
			return "", nil, err
		}
		spaces = append(spaces, u.Symbol)
		for _, e := range f.Entries {
			if _, ok := entries[e.Name]; ok {
				params[u.Symbol+"_"+e.Name] = len(e.Params)
			}
		}
	}
	tree, err := c.gathered(f, file)
	if err != nil {
		return "", nil, err
	}
	tree["unit.cc"] = trampolines(file, spaces, params)
	so, err = c.tools.compileUnit(ctx, tree)
	return so, own, err
}

// gathered are a file and all that it includes, by path.
func (c *Compiler) gathered(f *device.Family, file string) (map[string]string, error) {
	tree := map[string]string{}
	return tree, gatherSources(tree, texts.Files{FS: f.Source}, texts.Files{FS: templates.Layers{f.Headers, c.opts.Files}}, file)
}

// entries are the entry points of a variant, with the most threads of a block, and the variant's file. They
// stand there, or in bodies that the file includes, with the names ENTRY(name) and param::name in them.
func (c *Compiler) entries(f *device.Family, v *device.Variant) (file string, threads map[string]int, err error) {
	file, text, err := variantFile(f, v)
	if err != nil {
		return "", nil, err
	}
	tree, err := c.gathered(f, file)
	if err != nil {
		return "", nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(tree)) {
		if strings.Contains(tree[name], "ENTRY(") {
			text += tree[name]
		}
	}
	text = named.ReplaceAllString(text, v.Symbol+"_$1")
	text = parameter.ReplaceAllStringFunc(text, func(name string) string {
		if k := slices.Index(f.Params, strings.TrimPrefix(name, "param::")); k >= 0 {
			return v.Values[k]
		}
		return name
	})
	threads = map[string]int{}
	for _, e := range f.Entries {
		if n, ok := entryPoint(text, v.Symbol, e.Name); ok {
			threads[e.Name] = n
		}
	}
	return file, threads, nil
}

// named is the name of an entry point of a body, parameter a parameter there.
var (
	named     = regexp.MustCompile(`\bENTRY\((\w+)\)`)
	parameter = regexp.MustCompile(`\bparam::\w+`)
)
