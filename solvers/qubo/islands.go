package qubo

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"coalesce/runtime/device"
)

// islands are bulk searches of one problem, a device each, of one variant. Each
// has its own pool and a stream of random numbers of its own. They make their
// rounds together, and after every few of them the elites of each go to the
// next, the last's to the first: the best of those enter its pool as a search's
// best does, by the same rules, but earn no operator credit. So do elites of
// other searches, by way of the first island. With a limit on work a run depends on the seed, the variant and the numbers of islands and
// searches alone.
//
// Elites travel through the host: a pool is 32 records of a bit a variable,
// which it looks at anyway.
type islands []*bulk

// Rounds between exchanges, elites of a neighbour that are looked at, and rounds
// without a better solution after which the searches begin anew: the first time,
// and each time half as many more.
const (
	exchangeEvery = 4
	guestsMost    = 4
	idleMost      = 10
)

// newIslands loads a variant on every device, takes memory and uploads the
// matrix, in pieces that all devices get, so that the host never holds more than
// one of them as they do. rules may be nil.
func newIslands(devices []device.Device, v *device.Variant, p *normal, rules func(*bulk) bulkRules) (l islands, err error) {
	defer func() {
		if err != nil {
			err, l = errors.Join(err, l.Close()), nil
		}
	}()
	form, err := bulkNeedsOf(p).form(v)
	if err != nil {
		return nil, err
	}
	for k, d := range devices {
		b, err := takeBulk(d, v, form, p, rules)
		if err != nil {
			return l, err
		}
		b.island = k
		l = append(l, b)
	}
	return l, l.upload(func(first, last int, room []byte) { form.rowsOf(p, first, last, room) })
}

// upload brings rows to all devices, in pieces that are laid out in the room that
// is given, every byte of it.
func (l islands) upload(rows func(first, last int, room []byte)) error {
	n, rowBytes := l[0].p.n, l[0].form.rowBytes()
	piece := max(1, (8<<20)/rowBytes)
	for first := 0; first < n; first += piece {
		last, off := min(first+piece, n), int64(first)*int64(rowBytes)
		var others error
		err := device.Stage(l[0].streams[0], l[0].rows, off, (last-first)*rowBytes, func(room []byte) {
			rows(first, last, room)
			for _, b := range l[1:] {
				others = errors.Join(others, b.streams[0].Upload(b.rows, off, room))
			}
		})
		if err := errors.Join(err, others); err != nil {
			return err
		}
	}
	return nil
}

// Close gives back what all have taken.
func (l islands) Close() error {
	var errs []error
	for _, b := range l {
		errs = append(errs, b.Close())
	}
	return errors.Join(errs...)
}

// each works on all islands at once.
func (l islands) each(work func(b *bulk) error) error {
	errs := make([]error, len(l))
	var wg sync.WaitGroup
	for k, b := range l {
		wg.Go(func() { errs[k] = work(b) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// searches are those of all islands.
func (l islands) searches() (sum int64) {
	for _, b := range l {
		sum += int64(b.rules.searches)
	}
	return sum
}

// search implements search.
func (l islands) search(ctx context.Context, p *normal, o searchOptions, found func(int64, []uint64, time.Duration)) (did work, err error) {
	if p != l[0].p {
		return did, fmt.Errorf("qubo/bulk: a problem of %d variables that it was not opened for", p.n)
	}
	if p.n <= tiny {
		return did, l[0].visit(o, found)
	}
	x := o.start
	if x == nil {
		x = make([]uint64, words(p.n))
	}
	best := p.value(x)
	found(best, x, time.Since(o.began))
	if err := l.each(func(b *bulk) error {
		b.life = 0
		return b.begin(o)
	}); err != nil {
		return did, err
	}
	stop, end := context.WithCancel(ctx)
	if !o.deadline.IsZero() {
		stop, end = context.WithDeadline(ctx, o.deadline)
	}
	stopped := make(chan error, 1)
	context.AfterFunc(stop, func() { stopped <- l.each((*bulk).halt) })
	defer func() {
		end()
		err = errors.Join(err, <-stopped)
	}()
	var (
		top          int64 = math.MinInt64 // the best since the pools were emptied last
		idle, before int64                 // rounds since it was found; flips until then
	)
	for number := int64(0); stop.Err() == nil && !o.met(best) && (o.work == 0 || did.Flips < o.work); number++ {
		if most := int64(l[0].rules.restart); most != Never && idle > most+most/2*int64(l[0].life) {
			if err := l.again(o); err != nil {
				return did, err
			}
			number, top, idle, before = 0, math.MinInt64, 0, did.Flips
			if stop.Err() != nil {
				break // the word that says so may have been cleared
			}
		}
		if err := l.exchange(o, number, best, x); err != nil {
			return did, err
		}
		flips := int64(l[0].rules.flips)
		if o.work > 0 {
			flips = max(1, min(flips, (o.work-did.Flips)/l.searches()))
		}
		err := l.each(func(b *bulk) error {
			err := errors.Join(b.round(o, number, flips), b.look())
			if err != nil || o.work == 0 && b.seen[bulkCount] > 0 && o.met(b.seen[bulkBest]) {
				end() // nor need the others go on
			}
			return err
		})
		if err != nil {
			return did, err
		}
		did.Flips = before
		did.Restarts += l.searches()
		idle++
		for _, b := range l {
			did.Flips += b.seen[bulkFlips]
			if b.seen[bulkCount] > 0 && b.seen[bulkBest] > top {
				top, idle = b.seen[bulkBest], 0
			}
			if b.seen[bulkCount] == 0 || b.seen[bulkBest] <= best {
				continue
			}
			if best, x, err = b.best(x, best); err != nil {
				return did, err
			}
			found(best, x, time.Since(o.began))
			if o.give != nil {
				o.give(x)
			}
		}
		if o.progress != nil {
			o.progress(did)
		}
	}
	if o.elite != nil {
		for _, b := range l {
			if err := b.tell(o.elite); err != nil {
				return did, err
			}
		}
	}
	return did, nil
}

// again begins anew, as with another seed: pools that nothing enters any more
// have come to be alike.
func (l islands) again(o searchOptions) error {
	for _, b := range l {
		if o.elite != nil {
			if err := b.tell(o.elite); err != nil {
				return err
			}
		}
		b.life++
		if err := b.begin(searchOptions{}); err != nil {
			return err
		}
	}
	return nil
}

// exchange brings, before some rounds, the elites of every island to the next,
// and to the first what other searches give that is better than the best, which
// is at. What was last seen of the pools is not true any more after it.
func (l islands) exchange(o searchOptions, round, best int64, at []uint64) error {
	if len(l) > 1 && round > 0 && round%exchangeEvery == 0 {
		if err := l.pass(); err != nil {
			return err
		}
	}
	if o.take == nil {
		return nil
	}
	x := o.take()
	if x == nil {
		return nil
	}
	b := l[0]
	value := b.p.valueFrom(at, best, x)
	if value <= best {
		return nil
	}
	return b.welcome([]int64{value}, device.Bytes(b.form.pack(x, b.p.n)))
}

// pass brings the elites of every island to the next.
func (l islands) pass() error {
	pools := make([][]byte, len(l))
	err := l.each(func(b *bulk) error {
		pools[b.island] = make([]byte, b.seen[bulkCount]*int64(4*b.form.record()))
		return b.streams[0].Download(pools[b.island], b.elites, 0)
	})
	if err != nil {
		return err
	}
	return l.each(func(b *bulk) error {
		before := (b.island + len(l) - 1) % len(l)
		seen := l[before].seen
		return b.welcome(seen[bulkValues:][:seen[bulkCount]], pools[before])
	})
}

// welcome lets the best of some elites in, whose values those are.
func (b *bulk) welcome(values []int64, elites []byte) error {
	if len(values) == 0 {
		return nil
	}
	scores := make([]int64, bulkScores*len(values))
	for e, v := range values {
		scores[bulkScores*e+bulkKept], scores[bulkScores*e+bulkMaker] = v, bulkOperators
	}
	r, s := b.rules, b.streams[0]
	return errors.Join(s.Upload(b.guests, 0, elites), s.Upload(b.tickets, 0, device.Bytes(scores)),
		b.kernels.Gather(s, device.Grid{Blocks: 1, Threads: 256}, b.guests, b.tickets, b.elites, b.control,
			uint64(len(values)), uint64(r.pool), uint64(r.distance), guestsMost))
}
