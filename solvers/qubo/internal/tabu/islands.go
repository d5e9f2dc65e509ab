package tabu

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"coalesce/generated/qubo"
	"coalesce/runtime/device"
	"coalesce/solvers/qubo/internal/reference"
	"coalesce/solvers/qubo/internal/search"
	"coalesce/solvers/qubo/problem"
)

// islandGroup are bulk searches of one problem by one variant, one on each device, opened together. Each
// has its own pool, and searches by itself (search.Islands).
type islandGroup []*Island

const (
	migrantsLimit = 4  // elites of others that enter a pool at once, at most
	idleLimit     = 10 // rounds without a better solution before the first restart; before each later one, 5 more
)

// newIslands loads a variant on every device, allocates memory and uploads the matrix. Every piece
// of the matrix is laid out once for all devices, and the host holds one piece at a time. rules
// may be nil.
func newIslands(devices []device.Device, v *device.Variant, p *problem.Normal, rules func(*Island) parameters) (l islandGroup, err error) {
	defer func() {
		if err != nil {
			err, l = errors.Join(err, l.Close()), nil
		}
	}()
	form, err := needsOf(p).layoutFor(v)
	if err != nil {
		return nil, err
	}
	for _, d := range devices {
		b, err := takeIsland(d, v, form, p, rules)
		if err != nil {
			return l, err
		}
		l = append(l, b)
	}
	return l, l.upload(func(first, last int, room []byte) { form.rowsOf(p, first, last, room) })
}

// upload brings the matrix to all devices, in pieces: rows lays rows first to last-1 out in room,
// and writes every byte of it.
func (l islandGroup) upload(rows func(first, last int, room []byte)) error {
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
func (l islandGroup) Close() error {
	var errs []error
	for _, b := range l {
		errs = append(errs, b.Close())
	}
	return errors.Join(errs...)
}

// Search implements search.Searcher. With a limit on work a run depends on the seed, the variant and the
// number of searches alone.
func (b *Island) Search(ctx context.Context, p *problem.Normal, o search.Options, found func(int64, []uint64, time.Duration)) (did search.Work, err error) {
	if p != b.p {
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
	r := o.NewRounds(ctx, found)
	defer r.End()
	r.Improve(p.Value(x), x)
	b.life = 0
	if err := b.resetPool(o); err != nil {
		return did, err
	}
	before := int64(0) // flips until the last restart
	did, err = r.Run(search.Method{
		Halt: b.halt, Patience: b.rules.restart,
		Restart: func() error {
			before = r.Did.Flips
			return b.restart(o)
		},
		Take: func(x []uint64) error { return b.take(x, p.ValueFrom(r.X, r.Best, x), r.Best) },
		Round: func() error {
			if err := b.round(r, before); err != nil {
				return err
			}
			if b.seen[qubo.BulkControlCount] == 0 || b.seen[qubo.BulkControlBest] <= r.Best {
				return nil
			}
			value, x, err := b.downloadBest(r.X, r.Best)
			if err != nil {
				return err
			}
			if r.Improve(value, x); o.Give != nil {
				o.Give(x)
			}
			return nil
		},
	})
	if err == nil && o.Elite != nil {
		err = b.reportElites(o.Elite)
	}
	return did, err
}

// round makes a round and reads its result. Searches before the last restart made before flips.
func (b *Island) round(r *search.Rounds, before int64) error {
	searches, flips := int64(b.rules.searches), int64(b.rules.flips)
	if r.Work > 0 {
		flips = max(1, min(flips, (r.Work-r.Spent)/searches))
	}
	if err := errors.Join(b.enqueueRound(r.Options, r.Number, flips), b.downloadControl()); err != nil {
		return err
	}
	r.Did.Flips = before + b.seen[qubo.BulkControlFlips]
	r.Did.Restarts += searches
	r.Spent = r.Did.Flips
	top := int64(math.MinInt64) // of the pool
	if b.seen[qubo.BulkControlCount] > 0 {
		top = b.seen[qubo.BulkControlBest]
	}
	r.EndRound(top)
	return nil
}

// restart restarts the searches with other random numbers. Pools that no solution enters any more
// have become alike.
func (b *Island) restart(o search.Options) error {
	if o.Elite != nil {
		if err := b.reportElites(o.Elite); err != nil {
			return err
		}
	}
	b.life++
	return b.resetPool(search.Options{})
}

// take lets a solution of another search into the pool where it is better than the best. It enters by
// the same rules as a search's best, but earns no operator credit. The host's copy of the pool is out of
// date afterwards.
func (b *Island) take(x []uint64, value, best int64) error {
	if value <= best {
		return nil
	}
	return b.admit([]int64{value}, device.Bytes(b.form.pack(x, b.p.N)))
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
