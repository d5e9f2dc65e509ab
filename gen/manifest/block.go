package manifest

import (
	"go/token"
	"go/types"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/mod/modfile"

	"coalesce/gen/space"
)

var (
	familyName = regexp.MustCompile(`^[a-z][a-z0-9]*/[a-z][a-z0-9]*$`)
	paramName  = regexp.MustCompile(`^[a-z][a-z0-9]*$`)
	wordValue  = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*$`)
)

// directives are the first words of a line that are not a parameter's name.
var directives = []string{"target", "vary", "where", "study", "needs", "hold", "body", "safe", "point"}

// An entry is a line of a block, to be looked at once all parameters are known.
type entry struct {
	pos    string
	tokens []string // after the directive
}

// readSpace reads the lines of a space. A space with an error is nil: the error is
// in r already.
func (r *reader) readSpace(family, pos string, lines []*modfile.Line) *space.Space {
	s := &space.Space{Family: family, Target: space.CUDA, Pos: pos}
	before := len(r.errors)
	later := map[string][]entry{}
	for _, line := range lines {
		if len(line.Token) == 0 {
			continue
		}
		name, e := line.Token[0], entry{r.position(line.Start), line.Token[1:]}
		if slices.Contains(directives, name) {
			later[name] = append(later[name], e)
			continue
		}
		r.parameter(s, name, e)
	}
	if len(s.Params) == 0 && len(r.errors) == before {
		r.addError(pos, "space %s has no parameter, expected lines such as: block 64 128", family)
	}
	r.target(s, later["target"])
	for _, e := range later["vary"] {
		r.vary(s, e)
	}
	for _, e := range later["where"] {
		if c := r.constraint(s, "where", space.ParseConstraint, e); c != nil {
			s.Where = append(s.Where, c)
		}
	}
	for _, e := range later["study"] {
		if c := r.constraint(s, "study", space.ParseStudy, e); c != nil {
			s.Study = append(s.Study, c)
		}
	}
	for _, e := range later["needs"] {
		r.readArchNeed(s, e)
	}
	for _, e := range later["hold"] {
		if c := r.constraint(s, "hold", space.ParseConstraint, e); c != nil {
			s.Hold = append(s.Hold, c)
		}
	}
	for _, e := range later["body"] {
		r.body(s, e)
	}
	r.safe(s, later["safe"])
	for _, e := range later["point"] {
		r.point(s, e)
	}
	r.words(s)
	if len(r.errors) > before {
		return nil
	}
	return s
}

// cppWords are the keywords of C++ that Go takes as names: no parameter may have one.
var cppWords = strings.Fields(`alignas alignof and asm auto catch char class compl concept constexpr delete do double
	enum explicit export extern friend inline long mutable namespace noexcept not nullptr operator or private protected
	public register requires short signed sizeof static template this throw try typedef typeid typename union unsigned
	using virtual void volatile while xor`)

// parameter reads a plain line: a name and its values.
func (r *reader) parameter(s *space.Space, name string, e entry) {
	if nearest := Nearest(name, directives); nearest != "" && editDistance(name, nearest) == 1 {
		r.addError(e.pos, "unknown directive %q, did you mean %q?", name, nearest)
		return
	}
	if len(e.tokens) > 0 && strings.HasPrefix(e.tokens[0], `"`) {
		r.addError(e.pos, "unknown directive %q before a quoted text, expected where, study or point%s", name, didYouMean(name, directives))
		return
	}
	switch {
	case !paramName.MatchString(name):
		r.addError(e.pos, "parameter name %q, expected lower-case letters and digits", name)
		return
	case token.IsKeyword(name) || types.Universe.Lookup(name) != nil:
		r.addError(e.pos, "parameter name %q is a word of Go and cannot stand in a constraint, expected another name", name)
		return
	case slices.Contains(cppWords, name):
		r.addError(e.pos, "parameter name %q is a word of C++ and cannot name a kernel's constant, expected another name", name)
		return
	}
	if p := s.Param(name); p != nil {
		r.addError(e.pos, "parameter %s again, the first is at %s", name, p.Pos)
		return
	}
	// The parameter is kept even when a value is wrong, so that lines which
	// name it do not fail too.
	s.Params = append(s.Params, space.Param{Name: name, Pos: e.pos})
	s.Params[len(s.Params)-1].Values = r.values(name, e, nil)
}

// values checks a list of values: valid, not empty, none twice.
func (r *reader) values(name string, e entry, have []string) []string {
	if len(e.tokens) == 0 {
		r.addError(e.pos, "parameter %s has no value, expected at least one", name)
		return nil
	}
	var out []string
	for _, v := range e.tokens {
		n, err := strconv.Atoi(v)
		number := err == nil && strconv.Itoa(n) == v
		kinds := sortedTypes()
		switch {
		case !number && !wordValue.MatchString(v):
			r.addError(e.pos, "value %s of %s, expected an integer or a word of letters, digits and _", v, name)
		case name == space.ValueParam && !slices.Contains(kinds, v):
			r.addError(e.pos, "value type %s, expected one of %s%s", v, strings.Join(kinds, " "), didYouMean(v, kinds))
		case slices.Contains(out, v) || slices.Contains(have, v):
			r.addError(e.pos, "value %s of %s again, expected each once", v, name)
		default:
			out = append(out, v)
		}
	}
	return out
}

func sortedTypes() []string {
	var out []string
	for t := range space.ValueTypes {
		out = append(out, t)
	}
	slices.Sort(out)
	return out
}

func (r *reader) target(s *space.Space, entries []entry) {
	targets := []string{space.CUDA, space.Host}
	for i, e := range entries {
		found := strings.Join(e.tokens, " ")
		switch {
		case i > 0:
			r.addError(e.pos, "target again, the first is at %s", entries[0].pos)
		case !slices.Contains(targets, found):
			r.addError(e.pos, "target %q, expected cuda or host%s", found, didYouMean(found, targets))
		default:
			s.Target = found
		}
	}
}

func (r *reader) vary(s *space.Space, e entry) {
	if len(e.tokens) == 0 {
		r.addError(e.pos, "vary names nothing, expected a parameter and values")
		return
	}
	name := e.tokens[0]
	p := s.Param(name)
	if p == nil {
		r.addError(e.pos, "vary %s: no parameter of that name, expected one with a plain line (its default)%s", name, didYouMean(name, s.ParamNames()))
		return
	}
	if len(p.Vary) > 0 {
		r.addError(e.pos, "vary %s again, expected one line a parameter", name)
		return
	}
	p.Vary = r.values(name, entry{e.pos, e.tokens[1:]}, p.Values)
}

// quoted reads the one quoted text of a line.
func (r *reader) quoted(directive string, e entry) (string, bool) {
	if len(e.tokens) == 1 {
		if text, err := strconv.Unquote(e.tokens[0]); err == nil {
			return text, true
		}
	}
	r.addError(e.pos, "%s %s, expected one text in quotes", directive, strings.Join(e.tokens, " "))
	return "", false
}

var archName = regexp.MustCompile(`^sm_[1-9][0-9]{1,2}$`)

// IsArch reports whether name is that of an architecture, such as sm_90.
func IsArch(name string) bool { return archName.MatchString(name) }

// readArchNeed reads an architecture and the constraint of the points that use a feature
// which earlier ones lack.
func (r *reader) readArchNeed(s *space.Space, e entry) {
	if len(e.tokens) == 0 || !archName.MatchString(e.tokens[0]) {
		r.addError(e.pos, "needs %s, expected an architecture and a constraint, such as: needs sm_90 \"cluster > 1\"", strings.Join(e.tokens, " "))
		return
	}
	arch, err := strconv.Atoi(strings.TrimPrefix(e.tokens[0], "sm_"))
	if err != nil {
		r.addError(e.pos, "needs %s, expected an architecture such as sm_90", e.tokens[0])
		return
	}
	if c := r.constraint(s, "needs", space.ParseConstraint, entry{e.pos, e.tokens[1:]}); c != nil {
		s.Needs = append(s.Needs, space.ArchNeed{Arch: arch, Constraint: c})
	}
}

// body reads names of files, and the constraint of the points that consist of them. A name with a
// slash is below templates/, any other in the family's folder.
func (r *reader) body(s *space.Space, e entry) {
	if s.Target != space.CUDA {
		r.addError(e.pos, "body, and the target is %s, expected bodies of the target cuda alone", s.Target)
		return
	}
	b := space.Body{}
	for i, t := range e.tokens {
		if strings.HasPrefix(t, `"`) {
			b.Constraint = r.constraint(s, "body", space.ParseConstraint, entry{e.pos, e.tokens[i:]})
			break
		}
		if !strings.Contains(t, "/") {
			t = s.Family + "/" + t
		}
		b.Files = append(b.Files, t+".cuh")
	}
	if len(b.Files) == 0 {
		r.addError(e.pos, "body names no file, expected such as: body level direct \"order == \\\"strided\\\"\"")
		return
	}
	s.Bodies = append(s.Bodies, b)
}

// words finds constraints that compare a parameter with a word that is none of its values.
func (r *reader) words(s *space.Space) {
	list := slices.Concat(s.Where, s.Study, s.Hold)
	for _, n := range s.Needs {
		list = append(list, n.Constraint)
	}
	for _, b := range s.Bodies {
		if b.Constraint != nil {
			list = append(list, b.Constraint)
		}
	}
	for _, c := range list {
		for _, pair := range c.ComparedWords() {
			if p := s.Param(pair[0]); !p.Numeric() && !slices.Contains(p.AllValues(), pair[1]) {
				r.addError(c.Pos, "%q: %s is never %s, expected one of %s", c.Expr, pair[0], pair[1], strings.Join(p.AllValues(), " "))
			}
		}
	}
}

// constraint reads the expression of a line; nil where it is wrong.
func (r *reader) constraint(s *space.Space, verb string, parse func(expr, pos string) (*space.Constraint, error), e entry) *space.Constraint {
	text, ok := r.quoted(verb, e)
	if !ok {
		return nil
	}
	c, err := parse(text, e.pos)
	if err != nil {
		r.errors = append(r.errors, err)
		return nil
	}
	known := true
	for _, name := range c.Names {
		if s.Param(name) == nil {
			known = false
			r.addError(e.pos, "%s %q: no parameter %s%s", verb, text, name, didYouMean(name, s.ParamNames()))
		}
	}
	if !known {
		return nil
	}
	return c
}

func (r *reader) safe(s *space.Space, entries []entry) {
	if len(entries) == 0 {
		s.Safe = space.Assignment{Values: map[string]string{}, Pos: s.Pos}
		return
	}
	for _, e := range entries[1:] {
		r.addError(e.pos, "safe again, the first is at %s", entries[0].pos)
	}
	s.Safe = r.assignment(s, "safe", entries[0].tokens, entries[0].pos)
	if _, named := s.Safe.Values[space.ValueParam]; named {
		r.addError(entries[0].pos, "safe names %s, expected the other parameters: it holds for every value type", space.ValueParam)
	}
	for _, p := range s.Params {
		if _, named := s.Safe.Values[p.Name]; !named && len(p.Values) > 1 && p.Name != space.ValueParam {
			r.addError(entries[0].pos, "safe names no value of %s, expected one of %s", p.Name, strings.Join(p.Values, " "))
		}
	}
}

func (r *reader) point(s *space.Space, e entry) {
	text, ok := r.quoted("point", e)
	if !ok {
		return
	}
	s.Points = append(s.Points, r.assignment(s, "point", strings.Split(text, ","), e.pos))
}

// assignment reads name=value pairs.
func (r *reader) assignment(s *space.Space, directive string, pairs []string, pos string) space.Assignment {
	a := space.Assignment{Values: map[string]string{}, Pos: pos}
	for _, pair := range pairs {
		name, value, ok := strings.Cut(strings.TrimSpace(pair), "=")
		if !ok {
			r.addError(pos, "%s: found %q, expected name=value", directive, pair)
			continue
		}
		p := s.Param(name)
		if p == nil {
			r.addError(pos, "%s: no parameter %q%s", directive, name, didYouMean(name, s.ParamNames()))
			continue
		}
		if _, dup := a.Values[name]; dup {
			r.addError(pos, "%s: %s again, expected each parameter once", directive, name)
			continue
		}
		if directive == "point" && r.extra(p, value) {
			a.Values[name] = value
			continue
		}
		if !slices.Contains(p.AllValues(), value) && len(p.Values) > 0 {
			r.addError(pos, "%s: %s=%s is outside the space, expected one of %s%s", directive, name, value,
				strings.Join(p.AllValues(), " "), didYouMean(value, p.AllValues()))
			continue
		}
		a.Values[name] = value
	}
	return a
}

// extra lets a point bring a value of its own: any integer for a numeric
// parameter, a word that is not a near miss of another for the rest. It
// reports whether the value stands in p now.
func (r *reader) extra(p *space.Param, value string) bool {
	if slices.Contains(p.AllValues(), value) {
		return true
	}
	n, err := strconv.Atoi(value)
	number := err == nil && strconv.Itoa(n) == value
	switch {
	case p.Name == space.ValueParam || p.Numeric() != number:
		return false
	case !number && (!wordValue.MatchString(value) || editDistance(value, Nearest(value, p.AllValues())) <= 2):
		return false
	}
	p.Extra = append(p.Extra, value)
	return true
}
