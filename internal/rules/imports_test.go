package rules

import (
	"fmt"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

const (
	module = "coalesce/"
	root   = "../.."
)

// A room is a folder of packages and the only packages of this repository that it
// may import; "x/..." stands for x and everything below it. Tests are free.
type room struct {
	path string
	may  []string
}

// What the searches of qubo import: all of them, and those on devices.
var (
	quboSearch = []string{"solvers/qubo/problem", "solvers/qubo/internal/draw", "solvers/qubo/internal/elite", "solvers/qubo/internal/reference",
		"solvers/qubo/internal/search", "runtime/device"}
	quboDevice = []string{"generated/qubo", "autotune/tuned", "autotune/subject"}
)

// What the families of kernels of csg import.
var csgFamily = []string{"solvers/csg/problem", "solvers/csg/internal/engine", "solvers/csg/internal/cancel", "solvers/csg/internal/levels", "solvers/csg/internal/reference", "generated/csg", "runtime/device"}

// cliProblem is what the commands of a problem import, besides the rooms named.
func cliProblem(more ...string) []string {
	return append(more, "internal/cli/run", "internal/cli/effect", "internal/cli/atomicfile", "internal/picture", "internal/ui", "solvers/option", "solvers/solve", "autotune/tuned", "runtime/device", "runtime/memory")
}

// rooms are matched in order: the first that a package lies in binds it.
var rooms = []room{
	// The library for other languages takes the public packages, as any program may, and tunes.
	{"cmd/libcoalesce", []string{"runtime/host/kernels/assignment/lapjv", "solvers/solve", "solvers/assignment", "solvers/qubo", "solvers/csg", "solvers/auction", "runtime/device", "runtime/devices",
		"autotune", "autotune/subject", "autotune/trial", "autotune/tuned", "autotune/worker", "internal/jobs", "internal/placement", "internal/problems", "internal/cli"}},
	{"cmd/...", []string{"internal/cli"}},
	{"internal/doors", []string{"gen/declared", "internal/cli", "internal/jobs", "internal/placement", "solvers/..."}},
	{"internal/jobs", []string{"internal/placement", "solvers/option", "solvers/solve", "solvers/assignment", "solvers/qubo", "solvers/csg", "solvers/csg/listed", "solvers/auction", "solvers/model", "autotune/subject", "autotune/tuned", "runtime/device"}},
	{"internal/problems", []string{"solvers/...", "generated/...", "autotune/subject"}},
	{"internal/placement", []string{"solvers/option", "autotune/tuned", "autotune/subject"}},
	{"internal/ui", []string{"solvers/formats"}}, // counts nouns as the readers do
	{"internal/picture", nil},
	{"internal/rules", nil},
	{"scripts/adversary", []string{"internal/cli", "runtime/device", "runtime/devices", "runtime/host", "solvers/csg", "solvers/auction", "solvers/assignment", "solvers/qubo", "solvers/solve", "solvers/solve/inputtest", "solvers/formats/habits"}}, // tries the command as users do, and calls solvers and readers as programs do
	{"scripts/texts", []string{"runtime/emulated/texts"}}, // compresses what that reads
	{"scripts/pages", []string{"internal/cli"}},           // writes the help of commands
	{"scripts/...", nil},
	{"examples/...", nil}, // but for its tests, which use what another program may
	// The command's rooms: the root has the problems' commands, these know nothing of one another, and all share a run of the
	// program, which knows no problem.
	{"internal/cli", []string{"internal/cli/...", "internal/picture", "internal/placement", "internal/problems", "internal/ui", "solvers/...", "autotune/...", "runtime/..."}},
	{"internal/cli/csg", cliProblem("solvers/csg", "solvers/csg/anytime", "solvers/csg/listed", "internal/cli/ranks")},
	{"internal/cli/auction", cliProblem("solvers/auction", "solvers/csg", "solvers/qubo")}, // which solve auctions, with kernels that --pin names
	{"internal/cli/assignment", cliProblem("solvers/assignment", "solvers/formats/csv", "runtime/collective", "runtime/devices")},
	{"internal/cli/qubo", cliProblem("solvers/qubo", "solvers/formats/csv")},
	{"internal/cli/model", cliProblem("solvers/model", "solvers/qubo")}, // which solves models without constraints, with kernels that --pin names
	{"internal/cli/complete", []string{"internal/cli/run", "solvers/...", "autotune/search"}},
	{"internal/cli/run", []string{"internal/cli/effect", "internal/cli/ranks", "internal/cli/tuning", "internal/cli/atomicfile", "internal/picture", "internal/placement", "internal/ui",
		"solvers/formats", "solvers/option", "solvers/solve", "autotune/subject", "autotune/tuned", "runtime/..."}},
	{"internal/cli/ranks", []string{"internal/cli/atomicfile", "internal/ui", "autotune", "runtime/..."}},
	{"internal/cli/tuning", []string{"internal/cli/atomicfile", "internal/ui", "solvers/formats", "autotune/...", "runtime/device", "runtime/ondemand"}},
	{"internal/cli/kernels", []string{"internal/cli/effect", "internal/cli/ranks", "internal/cli/run", "internal/cli/tuning", "internal/placement", "internal/ui",
		"solvers/algorithms", "solvers/formats", "autotune/...", "runtime/..."}},
	{"internal/cli/manual", []string{"internal/cli/atomicfile"}},
	{"internal/cli/atomicfile", []string{"solvers/formats/packed", "runtime/disk"}},
	{"internal/cli/effect", nil},
	{"bench/...", []string{"bench/...", "internal/problems", "solvers/...", "autotune/...", "runtime/...", "generated/...", "templates"}},
	{"gen/...", []string{"gen/...", "templates"}},
	{"generated/...", []string{"generated/...", "runtime/device", "runtime/host/..."}},
	{"templates", nil},
	{"templates/...", []string{"runtime/host/kernels/..."}},
	{"runtime/device", nil},
	{"runtime/memory", []string{"runtime/device"}},
	{"runtime/disk", nil},
	{"runtime/group", nil},
	{"runtime/guard", []string{"runtime/device"}},
	{"runtime/...", []string{"runtime/...", "templates"}},
	{"autotune/tuned", []string{"runtime/device"}},
	{"solvers/option", nil},
	{"solvers/solve", []string{"solvers/option", "runtime/device", "runtime/collective", "autotune/tuned"}},
	{"solvers/algorithms", []string{"solvers/solve", "runtime/device", "autotune/tuned", "autotune/subject"}},
	{"autotune/subject", []string{"runtime/device"}},
	{"autotune/worker", []string{"autotune/...", "runtime/device", "runtime/group", "runtime/guard", "runtime/memory"}},
	{"autotune/kernel/command", []string{"internal/cli/kernels", "internal/cli/run", "autotune/subject"}},
	{"autotune/kernel/kerneltest", []string{"autotune/subject", "autotune/verify", "runtime/device", "runtime/host", "runtime/emulated/emulatedtest"}},
	{"autotune/...", []string{"autotune/...", "runtime/device"}},
	// What readers of all problems share knows no problem.
	{"solvers/formats/...", []string{"solvers/formats/...", "solvers/cores", "runtime/device"}},
	// qubo's rooms, from the problem to the searches: engines know nothing of one
	// another, of files and of preprocessing; the API brings them together.
	{"solvers/qubo/problem", []string{"solvers/cores", "solvers/formats", "solvers/solve"}},
	{"solvers/qubo/internal/draw", []string{"solvers/qubo/problem", "solvers/cores"}},
	{"solvers/qubo/internal/formats", []string{"solvers/option", "solvers/qubo/problem", "solvers/cores", "solvers/formats/..."}},
	{"solvers/qubo/internal/preprocess", []string{"solvers/qubo/problem", "solvers/qubo/internal/reference", "solvers/cores"}},
	{"solvers/qubo/internal/semidefinite", []string{"solvers/qubo/problem", "solvers/cores", "runtime/host/kernels/linear"}},
	// Planar graphs and tori: what surfaces and joins are knows no instance, and proofs know no search.
	{"solvers/qubo/internal/embedding", nil},
	{"solvers/qubo/internal/matching", nil},
	{"solvers/qubo/internal/frustration", []string{"solvers/qubo/problem"}},
	{"solvers/qubo/internal/planar", []string{"solvers/qubo/internal/embedding", "solvers/qubo/internal/matching", "solvers/qubo/internal/frustration"}},
	{"solvers/lp", []string{"runtime/host/kernels/linear"}},
	{"solvers/qubo/internal/oddcycle", []string{"solvers/lp", "solvers/qubo/internal/frustration"}},
	{"solvers/qubo/internal/equations", []string{"solvers/qubo/internal/draw", "solvers/qubo/problem"}},
	{"solvers/qubo/internal/elite", []string{"solvers/qubo/problem"}},
	{"solvers/qubo/internal/evaluate", []string{"solvers/qubo/problem", "solvers/cores", "generated/qubo", "autotune/tuned", "runtime/device"}},
	{"solvers/qubo/internal/search", []string{"solvers/qubo/problem", "solvers/solve", "solvers/option", "generated/qubo", "autotune/tuned", "runtime/device", "runtime/collective"}},
	{"solvers/qubo/internal/reference", []string{"solvers/qubo/problem", "solvers/qubo/internal/draw", "solvers/qubo/internal/search"}},
	{"solvers/qubo/internal/stableset", slices.Concat(quboSearch, quboDevice)},
	{"solvers/qubo/internal/host", slices.Concat(quboSearch, []string{"solvers/qubo/internal/stableset", "solvers/cores", "generated/qubo", "runtime/host/...", "autotune/tuned", "autotune/subject", "autotune/kernel"})},
	{"solvers/qubo/internal/tabu", slices.Concat(quboSearch, quboDevice, []string{"solvers/cores"})},
	{"solvers/qubo/internal/tempering", slices.Concat(quboSearch, quboDevice)},
	{"solvers/qubo/internal/multistart", []string{"solvers/qubo/problem", "solvers/qubo/internal/draw", "solvers/qubo/internal/search", "solvers/qubo/internal/evaluate",
		"solvers/cores", "solvers/solve", "generated/qubo", "runtime/device", "autotune/tuned", "autotune/subject"}},
	{"solvers/qubo/internal/qubotest", []string{"solvers/qubo/problem", "solvers/qubo/internal/search", "solvers/qubo/internal/reference"}},
	{"solvers/qubo", []string{"solvers/option", "solvers/solve", "solvers/formats", "solvers/algorithms", "solvers/qubo/problem", "solvers/qubo/internal/draw", "solvers/qubo/internal/formats", "solvers/qubo/internal/preprocess", "solvers/qubo/internal/semidefinite",
		"solvers/qubo/internal/frustration", "solvers/qubo/internal/planar", "solvers/qubo/internal/oddcycle", "solvers/qubo/internal/equations", "solvers/qubo/internal/search", "solvers/qubo/internal/reference", "solvers/qubo/internal/host", "solvers/qubo/internal/tabu",
		"solvers/qubo/internal/tempering", "solvers/qubo/internal/stableset", "solvers/qubo/internal/multistart", "generated/qubo", "runtime/device", "runtime/collective", "autotune/tuned", "autotune/subject"}},
	// assignment's rooms, from the problem to the algorithms: an algorithm knows
	// nothing of files and of other algorithms, but for the search that core and price
	// shares with the host; the API brings them together.
	{"solvers/assignment/problem", []string{"solvers/cores", "solvers/solve", "runtime/device"}},
	{"solvers/assignment/internal/engine", []string{"solvers/assignment/problem", "solvers/solve", "autotune/tuned", "runtime/device"}},
	{"solvers/assignment/internal/formats", []string{"solvers/option", "solvers/assignment/problem", "solvers/cores", "solvers/formats/..."}},
	{"solvers/assignment/internal/draw", []string{"solvers/option", "solvers/assignment/problem", "solvers/assignment/internal/engine", "solvers/cores", "runtime/device", "generated/assignment"}},
	{"solvers/assignment/internal/enginetest", []string{"solvers/assignment/problem", "solvers/assignment/internal/engine", "solvers/assignment/internal/draw", "runtime/device"}},
	{"solvers/assignment/internal/reference", []string{"solvers/assignment/problem", "solvers/assignment/internal/engine"}},
	{"solvers/assignment/internal/refine", []string{"solvers/assignment/problem", "solvers/assignment/internal/bottleneck"}},
	{"solvers/assignment/internal/paths", []string{"solvers/assignment/problem", "solvers/assignment/internal/engine", "solvers/assignment/internal/refine", "runtime/host/kernels/assignment/lapjv"}},
	{"solvers/assignment/internal/host", []string{"solvers/assignment/problem", "solvers/assignment/internal/engine", "autotune/tuned", "runtime/device", "runtime/host", "generated/assignment"}},
	{"solvers/assignment/internal/hungarian", []string{"solvers/assignment/problem", "solvers/assignment/internal/engine", "runtime/device", "runtime/collective", "generated/assignment"}},
	{"solvers/assignment/internal/coreprice", []string{"solvers/assignment/problem", "solvers/assignment/internal/engine", "solvers/assignment/internal/host", "autotune/tuned", "runtime/device", "runtime/collective", "generated/assignment", "solvers/cores"}},
	{"solvers/assignment/internal/order", []string{"solvers/assignment/problem", "solvers/cores"}},
	{"solvers/assignment/internal/scaling", []string{"solvers/assignment/problem", "solvers/assignment/internal/engine", "solvers/assignment/internal/order", "runtime/device", "generated/assignment"}},
	{"solvers/assignment/internal/verify", []string{"solvers/assignment/problem", "solvers/assignment/internal/engine", "autotune/tuned", "runtime/device", "runtime/collective", "generated/assignment"}},
	{"solvers/assignment/internal/batch", []string{"solvers/assignment/problem", "solvers/assignment/internal/engine", "solvers/assignment/internal/verify", "autotune/tuned", "runtime/device", "generated/assignment"}},
	{"solvers/assignment/internal/fused", []string{"solvers/assignment/problem", "autotune/tuned", "runtime/device", "generated/assignment"}},
	{"solvers/assignment/internal/flow", []string{"solvers/assignment/problem", "solvers/assignment/internal/engine", "solvers/assignment/internal/simplex", "autotune/kernel", "autotune/subject", "autotune/tuned", "runtime/device", "generated/assignment"}},
	{"solvers/assignment/internal/families", []string{"solvers/assignment/problem", "solvers/assignment/internal/engine", "solvers/assignment/internal/reference", "solvers/assignment/internal/host", "solvers/assignment/internal/hungarian", "solvers/assignment/internal/paths", "solvers/assignment/internal/coreprice", "solvers/assignment/internal/scaling", "solvers/assignment/internal/simplex", "autotune/tuned", "runtime/device", "runtime/collective", "generated/assignment"}},
	{"solvers/assignment/tune", []string{"solvers/assignment/problem", "solvers/assignment/internal/engine", "solvers/assignment/internal/draw", "solvers/assignment/internal/reference", "solvers/assignment/internal/host", "solvers/assignment/internal/coreprice", "solvers/assignment/internal/verify", "solvers/assignment/internal/batch", "solvers/assignment/internal/fused", "solvers/assignment/internal/flow", "solvers/assignment/internal/families", "solvers/cores", "autotune/tuned", "autotune/subject", "runtime/device", "generated/assignment"}},
	{"solvers/assignment", []string{"solvers/assignment/...", "solvers/solve", "solvers/option", "solvers/algorithms", "solvers/cores", "generated/assignment", "runtime/device", "runtime/collective", "runtime/memory", "autotune/tuned", "autotune/subject"}},
	// csg's rooms: files and distributions know the problem, and no solver. A solve goes from the plan to an attempt, by
	// kernels that know one interface, engine; a family's kernels know no other family.
	{"solvers/csg/problem", []string{"solvers/option", "solvers/formats", "solvers/formats/names", "solvers/solve", "runtime/device"}},
	{"solvers/csg/internal/formats", []string{"solvers/option", "solvers/csg/problem", "solvers/formats/..."}},
	{"solvers/csg/internal/draw", []string{"solvers/csg/problem", "solvers/cores", "generated/csg", "runtime/device"}},
	{"solvers/csg/internal/reference", []string{"solvers/csg/problem"}},
	{"solvers/csg/internal/payoff", []string{"solvers/csg/problem", "solvers/solve"}},
	{"solvers/csg/internal/ranking", []string{"solvers/csg/problem", "solvers/csg/internal/reference"}},
	{"solvers/csg/internal/levels", nil},
	{"solvers/csg/internal/cancel", []string{"runtime/device"}},
	{"solvers/csg/internal/engine", []string{"solvers/csg/problem", "solvers/csg/internal/cancel", "runtime/device"}},
	{"solvers/csg/internal/splits", csgFamily},
	{"solvers/csg/internal/tiles", slices.Concat(csgFamily, []string{"autotune/tuned", "runtime/collective"})},
	{"solvers/csg/internal/hosttiles", slices.Concat(csgFamily, []string{"runtime/collective", "runtime/host"})},
	{"solvers/csg/internal/hostdp", []string{"solvers/csg/problem", "solvers/csg/internal/levels", "solvers/csg/internal/reference", "runtime/device"}},
	{"solvers/csg/internal/price", []string{"solvers/csg/internal/basis", "solvers/csg/problem", "solvers/solve", "generated/csg", "runtime/device", "runtime/collective"}},
	{"solvers/csg/internal/variants", []string{"solvers/csg/problem", "solvers/csg/internal/cancel", "solvers/csg/internal/hosttiles", "solvers/csg/internal/price", "solvers/csg/internal/reference", "solvers/csg/internal/splits", "solvers/csg/internal/tiles", "solvers/solve", "generated/csg", "runtime/device", "runtime/host", "autotune/tuned"}},
	{"solvers/csg/internal/kernels", []string{"solvers/csg/problem", "solvers/csg/internal/engine", "solvers/csg/internal/hosttiles", "solvers/csg/internal/splits", "solvers/csg/internal/tiles", "solvers/csg/internal/variants", "solvers/solve", "generated/csg", "runtime/device", "runtime/collective"}},
	{"solvers/csg/internal/checkpoint", []string{"solvers/csg/problem", "solvers/csg/internal/engine", "solvers/csg/internal/levels", "solvers/csg/internal/reference", "solvers/solve", "solvers/cores", "generated/csg", "runtime/collective", "runtime/device", "runtime/disk", "runtime/host", "autotune/tuned"}},
	{"solvers/csg/internal/plan", []string{"solvers/csg/problem", "solvers/csg/internal/checkpoint", "solvers/csg/internal/hostdp", "solvers/csg/internal/price", "solvers/csg/internal/reference", "solvers/csg/internal/variants", "solvers/solve", "solvers/algorithms", "generated/csg", "runtime/device", "autotune/tuned"}},
	{"solvers/csg/internal/attempt", []string{"solvers/csg/problem", "solvers/csg/internal/cancel", "solvers/csg/internal/checkpoint", "solvers/csg/internal/engine", "solvers/csg/internal/hostdp", "solvers/csg/internal/kernels", "solvers/csg/internal/price", "solvers/csg/internal/reference", "solvers/csg/internal/variants", "solvers/solve", "generated/csg", "runtime/device", "autotune/tuned"}},
	{"solvers/csg/internal/tune", []string{"solvers/csg/problem", "solvers/csg/internal/draw", "solvers/csg/internal/engine", "solvers/csg/internal/kernels", "solvers/csg/internal/plan", "solvers/csg/internal/price", "solvers/csg/internal/reference", "solvers/csg/internal/splits", "solvers/csg/internal/variants", "solvers/solve", "solvers/algorithms", "generated/csg", "runtime/device", "autotune/subject"}},
	// Searches of functions have binary quadratic programs read their graphs.
	{"solvers/csg/internal/basis", nil},
	{"solvers/csg/internal/cliques", []string{"solvers/csg/internal/basis", "solvers/lp", "runtime/host/kernels/linear"}},
	{"solvers/csg/internal/lns", nil},
	{"solvers/csg/anytime", []string{"solvers/option", "solvers/csg/problem", "solvers/csg/internal/cliques", "solvers/csg/internal/payoff", "solvers/csg/internal/lns", "solvers/formats", "solvers/csg/internal/draw", "solvers/qubo", "solvers/solve", "solvers/formats/packed", "runtime/device"}},
	// The API knows no kernels: what it runs, the plan names and an attempt does.
	{"solvers/csg/listed", []string{"solvers/auction", "solvers/csg", "solvers/csg/anytime", "solvers/csg/problem", "solvers/csg/internal/formats", "solvers/csg/internal/payoff", "solvers/solve"}},
	{"solvers/csg", []string{"solvers/csg/problem", "solvers/option", "solvers/csg/internal/attempt", "solvers/csg/internal/checkpoint", "solvers/csg/internal/draw", "solvers/csg/internal/formats", "solvers/csg/internal/kernels", "solvers/csg/internal/payoff", "solvers/csg/internal/plan", "solvers/csg/internal/price", "solvers/csg/internal/ranking", "solvers/csg/internal/reference", "solvers/csg/internal/tune", "solvers/csg/internal/variants", "solvers/formats", "solvers/solve", "runtime/device", "autotune/subject"}},
	// model's rooms: searches know the form of a model, not its files; models without constraints are binary quadratic programs.
	{"solvers/model/problem", []string{"solvers/formats", "solvers/formats/program"}},
	{"solvers/model/internal/formats", []string{"solvers/model/problem", "solvers/formats/..."}},
	{"solvers/model/internal/search", []string{"solvers/model/problem", "solvers/lp"}},
	{"solvers/model/internal/polynomial", []string{"solvers/model/problem", "solvers/solve", "generated/model", "runtime/device", "autotune/tuned", "autotune/subject", "autotune/kernel"}},
	{"solvers/model", []string{"solvers/model/problem", "solvers/model/internal/formats", "solvers/model/internal/search", "solvers/model/internal/polynomial", "solvers/formats", "solvers/option", "solvers/qubo", "solvers/qubo/problem", "solvers/solve", "runtime/device", "autotune/tuned", "autotune/subject"}},
	// auction's rooms: branch and cut knows the bids of the problem, its linear programs rows and
	// columns, and neither knows files and devices.
	{"solvers/auction/problem", []string{"solvers/csg/problem", "solvers/formats", "solvers/solve"}},
	{"solvers/auction/internal/formats", []string{"solvers/auction/problem", "solvers/formats/..."}},
	{"solvers/auction/internal/packing", []string{"solvers/auction/problem", "solvers/lp", "runtime/collective"}},
	{"solvers/auction/internal/bounds", []string{"solvers/auction/internal/packing", "solvers/cores", "generated/auction", "runtime/device", "autotune/tuned", "autotune/subject"}},
	{"solvers/auction/internal/offload", []string{"solvers/auction/internal/packing", "solvers/auction/internal/bounds", "generated/auction", "solvers/qubo", "solvers/qubo/problem", "solvers/solve", "runtime/device", "autotune/tuned"}},
	{"solvers/auction/internal/payments", []string{"solvers/auction/problem", "solvers/auction/internal/packing", "solvers/auction/internal/bidders", "solvers/cores", "solvers/solve", "runtime/device"}},
	{"solvers/auction/internal/draw", nil},
	{"solvers/auction/internal/replay", []string{"solvers/auction/problem", "solvers/auction/internal/packing"}},
	{"solvers/auction/internal/bidders", []string{"solvers/auction/problem", "solvers/cores", "solvers/solve", "generated/auction", "runtime/device", "autotune/tuned", "autotune/subject"}},
	{"solvers/auction/internal/plan", []string{"solvers/auction/problem", "solvers/auction/internal/packing", "solvers/auction/internal/bidders", "solvers/solve", "solvers/algorithms", "generated/auction", "generated/csg", "runtime/device", "autotune/tuned", "autotune/subject"}},
	// runtime/host: the rebuilding of an answer reads host memory in place, and a
	// flip is less work than a launch would be.
	{"solvers/...", []string{"solvers/...", "generated/...", "runtime/device", "runtime/collective", "runtime/host", "runtime/host/kernels/qubo", "autotune/tuned", "autotune/subject"}},
}

func within(pattern, path string) bool {
	base, deep := strings.CutSuffix(pattern, "/...")
	return path == base || deep && strings.HasPrefix(path, base+"/")
}

// load lists packages of the module in a folder and what they import, without compiling.
func load(t *testing.T, folder, tags string, patterns ...string) []*packages.Package {
	t.Helper()
	config := &packages.Config{
		Mode:       packages.NeedName | packages.NeedFiles | packages.NeedImports | packages.NeedDeps,
		Dir:        folder,
		BuildFlags: []string{"-tags=" + tags},
	}
	found, err := packages.Load(config, patterns...)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range found {
		for _, e := range p.Errors {
			t.Fatalf("%s: %v", p.PkgPath, e)
		}
	}
	return found
}

// every lists the packages of all modules under a build tag, once a test binary.
func every(t *testing.T, tags string) []*packages.Package {
	t.Helper()
	if loaded[tags] == nil {
		for _, folder := range modules(t) {
			loaded[tags] = append(loaded[tags], load(t, filepath.Join(root, folder), tags, "./...")...)
		}
	}
	return loaded[tags]
}

var loaded = map[string][]*packages.Package{}

func TestRoomsImportOneWay(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range slices.Concat(every(t, ""), every(t, "cuda")) {
		path, ours := strings.CutPrefix(p.PkgPath, module)
		if !ours {
			continue
		}
		at := slices.IndexFunc(rooms, func(r room) bool { return within(r.path, path) })
		if at < 0 {
			t.Errorf("package %s lies in no room: add it to docs/architecture.md and to rooms", path)
			continue
		}
		seen[rooms[at].path] = true
		for _, imported := range p.Imports {
			target, ours := strings.CutPrefix(imported.PkgPath, module)
			user := strings.TrimSuffix(target, "/problem") // who may import solvers/csg may import what its instances consist of
			if ours && !slices.ContainsFunc(rooms[at].may, func(m string) bool { return within(m, target) || within(m, user) }) {
				t.Errorf("%s imports %s: room %s may import only %v", path, target, rooms[at].path, rooms[at].may)
			}
		}
	}
	for _, r := range rooms {
		if !seen[r.path] {
			t.Errorf("room %s is empty", r.path)
		}
	}
}

// Selection is a pure function: of its package only the codec, which loads
// and saves the database, may touch the system.
func TestSelectionDoesNoIO(t *testing.T) {
	checked := 0
	for _, p := range every(t, "") {
		if p.PkgPath != module+"autotune/tuned" {
			continue
		}
		for _, file := range p.GoFiles {
			imports, err := importsOf(file)
			if err != nil {
				t.Error(err)
			}
			if filepath.Base(file) == "codec.go" {
				continue
			}
			checked++
			for _, banned := range []string{"os", "net", "net/http", "os/exec"} {
				if slices.Contains(imports, banned) {
					t.Errorf("%s imports %s, but selection does no I/O", rel(file), banned)
				}
			}
		}
	}
	if checked == 0 {
		t.Error("autotune/tuned has no file but its codec")
	}
}

func TestOnlyTheDriverKnowsCUDA(t *testing.T) {
	const binding = "gorgonia.org/cu"
	found := false
	for _, p := range every(t, "cuda") {
		driver := p.PkgPath == module+"runtime/driver"
		for path := range p.Imports {
			if path == binding || strings.HasPrefix(path, binding+"/") {
				found = true
				if !driver {
					t.Errorf("%s imports %s: only runtime/driver may", p.PkgPath, path)
				}
			}
		}
		if library := p.PkgPath == module+"cmd/libcoalesce"; !driver && !library {
			noCgo(t, p)
		}
	}
	if !found {
		t.Errorf("under the tag cuda nothing imports %s", binding)
	}
}

// Loading MPI needs the loader of the C library: binaries without the tag mpi stay static.
func TestOnlyMPIKnowsPurego(t *testing.T) {
	const binding = "github.com/ebitengine/purego"
	for _, p := range every(t, "") {
		if _, ok := p.Imports[binding]; ok {
			t.Errorf("%s imports %s without the tag mpi", p.PkgPath, binding)
		}
	}
	for _, p := range load(t, root, "mpi", "./...") {
		if _, ok := p.Imports[binding]; ok != (p.PkgPath == module+"runtime/mpi") {
			t.Errorf("under the tag mpi %s imports %s: %v, runtime/mpi does alone", p.PkgPath, binding, ok)
		}
	}
}

// The default build must link nothing that exits or fails to start on a
// machine without a GPU, and must cross-compile: no cgo of ours, no binding. Nor templates:
// these call methods by name, for which the linker keeps all that are exported, 2 MB.
func TestDefaultBuildIsPlain(t *testing.T) {
	seen := map[string]bool{}
	var walk func(p *packages.Package)
	walk = func(p *packages.Package) {
		if seen[p.PkgPath] {
			return
		}
		seen[p.PkgPath] = true
		if strings.HasPrefix(p.PkgPath, "gorgonia.org/") {
			t.Errorf("the default build links %s", p.PkgPath)
		}
		if strings.HasPrefix(p.PkgPath, module) {
			noCgo(t, p)
			for _, path := range []string{"text/template", "html/template"} {
				if p.Imports[path] != nil {
					t.Errorf("the default build: %s imports %s", p.PkgPath, path)
				}
			}
		}
		for _, imported := range p.Imports {
			walk(imported)
		}
	}
	for _, p := range load(t, root, "", "./cmd/coalesce") {
		walk(p)
	}
	for _, want := range []string{"internal/cli", "runtime/host", "solvers/csg"} {
		if !seen[module+want] {
			t.Errorf("the default build does not reach %s", want)
		}
	}
}

func noCgo(t *testing.T, p *packages.Package) {
	t.Helper()
	for _, file := range p.GoFiles {
		imports, err := importsOf(file)
		if err != nil {
			t.Error(err)
		}
		if slices.Contains(imports, "C") {
			t.Errorf("%s uses cgo: only runtime/driver and cmd/libcoalesce may", rel(file))
		}
	}
}

func importsOf(file string) ([]string, error) {
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
	if err != nil {
		return nil, err
	}
	var list []string
	for _, i := range f.Imports {
		path, err := strconv.Unquote(i.Path.Value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		list = append(list, path)
	}
	return list, nil
}

// rel is a file's path from the repository's root, for messages.
func rel(path string) string {
	top, err := filepath.Abs(root)
	if err != nil {
		return path
	}
	if path, err = filepath.Abs(path); err != nil {
		return path
	}
	if short, err := filepath.Rel(top, path); err == nil {
		return filepath.ToSlash(short)
	}
	return path
}
