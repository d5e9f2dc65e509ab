// Package paper names the papers that founded this project's families, and the experiments
// that repeat their results.
package paper

import (
	"slices"

	"coalesce/runtime/device"
)

// A Paper is one of the founding papers.
type Paper struct {
	Name    string // on the command line of bench/reproduce, and of its page in docs/papers
	Authors string
	Title   string
	Where   string // it was published
	Steps   []Step
}

// A Step is a program of bench with some of its experiments.
type Step struct {
	Program     string
	Experiments string   // with commas
	Kinds       []string // kinds of devices on which it runs; on others it is left out
	Host        bool     // it runs on the host, whatever the device
	Flags       []string
	Small       []string // in place of Flags, for a run of seconds
}

var (
	everywhere = []string{device.CUDA, device.Emulated, device.Host}
	kernels    = everywhere[:2]
)

// Find is the paper of a name.
func Find(name string) (Paper, bool) {
	at := slices.IndexFunc(All(), func(p Paper) bool { return p.Name == name })
	if at < 0 {
		return Paper{}, false
	}
	return All()[at], true
}

// All are the papers, in the order of their publication.
func All() []Paper {
	sequential := Step{Program: "csg", Experiments: "sequential", Kinds: everywhere, Host: true, Flags: []string{"-agents", "24"}, Small: []string{"-agents", "14"}}
	multistart := []string{"-instances", "120", "-iterations", "20", "-count", "20", "-runs", "2"}
	lap := []string{"-sizes", "60", "-seeds", "1", "-runs", "2", "-python", ""}
	return []Paper{
		{Name: "report", Authors: "Kim Svensson", Where: "MEng progress report, University of Southampton, 2013",
			Title: "Combinatorial optimization of NP-hard problems using dynamic GPU programming",
			Steps: []Step{
				sequential,
				{Program: "csg", Experiments: "figures", Kinds: kernels, Flags: []string{"-agents", "26", "-curves", "integer"}, Small: []string{"-from", "6", "-agents", "8", "-curves", "integer"}},
			}},
		{Name: "gpu-csg", Authors: "Kim Svensson, Sarvapali D. Ramchurn, Francisco Cruz, Juan-Antonio Rodriguez-Aguilar, Jesus Cerquides", Where: "manuscript, 2013",
			Title: "Solving the Coalition Structure Generation Problem on a GPU",
			Steps: []Step{
				sequential,
				{Program: "csg", Experiments: "figures", Kinds: everywhere, Flags: []string{"-agents", "29"}, Small: []string{"-from", "8", "-agents", "9"}},
			}},
		{Name: "hungarian", Authors: "Ketan Date, Rakesh Nagi", Where: "Parallel Computing 57 (2016) 52-72",
			Title: "GPU-accelerated Hungarian algorithms for the Linear Assignment Problem",
			Steps: []Step{
				{Program: "assignment", Experiments: "paper", Kinds: everywhere, Host: true, Flags: []string{"-sizes", "5000,10000", "-seeds", "1", "-runs", "1", "-slow", "1m", "-python", ""}, Small: lap},
				{Program: "assignment", Experiments: "paper", Kinds: kernels, Flags: []string{"-families", "classical,tree", "-runs", "3", "-spend", "100ms"}, Small: lap},
				{Program: "assignment", Experiments: "published", Kinds: kernels, Flags: []string{"-seeds", "1", "-runs", "3", "-spend", "100ms"}, Small: lap},
				{Program: "assignment", Experiments: "paths", Kinds: kernels, Flags: []string{"-seeds", "1"}, Small: lap},
				{Program: "assignment", Experiments: "scaling", Kinds: kernels, Flags: []string{"-families", "classical,tree", "-sizes", "10000,14142,20000,28284,40000", "-seeds", "1"}, Small: append([]string{"-devices", "2", "-families", "classical"}, lap...)},
			}},
		{Name: "multistart", Authors: "Mark Lewis", Where: "arXiv:1706.00037, 2017",
			Title: "A Diversified Multi-Start Algorithm for Unconstrained Binary Quadratic Problems Leveraging the Graphics Processor Unit",
			Steps: []Step{
				{Program: "qubo", Experiments: "evaluate", Kinds: kernels, Small: multistart},
				{Program: "qubo", Experiments: "paper", Kinds: everywhere, Small: multistart},
				{Program: "qubo", Experiments: "division", Kinds: kernels, Flags: []string{"-instances", "bqp2500-1,bqp2500-3,bqp2500-6,bqp2500-9,p3000.1"}, Small: multistart},
				{Program: "qubo", Experiments: "lambda", Kinds: everywhere, Flags: []string{"-instances", "bqp2500-1,bqp2500-3,bqp2500-6,bqp2500-9,p3000.1"}},
			}},
	}
}
