package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
)

// A problem is drawn; the instance is judged.
type problem struct {
	name string
	draw func(*rand.Rand) instance
}

// problems are all problems in numbers of all families, solved on a device.
func problems(on string) (list []problem) {
	for _, p := range []struct {
		name string
		draw func(*rand.Rand, family) instance
	}{{"csg", drawCSG}, {"auction", drawAuction}, {"assignment", drawAssignment}, {"flow", drawFlow}, {"qubo", drawQUBO}} {
		for _, f := range families {
			list = append(list, problem{p.name + ", " + f.name, func(r *rand.Rand) instance { return kernelInstance(r, p.name, on, p.draw(r, f)) }})
		}
	}
	return list
}

// An instance is a file with the values of its solutions.
type instance struct {
	file string // its name
	data []byte
	args []string // FILE stands for its path
	// value is what a solution is worth, in the reading of floats or of decimals, and
	// what the best is worth; an error says what is no solution. best is nil where there
	// is no solution. It is nil where the command draws the instance and compares its answer
	// with a reference.
	value func(solution json.RawMessage, decimal bool) (sum, best *big.Rat, err error)
	least bool     // the problem minimises
	whole bool     // values are exact, not rounded to float64
	sure  bool     // every answer is proven
	exact bool     // a proven answer has no gap
	other bool     // what is optimised is not the value that is printed
	may   bool     // the command may refuse it, for its numbers are too large
	size  *big.Rat // that terms' magnitudes add up to
}

// instanceJobs are count random instances of each problem and family of numbers, referenceJobs
// of those that are compared with a reference.
func (a *adversary) instanceJobs(count int) []job {
	return a.solveJobs("instance", problems(a.Device), count)
}

func (a *adversary) referenceJobs(count int) []job {
	return a.solveJobs("reference", referenceProblems(a.Device), count)
}

func (a *adversary) solveJobs(kind string, list []problem, count int) (jobs []job) {
	for _, p := range list {
		jobs = append(jobs, a.addBatches(kind, p.name, count, 100, func(w *pool, r *rand.Rand, row *figures, _ int) error {
			if err := w.limitMemory(0); err != nil {
				return err
			}
			return a.tryInstance(w, row, p.draw(r))
		})...)
	}
	return jobs
}

func (a *adversary) tryInstance(w *pool, row *figures, inst instance) error {
	path := filepath.Join(a.folder, fmt.Sprint("worker", w.number), inst.file)
	if inst.file != "" {
		if err := os.WriteFile(path, inst.data, 0o644); err != nil {
			return err
		}
	}
	var args []string
	for _, arg := range inst.args {
		args = append(args, strings.ReplaceAll(arg, "FILE", path))
	}
	args = append(args, "--device", a.Device, "--json")
	r, err := w.run(args)
	if err != nil {
		return a.countReply(row, w, args, r, err, nil)
	}
	return a.countReply(row, w, args, r, nil, inst.checkReply(r))
}

// An answer is what --json says of every problem.
type answer struct {
	Value    json.RawMessage `json:"value"`
	Bound    json.RawMessage `json:"bound"`
	Gap      *float64        `json:"gap"`
	Proven   bool            `json:"proven"`
	Stopped  bool            `json:"interrupted"`
	Solution json.RawMessage `json:"solution"`
	Flow     json.RawMessage `json:"flow"`
	Notes    []string        `json:"notes"`
}

// checkReply compares the command's answer with all solutions, and returns its fault, nil if there is none.
func (inst *instance) checkReply(r reply) *fault {
	if inst.value == nil {
		return judgeReference(r, inst.sure)
	}
	if r.Code == 1 && !saysInfeasible(r) {
		switch {
		case !inst.may:
			return &fault{"refused", shorten(string(r.Err))}
		case !strings.Contains(string(r.Err), inst.file):
			return &fault{"unnamed", shorten(string(r.Err))}
		}
		return nil
	}
	if r.Code != 0 && !saysInfeasible(r) {
		return &fault{"check", fmt.Sprintf("exit %d: %s", r.Code, shorten(string(r.Err)))}
	}
	var x answer
	if err := json.Unmarshal(r.Out, &x); err != nil {
		return &fault{"wrong", fmt.Sprintf("no answer: %v", err)}
	}
	wrong := inst.checkAnswer(&x, false)
	if wrong != nil && inst.checkAnswer(&x, true) == nil {
		return nil
	}
	return wrong
}

// checkAnswer judges an answer in one reading of the file's numbers.
func (inst *instance) checkAnswer(x *answer, decimal bool) *fault {
	solution := x.Solution
	if x.Flow != nil {
		solution = x.Flow
	}
	sum, best, err := inst.value(solution, decimal)
	switch value := parseValue(x.Value); {
	case best == nil && value == nil && x.Proven:
		return nil
	case best == nil:
		return &fault{"wrong", "an answer, where there is no solution"}
	case value == nil:
		return &fault{"false proof", fmt.Sprintf("no solution, where there is one worth %s", text(best))}
	case err != nil:
		return &fault{"wrong", err.Error()}
	case !inst.other && !near(value, sum, inst.whole, inst.size):
		return &fault{"wrong", fmt.Sprintf("the value %s of a solution that is worth %s", text(value), text(sum))}
	}
	// From here on more is better.
	bound := parseValue(x.Bound)
	if inst.least {
		sum, best = new(big.Rat).Neg(sum), new(big.Rat).Neg(best)
		if bound != nil {
			bound.Neg(bound)
		}
	}
	short := new(big.Rat).Sub(best, sum)
	if x.Proven {
		gap := new(big.Rat)
		if x.Gap == nil || gap.SetFloat64(*x.Gap) == nil || gap.Sign() < 0 {
			return &fault{"wrong", "proven, without a gap"}
		}
		if inst.exact && gap.Sign() > 0 {
			return &fault{"wrong", fmt.Sprintf("proven with a gap of %s", text(gap))}
		}
		if short.Cmp(gap) > 0 {
			return &fault{"false proof", fmt.Sprintf("proven within %s, and %s below the best, %s", text(gap), text(short), text(best))}
		}
	} else if inst.sure {
		return &fault{"wrong", "not proven"}
	}
	if bound != nil && !inst.other && bound.Cmp(best) < 0 && !near(bound, best, inst.whole, inst.size) {
		return &fault{"false proof", fmt.Sprintf("the bound %s, and the best is worth %s", text(bound), text(best))}
	}
	return nil
}

// near reports whether a printed value is the value of a sum. Of whole numbers every digit
// must agree. Of floats the two may differ by half of the last bit, and by what a compensated
// sum loses of terms whose magnitudes add up to size.
func near(value, sum *big.Rat, whole bool, size *big.Rat) bool {
	apart := new(big.Rat).Sub(value, sum)
	if whole || apart.Sign() == 0 {
		return apart.Sign() == 0
	}
	apart.Abs(apart)
	room := new(big.Rat).Abs(sum)
	room.Mul(room, new(big.Rat).SetFloat64(0x1p-52))
	room.Add(room, new(big.Rat).SetFloat64(5e-324))
	if size != nil {
		room.Add(room, new(big.Rat).Mul(size, new(big.Rat).SetFloat64(0x1p-90)))
	}
	return apart.Cmp(room) <= 0
}

// parseValue is a value in JSON, a number or a string of one; nil: there is none.
func parseValue(raw json.RawMessage) *big.Rat {
	x, ok := new(big.Rat).SetString(string(bytes.Trim(raw, `"`)))
	if !ok {
		return nil
	}
	return x
}

// text is a rational for people.
func text(x *big.Rat) string {
	if x.IsInt() && x.Num().BitLen() < 200 {
		return x.Num().String()
	}
	f, _ := x.Float64()
	if math.IsInf(f, 0) {
		return "beyond 1.8e308"
	}
	return fmt.Sprintf("%v", f)
}

// exactValues are numbers exactly, in one of the two readings of floats.
func exactValues(list []number, decimal bool) []*big.Rat {
	exact := make([]*big.Rat, len(list))
	for i, v := range list {
		if exact[i] = v.exact; decimal {
			exact[i] = v.digits
		}
	}
	return exact
}

// sumMagnitudes is the sum of absolute values.
func sumMagnitudes(list []number) *big.Rat {
	sum := new(big.Rat)
	for _, v := range list {
		if v.exact != nil {
			sum.Add(sum, new(big.Rat).Abs(v.exact))
		}
	}
	return sum
}

// exceeds reports whether times the largest magnitude is more than limit.
func exceeds(list []number, times int64, limit *big.Rat) bool {
	for _, v := range list {
		if v.exact != nil && new(big.Rat).Mul(new(big.Rat).Abs(v.exact), big.NewRat(times, 1)).Cmp(limit) > 0 {
			return true
		}
	}
	return false
}

// powerOfTwo is 2^k.
func powerOfTwo(k uint) *big.Rat { return new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), k)) }
