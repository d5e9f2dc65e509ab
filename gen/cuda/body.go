package cuda

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"coalesce/gen/space"
)

// bodies reads the texts below templates/ that a family's variants include, each once.
type bodies struct {
	fsys     fs.FS
	space    *space.Space
	texts    map[string]string
	outlines map[string]*outline // by the names of the bodies
}

func newBodies(fsys fs.FS, s *space.Space) *bodies {
	return &bodies{fsys, s, map[string]string{}, map[string]*outline{}}
}

// An outline is what the variants of the same bodies have in common.
type outline struct {
	headers []Include
	entries []entry
	code    []string // all texts without comments, cut at parameters: a text, a parameter's name, a text and so on
}

// render is a point as a variant, without its pack.
func (b *bodies) render(p space.Point) (Variant, error) {
	v := Variant{Point: p, Symbol: p.Symbol()}
	v.File = path.Join(b.space.Kernel(), v.Symbol+".cu")
	files, err := b.space.Files(p)
	if err != nil {
		return v, err
	}
	key := strings.Join(files, " ")
	o := b.outlines[key]
	if o == nil {
		if o, err = b.outline(files); err != nil {
			return v, fmt.Errorf("%s: space %s: render %s: %w", b.space.Pos, b.space.Family, v.File, err)
		}
		b.outlines[key] = o
	}
	v.Headers = o.headers
	for _, e := range o.entries {
		threads, _ := strconv.Atoi(b.value(strings.TrimPrefix(e.bound, "param::"), p)) // 0 of an expression
		v.Entries = append(v.Entries, Entry{e.name, e.params, threads})
	}
	v.Hash = b.hash(o, p)
	v.Text = b.text(p, files) + fmt.Sprintf("\nextern \"C\" __device__ unsigned long long %s_hash = 0x%016xull;\n", v.Symbol, v.Hash)
	return v, nil
}

// hash covers what a variant compiles to: the texts with the parameters in place. Neither a comment nor a
// file's name, nor a value that other points have, makes a result stale.
func (b *bodies) hash(o *outline, p space.Point) uint64 {
	var t strings.Builder
	for i, part := range o.code {
		if i%2 == 1 {
			part = b.value(part, p)
		}
		t.WriteString(part)
	}
	return Digest(Version, p.Symbol(), t.String())
}

// value is what param::name is at a point; of any other text the text.
func (b *bodies) value(name string, p space.Point) string {
	if v, ok := p.Get(name); ok {
		return cmp.Or(space.ValueTypes[v], v)
	}
	q, word, _ := strings.Cut(name, "_")
	if v, ok := p.Get(q); ok {
		return strconv.FormatBool(v == word)
	}
	return name
}

// outline reads bodies, and all that they include.
func (b *bodies) outline(files []string) (*outline, error) {
	var text strings.Builder
	for _, file := range append([]string{"cuda/variant.cuh"}, files...) {
		fmt.Fprintf(&text, "#include %q\n", file)
	}
	headers, err := b.reach(text.String())
	if err != nil {
		return nil, err
	}
	o := &outline{headers: headers}
	expanded := expand(headers)
	if o.entries, err = parseEntries(expanded); err != nil {
		return nil, err
	}
	var code strings.Builder
	for _, x := range expanded {
		code.WriteString(canonicalText(directive.ReplaceAllString(x.Text, "")) + "\n")
	}
	end := 0
	for _, m := range parameter.FindAllStringSubmatchIndex(code.String(), -1) {
		o.code = append(o.code, code.String()[end:m[0]], code.String()[m[2]:m[3]])
		end = m[1]
	}
	o.code = append(o.code, code.String()[end:])
	return o, nil
}

// text is the text of a point, without its hash: the point's parameters, and the bodies that it consists of.
func (b *bodies) text(p space.Point, files []string) string {
	s := b.space
	var t strings.Builder
	fmt.Fprintf(&t, "%s\n// %s %s\n", Header, s.Family, p.Label())
	fmt.Fprintf(&t, "#define VARIANT %s\n#include \"cuda/variant.cuh\"\n\nnamespace VARIANT {\nstruct param {\n", p.Symbol())
	for i, q := range s.Params {
		v := p.Values[i]
		if q.Numeric() {
			fmt.Fprintf(&t, "    static constexpr int %s = %s;\n", q.Name, v)
			continue
		}
		var words []string
		for _, w := range q.AllValues() {
			words = append(words, fmt.Sprintf("%s_%s = %t", q.Name, w, v == w))
		}
		fmt.Fprintf(&t, "    static constexpr bool %s;\n", strings.Join(words, ", "))
		if q.Name == space.ValueParam {
			fmt.Fprintf(&t, "    using value = %s;\n", space.ValueTypes[v])
		}
	}
	t.WriteString("};\n}  // namespace VARIANT\n\n")
	for _, file := range files {
		fmt.Fprintf(&t, "#include %q\n", file)
	}
	t.WriteString("#undef VARIANT\n")
	return t.String()
}

// reach lists what a text includes, directly or through another text, each behind those that it includes itself.
func (b *bodies) reach(text string) ([]Include, error) {
	var found []Include
	seen := map[string]bool{}
	var follow func(text, by string) error
	follow = func(text, by string) error {
		for _, inc := range includedNames(text) {
			name, body, err := b.find(inc, path.Dir(by))
			if errors.Is(err, fs.ErrNotExist) {
				return b.missing(inc, text, by)
			}
			if err != nil {
				return err
			}
			if seen[name] {
				continue
			}
			seen[name] = true
			if err := follow(body, name); err != nil {
				return err
			}
			found = append(found, Include{name, body})
		}
		return nil
	}
	return found, follow(text, "")
}

// find looks in the folder of the including text, then from the include root.
func (b *bodies) find(name, from string) (at, text string, err error) {
	for _, at := range []string{path.Join(from, name), path.Clean(name)} {
		if text, ok := b.texts[at]; ok {
			return at, text, nil
		}
		if text, err := fs.ReadFile(b.fsys, at); err == nil {
			if err := b.check(at, string(text)); err != nil {
				return "", "", err
			}
			b.texts[at] = string(text)
			return at, b.texts[at], nil
		}
	}
	return "", "", fs.ErrNotExist
}

// missing says which line includes a file that is not there, or that a body is missing, and which files there are.
func (b *bodies) missing(name, text, by string) error {
	list := ""
	if there, err := fs.Glob(b.fsys, path.Join(path.Dir(name), "*.cuh")); err == nil && there != nil {
		list = ", expected one of " + strings.Join(there, " ")
	}
	if by == "" {
		return fmt.Errorf("there is no body templates/%s%s", name, list)
	}
	line := 1 + strings.Count(text[:strings.Index(text, strconv.Quote(name))], "\n")
	return fmt.Errorf("templates/%s:%d: includes %q, which is not below templates/%s", by, line, name, list)
}

// check finds parameters, and values of parameters, that the space does not have.
func (b *bodies) check(file, text string) error {
	names := []string{}
	for _, p := range b.space.Params {
		if p.Numeric() || p.Name == space.ValueParam {
			names = append(names, p.Name)
		}
		if !p.Numeric() {
			for _, w := range p.AllValues() {
				names = append(names, p.Name+"_"+w)
			}
		}
	}
	n := 0
	for line := range strings.Lines(text) {
		n++
		code, _, _ := strings.Cut(line, "//")
		if m := braces.FindString(code); m != "" {
			return fmt.Errorf("templates/%s:%d: found %s, expected param::NAME, where NAME is one of %s", file, n, m, strings.Join(names, " "))
		}
		for _, m := range parameter.FindAllStringSubmatch(code, -1) {
			if !slices.Contains(names, m[1]) {
				return fmt.Errorf("templates/%s:%d: found %s, which space %s does not have, expected one of %s", file, n, m[0], b.space.Family, strings.Join(names, " "))
			}
		}
	}
	return nil
}

var (
	// braces are those of Go's templates, which C++ has too, but with other names behind the dot.
	braces    = regexp.MustCompile(`\{\{-?\s*\.(N|Type|Symbol)\b[^}]*\}\}`)
	parameter = regexp.MustCompile(`\bparam::(\w+)`)
	macro     = regexp.MustCompile(`(?m)^#[ \t]*define[ \t]+(\w+)[ \t]+((?:.*\\\n)*.*)$`)
	// directive is a line that only says which texts are read, and how often.
	directive = regexp.MustCompile(`(?m)^[ \t]*#[ \t]*(include[ \t]*"[^"\n]*"|pragma[ \t]+once\b).*$`)
)

// expand puts the texts of macros without arguments, which bodies define, in lists of arguments. Lines stay.
func expand(list []Include) []Include {
	macros := map[string]string{}
	out := slices.Clone(list)
	for i := range out {
		if out[i].isHeader() {
			continue
		}
		for _, m := range macro.FindAllStringSubmatch(out[i].Text, -1) {
			macros[m[1]] = strings.Join(strings.Fields(strings.ReplaceAll(m[2], "\\\n", " ")), " ")
		}
		for _, name := range slices.Sorted(maps.Keys(macros)) {
			if strings.Contains(out[i].Text, name) {
				out[i].Text = regexp.MustCompile(`(\(|, )`+name+`\b`).ReplaceAllString(out[i].Text, "${1}"+macros[name])
			}
		}
	}
	return out
}

// isHeader reports whether a text is a header for all kernels, where assembly stands.
func (x Include) isHeader() bool { return strings.HasPrefix(x.Name, "cuda/") }
