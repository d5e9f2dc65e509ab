package layout

import (
	"go/constant"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var (
	member     = regexp.MustCompile(`^(?:alignas\((\w+)\)\s*)?(?:const\s+)?(unsigned long long|unsigned int|unsigned|long long|\w+)\b\s*([*\w].*)$`)
	declarator = regexp.MustCompile(`^(\*?)\s*([A-Za-z_]\w*)\s*((?:\[[^\[\]]+\])*)$`)
	dimension  = regexp.MustCompile(`\[([^\[\]]+)\]`)
	longNames  = map[string]string{"unsigned long long": "u64", "long long": "i64", "unsigned int": "u32", "unsigned": "u32"}
)

// readFields reads the members of a struct, which stand on its lines from one to another.
func (r *reader) readFields(s Struct, from, to int) error {
	if r.structs[s.C] != nil || r.nameTaken(s.Name) {
		return r.errorAt(from, "mark %s: struct %s again, expected each once", s.Name, s.C)
	}
	// Members end with semicolons: a line may hold several, and a member several lines.
	text := strings.Join(r.code[from:to+1], "\n")
	text = text[strings.Index(text, "{")+1 : strings.LastIndex(text, "}")]
	line := from + strings.Count(strings.Split(strings.Join(r.code[from:to+1], "\n"), "{")[0], "\n")
	for i, part := range strings.SplitAfter(text, ";") {
		blank := part[:len(part)-len(strings.TrimLeft(part, " \t\n"))]
		line += strings.Count(blank, "\n")
		part = strings.TrimSpace(part)
		at := line
		line += strings.Count(part, "\n")
		if part == "" {
			continue
		}
		words, ended := strings.CutSuffix(strings.Join(strings.Fields(part), " "), ";")
		m := member.FindStringSubmatch(words)
		if !ended || m == nil || strings.ContainsAny(words, "{}:=&") || strings.Contains(m[3], "(") {
			return r.errorAt(at, "mark %s: member %d is %q, expected a type and names: no functions, initial values, bit fields, references and types within", s.Name, i+1, words)
		}
		if err := r.member(&s, m, r.lineComment(line), at); err != nil {
			return err
		}
	}
	if len(s.Fields) == 0 {
		return r.errorAt(from, "mark %s: struct %s has no member, expected one", s.Name, s.C)
	}
	s.Size = roundUp(s.Size, s.Align)
	r.structs[s.C] = &s
	r.layout.Structs = append(r.layout.Structs, s)
	return nil
}

// member adds the names of one declaration to a struct: its alignment, its type, names.
func (r *reader) member(s *Struct, m []string, doc string, line int) error {
	kind := m[2]
	if short, ok := longNames[kind]; ok {
		kind = short
	}
	least := 1
	if m[1] != "" {
		n, err := strconv.Atoi(m[1])
		if err != nil || n <= 0 || n&(n-1) != 0 {
			return r.errorAt(line, "mark %s: alignas(%s), expected a power of two", s.Name, m[1])
		}
		least = n
	}
	for i, text := range strings.Split(m[3], ",") {
		d := declarator.FindStringSubmatch(strings.TrimSpace(text))
		if d == nil {
			return r.errorAt(line, "mark %s: found %q, expected a name, *name or name[length]", s.Name, strings.TrimSpace(text))
		}
		f := Field{Name: camelCase(d[2]), Doc: doc}
		if r.hasField(s, f.Name) {
			return r.errorAt(line, "mark %s: two members become %s, expected another name", s.Name, f.Name)
		}
		align := 8
		switch t, known := scalars[kind]; {
		case d[1] == "*":
			f.Type, f.Size = "uint64", 8
		case known:
			f.Type, f.Size, align = t.goes, t.size, t.size
		case r.structs[kind] != nil:
			of := r.structs[kind]
			f.Type, f.Struct, f.Size, align = of.Name, true, of.Size, of.Align
		default:
			return r.errorAt(line, "mark %s: type %s of %s is unknown, expected a number of CUDA, a pointer or a struct that is marked above", s.Name, kind, d[2])
		}
		for _, n := range dimension.FindAllStringSubmatch(d[3], -1) {
			v, err := r.evaluate(n[1])
			if err != nil {
				return r.errorAt(line, "mark %s: length of %s: %w", s.Name, d[2], err)
			}
			count, exact := constant.Int64Val(v)
			if !exact || count <= 0 || count > 1<<20 {
				return r.errorAt(line, "mark %s: %s has the length %s, expected 1 to %d", s.Name, d[2], v, 1<<20)
			}
			f.Count = append(f.Count, int(count))
			f.Size *= int(count)
		}
		align = max(align, least)
		f.Offset = roundUp(s.Size, align)
		if i > 0 {
			last := s.Fields[len(s.Fields)-1]
			f.Joined = f.Offset == s.Size && f.Type == last.Type && slices.Equal(f.Count, last.Count)
		}
		s.Size, s.Align = f.Offset+f.Size, max(s.Align, align)
		s.Fields = append(s.Fields, f)
	}
	return nil
}

func (r *reader) hasField(s *Struct, field string) bool {
	for _, f := range s.Fields {
		if f.Name == field {
			return true
		}
	}
	return false
}

// lineComment is the comment at the end of a line.
func (r *reader) lineComment(line int) string {
	_, text, _ := strings.Cut(r.lines[line], "//")
	return strings.TrimSpace(text)
}

func roundUp(n, to int) int { return (n + to - 1) / to * to }
