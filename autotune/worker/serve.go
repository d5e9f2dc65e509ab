// Package worker runs trials in a child process of the tuner. A kernel that writes outside its memory
// spoils its whole process, and one that never ends holds the process for ever; in a child, a crash or
// a hang costs one trial.
//
// Parent and child speak JSON Lines over the child's stdin and stdout: the child
// says hello with its device's facts, then answers each request with a trial.
package worker

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"runtime"
	"runtime/metrics"
	"slices"
	"time"

	"coalesce/autotune/measure"
	"coalesce/autotune/roofline"
	"coalesce/autotune/subject"
	"coalesce/autotune/trial"
	"coalesce/autotune/verify"
	"coalesce/runtime/device"
	"coalesce/runtime/guard"
	"coalesce/runtime/memory"
)

// Protocol names the protocol between parent and child.
const Protocol = "worker/1"

// Hello is the child's first line.
type Hello struct {
	Protocol string       `json:"protocol"`
	Facts    device.Facts `json:"facts"`
}

// A Request asks for one trial.
type Request struct {
	ID      int               `json:"id"`
	Family  string            `json:"family"`
	Variant string            `json:"variant"`
	Hash    uint64            `json:"hash,string"` // hash of the variant in the parent's binary
	Fixed   map[string]string `json:"fixed"`
	Size    int               `json:"size"`
	Seed    uint64            `json:"seed,string"`
	Action  string            `json:"action"` // trial.ActionVerify or trial.ActionMeasure
	// First is the label of a variant that already answered this instance well;
	// "" when there is none yet. A worker that makes the instance anew lets it
	// answer first: where an instance is too large for the reference, a subject
	// holds later answers against the first.
	First  string `json:"first,omitempty"`
	Effort Effort `json:"effort"`
}

// Effort bounds a measurement; zero fields take the defaults of protocol mp1.
type Effort struct {
	Samples    int           `json:"samples,omitempty"`
	MinSamples int           `json:"min_samples,omitempty"`
	Warmup     time.Duration `json:"warmup_ns,omitempty"`
	Cap        time.Duration `json:"cap_ns,omitempty"`
	Bound      time.Duration `json:"bound_ns,omitempty"`
	// Others is the part of the host's cores that other processes may take during a measurement, and Wait
	// how long the worker waits until they take no more (measure.OtherLoad).
	Others float64       `json:"others,omitempty"`
	Wait   time.Duration `json:"wait_ns,omitempty"`
}

// reply is the child's answer.
type reply struct {
	ID    int         `json:"id"`
	Trial trial.Trial `json:"trial"`
}

// Serve answers requests read from in, one at a time, until in ends. It is the
// whole of a worker process: where in ends during a trial, which is when the tuner
// has been killed, the process ends half a second later, as the trial might never.
// Trials that fail are answered like any other; the error is of reading and writing only.
func Serve(ctx context.Context, dev device.Device, subjects []subject.Subject, in io.Reader, out io.Writer) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	enc := json.NewEncoder(out)
	if err := enc.Encode(Hello{Protocol: Protocol, Facts: dev.Facts()}); err != nil {
		return fmt.Errorf("worker: %w", err)
	}
	b := &Bench{Device: dev, Subjects: subjects}
	if dev.Facts().Kind == device.Host {
		b.Others = new(measure.OtherLoad)
		b.Others.BeginInterval()
	}
	requests, ended := make(chan Request), make(chan error)
	returned := make(chan struct{})
	defer close(returned)
	go func() {
		dec := json.NewDecoder(bufio.NewReader(in))
		for {
			var r Request
			if err := dec.Decode(&r); err != nil {
				abandoned := make(<-chan time.Time) // never, where in was damaged
				if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
					abandoned = time.After(500 * time.Millisecond)
				}
				select {
				case ended <- err:
				case <-returned:
				case <-abandoned:
					os.Exit(1)
				}
				return
			}
			select {
			case requests <- r:
			case <-returned:
				return
			}
		}
	}()
	for {
		select {
		case err := <-ended:
			if errors.Is(err, io.EOF) {
				return nil
			}
			return fmt.Errorf("worker: read request: %w", err)
		case r := <-requests:
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := enc.Encode(reply{r.ID, b.RunTrial(ctx, r)}); err != nil {
				return fmt.Errorf("worker: write reply: %w", err)
			}
		}
	}
}

// A Bench runs trials in this process. Serve uses it in the child; tests of
// devices that cannot hang may use it directly.
type Bench struct {
	Device   device.Device
	Subjects []subject.Subject
	Now      func() time.Time // default time.Now

	// Others tells what other processes compute meanwhile; nil: nobody asks.
	Others *measure.OtherLoad

	// Roomy reports whether memory is left for another instance beside those that are kept; default a
	// look at the heap and at the memory that this process may take.
	Roomy func() bool

	// The last cases and instances, because making one, and answering it by the reference, may take
	// longer than running it. The rounds of a final time two instances by turns.
	casesOf string
	cases   []subject.Case
	kept    []cachedInstance // the one used last at the end

	peak  *roofline.Peak  // of Device; nil: not looked at yet
	timed time.Time       // when the last measurement ended
	fresh uint64          // instances drawn to verify what was timed
	held  map[string]bool // family, variant and fixed parameters whose cases were answered after timing too
}

// mostKept is how many instances a Bench keeps: one more than the rounds of a final time by turns.
const mostKept = 3

// An instance that is kept, and of which request.
type cachedInstance struct {
	of       string
	instance subject.Instance
}

// A GPU that timed something less than warmFor ago has its clock up, and is warmed up by shortWarmup alone.
// Of a tune of 20 minutes, warm-ups of 25 ms were 160 s (docs/notes/tuning-time.md).
const (
	warmFor     = time.Second
	shortWarmup = 5 * time.Millisecond
)

// keptPart is one part in so many of the memory that the process may take. While the heap takes less,
// instances are kept: the next one takes about as much as one of them, and before the garbage
// collector runs the heap may grow to twice what is in use.
const keptPart = 8

// unknownFree is taken for the memory that the process may take where the system does not tell.
const unknownFree = 4 << 30

// roomy reports whether the heap, garbage included, takes less than one part in keptPart of the memory
// that the process may take.
func roomy() bool {
	heap := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(heap)
	free := memory.FreeNow().Bytes
	if free == 0 {
		free = unknownFree
	}
	return heap[0].Value.Uint64() < uint64(free)/keptPart
}

// RunTrial runs one trial. The trial's status and error say what went wrong.
func (b *Bench) RunTrial(ctx context.Context, r Request) trial.Trial {
	now := b.Now
	if now == nil {
		now = time.Now
	}
	begin := now()
	t := b.do(ctx, r, now)
	t.Time = begin.UTC()
	t.Wall = int64(now().Sub(begin))
	return t
}

func (b *Bench) do(ctx context.Context, r Request, now func() time.Time) (done trial.Trial) {
	none := newRecord(r, b.Device.Facts())
	i := slices.IndexFunc(b.Subjects, func(s subject.Subject) bool { return s.Family().Name == r.Family })
	if i < 0 {
		return failTrial(none, trial.Skipped, fmt.Errorf("the worker has no family %s", r.Family))
	}
	sub := b.Subjects[i]
	f := sub.Family()
	v := f.Variant(r.Variant)
	if v == nil || v.Hash != r.Hash {
		return failTrial(none, trial.Skipped, fmt.Errorf("the worker's build does not have this variant with hash %016x", r.Hash))
	}
	t := trial.New(f, v, b.Device.Facts())
	t.Fixed, t.Size, t.Seed, t.Action = r.Fixed, r.Size, r.Seed, r.Action
	if err := sub.Feasible(v, b.Device.Facts(), r.Size); err != nil && r.Action == trial.ActionMeasure {
		status := trial.Constraint
		if errors.Is(err, device.ErrMemory) {
			status = trial.Memory
		}
		return failTrial(t, status, err)
	}
	d := b.Device
	if r.Action == trial.ActionVerify && d.Facts().Kind != device.Host { // on a host, Go guards the memory
		g, err := guard.New(b.Device)
		if err != nil {
			return failTrial(t, trial.Launch, err)
		}
		defer func() {
			if err := g.Close(); err != nil && done.Status == trial.OK {
				status := trial.Launch
				if errors.Is(err, guard.ErrOverrun) {
					status = trial.Verify
				}
				done = failTrial(done, status, err)
			}
		}()
		d = g
	}
	runner, err := sub.Open(d, v)
	if err != nil {
		status := trial.Compile
		if errors.Is(err, device.ErrMemory) {
			status = trial.Memory
		}
		return failTrial(t, status, err)
	}
	err = b.run(ctx, d, &t, sub, v, runner, r, now)
	if cerr := runner.Close(); err == nil && cerr != nil {
		err = fmt.Errorf("close: %w", cerr)
	}
	if err != nil {
		return failTrial(t, verify.StatusOf(err), err)
	}
	t.Status = trial.OK
	return t
}

// newRecord is a record of a request for a variant that is not known.
func newRecord(r Request, facts device.Facts) trial.Trial {
	t := trial.New(&device.Family{Name: r.Family}, &device.Variant{Label: r.Variant, Hash: r.Hash}, facts)
	t.Fixed, t.Size, t.Seed, t.Action = r.Fixed, r.Size, r.Seed, r.Action
	return t
}

// failTrial ends a record with an error, and removes the measurements that it has.
func failTrial(t trial.Trial, s trial.Status, err error) trial.Trial {
	t.Status, t.Error = s, err.Error()
	t.Cold, t.Hot, t.Stop = nil, nil, ""
	return t
}

func (b *Bench) run(ctx context.Context, d device.Device, t *trial.Trial, sub subject.Subject, v *device.Variant, runner subject.Runner, r Request, now func() time.Time) (err error) {
	s, err := d.NewStream()
	if err != nil {
		return fmt.Errorf("stream: %w", err)
	}
	defer func() {
		if cerr := s.Close(); err == nil && cerr != nil {
			err = fmt.Errorf("close stream: %w", cerr)
		}
	}()
	switch r.Action {
	case trial.ActionMeasure:
		if err := b.measure(ctx, t, s, sub, runner, r, now); err != nil {
			return err
		}
	case trial.ActionVerify:
	default:
		return fmt.Errorf("action %q is not known", r.Action)
	}
	cases, err := b.casesFor(sub, r.Fixed)
	if err != nil {
		return fmt.Errorf("cases: %w", err)
	}
	// Races show under load: the cases are answered again after the first timing, and something new after each.
	key := fmt.Sprint(sub.Family().Name, v.Hash, text(r.Fixed))
	if timed := r.Action == trial.ActionMeasure; !timed || !b.held[key] {
		if t.Cases, err = verify.Cases(ctx, d, s, sub, v, runner, cases); err != nil || !timed {
			return err
		}
		if b.held == nil {
			b.held = map[string]bool{}
		}
		b.held[key] = true
	}
	b.fresh++
	return verify.RunRandomInstance(d, s, sub, v, runner, cases, r.Fixed, r.Seed^(v.Hash+b.fresh*0x9e3779b97f4a7c15))
}

func (b *Bench) measure(ctx context.Context, t *trial.Trial, s device.Stream, sub subject.Subject, runner subject.Runner, r Request, now func() time.Time) (err error) {
	inst, err := b.instanceFor(s, sub, r)
	if err != nil {
		return fmt.Errorf("instance: %w", err)
	}
	job, err := runner.Prepare(inst)
	if err != nil {
		return fmt.Errorf("prepare: %w", err)
	}
	defer func() {
		if cerr := job.Close(); err == nil && cerr != nil {
			err = fmt.Errorf("close: %w", cerr)
		}
	}()
	warmup := r.Effort.Warmup
	if warmup == 0 && b.Device.Facts().Kind == device.CUDA && now().Sub(b.timed) < warmFor {
		warmup = shortWarmup
	}
	threads, load := 0, b.Others
	if sub.Family().Target == device.Host && measure.ProcessorTime() > 0 {
		threads, load = b.Device.Facts().SMs, nil // processor time, which others do not add to
		if _, one := sub.(subject.Sequential); one {
			threads = 1
		}
	}
	var m measure.Result
	others, err := load.RunUndisturbed(b.Device.Facts().SMs, r.Effort.Others, r.Effort.Wait, func() (err error) {
		m, err = measure.Run(ctx, b.Device, s, job, measure.Options{
			Warmup: warmup, Cap: r.Effort.Cap, Samples: r.Effort.Samples, MinSamples: r.Effort.MinSamples, Bound: r.Effort.Bound, Now: now, Threads: threads,
		})
		return err
	})
	b.timed = now()
	if err != nil {
		return err
	}
	for _, sample := range []*trial.Sample{m.Cold, m.Hot} {
		if sample != nil {
			sample.Others = others
		}
	}
	t.Cold, t.Hot, t.Stop, t.Work = m.Cold, m.Hot, m.Stop, job.Work()
	if counted, ok := job.(subject.Counted); ok {
		t.Ceiling = b.ceiling(counted.Demand())
	}
	if !m.Clean {
		if err := verify.RunPoisoned(s, job); err != nil {
			return err
		}
	}
	if err := job.Check(s); err != nil {
		return &verify.Failure{Case: fmt.Sprintf("of the instance timed, size %d, seed %d", r.Size, r.Seed), Run: 1, Err: err}
	}
	return nil
}

// ceiling compares what a run needs with the device's peaks; nil where nothing is known.
func (b *Bench) ceiling(needs subject.Demand) *trial.Ceiling {
	if b.peak == nil {
		peak := roofline.FindPeak(b.Device)
		b.peak = &peak
	}
	c := trial.Ceiling{
		Bytes: needs.Bytes, Bandwidth: b.peak.Bandwidth,
		Operations: needs.Operations, Arithmetic: needs.Arithmetic, Rate: b.peak.Operations(needs.Arithmetic),
	}
	if _, of := c.Share(1); of == "" {
		return nil
	}
	return &c
}

func (b *Bench) casesFor(sub subject.Subject, fixed map[string]string) ([]subject.Case, error) {
	key := sub.Family().Name + text(fixed)
	if b.casesOf != key {
		cases, err := sub.Cases(fixed)
		if err != nil {
			return nil, err
		}
		b.casesOf, b.cases = key, cases
	}
	return b.cases, nil
}

// instanceFor makes the instance to time, unless it is kept.
func (b *Bench) instanceFor(s device.Stream, sub subject.Subject, r Request) (subject.Instance, error) {
	key := fmt.Sprint(sub.Family().Name, text(r.Fixed), r.Size, r.Seed)
	if i := slices.IndexFunc(b.kept, func(k cachedInstance) bool { return k.of == key }); i >= 0 {
		used := b.kept[i]
		b.kept = append(slices.Delete(b.kept, i, i+1), used)
		return used.instance, nil
	}
	has := b.Roomy
	if has == nil {
		has = roomy
	}
	// What is left over is freed before the new instance is made.
	if len(b.kept) > 0 && !has() {
		b.kept = nil
	}
	if len(b.kept) == mostKept {
		b.kept = slices.Delete(b.kept, 0, 1)
	}
	inst, err := sub.Instance(r.Fixed, r.Size, r.Seed)
	if err != nil {
		return nil, err
	}
	// If First cannot answer now, that is not the fault of the variant to be timed; the trial then
	// has one check less.
	_ = b.answer(s, sub, r.First, inst)
	b.kept = append(b.kept, cachedInstance{key, inst})
	return inst, nil
}

// answer runs and checks a variant on an instance.
func (b *Bench) answer(s device.Stream, sub subject.Subject, label string, inst subject.Instance) (err error) {
	v := sub.Family().Variant(label)
	if v == nil {
		return nil
	}
	runner, err := sub.Open(b.Device, v)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, runner.Close()) }()
	job, err := runner.Prepare(inst)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, job.Close()) }()
	if err := verify.RunPoisoned(s, job); err != nil {
		return err
	}
	return job.Check(s)
}

// text writes fixed parameters in a stable order.
func text(fixed map[string]string) string {
	s := ""
	for _, k := range slices.Sorted(maps.Keys(fixed)) {
		s += fmt.Sprintf(" %s=%q ", k, fixed[k])
	}
	return s
}
