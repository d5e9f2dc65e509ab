package kernels

import (
	"errors"
	"sync"

	"coalesce/runtime/device"
	"coalesce/solvers/csg/internal/variants"
	"coalesce/solvers/csg/problem"
	"coalesce/solvers/solve"
)

// A Pool keeps the variant of the last solve loaded, and its memory for the next solve of as many agents.
// One goroutine at a time takes memory; GiveBack may be called by others too.
type Pool struct {
	loaded *LoadedVariant // of the last solve; nil: none yet
	mu     sync.Mutex     // of idle and closed: a solve that outlived its context may give memory back late
	idle   *Job           // a job of an earlier solve, whose memory the next one may take; nil: none
	closed bool
}

// idleBytes is the most memory that stays taken between solves. Larger tables take
// longer to fill than to take.
const idleBytes = 256 << 20

// Acquire returns memory for a solve: the idle memory where it fits the variant and the number of
// agents, else new memory.
func (p *Pool) Acquire(o *solve.Settings, f *device.Family, v *device.Variant, inst *problem.Instance) (*Job, error) {
	if l := p.loaded; l == nil || l.Variant != v || l.ranks != o.Ranks {
		if err := p.unload(); err != nil {
			return nil, err
		}
		var err error
		if p.loaded, err = Load(o, f, v); err != nil {
			return nil, err
		}
	}
	if err := p.free(func(j *Job) bool { return j.Kernels != p.loaded }); err != nil {
		return nil, err
	}
	if j := p.takeIdle(); j != nil {
		j.Instance = inst
		return j, nil
	}
	return p.loaded.Prepare(inst)
}

// FreeOthers frees the idle memory unless it is of so many agents.
func (p *Pool) FreeOthers(agents int) error {
	return p.free(func(j *Job) bool { return j.Instance.N != agents })
}

// free frees the idle memory if useless says that no further solve can use it.
func (p *Pool) free(useless func(j *Job) bool) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	j := p.idle
	if j == nil || !useless(j) {
		return nil
	}
	p.idle = nil
	return j.Close()
}

// takeIdle hands the idle memory to the caller, nil where there is none.
func (p *Pool) takeIdle() *Job {
	p.mu.Lock()
	defer p.mu.Unlock()
	j := p.idle
	p.idle = nil
	return j
}

// GiveBack takes memory back from a solve that ended with err.
func (p *Pool) GiveBack(j *Job, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err != nil || p.closed || p.idle != nil || variants.Memory(j.Kernels.Family, j.Kernels.Variant, j.Instance.N, 1) > idleBytes {
		j.Close()
		return
	}
	p.idle = j
}

// Close gives back memory and kernels.
func (p *Pool) Close() error {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	return p.unload()
}

// unload frees what the last solve left.
func (p *Pool) unload() error {
	err := p.free(func(*Job) bool { return true })
	if p.loaded != nil {
		err = errors.Join(err, p.loaded.Close())
		p.loaded = nil
	}
	return err
}
