package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"

	"coalesce/runtime/device"
)

// deviceKind is the kind of device that a name such as cuda:0 stands for.
func deviceKind(name string) string {
	kind, _, _ := strings.Cut(name, ":")
	return kind
}

// algorithms are those that have kernels on GPUs and on the emulated device, by problem;
// the empty one is the solver's choice.
var algorithms = map[string][]string{
	"csg":        {"", "apart", "dp", "idp"},
	"auction":    {"", "apart", "dp", "idp"},
	"flow":       {""},
	"assignment": {"", "core", "scaling", "tree", "classical"},
	"qubo":       {"", "bulk", "temper", "multistart"},
}

// kernelInstance is an instance that an algorithm with kernels solves, in turns by chance; what
// multistart takes is narrower than its problem, and sparse costs and limits one family takes.
func kernelInstance(r *rand.Rand, problem, on string, inst instance) instance {
	list := algorithms[problem]
	algorithm := list[r.IntN(len(list))]
	narrow := inst.file == "a.mtx" || inst.other || slices.Contains(inst.args, "--density")
	switch {
	case deviceKind(on) == device.Host || algorithm == "":
		return inst
	case narrow:
		algorithm = "core"
	case algorithm == "multistart":
		inst.may = true
	}
	inst.args = append(inst.args, "--algorithm", algorithm)
	return inst
}

// referenceProblems are instances of a size that kernels are made for, of every value type. The
// command draws those of coalition structures and assignments itself, and compares with
// its sequential reference; binary programs have a planted optimum. limit is how large
// they are, in rows; the references' time grows fast.
func referenceProblems(on string) []problem {
	agents, limit := 14, 200
	if deviceKind(on) == device.Emulated {
		agents, limit = 9, 24
	}
	var list []problem
	for _, t := range []string{"int32", "int64", "float32", "float64"} {
		list = append(list,
			problem{"csg " + t, func(r *rand.Rand) instance { return referenceCSG(r, on, t, agents) }},
			problem{"assignment " + t, func(r *rand.Rand) instance { return referenceAssignment(r, on, t, limit) }})
	}
	for _, f := range families {
		if slices.Contains([]string{"small", "int32", "uniform", "cents", "spread"}, f.name) {
			list = append(list, problem{"qubo " + f.name, func(r *rand.Rand) instance { return isingInstance(r, on, f, 30+r.IntN(limit)) }})
		}
	}
	return list
}

func referenceCSG(r *rand.Rand, on, values string, limit int) instance {
	kinds := []string{"uniform", "normal", "modified-uniform", "agent-based-normal", "ndcs", "ties", "superadditive", "negative", "infeasible"}
	n := 1 + r.IntN(limit)
	args := []string{"solve", "csg", "--verify", "--distribution", kinds[r.IntN(len(kinds))], "--type", values,
		"--agents", fmt.Sprint(n), "--seed", fmt.Sprint(r.Uint32())}
	if deviceKind(on) != device.Host && n >= 12 && r.IntN(4) == 0 {
		return instance{args: append(args, "--algorithm", "price"), sure: true}
	}
	return kernelInstance(r, "csg", on, instance{args: args, sure: true})
}

func referenceAssignment(r *rand.Rand, on, values string, limit int) instance {
	kinds := []string{"uniform", "geom", "disjoint", "spatial", "machol", "lowrank", "twocost", "equal", "planted_identity", "integer", "binary"}
	if strings.HasPrefix(values, "float") {
		kinds = append(kinds, "signed", "logarithmic")
	}
	rows := 1 + r.IntN(limit)
	args := []string{"solve", "assignment", "--verify", "--kind", kinds[r.IntN(len(kinds))], "--type", values,
		"--rows", fmt.Sprint(rows), "--seed", fmt.Sprint(r.Uint32())}
	if r.IntN(3) == 0 {
		args = append(args, "--cols", fmt.Sprint(1+r.IntN(limit)))
	} else if r.IntN(3) == 0 {
		args = append(args, "--density", "0.4")
	}
	if r.IntN(3) == 0 {
		args = append(args, "--maximize")
	}
	return kernelInstance(r, "assignment", on, instance{args: args, sure: true})
}

// isingInstance is a binary program of n spins whose best solution is known: each weight of a pair
// has the sign that makes its term negative where the spins are those of a drawn solution.
// Searches find that within a moment, but need not prove it.
func isingInstance(r *rand.Rand, on string, f family, n int) instance {
	hidden := make([]int64, n)
	for i := range hidden {
		hidden[i] = int64(2*r.IntN(2) - 1)
	}
	type pair struct {
		i, j   int
		weight *big.Rat
	}
	var pairs []pair
	var b strings.Builder
	b.WriteString("# vartype=SPIN\n")
	best := new(big.Rat)
	for i := range n {
		for j := range i {
			if j != i-1 && r.IntN(max(1, n/8)) > 0 {
				continue
			}
			v := f.drawNumbers(r, 1)[0]
			positive := v.exact.Sign() > 0
			if positive != (hidden[i]*hidden[j] < 0) { // the sign that the hidden solution likes
				if f.whole {
					v = wholeNumber(new(big.Int).Neg(v.exact.Num()))
				} else {
					v = floatNumber(-v.float)
				}
			}
			pairs = append(pairs, pair{i, j, v.exact})
			best.Sub(best, new(big.Rat).Abs(v.exact))
			fmt.Fprintf(&b, "%d %d %s\n", i, j, v.text)
		}
	}
	inst := instance{file: "a.coo", data: []byte(b.String()), least: true, whole: f.whole,
		args: []string{"solve", "qubo", "FILE", "--no-preprocessing", "--time-limit", "100ms"}}
	inst.size = new(big.Rat).Neg(best)
	inst.value = func(solution json.RawMessage, _ bool) (*big.Rat, *big.Rat, error) {
		var spins string
		if err := json.Unmarshal(solution, &spins); err != nil || len(spins) != n {
			return nil, best, fmt.Errorf("the solution %s, expected %d spins", solution, n)
		}
		sum := new(big.Rat)
		for _, p := range pairs {
			if (spins[p.i] == '+' || spins[p.i] == '1') == (spins[p.j] == '+' || spins[p.j] == '1') {
				sum.Add(sum, p.weight)
			} else {
				sum.Sub(sum, p.weight)
			}
		}
		return sum, best, nil
	}
	return kernelInstance(r, "qubo", on, inst)
}

// judgeReference judges an answer that the command has compared with its reference.
func judgeReference(r reply, sure bool) *fault {
	var x answer
	switch {
	case saysInfeasible(r):
		return nil
	case r.Code == 3:
		return &fault{"wrong", shorten(string(r.Err))}
	case r.Code != 0:
		return &fault{"refused", fmt.Sprintf("exit %d: %s", r.Code, shorten(string(r.Err)))}
	}
	err := json.Unmarshal(r.Out, &x)
	switch value := parseValue(x.Value); {
	case err == nil && value == nil:
		err = errors.New("no value")
		fallthrough
	case err != nil:
		return &fault{"wrong", fmt.Sprintf("no answer: %v", err)}
	case sure && (!x.Proven || x.Gap == nil || *x.Gap < 0 || math.IsNaN(*x.Gap)):
		return &fault{"wrong", "not proven"}
	}
	return nil
}
