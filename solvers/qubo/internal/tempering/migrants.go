package tempering

import (
	"slices"
	"time"

	"coalesce/runtime/device"
	"coalesce/solvers/qubo/problem"
)

// Solutions that the host takes from blocks after a round: bests of some, and
// replicas of one, cold ones, more where they differ in several components; and
// how many of them it looks at where a run depends on the seed alone.
const (
	migrantBests    = 8
	migrantReplicas = 6
	migrantsApart   = replicas / 2
	migrantsWork    = 4
)

// migrants are solutions of blocks, as brought, to be combined with the best.
type migrants struct {
	kept, now []uint32
	x         []uint64 // one of them
	left      int      // how many were not looked at
}

// fetchMigrants brings those of the blocks whose turn it is.
func (r *temperingRun) fetchMigrants(number int64) error {
	g := &r.migrants
	if g.left > 0 { // there was no time for those
		return nil
	}
	n, record := r.p.N, (r.p.N+31)/32
	block := int(number) % r.blocks
	first := block - block%migrantBests
	g.left = min(migrantBests, r.blocks-first)
	g.kept = slices.Grow(g.kept[:0], g.left*record)[:g.left*record]
	if err := r.streams[0].Download(device.Bytes(g.kept), r.kept, int64(4*first*record)); err != nil {
		return err
	}
	if g.left += migrantReplicas; r.elitesDiffer() {
		g.left += migrantsApart - migrantReplicas
	}
	g.now = slices.Grow(g.now[:0], n)[:n]
	return r.streams[0].Download(device.Bytes(g.now), r.now, int64(4*block*n))
}

// elitesDiffer reports whether good solutions of this problem differ in several components.
func (r *temperingRun) elitesDiffer() bool { return r.every > 0 || r.anneals > 0 }

// next unpacks a migrant: first the replicas, then the bests.
func (g *migrants) next(l *temperLayout) []uint64 {
	record := (len(l.order) + 31) / 32
	g.left--
	if g.x = slices.Grow(g.x[:0], problem.Words(len(l.order)))[:problem.Words(len(l.order))]; g.left*record < len(g.kept) {
		return l.unpack(g.kept[g.left*record:][:record])
	}
	clear(g.x)
	k := g.left - len(g.kept)/record
	for at, i := range l.order {
		g.x[i>>6] |= uint64(g.now[at]>>k&1) << (i & 63)
	}
	return g.x
}

// combineMigrants improves the best solution by parts of the migrants. Where that seldom helps it also
// climbs from migrants: until the device is about to end its round, or, where a run depends on the
// seed alone, from a few.
func (r *temperingRun) combineMigrants(number int64, until time.Time) {
	x, value, gained := slices.Clone(r.X), r.Best, int64(0)
	for k := 0; r.migrants.left > 0; k++ {
		began := time.Now()
		late := began.Add(r.cost).After(until) && (k > 0 || number%migrantBests != 0)
		if r.Work > 0 && k == migrantsWork || r.Work == 0 && late {
			break
		}
		migrant := r.migrants.next(r.layout)
		gained += r.crosser.Cross(x, migrant)
		if !r.elitesDiffer() {
			r.offer(r.p.Value(migrant)+climb(r.p, migrant, r.delta), migrant)
		}
		r.cost = time.Since(began)
	}
	if r.Work > 0 {
		r.migrants.left = 0
	}
	if gained > 0 {
		r.offer(value+gained+climb(r.p, x, r.delta), x)
		r.combined = true
	}
}
