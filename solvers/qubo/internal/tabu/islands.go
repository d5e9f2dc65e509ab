package tabu

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"coalesce/generated/qubo"
	"coalesce/runtime/device"
	"coalesce/solvers/qubo/internal/reference"
	"coalesce/solvers/qubo/internal/search"
	"coalesce/solvers/qubo/problem"
)

// islands are bulk searches of one problem by one variant, one on each device. Each has its own
// pool and its own stream of random numbers. They make their rounds together. Every exchangeEvery
// rounds the elites of each island go to the next, and the last's to the first: the best of them
// enter its pool by the same rules as a search's best, but earn no operator credit. Elites of
// other searches enter by way of the first island. With a limit on work a run depends on the seed,
// the variant and the numbers of islands and searches alone.
//
// Elites travel through the host, which reads the pools anyway: a pool is 32 records, by default,
// of one bit a variable.
type islands []*Island

const (
	exchangeEvery = 4  // rounds between exchanges
	migrantsLimit = 4  // elites of a neighbour that enter a pool, at most
	idleLimit     = 10 // rounds without a better solution before the first restart; before each later one, 5 more
)

// newIslands loads a variant on every device, allocates memory and uploads the matrix. Every piece
// of the matrix is laid out once for all devices, and the host holds one piece at a time. rules
// may be nil.
func newIslands(devices []device.Device, v *device.Variant, p *problem.Normal, rules func(*Island) parameters) (l islands, err error) {
	defer func() {
		if err != nil {
			err, l = errors.Join(err, l.Close()), nil
		}
	}()
	form, err := needsOf(p).layoutFor(v)
	if err != nil {
		return nil, err
	}
	for k, d := range devices {
		b, err := takeIsland(d, v, form, p, rules)
		if err != nil {
			return l, err
		}
		b.island = k
		l = append(l, b)
	}
	return l, l.upload(func(first, last int, room []byte) { form.rowsOf(p, first, last, room) })
}

// upload brings the matrix to all devices, in pieces: rows lays rows first to last-1 out in room,
// and writes every byte of it.
func (l islands) upload(rows func(first, last int, room []byte)) error {
	n, rowBytes := l[0].p.N, l[0].form.rowBytes()
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

// Close frees the memory of all islands.
func (l islands) Close() error {
	var errs []error
	for _, b := range l {
		errs = append(errs, b.Close())
	}
	return errors.Join(errs...)
}

// each calls work for all islands at once, and joins the errors.
func (l islands) each(work func(b *Island) error) error {
	errs := make([]error, len(l))
	var wg sync.WaitGroup
	for k, b := range l {
		wg.Go(func() { errs[k] = work(b) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// searchCount is the number of searches of all islands.
func (l islands) searchCount() (sum int64) {
	for _, b := range l {
		sum += int64(b.rules.searches)
	}
	return sum
}

// Search implements search.Searcher.
func (l islands) Search(ctx context.Context, p *problem.Normal, o search.Options, found func(int64, []uint64, time.Duration)) (did search.Work, err error) {
	if p != l[0].p {
		return did, fmt.Errorf("qubo/bulk: a problem of %d variables that it was not opened for", p.N)
	}
	if p.N <= reference.Tiny {
		reference.SearchExhaustively(p, o, found)
		return did, nil
	}
	x := o.Start
	if x == nil {
		x = make([]uint64, problem.Words(p.N))
	}
	best := p.Value(x)
	found(best, x, time.Since(o.Began))
	if err := l.each(func(b *Island) error {
		b.life = 0
		return b.resetPool(o)
	}); err != nil {
		return did, err
	}
	stop, end, finish := o.Until(ctx, func() error { return l.each((*Island).halt) })
	defer func() { err = errors.Join(err, finish()) }()
	var (
		stagnation search.Stagnation
		before     int64 // flips until the last restart
	)
	stagnation.Reset()
	for number := int64(0); o.Continues(stop, best, did.Flips); number++ {
		if stagnation.RestartDue(l[0].rules.restart) {
			if err := l.restart(o); err != nil {
				return did, err
			}
			stagnation.Reset()
			stagnation.Restarts++
			number, before = 0, did.Flips
			if stop.Err() != nil {
				break // the restart may have cleared the word that stops the searches
			}
		}
		if err := l.copyElites(o, number, best, x); err != nil {
			return did, err
		}
		flips := int64(l[0].rules.flips)
		if o.Work > 0 {
			flips = max(1, min(flips, (o.Work-did.Flips)/l.searchCount()))
		}
		err := l.each(func(b *Island) error {
			err := errors.Join(b.enqueueRound(o, number, flips), b.downloadControl())
			if err != nil || o.Work == 0 && b.seen[qubo.BulkControlCount] > 0 && o.TargetMet(b.seen[qubo.BulkControlBest]) {
				end() // the others stop too
			}
			return err
		})
		if err != nil {
			return did, err
		}
		did.Flips = before
		did.Restarts += l.searchCount()
		top := int64(math.MinInt64) // of the pools
		for _, b := range l {
			did.Flips += b.seen[qubo.BulkControlFlips]
			if b.seen[qubo.BulkControlCount] == 0 {
				continue
			}
			if top = max(top, b.seen[qubo.BulkControlBest]); b.seen[qubo.BulkControlBest] <= best {
				continue
			}
			if best, x, err = b.downloadBest(x, best); err != nil {
				return did, err
			}
			found(best, x, time.Since(o.Began))
			if o.Give != nil {
				o.Give(x)
			}
		}
		stagnation.EndRound(top)
		if o.Progress != nil {
			o.Progress(did)
		}
	}
	if o.Elite != nil {
		for _, b := range l {
			if err := b.reportElites(o.Elite); err != nil {
				return did, err
			}
		}
	}
	return did, nil
}

// restart restarts the searches with other random numbers. Pools that no solution enters any more
// have become alike.
func (l islands) restart(o search.Options) error {
	for _, b := range l {
		if o.Elite != nil {
			if err := b.reportElites(o.Elite); err != nil {
				return err
			}
		}
		b.life++
		if err := b.resetPool(search.Options{}); err != nil {
			return err
		}
	}
	return nil
}

// copyElites copies, before some rounds, the elites of every island to the next. The first also gets
// the solutions of other searches that are better than the best. The host's copy of the pools is
// out of date afterwards.
func (l islands) copyElites(o search.Options, round, best int64, at []uint64) error {
	if len(l) > 1 && round > 0 && round%exchangeEvery == 0 {
		if err := l.pass(); err != nil {
			return err
		}
	}
	if o.Take == nil {
		return nil
	}
	x := o.Take()
	if x == nil {
		return nil
	}
	b := l[0]
	value := b.p.ValueFrom(at, best, x)
	if value <= best {
		return nil
	}
	return b.admit([]int64{value}, device.Bytes(b.form.pack(x, b.p.N)))
}

// pass brings the elites of every island to the next.
func (l islands) pass() error {
	pools := make([][]byte, len(l))
	err := l.each(func(b *Island) error {
		pools[b.island] = make([]byte, b.seen[qubo.BulkControlCount]*int64(4*b.form.record()))
		return b.streams[0].Download(pools[b.island], b.elites, 0)
	})
	if err != nil {
		return err
	}
	return l.each(func(b *Island) error {
		before := (b.island + len(l) - 1) % len(l)
		seen := l[before].seen
		return b.admit(seen[qubo.BulkControlValues:][:seen[qubo.BulkControlCount]], pools[before])
	})
}

// admit lets the best of some elites, whose values are given, into the pool.
func (b *Island) admit(values []int64, elites []byte) error {
	if len(values) == 0 {
		return nil
	}
	scores := make([]int64, qubo.BulkScoreScores*len(values))
	for e, v := range values {
		scores[qubo.BulkScoreScores*e+qubo.BulkScoreKept], scores[qubo.BulkScoreScores*e+qubo.BulkScoreMaker] = v, qubo.BulkOperatorMigrant
	}
	r, s := b.rules, b.streams[0]
	return errors.Join(s.Upload(b.migrants, 0, elites), s.Upload(b.migrantValues, 0, device.Bytes(scores)),
		b.kernels.Gather(s, device.Grid{Blocks: 1, Threads: qubo.BulkJudges}, b.migrants, b.migrantValues, b.elites, b.control,
			uint64(len(values)), uint64(r.pool), uint64(r.distance), migrantsLimit))
}
