package bidders

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"sync"

	"coalesce/autotune/subject"
	"coalesce/generated/auction"
	"coalesce/runtime/device"
	"coalesce/solvers/cores"
)

// A Trial is a problem for the tuner with the expected results, which the host computes: values of the
// tables of the first half of its bidders and of the others, and the best sum of the two.
type Trial struct {
	p    *Problem // peeled
	once sync.Once
	want struct {
		halves [2]table // of few items
		looked [2][]int64
		value  int64
	}
	err error
}

// newTrial is a trial of a problem.
func newTrial(p *Problem) *Trial {
	peeled, _ := p.orderItems()
	return &Trial{p: peeled}
}

// Size is the number of items.
func (t *Trial) Size() int { return t.p.Items }

// biddersOf are the bidders of one table.
func (t *Trial) biddersOf(k int) [][]Bid {
	n := len(t.p.Bidders) / 2
	return t.p.Bidders[k*n : n+k*(len(t.p.Bidders)-n)]
}

// tableItems is the number of items up to which whole tables are compared.
const tableItems = 16

// comparedSets are the sets whose values are compared in tables of any size.
func (t *Trial) comparedSets() []uint32 {
	r := rand.New(rand.NewPCG(1, uint64(t.p.Items)))
	all := uint32(1)<<t.p.Items - 1
	sets := []uint32{0, all}
	for range 1000 {
		sets = append(sets, r.Uint32()&all)
	}
	return sets
}

// computeExpected computes the expected results on the host.
func (t *Trial) computeExpected() error {
	t.once.Do(func() {
		scratch := make(table, 1<<t.p.Items)
		var halves [2]table
		for k := range halves {
			var made table
			if made, t.err = makeTable(context.Background(), t.p.Items, scratch, t.biddersOf(k)); t.err != nil {
				return
			}
			halves[k] = made.extendTo(t.p.Items)
			for _, s := range t.comparedSets() {
				t.want.looked[k] = append(t.want.looked[k], halves[k][s])
			}
		}
		all := len(scratch) - 1
		var mu sync.Mutex
		cores.Split(len(halves[0]), copyLeast, func(from, to int) {
			best := int64(0)
			for s := from; s < to; s++ {
				best = max(best, halves[0][s]+halves[1][all^s])
			}
			mu.Lock()
			t.want.value = max(t.want.value, best)
			mu.Unlock()
		})
		if t.p.Items <= tableItems {
			t.want.halves = halves
		}
	})
	return t.err
}

// A trialJob is a trial on a device.
type trialJob struct {
	trial  *Trial
	d      *deviceTables
	looked [2]device.Buffer
	lists  [2][]pass
	halves [2]*deviceTable
	first  [2]int // of a half's bids in the lists on the device
}

// newTrialJob uploads the bids of all passes.
func (on DeviceTables) newTrialJob(t *Trial) (_ *trialJob, err error) {
	d, err := on.openTables(t.p)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, d.scope.Close())
		}
	}()
	j := &trialJob{trial: t, d: d}
	size := valueSize(on.Variant)
	sets := t.comparedSets()
	for k := range j.lists {
		j.lists[k] = makePasses(t.biddersOf(k))
		var room device.Buffer
		if room, err = d.takeBuffer(); err != nil {
			return nil, err
		}
		j.halves[k] = &deviceTable{room, d.tile}
		if err = d.ensureBuffer(&j.looked[k], size*int64(1+len(sets))); err != nil {
			return nil, err
		}
		if k == 0 {
			for _, p := range j.lists[0] {
				j.first[1] += len(p.bids)
			}
		}
	}
	scratch, err := d.takeBuffer()
	if err != nil {
		return nil, err
	}
	d.freeBuffer(scratch)
	if err = errors.Join(d.uploadBids(slices.Concat(j.lists[0], j.lists[1])), d.bestRoom(), d.ensureBuffer(&d.sets, 4*int64(1+len(sets)))); err != nil {
		return nil, err
	}
	return j, d.stream.Sync()
}

// Close frees the device's memory.
func (j *trialJob) Close() error { return j.d.scope.Close() }

// Reset overwrites on a stream all that a run writes, so that Check cannot pass on old results.
func (j *trialJob) Reset(s device.Stream) error {
	const poison = 0xa5
	j.d.stream = s
	var errs []error
	for _, b := range slices.Concat([]device.Buffer{j.halves[0].room, j.halves[1].room, j.looked[0], j.looked[1], j.d.worth, j.d.sets}, j.d.spare) {
		errs = append(errs, s.Fill(b, 0, b.Len(), poison))
	}
	return errors.Join(errs...)
}

// Run enqueues the passes of both tables, and the search for the best set.
func (j *trialJob) Run(s device.Stream) error {
	j.d.stream = s
	for k, t := range j.halves {
		if err := j.d.clearTable(t); err != nil {
			return err
		}
		first := j.first[k]
		for _, p := range j.lists[k] {
			if err := j.d.enqueuePass(t, &p, first); err != nil {
				return err
			}
			first += len(p.bids)
		}
		if err := j.d.growTable(t, j.trial.p.Items); err != nil {
			return err
		}
	}
	return j.d.enqueueBest(j.halves[0], j.halves[1], j.trial.p.Items)
}

// Check compares the tables of the run on a stream with the host's.
func (j *trialJob) Check(s device.Stream) error {
	j.d.stream = s
	t := j.trial
	if err := t.computeExpected(); err != nil {
		return err
	}
	set, value, err := j.d.downloadBest(j.halves[0], j.halves[1], t.p.Items)
	if err != nil {
		return err
	}
	if value != t.want.value {
		return fmt.Errorf("set %d is worth %d, expected %d", set, value, t.want.value)
	}
	sets := t.comparedSets()
	rest := uint32(1)<<t.p.Items - 1 - set
	for k, made := range j.halves {
		got, err := j.d.readSets(made, append(sets, [2]uint32{set, rest}[k]), j.looked[k])
		if err != nil {
			return err
		}
		value -= got[len(sets)]
		for n, want := range t.want.looked[k] {
			if got[n] != want {
				return fmt.Errorf("set %d of half %d is worth %d, expected %d", sets[n], k, got[n], want)
			}
		}
		want := t.want.halves[k]
		if want == nil {
			continue
		}
		whole, err := j.d.downloadValues(made.room, len(want))
		if err != nil {
			return err
		}
		for s := range want {
			if whole[s]*j.d.unit != want[s] {
				return fmt.Errorf("set %d of half %d is worth %d, expected %d", s, k, whole[s]*j.d.unit, want[s])
			}
		}
	}
	if value != 0 {
		return fmt.Errorf("set %d and its rest are worth %d less than was found", set, value)
	}
	return nil
}

// Work is the number of sets to which bids are offered, summed over the bids.
func (j *trialJob) Work() float64 {
	sum := 0.0
	for _, asked := range j.trial.p.Bidders {
		for _, b := range asked {
			sum += float64(uint64(1) << (j.trial.p.Items - bits.OnesCount32(b.Items)))
		}
	}
	return sum
}

// Demand is an addition for each of them.
func (j *trialJob) Demand() subject.Demand {
	return subject.Demand{Operations: j.Work(), Arithmetic: device.Value(auction.Bidders.Value(j.d.on.Variant, "value"))}
}

// drawProblem is a problem of so many bids, each of at least three items as far as there are so
// many: bidders of one bid and bidders of several take turns, until the bids are spent.
func drawProblem(items, bids, largest int, price int64, seed uint64) *Problem {
	r := rand.New(rand.NewPCG(seed, uint64(items)))
	p := &Problem{Items: items}
	for id := 0; id < bids; {
		asked := []Bid{}
		for range min(1+len(p.Bidders)%2*(largest-1), bids-id) {
			b := Bid{ID: id}
			for size := min(items, 3+min(r.IntN(3), r.IntN(3))); bits.OnesCount32(b.Items) < size; {
				b.Items |= 1 << r.IntN(items)
			}
			b.Price = 1 + int64(bits.OnesCount32(b.Items))*(price/2+r.Int64N(price/2+1))
			asked = append(asked, b)
			id++
		}
		p.Bidders = append(p.Bidders, asked)
	}
	return p
}
