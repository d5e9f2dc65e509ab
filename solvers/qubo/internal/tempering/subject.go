package tempering

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"coalesce/autotune/subject"
	"coalesce/generated/qubo"
	"coalesce/runtime/device"
	"coalesce/solvers/qubo/internal/draw"
	"coalesce/solvers/qubo/internal/search"
	"coalesce/solvers/qubo/problem"
)

// Subject is qubo/temper, with instances for the tuner. What is timed is a
// number of visits, however many blocks make them.
type Subject struct{}

// Family is qubo/temper.
func (Subject) Family() *device.Family { return &qubo.Temper }

// Workloads are the types of coefficients, each of which is tuned by itself.
func (Subject) Workloads() []map[string]string {
	return []map[string]string{{"weight": "unit"}, {"weight": "int32"}}
}

// Sizes are numbers of variables: few where the device is not a GPU.
func (Subject) Sizes(f device.Facts) []int {
	if f.Kind == device.CUDA {
		return []int{784, 1936, 4900, 9801, 19881, 250000}
	}
	return []int{64, 144}
}

// Feasible holds the weights and the memory of a block, with that for cluster moves, against a device. On
// toruses cluster moves pay, which a time does not tell, so that variants without room for them are not
// compared.
func (Subject) Feasible(v *device.Variant, f device.Facts, size int) error {
	form, err := requirements{n: size, unit: 2, delta: 1 << 8, sum: int64(size) << 8, temperature: 2}.layoutFor(v)
	if err != nil {
		return err
	}
	return form.checkFits(f, size, true)
}

// A trial is a torus, to be timed, or, if it is a case, another problem, to
// be followed by the host.
type trial struct {
	p      *problem.Normal
	isCase bool
}

// Size is the number of variables.
func (t *trial) Size() int { return t.p.N }

// drawTorus draws a square lattice with periodic ends of about n variables, whose
// pairs weigh 2 or -2, or something between -200 and 200.
func drawTorus(weight string, n int, seed uint64) *problem.Normal {
	side := max(3, int(math.Round(math.Sqrt(float64(n)))))
	p := &problem.Normal{N: side * side, Start: make([]int64, 1, side*side+1), Diag: make([]int64, side*side), Sense: 1, Exact: true}
	for i := range p.N {
		a, b := i/side*side, i%side
		near := []int{a + (b+1)%side, a + (b+side-1)%side, (i + side) % p.N, (i + p.N - side) % p.N}
		slices.Sort(near)
		for _, j := range near {
			u := draw.RandomWord(seed, uint64(min(i, j)), uint64(max(i, j)))
			w := int64(u%2)*4 - 2
			if weight != "unit" {
				w = int64(u%200)*2 - 199
			}
			p.Col, p.Weight = append(p.Col, int32(j)), append(p.Weight, w)
		}
		p.Start = append(p.Start, int64(len(p.Col)))
	}
	return p
}

// Cases are one variable, lattices, and a hub with more neighbours than a chunk
// has slots.
func (Subject) Cases(fixed map[string]string) ([]subject.Case, error) {
	one := &problem.Normal{N: 1, Start: []int64{0, 0}, Diag: []int64{3}, Sense: 1, Exact: true}
	star := &problem.Normal{N: 70, Start: []int64{0, 69}, Diag: make([]int64, 70), Sense: 1, Exact: true}
	for i := 1; i < star.N; i++ {
		star.Diag[i], star.Col, star.Weight = int64(i%3), append(star.Col, int32(i)), append(star.Weight, int64(i%2)*4-2)
	}
	for i := 1; i < star.N; i++ {
		star.Col, star.Weight = append(star.Col, 0), append(star.Weight, int64(i%2)*4-2)
		star.Start = append(star.Start, int64(len(star.Col)))
	}
	cases := []subject.Case{{Name: "1 variable", Instance: &trial{one, true}}, {Name: "a star", Instance: &trial{star, true}}}
	for _, n := range []int{9, 121} {
		cases = append(cases, subject.Case{Name: fmt.Sprintf("a torus of %d", n), Instance: &trial{drawTorus(fixed["weight"], n, 1), true}})
	}
	return cases, nil
}

// Instance draws a problem to be timed.
func (Subject) Instance(fixed map[string]string, size int, seed uint64) (subject.Instance, error) {
	return &trial{p: drawTorus(fixed["weight"], size, seed<<40)}, nil
}

// DrawCase draws a lattice that the host follows.
func (Subject) DrawCase(fixed map[string]string, size int, seed uint64) (subject.Instance, error) {
	return &trial{drawTorus(fixed["weight"], size, seed<<40), true}, nil
}

// Open takes a variant; a trial takes the memory.
func (Subject) Open(d device.Device, v *device.Variant) (subject.Runner, error) {
	return subject.Open(&qubo.Temper, v, func(t *trial) (subject.Job, error) { return newTrialJob(d, v, t) })
}

// trialVisits is how many visits of a variable and replica a timed run makes,
// about.
const trialVisits = 1 << 32

// newTrialJob lays a trial out on the device.
func newTrialJob(d device.Device, v *device.Variant, t *trial) (subject.Job, error) {
	rules := settings{every: -1}
	if t.isCase {
		rules = settings{blocks: 2, every: 2}
	}
	m, err := newTemper(d, v, t.p, rules)
	if err != nil {
		return nil, err
	}
	j := &trialJob{on: m, own: m.streams[0], sweeps: 3}
	if m.anneals = 0; !t.isCase {
		j.sweeps = max(1, trialVisits/(replicas*m.blocks*t.p.N))
	}
	if err := errors.Join(m.uploadLadders(nil), m.streams[0].Sync()); err != nil {
		return nil, errors.Join(err, m.Close())
	}
	return j, nil
}

type trialJob struct {
	on     *tempering
	own    device.Stream
	sweeps int
}

// Reset poisons the outputs of Run.
func (j *trialJob) Reset(s device.Stream) error {
	m := j.on
	m.streams[0] = s
	var errs []error
	for _, b := range []device.Buffer{m.now, m.kept, m.scores} {
		errs = append(errs, s.Fill(b, 0, b.Len(), 0xa5))
	}
	return errors.Join(errs...)
}

// Run makes a round from random solutions.
func (j *trialJob) Run(s device.Stream) error {
	j.on.streams[0] = s
	return j.on.enqueueRound(search.Options{Seed: 1, Work: 1}, 0, j.sweeps)
}

// Check holds a case against the host's words, and of others the first blocks'
// best against the coefficients.
func (j *trialJob) Check(s device.Stream) error {
	m := j.on
	scores := make([]int64, qubo.TemperScoreScores*m.blocks)
	if err := s.Download(device.Bytes(scores), m.scores, 0); err != nil {
		return err
	}
	for b := range min(m.blocks, 4) {
		if _, err := m.downloadBest(b, scores[b*qubo.TemperScoreScores+qubo.TemperScoreKept]>>m.form.shift); err != nil {
			return err
		}
		if m.every == 0 {
			continue
		}
		model, now := newModel(m.p, m.form, m.layout), make([]uint32, m.p.N)
		model.round(1, 0, b, m.blocks, j.sweeps, m.every, m.ladder(b))
		if err := s.Download(device.Bytes(now), m.now, int64(4*b*m.p.N)); err != nil {
			return err
		}
		if !slices.Equal(now, model.x) {
			return fmt.Errorf("%w: the replicas of block %d are not the host's", problem.ErrCheck, b)
		}
	}
	return nil
}

// Work is the number of visits.
func (j *trialJob) Work() float64 {
	return float64(replicas) * float64(j.on.blocks) * float64(j.on.p.N) * float64(j.sweeps)
}

// Close gives back the memory of the trial.
func (j *trialJob) Close() error {
	j.on.streams[0] = j.own
	return j.on.Close()
}
