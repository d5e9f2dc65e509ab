package main

import (
	"cmp"
	"errors"
	"fmt"
	"go/types"
	"slices"
	"strings"

	"coalesce/gen/declared"
)

// A resultDoor is the JSON object of a problem's results.
type resultDoor struct {
	problem, folder, name string
	title                 string
	class                 string   // of Python; empty: Python has the object alone
	own                   []string // members that Python's class has in forms of its own, or not
}

var resultDoors = []resultDoor{
	{"csg", "solvers/csg", "Result", "Coalition structures of tables", "CSGFields", []string{"solution", "agents"}},
	{"csg", "solvers/csg/anytime", "Result", "Coalition structures of graphs and distributions", "", nil},
	{"csg", "solvers/csg/listed", "Result", "Coalition structures of listed coalitions", "CSGListedFields", []string{"solution", "agents", "bids", "proof"}},
	{"auction", "solvers/auction", "written", "Auctions", "AuctionFields", []string{"solution", "payments", "best", "complete"}},
	{"assignment", "solvers/assignment", "written", "Assignments", "AssignmentFields", []string{"solution", "row_names", "col_names", "duals", "best", "complete"}},
	{"qubo", "solvers/qubo", "written", "Binary quadratic programs", "QUBOFields", []string{"solution", "names", "assignment", "history", "solutions"}},
	{"model", "solvers/model", "Result", "Models with constraints", "ModelFields", []string{"solution", "assignment", "history"}},
}

// A shape is what a JSON value may be.
type shape struct {
	kinds  []string // number, integer, string, boolean, array or object
	words  []string // of texts; nil: any
	items  *shape   // of an array, or of an object that is a map
	count  int64    // of the items of an array; 0: any
	object *object  // nil: a map
	number bool     // a solve.Number
}

// An object is a JSON object, made of a Go struct.
type object struct {
	name    string // a problem and a type, such as csg.Certificate
	members []member
}

// A member is a member of an object, as a field of the struct declares it.
type member struct {
	name, about, unit string
	none              string // when it is null, or left out
	optional          bool   // it is left out then
	shared            bool   // it is of solve.Report
	zero              string // what a member stands for that is left out, as Python writes it; empty: for nothing
	shape             *shape
}

// A resultReader makes objects of structs.
type resultReader struct {
	*declared.Reader
	objects map[*types.TypeName]*object
	named   map[string]*object
}

// readResults are the objects of resultDoors.
func readResults(dir string) (*resultReader, []*object, error) {
	patterns := make([]string, len(resultDoors))
	for k, d := range resultDoors {
		patterns[k] = "./" + d.folder
	}
	found, err := declared.Load(dir, nil, patterns...)
	if err != nil {
		return nil, nil, err
	}
	r := &resultReader{found, map[*types.TypeName]*object{}, map[string]*object{}}
	objects := make([]*object, len(resultDoors))
	for _, p := range found.Packages {
		for _, e := range p.Errors {
			err = errors.Join(err, e)
		}
		for k, d := range resultDoors {
			if err != nil || !strings.HasSuffix(p.PkgPath, "/"+d.folder) {
				continue
			}
			o, err := r.object(p.Types.Scope().Lookup(d.name).Type().(*types.Named))
			if err != nil {
				return nil, nil, err
			}
			delete(r.named, o.name)
			o.name = strings.Replace(o.name, ".Written", ".Result", 1)
			objects[k], r.named[o.name] = o, o
			o.member("problem").shape.words = []string{d.problem}
		}
	}
	return r, objects, err
}

// reportOf is the object that results of all problems share.
func reportOf(objects []*object) *object {
	report := &object{name: "Report"}
	for _, m := range objects[0].members {
		if m.shared {
			report.members = append(report.members, m)
		}
	}
	problem := *report.member("problem").shape
	problem.words = nil
	for _, d := range resultDoors {
		if !slices.Contains(problem.words, d.problem) {
			problem.words = append(problem.words, d.problem)
		}
	}
	report.member("problem").shape = &problem
	return report
}

// everyMember chooses every member.
func everyMember(*member) bool { return true }

// member is the member of a name, nil where there is none.
func (o *object) member(name string) *member {
	for k := range o.members {
		if o.members[k].name == name {
			return &o.members[k]
		}
	}
	return nil
}

// object is the JSON object of a struct.
func (r *resultReader) object(t *types.Named) (*object, error) {
	of := t.Obj()
	if o := r.objects[of]; o != nil {
		return o, nil
	}
	name := strings.ToUpper(of.Name()[:1]) + of.Name()[1:]
	_, path, _ := strings.Cut(of.Pkg().Path(), "/solvers/")
	if problem, _, _ := strings.Cut(path, "/"); problem != "solve" {
		name = problem + "." + name
	}
	if r.named[name] != nil {
		name = strings.Replace(name, ".", "."+of.Pkg().Name()+".", 1)
	}
	o := &object{name: name}
	r.objects[of], r.named[name] = o, o
	var err error
	o.members, err = r.members(t.Underlying().(*types.Struct))
	return o, err
}

// members are the members of a struct's object, those of structs that it embeds included.
func (r *resultReader) members(s *types.Struct) (list []member, err error) {
	fields, err := r.Fields(s)
	if err != nil {
		return nil, err
	}
	var own []member
	for _, f := range fields {
		name, flags, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-" || !f.Exported() && !f.Embedded():
		case f.Embedded() && name == "":
			inner, none := types.Unalias(f.Type()), f.Tag.Get("none")
			if p, ok := inner.(*types.Pointer); ok {
				inner = types.Unalias(p.Elem())
			}
			more, err := r.members(inner.Underlying().(*types.Struct))
			if err != nil {
				return nil, err
			}
			for k := range more {
				more[k].optional = more[k].optional || none != ""
				more[k].none = cmp.Or(more[k].none, none)
				more[k].shared = more[k].shared || inner.String() == f.Pkg().Path()[:strings.Index(f.Pkg().Path(), "/solvers/")]+"/solvers/solve.Report"
			}
			list = append(list, more...)
		default:
			m := member{name: name, about: f.Comment, unit: f.Tag.Get("unit"), none: f.Tag.Get("none"), optional: strings.HasPrefix(flags, "omit")}
			if m.shape, err = r.shape(f.Type()); err == nil {
				err = m.check(f)
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %s: %w", f.At, f.Name(), err)
			}
			own = append(own, m)
		}
	}
	for _, m := range own { // of two of a name JSON has the outer one
		if at := slices.IndexFunc(list, func(x member) bool { return x.name == m.name }); at >= 0 {
			m.shared = list[at].shared
			list[at] = m
		} else {
			list = append(list, m)
		}
	}
	return list, nil
}

// check completes a member from its field's type and tags.
func (m *member) check(f declared.Field) error {
	if words := f.Tag.Get("values"); words != "" {
		m.shape.words = strings.Fields(words)
	}
	_, pointer := types.Unalias(f.Type()).(*types.Pointer)
	switch {
	case m.name == "":
		return errors.New("found no name in JSON, expected one, or - for a field that JSON does not have")
	case m.about == "":
		return errors.New("found no comment, expected a description")
	case m.none != "":
	case pointer || m.optional && (m.shape.items != nil || m.shape.object != nil):
		return errors.New("found no tag none, expected when the member has no value")
	case m.optional && slices.Contains(m.shape.kinds, "string"):
		m.none, m.zero = "it is empty", `""`
	case m.optional:
		m.none, m.zero = "it is 0", "0"
	}
	return nil
}

// shape is what JSON makes of a type. A line "JSON: TYPE, TYPE" in the comment of a type with a MarshalJSON of its own names the
// types whose JSON it writes.
func (r *resultReader) shape(t types.Type) (*shape, error) {
	switch t := types.Unalias(t).(type) {
	case *types.Pointer:
		return r.shape(t.Elem())
	case *types.Slice:
		return r.list(t.Elem(), 0)
	case *types.Array:
		return r.list(t.Elem(), t.Len())
	case *types.Map:
		values, err := r.shape(t.Elem())
		return &shape{kinds: []string{"object"}, items: values}, err
	case *types.Basic:
		return basic(t)
	case *types.Named:
		return r.ofNamed(t)
	}
	return nil, fmt.Errorf("found the type %s, expected one that JSON writes", t)
}

func (r *resultReader) list(of types.Type, count int64) (*shape, error) {
	items, err := r.shape(of)
	return &shape{kinds: []string{"array"}, items: items, count: count}, err
}

func basic(t *types.Basic) (*shape, error) {
	kind := ""
	switch info := t.Info(); {
	case info&types.IsInteger != 0:
		kind = "integer"
	case info&types.IsFloat != 0:
		kind = "number"
	case info&types.IsString != 0:
		kind = "string"
	case info&types.IsBoolean != 0:
		kind = "boolean"
	default:
		return nil, fmt.Errorf("found the type %s, expected one that JSON writes", t)
	}
	return &shape{kinds: []string{kind}}, nil
}

// has reports whether a type has a method.
func has(t types.Type, method string) bool {
	o, _, _ := types.LookupFieldOrMethod(types.NewPointer(t), true, nil, method)
	_, is := o.(*types.Func)
	return is
}

func (r *resultReader) ofNamed(t *types.Named) (*shape, error) {
	of := t.Obj()
	if of.Pkg().Path() == "encoding/json" && of.Name() == "Number" {
		return &shape{kinds: []string{"number"}}, nil
	}
	comment, err := r.Comment(of)
	if err != nil {
		return nil, err
	}
	if _, written, marked := strings.Cut(comment, "JSON: "); marked {
		return r.written(of, written)
	}
	switch under := t.Underlying().(type) {
	case *types.Struct:
		if has(t, "MarshalJSON") || has(t, "MarshalText") {
			break
		}
		o, err := r.object(t)
		return &shape{kinds: []string{"object"}, object: o}, err
	default:
		if has(t, "MarshalJSON") {
			return nil, fmt.Errorf("found a MarshalJSON of %s, expected a line \"JSON: TYPE\" in its comment", of.Name())
		}
		if !has(t, "MarshalText") {
			s, err := r.shape(under)
			if err == nil {
				s.words = declared.Constants(of)
			}
			return s, err
		}
	}
	return &shape{kinds: []string{"string"}}, nil
}

// written is the shape of types that a comment lists.
func (r *resultReader) written(of *types.TypeName, list string) (*shape, error) {
	all := &shape{number: of.Name() == "Number"}
	for _, text := range strings.Split(list, ",") {
		t, err := types.Eval(r.Files(), of.Pkg(), 0, strings.TrimSpace(text))
		if err != nil {
			return nil, fmt.Errorf("the comment of %s: %w", of.Name(), err)
		}
		s, err := r.shape(t.Type)
		if err != nil {
			return nil, err
		}
		all.kinds = append(all.kinds, s.kinds...)
		all.items, all.object = s.items, s.object
	}
	return all, nil
}
