package rules

import (
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/go/ssa"
	"golang.org/x/tools/go/ssa/ssautil"
)

// docs/architecture.md describes the walk of one instance through the rooms. The call graph agrees with it, and with no page
// that is wrong in one place.
func TestWalkOfOneInstance(t *testing.T) {
	if testing.Short() {
		t.Skip("reads the types of all packages of the command: left out with -short")
	}
	text, err := os.ReadFile(filepath.Join(root, "docs", "architecture.md"))
	if err != nil {
		t.Fatal(err)
	}
	graph, page := newCallGraph(t, "./cmd/coalesce"), string(text)
	if err := graph.check(page); err != nil {
		t.Fatalf("docs/architecture.md: %v", err)
	}
	for name, wrong := range wrongPages(page) {
		if wrong == page || graph.check(wrong) == nil {
			t.Errorf("%s: the call graph agrees with that too", name)
		}
	}
}

// wrongPages are pages with two steps swapped, a room or a function renamed, or a room in the wrong list, by what is wrong.
func wrongPages(page string) map[string]string {
	wrong := map[string]string{}
	steps := stepForm.FindAllString(page, -1)
	title := func(k int) string { return steps[k][strings.Index(steps[k], "**"):] }
	for i := range steps {
		for j := range i {
			wrong[fmt.Sprintf("steps %d and %d swapped", j+1, i+1)] = strings.NewReplacer(title(i), title(j), title(j), title(i)).Replace(page)
		}
	}
	for _, m := range roomForm.FindAllStringSubmatch(strings.Join(steps, "\n"), -1) {
		wrong["no room "+m[1]] = strings.ReplaceAll(page, "`"+m[1]+"`", "`"+m[1]+"x`")
		if m[2] != "" {
			wrong["no function opens "+m[1]] = strings.ReplaceAll(page, m[0], "`"+m[1]+"`: `Missing`")
			wrong["another room has "+m[2]] = strings.ReplaceAll(page, m[0], "`runtime/memory`: `"+m[2]+"`")
		}
	}
	lists := []*regexp.Regexp{oneCaller, manyCallers}
	for k, form := range lists {
		from, to := form.FindString(page), lists[1-k].FindString(page)
		for _, m := range roomForm.FindAllStringSubmatch(from, -1) {
			wrong["the other list has "+m[1]] = strings.NewReplacer(from, strings.Replace(from, m[0], "", 1), to, strings.TrimSuffix(to, ".")+", "+m[0]+".").Replace(page)
		}
	}
	return wrong
}

// The form of the page: a step is numbered, and names its rooms in parentheses behind its title, each with
// the function that opens it, if one does.
var (
	stepForm    = regexp.MustCompile(`(?m)^\d+\. \*\*[^*]+\*\* \([^)]*\)`)
	roomForm    = regexp.MustCompile("`([a-z/]+)`(?:: `([A-Za-z.]+)`)?")
	oneCaller   = regexp.MustCompile(`One other room calls ([^.]+)\.`)
	manyCallers = regexp.MustCompile(`Several rooms call ([^.]+)\.`)
	notFollowed = regexp.MustCompile(`(?m)The test does not follow [^:]+: (.+)\.$`)
)

// An opening is a function that opens a room. Without a function it stands for the whole room.
type opening struct{ room, function string }

// readOpenings reads rooms in the form of the page.
func readOpenings(text string) (list []opening) {
	for _, m := range roomForm.FindAllStringSubmatch(text, -1) {
		list = append(list, opening{m[1], m[2]})
	}
	return list
}

// A walk is what a page says of the walk of an instance.
type walk struct {
	openings     []opening // in the order of the steps; the walk begins in the first
	before       []string  // rooms of steps before the walk
	rooms        []string  // all others
	one, several []opening // by how many other rooms call them
	notFollowed  []opening
}

// readWalk reads a page.
func readWalk(page string) (*walk, error) {
	listed := func(form *regexp.Regexp) []opening {
		if m := form.FindStringSubmatch(page); m != nil {
			return readOpenings(m[1])
		}
		return nil
	}
	w := &walk{one: listed(oneCaller), several: listed(manyCallers), notFollowed: listed(notFollowed)}
	for _, step := range stepForm.FindAllString(page, -1) {
		var rooms []string
		count := len(w.openings)
		for _, o := range readOpenings(step) {
			rooms = append(rooms, o.room)
			if o.function != "" {
				w.openings = append(w.openings, o)
			}
		}
		switch {
		case len(w.openings) > count:
			w.rooms = append(w.rooms, rooms...)
		case count > 0:
			return nil, fmt.Errorf("no function opens a room of the step %s", step)
		default:
			w.before = append(w.before, rooms...)
		}
	}
	if len(w.openings) == 0 {
		return nil, errors.New("no function opens a room of a step")
	}
	for _, o := range slices.Concat(w.one, w.several) {
		w.rooms = append(w.rooms, o.room)
	}
	return w, nil
}

// roomOf is the room of a function: of the rooms whose folder has its package the one furthest down, else the package.
func (w *walk) roomOf(f *function) string {
	room, longest := f.pkg, 0
	for _, list := range [][]string{w.rooms, w.before} {
		for _, r := range list {
			if len(r) > longest && below(r, f.pkg) {
				room, longest = r, len(r)
			}
		}
	}
	return room
}

// below reports whether a package lies in a folder.
func below(folder, pkg string) bool {
	rest, ok := strings.CutPrefix(pkg, folder)
	return ok && (rest == "" || rest[0] == '/')
}

// follows reports whether a function is part of the walk.
func (w *walk) follows(f *function) bool {
	return !slices.ContainsFunc(w.notFollowed, func(o opening) bool {
		return below(o.room, f.pkg) && (o.function == "" || o.function == f.name)
	})
}

// check compares a page with the call graph.
//
//   - The first steps may open no room: theirs are not in the walk. The rooms of all others are.
//   - The functions that open rooms are called in the order of the page. Where one is called at several places the
//     last counts: special cases come first, and return.
//   - "One other room calls" and "Several rooms call" list all rooms of the walk but the first, by how many other
//     rooms have a function that calls one of theirs. A package in no room of the page is a room of its own.
func (g *callGraph) check(page string) error {
	w, err := readWalk(page)
	if err != nil {
		return err
	}
	begin := w.openings[0]
	from := g.find(begin.room, begin.function)
	if from == nil {
		return fmt.Errorf("room %s has no function %s", begin.room, begin.function)
	}
	opened, callers := g.walk(w, from)
	var wrong []error
	for _, room := range w.rooms {
		if callers[room] == nil {
			wrong = append(wrong, fmt.Errorf("the walk does not enter room %s", room))
		}
	}
	for _, room := range w.before {
		if _, err := os.Stat(filepath.Join(root, room)); err != nil || callers[room] != nil {
			wrong = append(wrong, fmt.Errorf("found room %s in the walk, or no such room: no function opens it", room))
		}
	}
	if expected := w.openings[1:]; !slices.Equal(opened, expected) {
		wrong = append(wrong, fmt.Errorf("rooms are opened in the order %v, the page has %v", opened, expected))
	}
	for room, from := range callers {
		if room == begin.room || !slices.Contains(w.rooms, room) {
			continue
		}
		inOne, inSeveral := slices.Contains(w.one, opening{room: room}), slices.Contains(w.several, opening{room: room})
		if inOne != (len(from) == 1) || inSeveral != (len(from) > 1) {
			wrong = append(wrong, fmt.Errorf("room %s is called by %v, the page says by one: %t, by several: %t", room, slices.Sorted(maps.Keys(from)), inOne, inSeveral))
		}
	}
	return errors.Join(wrong...)
}

// walk follows the calls of a function. It returns the functions that open rooms in the order of their last calls, and for
// each room that is entered the other rooms that call it.
func (g *callGraph) walk(w *walk, from *function) (opened []opening, callers map[string]map[string]bool) {
	callers = map[string]map[string]bool{}
	seen := map[*function]bool{}
	var visit func(f *function)
	visit = func(f *function) { // backwards, so that the last call of a function is met first
		seen[f] = true
		room := w.roomOf(f)
		if callers[room] == nil {
			callers[room] = map[string]bool{}
		}
		for _, called := range slices.Backward(g.calls(f)) {
			if !w.follows(called) {
				continue
			}
			if !seen[called] {
				visit(called)
			}
			to := w.roomOf(called)
			if to != room {
				callers[to][room] = true
			}
			if o := (opening{to, called.name}); slices.Contains(w.openings, o) && !slices.Contains(opened, o) {
				opened = append(opened, o)
			}
		}
	}
	visit(from)
	slices.Reverse(opened)
	return opened, callers
}

// A function of this repository, or a method of one of its interfaces.
type function struct {
	pkg  string // the folder of its package, or of the function that a literal stands in
	name string // Function, Type.Method; of a literal that of the function around it, and a number
	body *ssa.Function
}

// A callGraph finds the calls of functions in the types and the code of a program. A call by an interface counts as one of the
// interface's own method. A function passed as a value counts as called there, after the function that takes it. So do the
// methods of a value that becomes an interface of this repository.
type callGraph struct {
	program   *ssa.Program
	functions map[types.Object]*function // declared
	literals  map[*ssa.Function]*function
	outgoing  map[*function][]*function
}

// newCallGraph reads a program, of whose packages those of other modules are known by their types alone.
func newCallGraph(t *testing.T, path string) *callGraph {
	t.Helper()
	var paths []string
	packages.Visit(load(t, root, "", path), nil, func(p *packages.Package) {
		if strings.HasPrefix(p.PkgPath, module) {
			paths = append(paths, p.PkgPath)
		}
	})
	config := &packages.Config{Dir: root, Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports |
		packages.NeedExportFile | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo | packages.NeedTypesSizes}
	list, err := packages.Load(config, paths...)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range list {
		for _, e := range p.Errors {
			t.Fatalf("%s: %v", p.PkgPath, e)
		}
	}
	program, _ := ssautil.Packages(list, 0)
	return &callGraph{program, map[types.Object]*function{}, map[*ssa.Function]*function{}, map[*function][]*function{}}
}

// find returns the function of a package, nil if there is none.
func (g *callGraph) find(pkg, name string) *function {
	p := g.program.ImportedPackage(module + pkg)
	if p == nil {
		return nil
	}
	receiver, method, ok := strings.Cut(name, ".")
	if !ok {
		if f := p.Func(name); f != nil {
			return g.function(f)
		}
		return nil
	}
	if t := p.Type(receiver); t != nil {
		if m, _, _ := types.LookupFieldOrMethod(t.Type(), true, p.Pkg, method); m != nil {
			return g.declared(m)
		}
	}
	return nil
}

// declared returns the function of an object, nil if it is no function of this repository.
func (g *callGraph) declared(object types.Object) *function {
	declared, ok := object.(*types.Func)
	if !ok || declared.Pkg() == nil {
		return nil
	}
	declared = declared.Origin()
	folder, ours := strings.CutPrefix(declared.Pkg().Path(), module)
	if !ours {
		return nil
	}
	f := g.functions[declared]
	if f == nil {
		f = &function{pkg: folder, name: declared.Name(), body: g.program.FuncValue(declared)}
		if receiver := declared.Signature().Recv(); receiver != nil {
			of := receiver.Type()
			if p, ok := of.(*types.Pointer); ok {
				of = p.Elem()
			}
			if named, ok := of.(*types.Named); ok {
				f.name = named.Obj().Name() + "." + f.name
			}
		}
		g.functions[declared] = f
	}
	return f
}

// function returns a function by its code: that of an instance, of a wrapper and of a bound method is
// the declared one's.
func (g *callGraph) function(code *ssa.Function) *function {
	if origin := code.Origin(); origin != nil {
		code = origin
	}
	if code.Parent() == nil {
		return g.declared(code.Object())
	}
	f := g.literals[code]
	if f == nil {
		around := g.function(code.Parent())
		if around == nil {
			return nil
		}
		f = &function{pkg: around.pkg, name: code.Name(), body: code}
		g.literals[code] = f
	}
	return f
}

// calls are the functions of this repository that a function calls, in the order of its text; deferred
// calls come last.
func (g *callGraph) calls(f *function) []*function {
	if list, known := g.outgoing[f]; known || f.body == nil {
		return list
	}
	around := f.body
	for around.Parent() != nil {
		around = around.Parent()
	}
	if around.Pkg != nil {
		around.Pkg.Build()
	}
	// Calls among the arguments of a call end before it does.
	ends := map[token.Pos]token.Pos{}
	if text := f.body.Syntax(); text != nil {
		ast.Inspect(text, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				ends[call.Lparen] = call.Rparen
			}
			return true
		})
	}
	type met struct {
		deferred bool
		at       token.Pos
		called   *function
	}
	var list []met
	for _, b := range f.body.Blocks {
		before := token.NoPos
		for _, i := range b.Instrs {
			switch i.(type) {
			case *ssa.MakeClosure, *ssa.MakeInterface, *ssa.ChangeType:
				continue // met where the value goes
			}
			at, call := cmp.Or(i.Pos(), before), (*ssa.CallCommon)(nil)
			if c, ok := i.(ssa.CallInstruction); ok {
				call = c.Common()
				at = cmp.Or(ends[call.Pos()], call.Pos(), at)
			}
			before = at
			_, deferred := i.(*ssa.Defer)
			add := func(called *function, at token.Pos) {
				if called != nil {
					list = append(list, met{deferred, at, called})
				}
			}
			switch {
			case call == nil:
			case call.IsInvoke():
				add(g.declared(call.Method), at)
			case call.StaticCallee() != nil:
				add(g.function(call.StaticCallee()), at)
			}
			for _, operand := range i.Operands(nil) {
				if call != nil && *operand == call.Value {
					continue
				}
				for _, called := range g.held(*operand) {
					add(called, at)
				}
			}
		}
	}
	slices.SortStableFunc(list, func(a, b met) int {
		if a.deferred != b.deferred {
			if b.deferred {
				return -1
			}
			return 1
		}
		return cmp.Compare(a.at, b.at)
	})
	var called []*function
	for _, m := range list {
		called = append(called, m.called)
	}
	g.outgoing[f] = called
	return called
}

// held are the functions that whoever gets a value can call: that of a function value, and the methods of an interface.
func (g *callGraph) held(v ssa.Value) []*function {
	switch v := v.(type) {
	case *ssa.Function:
		return []*function{g.function(v)}
	case *ssa.MakeClosure:
		return g.held(v.Fn)
	case *ssa.ChangeType:
		return g.held(v.X)
	case *ssa.MakeInterface:
		to, ok := v.Type().(*types.Named)
		if !ok || to.Obj().Pkg() == nil || !strings.HasPrefix(to.Obj().Pkg().Path(), module) {
			return nil
		}
		var list []*function
		for m := range to.Underlying().(*types.Interface).Methods() {
			if of, _, _ := types.LookupFieldOrMethod(v.X.Type(), true, m.Pkg(), m.Name()); of != nil {
				list = append(list, g.declared(of))
			}
		}
		return list
	}
	return nil
}
