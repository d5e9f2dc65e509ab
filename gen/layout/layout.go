// Package layout reads the declarations that a kernel and its headers share with the host, and writes them in
// Go, so that each stands in CUDA alone.
//
// A declaration is shared by a mark, the comment line right above it:
//
//	// What blocks tell one another.
//	// Go: Control
//	struct Control {
//	    i64 least[2];  // smallest uncovered slack
//	    u32 stage;
//	};
//
// In the family assignment/classical it becomes the type ClassicalControl, with fields
// Least and Stage at the same offsets. An enum marked "Go: Stage" becomes a constant for
// each enumerator, GROW_ALONE being ClassicalStageGrowAlone; a constexpr integer marked
// "Go: List" becomes ClassicalList, and where several are declared together the mark goes
// before their names. Declarations of a header, such as templates/assignment/costs.cuh, are
// shared by every family that includes it. Sizes and alignments follow the C rules of CUDA on 64 bits. What the
// package cannot carry over (functions, unions, bit fields, types it does not know) is an
// error at the line of the text.
package layout

import (
	"fmt"
	"go/constant"
	"regexp"
	"slices"
	"strings"
)

// A Layout is all that a family shares.
type Layout struct {
	Constants []Constant
	Structs   []Struct
}

// A Constant is an integer: a constexpr, or an enumerator.
type Constant struct {
	Name  string // "StageSearch"
	From  string // "enum Stage" or "constexpr LIST"
	Doc   string // of the declaration, at the first of its constants
	Value string // decimal
	pos   position
	mark  string
}

// A Struct has the size and the alignment that CUDA gives it, in bytes.
type Struct struct {
	Name        string // "Control"
	C           string // its name in the kernels
	Doc         string
	pos         position
	Fields      []Field
	Size, Align int
}

// A Field is a member of a struct; in the order of their offsets they leave gaps only
// where alignment does.
type Field struct {
	Name   string // "Least"
	Type   string // of Go, an element's: "int64", or the name of a Struct
	Struct bool   // Type is one
	Count  []int  // lengths of an array's dimensions; none: no array
	Offset int    // bytes
	Size   int    // bytes, of the whole array
	Joined bool   // it follows the field before it without a gap, by the same declaration, and has its type
	Doc    string
}

var (
	goName       = regexp.MustCompile(`^[A-Z][A-Za-z0-9]*$`)
	comments     = regexp.MustCompile(`//[^\n]*|/\*(?s:.*?)\*/`)
	constantLine = regexp.MustCompile(`^constexpr\s+(\w+)\s+(\w+\s*=[^;{}]*);$`)
	enum         = regexp.MustCompile(`^enum\s+(\w+)\s*\{([^{}]*)\};$`)
	record       = regexp.MustCompile(`^struct\s+(\w+)\s*\{(?s:(.*))\};$`)
)

// A position is a declaration's line, from 1, of a file.
type position struct {
	file string
	line int
}

func (p position) String() string { return fmt.Sprintf("%s:%d", p.file, p.line) }

// A Source is a text, and the file that errors name.
type Source struct{ Text, File string }

// Read finds the shared declarations of texts that one compiler reads: headers and bodies, each behind those
// that it includes.
func Read(sources ...Source) (*Layout, error) {
	r := &reader{layout: &Layout{}, marks: map[string]position{}, values: map[string]constant.Value{}, structs: map[string]*Struct{}}
	for _, s := range sources {
		if !strings.Contains(s.Text, mark) {
			continue
		}
		r.lines, r.file = strings.Split(s.Text, "\n"), s.File
		r.code = strings.Split(comments.ReplaceAllStringFunc(s.Text, func(c string) string {
			return strings.Repeat("\n", strings.Count(c, "\n"))
		}), "\n")
		for i, line := range r.lines {
			name, marked := strings.CutPrefix(strings.TrimSpace(line), mark)
			if !marked {
				continue
			}
			if err := r.declaration(strings.TrimSpace(name), i); err != nil {
				return nil, err
			}
		}
	}
	return r.layout, nil
}

// mark begins the comment line that shares the declaration below it.
const mark = "// Go:"

// A reader goes through texts once, one after the other.
type reader struct {
	lines, code []string // of the text that is read; code: without comments
	file        string
	layout      *Layout
	marks       map[string]position       // by name: of the mark
	values      map[string]constant.Value // of the constants and enums marked so far
	structs     map[string]*Struct        // by name in C
}

// at is the position of a line, counted from 0.
func (r *reader) at(line int) position { return position{r.file, line + 1} }

// fail is an error at a line, counted from 0.
func (r *reader) fail(line int, format string, args ...any) error {
	return fmt.Errorf("%s: "+format, append([]any{r.at(line)}, args...)...)
}

// declaration reads the declaration below the mark at a line.
func (r *reader) declaration(name string, mark int) error {
	if !goName.MatchString(name) {
		return r.fail(mark, "mark %q, expected // Go: and a name that begins with a capital letter", name)
	}
	if first, again := r.marks[name]; again {
		return r.fail(mark, "mark %s again, the first is at %s", name, first)
	}
	r.marks[name] = r.at(mark)
	from, to, depth := mark+1, mark+1, 0
	for ; ; to++ {
		if to == len(r.code) {
			return r.fail(mark, "mark %s: no declaration ends below it, expected an enum, a struct or a constexpr", name)
		}
		depth += strings.Count(r.code[to], "{") - strings.Count(r.code[to], "}")
		if depth <= 0 && strings.Contains(r.code[to], ";") {
			break
		}
	}
	text := strings.TrimSpace(strings.Join(r.code[from:to+1], "\n"))
	doc := r.above(mark)
	if m := constantLine.FindStringSubmatch(text); m != nil {
		return r.constants(name, doc, m[1], m[2], from)
	}
	if m := enum.FindStringSubmatch(text); m != nil {
		return r.enumerators(name, doc, m[1], m[2], from)
	}
	if m := record.FindStringSubmatch(text); m != nil {
		return r.fields(Struct{Name: name, C: m[1], Doc: doc, pos: r.at(from), Align: 1}, from, to)
	}
	first, _, _ := strings.Cut(text, "\n")
	return r.fail(from, "mark %s: found %q, expected enum NAME { … }; or struct NAME { … }; or constexpr TYPE NAME = …;", name, first)
}

// above is the comment that ends at the mark, without the mark.
func (r *reader) above(mark int) string {
	var doc []string
	for i := mark - 1; i >= 0; i-- {
		text, ok := strings.CutPrefix(strings.TrimSpace(r.lines[i]), "//")
		if !ok {
			break
		}
		doc = append(doc, strings.TrimSpace(text))
	}
	slices.Reverse(doc)
	return strings.Join(doc, "\n")
}

// camel makes GROW_ALONE, grow_alone and growAlone GrowAlone.
func camel(name string) string {
	if name == strings.ToUpper(name) {
		name = strings.ToLower(name)
	}
	var b strings.Builder
	for word := range strings.SplitSeq(name, "_") {
		if word != "" {
			b.WriteString(strings.ToUpper(word[:1]) + word[1:])
		}
	}
	return b.String()
}

// constants reads NAME = value, of one declaration or several.
func (r *reader) constants(name, doc, kind, list string, line int) error {
	t, ok := scalars[kind]
	if !ok || !t.integer {
		return r.fail(line, "mark %s: constexpr of type %s, expected an integer", name, kind)
	}
	entries := strings.Split(list, ",")
	for _, entry := range entries {
		c, expr, ok := strings.Cut(entry, "=")
		c = strings.TrimSpace(c)
		if !ok {
			return r.fail(line, "mark %s: found %q, expected NAME = value", name, strings.TrimSpace(entry))
		}
		v, err := r.value(expr)
		if err != nil {
			return r.fail(line, "mark %s: %s: %w", name, c, err)
		}
		if !t.holds(v) {
			return r.fail(line, "mark %s: %s = %s does not fit %s", name, c, v, kind)
		}
		as := name
		if len(entries) > 1 {
			as += camel(c)
		}
		if err := r.define(Constant{Name: as, From: "constexpr " + c, Doc: doc, mark: name}, c, v, line); err != nil {
			return err
		}
		doc = ""
	}
	return nil
}

// enumerators reads NAME and NAME = value.
func (r *reader) enumerators(name, doc, c, list string, line int) error {
	next := constant.MakeInt64(0)
	for entry := range strings.SplitSeq(strings.TrimSuffix(strings.TrimSpace(list), ","), ",") {
		member, expr, given := strings.Cut(entry, "=")
		member = strings.TrimSpace(member)
		if !identifier.MatchString(member) {
			return r.fail(line, "mark %s: found %q, expected an enumerator", name, member)
		}
		v := next
		if given {
			var err error
			if v, err = r.value(expr); err != nil {
				return r.fail(line, "mark %s: %s: %w", name, member, err)
			}
		}
		if !scalars["i64"].holds(v) {
			return r.fail(line, "mark %s: %s = %s does not fit 8 bytes", name, member, v)
		}
		if err := r.define(Constant{Name: name + camel(member), From: "enum " + c, Doc: doc, mark: name}, member, v, line); err != nil {
			return err
		}
		next, doc = plusOne(v), ""
	}
	return nil
}

// define adds a constant, and its name in C to those that later values may use.
func (r *reader) define(k Constant, c string, v constant.Value, line int) error {
	k.Value, k.pos = v.ExactString(), r.at(line)
	if _, again := r.values[c]; again {
		return r.fail(line, "mark %s: %s again, expected each name once", k.mark, c)
	}
	if r.taken(k.Name) {
		return r.fail(line, "mark %s: two declarations become %s, expected another mark", k.mark, k.Name)
	}
	r.values[c] = v
	r.layout.Constants = append(r.layout.Constants, k)
	return nil
}

// taken reports whether a name in Go is in use.
func (r *reader) taken(name string) bool {
	return slices.ContainsFunc(r.layout.Constants, func(k Constant) bool { return k.Name == name }) ||
		slices.ContainsFunc(r.layout.Structs, func(s Struct) bool { return s.Name == name })
}

// Merge adds the declarations of a variant to those of the variants before it. Declarations of the
// same name must be equal, as Go has one of each.
func (l *Layout) Merge(variant *Layout) error {
	for _, k := range variant.Constants {
		i := slices.IndexFunc(l.Constants, func(x Constant) bool { return x.Name == k.Name })
		if i < 0 {
			l.Constants = append(l.Constants, k)
		} else if x := l.Constants[i]; x.Value != k.Value || x.From != k.From {
			return fmt.Errorf("%s: %s is %s by %s, expected %s by %s as in variants before it (%s)", k.pos, k.Name, k.Value, k.From, x.Value, x.From, x.pos)
		}
	}
	for _, s := range variant.Structs {
		i := slices.IndexFunc(l.Structs, func(x Struct) bool { return x.Name == s.Name })
		if i < 0 {
			l.Structs = append(l.Structs, s)
		} else if x := l.Structs[i]; x.shape() != s.shape() {
			return fmt.Errorf("%s: struct %s is %s, expected %s as in variants before it (%s)", s.pos, s.C, s.shape(), x.shape(), x.pos)
		}
	}
	return nil
}

// shape is all of a struct that memory knows.
func (s Struct) shape() string {
	var b strings.Builder
	for _, f := range s.Fields {
		fmt.Fprintf(&b, "%s %v%s at %d, ", f.Name, f.Count, f.Type, f.Offset)
	}
	return fmt.Sprintf("{%s%d bytes}", b.String(), s.Size)
}
