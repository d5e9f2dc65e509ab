package cuda

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// An Entry is the signature of an entry point. Types are those of
// device.Param: "buffer", "uint64", "int64" or "float64".
type Entry struct {
	Name    string
	Params  []Param
	Threads int // of a block, at most; 0 where the launch bounds are no number
}

// A Param is one argument of an entry point. Element is the Go type of a buffer's elements as the kernel has them, ElementValue
// for that of the parameter value, empty where Go has no such type.
type Param struct{ Name, Type, Element string }

// ElementValue stands for the type that a variant's parameter value names.
const ElementValue = "value"

// elements are the Go types of C's.
var elements = map[string]string{
	"unsigned long long": "uint64", "long long": "int64", "unsigned": "uint32", "unsigned int": "uint32", "int": "int32",
	"unsigned short": "uint16", "short": "int16", "unsigned char": "uint8", "signed char": "int8", "float": "float32", "double": "float64",
	"u64": "uint64", "i64": "int64", "u32": "uint32", "i32": "int32", "param::value": ElementValue,
}

// alias finds a name of the body's own for the type of the parameter value.
var alias = regexp.MustCompile(`(?m)^\s*using (\w+) = param::value;`)

var (
	comment = regexp.MustCompile(`(?s)//[^\n]*|/\*.*?\*/`)
	kernel  = regexp.MustCompile(`extern\s+"C"\s+__global__\s+void\s+(?:__launch_bounds__\s*\(\s*([^,()]*)[^)]*\)\s*)?ENTRY\(\s*(\w+)\s*\)\s*\(([^)]*)\)\s*\{`)
	global  = regexp.MustCompile(`\b__global__\b`)
	param   = regexp.MustCompile(`^(.*[^\w])(\w+)$`)
	exports = regexp.MustCompile(`^[a-z][A-Za-z0-9]*$`)
	pointer = regexp.MustCompile(`^(?:const )?[\w: ]+\*(?: ?const)?(?: ?__restrict__)?$`)
)

// forbidden in a body: what holds a word and is matched by an expression, with the reason.
var forbidden = []struct {
	word string
	text *regexp.Regexp
	why  string
}{
	{"__shared__", regexp.MustCompile(`\bextern\s+__shared__|\b__shared__[^;]*\[\s*\]`), "a shared array without a size, expected static ones only"},
	{"asm", regexp.MustCompile(`\b(asm|__asm__)\b`), "inline assembly, expected it behind a function of templates/cuda/*.cuh"},
}

// An entry is an entry point as a body has it.
type entry struct {
	name, bound string // bound: the most threads of a block, as the launch bounds say
	params      []Param
}

// parseEntries reads the entry points out of the texts of a variant, and checks the rules that hold for every body.
func parseEntries(list []Include) ([]entry, error) {
	var all []entry
	for _, x := range list {
		if x.isHeader() {
			continue
		}
		found, err := x.entries()
		if err != nil {
			return nil, err
		}
		for _, e := range found {
			if slices.ContainsFunc(all, func(a entry) bool { return a.name == e.name }) {
				return nil, fmt.Errorf("templates/%s: entry %s again, expected each once", x.Name, e.name)
			}
			all = append(all, e)
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("no entry point, expected extern \"C\" __global__ void ENTRY(name)(…) in a body")
	}
	return all, nil
}

// entries reads the entry points of one text.
func (x Include) entries() ([]entry, error) {
	if !strings.Contains(x.Text, "__global__") && !strings.Contains(x.Text, "asm") && !strings.Contains(x.Text, "__shared__") {
		return nil, nil
	}
	// Comments become blanks on the same lines, so that errors name the right positions.
	code := comment.ReplaceAllStringFunc(x.Text, func(c string) string {
		return strings.Repeat("\n", strings.Count(c, "\n"))
	})
	fail := func(at int, format string, args ...any) error {
		return fmt.Errorf("templates/%s:%d: %s", x.Name, 1+strings.Count(code[:at], "\n"), fmt.Sprintf(format, args...))
	}
	for _, f := range forbidden {
		if !strings.Contains(code, f.word) {
			continue
		}
		if at := f.text.FindStringIndex(code); at != nil {
			return nil, fail(at[0], "%s", f.why)
		}
	}
	names := map[string]bool{}
	for _, m := range alias.FindAllStringSubmatch(code, -1) {
		names[m[1]] = true
	}
	var out []entry
	found := kernel.FindAllStringSubmatchIndex(code, -1)
	for _, g := range global.FindAllStringIndex(code, -1) {
		if !slices.ContainsFunc(found, func(m []int) bool { return m[0] <= g[0] && g[0] < m[1] }) {
			return nil, fail(g[0], "a __global__ function that does not read as: extern \"C\" __global__ void __launch_bounds__(N) ENTRY(name)(…) {")
		}
		if !strings.Contains(code[:g[0]], "namespace VARIANT") {
			return nil, fail(g[0], "an entry point outside of namespace VARIANT { … }, expected all code of a body within it")
		}
	}
	for _, m := range found {
		e, at := entry{name: code[m[4]:m[5]]}, m[0]
		if !exports.MatchString(e.name) || e.name == "hash" || e.name == "close" || e.name == "has" || e.name == "resources" {
			return nil, fail(at, "entry %s, expected a lower-case name that is not hash, close, has or resources", e.name)
		}
		if m[2] >= 0 {
			e.bound = strings.TrimSpace(code[m[2]:m[3]])
		}
		if list := strings.TrimSpace(code[m[6]:m[7]]); list != "" {
			for arg := range strings.SplitSeq(list, ",") {
				p, err := readParam(arg, names)
				if err != nil {
					return nil, fail(at, "entry %s: %v", e.name, err)
				}
				e.params = append(e.params, p)
			}
		}
		out = append(out, e)
	}
	return out, nil
}

// readParam reads "unsigned long long c0": a type of 8 bytes and a name. values are the names of the type of the parameter value.
func readParam(text string, values map[string]bool) (Param, error) {
	words := strings.Join(strings.Fields(text), " ")
	m := param.FindStringSubmatch(words)
	if m == nil {
		return Param{}, fmt.Errorf("argument %q, expected a type and a name", words)
	}
	kind := strings.TrimSpace(strings.ReplaceAll(m[1], " *", "*"))
	p := Param{Name: m[2]}
	switch {
	case pointer.MatchString(kind):
		p.Type = "buffer"
		element := strings.TrimSpace(strings.TrimPrefix(kind[:strings.Index(kind, "*")], "const "))
		if p.Element = elements[element]; values[element] {
			p.Element = ElementValue
		}
	case kind == "unsigned long long":
		p.Type = "uint64"
	case kind == "long long":
		p.Type = "int64"
	case kind == "double":
		p.Type = "float64"
	default:
		return Param{}, fmt.Errorf("argument %s of type %s, expected a pointer, unsigned long long, long long or double (8 bytes each)", p.Name, kind)
	}
	return p, nil
}

// mergeEntries adds a variant's entries to the family's. An entry has one signature in all variants, but for the types of
// buffers' elements, which Go does not know then.
func mergeEntries(all, some []Entry) ([]Entry, error) {
	for _, e := range some {
		i := slices.IndexFunc(all, func(a Entry) bool { return a.Name == e.Name })
		if i < 0 {
			all = append(all, e)
			continue
		}
		same := func(a, b Param) bool { return a.Name == b.Name && a.Type == b.Type }
		if !slices.EqualFunc(all[i].Params, e.Params, same) {
			return nil, fmt.Errorf("entry %s has the arguments %v, expected those of the variants before it, %v", e.Name, e.Params, all[i].Params)
		}
		for k, p := range e.Params {
			if all[i].Params[k].Element != p.Element {
				all[i].Params = slices.Clone(all[i].Params)
				all[i].Params[k].Element = ""
			}
		}
	}
	return all, nil
}
