package stableset

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"

	"coalesce/autotune/subject"
	"coalesce/autotune/tuned"
	"coalesce/generated/qubo"
	"coalesce/runtime/device"
	"coalesce/solvers/qubo/internal/search"
	"coalesce/solvers/qubo/problem"
)

// Subject is qubo/stableset, with instances for the tuner. What is timed is a number of steps, however many walks make them.
type Subject struct{}

// Family is qubo/stableset.
func (Subject) Family() *device.Family { return &qubo.Stableset }

// Workloads are the numbers of bits that counts of neighbours take.
func (Subject) Workloads() (list []map[string]string) {
	for _, depth := range []string{"5", "7", "10"} {
		list = append(list, map[string]string{"depth": depth})
	}
	return list
}

// Sizes are numbers of vertices: few where the device is not a GPU.
func (Subject) Sizes(f device.Facts) []int {
	if f.Kind == device.CUDA {
		return []int{1000, 2000, 4000, 8000}
	}
	return []int{64, 144}
}

// Feasible holds vertices and memory against a device.
func (Subject) Feasible(v *device.Variant, f device.Facts, size int) error {
	return checkFits(v, f, size, 0)
}

// Workload is the description by which a variant is chosen for sets that need so many bits.
func (Subject) Workload(fixed map[string]string, f device.Facts, size int) (tuned.Workload, error) {
	depth, err := strconv.Atoi(fixed["depth"])
	if err != nil {
		return tuned.Workload{}, err
	}
	return workloadFor(f, size, 1<<depth-1)
}

// A trial is a graph, to be timed, or, if it is a case, to be followed by the host.
type trial struct {
	p      *problem.Normal
	isCase bool
}

// Size is the number of vertices.
func (t *trial) Size() int { return t.p.N }

// drawGraph draws a graph with each edge in a share of the cases.
func drawGraph(n int, share float64, seed uint64) *problem.Normal {
	r := rand.New(rand.NewPCG(seed, 0))
	near := make([][]int32, n)
	for i := range n {
		for j := range i {
			if r.Float64() < share {
				near[i], near[j] = append(near[i], int32(j)), append(near[j], int32(i))
			}
		}
	}
	p := &problem.Normal{N: n, Start: make([]int64, 1, n+1), Diag: make([]int64, n), Sense: 1, Exact: true}
	for i, list := range near {
		p.Diag[i] = 1
		p.Col = append(p.Col, list...)
		p.Start = append(p.Start, int64(len(p.Col)))
	}
	p.Weight = make([]int64, len(p.Col))
	for k := range p.Weight {
		p.Weight[k] = -2
	}
	return p
}

// shareFor is the share of edges with which the largest sets of some thousand vertices take about so many bits.
func shareFor(depth string) float64 {
	return map[string]float64{"5": 0.5, "7": 0.12, "10": 0.015}[depth]
}

// Cases are few vertices, without edges and with all, and graphs of several words.
func (Subject) Cases(fixed map[string]string) (list []subject.Case, err error) {
	for _, c := range []struct {
		n     int
		share float64
	}{{1, 0}, {33, 0}, {40, 1}, {150, shareFor(fixed["depth"])}} {
		list = append(list, subject.Case{Name: fmt.Sprintf("%d vertices, edges %g", c.n, c.share), Instance: &trial{drawGraph(c.n, c.share, 1), true}})
	}
	return list, nil
}

// Instance draws a graph to be timed.
func (Subject) Instance(fixed map[string]string, size int, seed uint64) (subject.Instance, error) {
	return &trial{p: drawGraph(size, shareFor(fixed["depth"]), seed)}, nil
}

// DrawCase draws a graph that the host follows.
func (Subject) DrawCase(fixed map[string]string, size int, seed uint64) (subject.Instance, error) {
	return &trial{drawGraph(size, shareFor(fixed["depth"]), seed), true}, nil
}

// Open takes a variant; a trial takes the memory.
func (Subject) Open(d device.Device, v *device.Variant) (subject.Runner, error) {
	return subject.Open(&qubo.Stableset, v, func(t *trial) (subject.Job, error) {
		count, steps := 0, 0
		if t.isCase {
			count, steps = max(2, qubo.Stableset.Int(v, "block")/32), caseSteps
		}
		w, err := newWalks(d, v, t.p, newGraph(t.p), count)
		if err != nil {
			return nil, err
		}
		if steps == 0 {
			steps = max(1, trialSteps/w.count)
		}
		return &trialJob{on: w, own: w.streams[0], steps: steps, isCase: t.isCase}, nil
	})
}

// Steps of all walks in a timed run, about, and of a walk in a case.
const (
	trialSteps = 1 << 24
	caseSteps  = 300
)

type trialJob struct {
	on     *walks
	own    device.Stream
	steps  int
	isCase bool
}

// Reset poisons the sets that Run leaves, and clears the walks.
func (j *trialJob) Reset(s device.Stream) error {
	j.on.streams[0] = s
	return errors.Join(s.Fill(j.on.sets, 0, j.on.sets.Len(), 0xa5), s.Fill(j.on.tops, 0, j.on.tops.Len(), 0xa5), s.Fill(j.on.scores, 0, j.on.scores.Len(), 0xa5))
}

// Run makes steps from empty sets.
func (j *trialJob) Run(s device.Stream) error {
	j.on.streams[0] = s
	return errors.Join(j.on.begin(nil), j.on.enqueue(1, 0, j.steps, 0, false))
}

// Check holds the first walks of a case against the host's, and those of others against the coefficients.
func (j *trialJob) Check(device.Stream) error {
	w := j.on
	for k := range min(w.count, 2) {
		set, err := w.download(w.sets, k)
		if err != nil {
			return err
		}
		top, err := w.download(w.tops, k)
		if err != nil {
			return err
		}
		if !j.isCase {
			found := &deviceSearch{walks: w, Rounds: search.Options{}.NewRounds(context.Background(), nil)}
			defer found.End()
			if err := errors.Join(found.offerSet(w.sets, k), found.offerSet(w.tops, k)); err != nil {
				return err
			}
			continue
		}
		model := &walkModel{graph: w.graph, items: qubo.Stableset.Int(w.variant, "items"), limit: 1<<qubo.Stableset.Int(w.variant, "depth") - 1}
		wantSet, wantTop := model.run(1, uint64(k), j.steps)
		for v := range w.n {
			if contains(set, v) != wantSet[v] || contains(top, v) != wantTop[v] {
				return fmt.Errorf("%w: walk %d: vertex %d is in the set %t and in the largest %t, by the host %t and %t", problem.ErrCheck, k, v, contains(set, v), contains(top, v), wantSet[v], wantTop[v])
			}
		}
	}
	return nil
}

// Work is the number of steps.
func (j *trialJob) Work() float64 { return float64(j.on.count) * float64(j.steps) }

// Close gives back the memory of the trial.
func (j *trialJob) Close() error {
	j.on.streams[0] = j.own
	return j.on.Close()
}
