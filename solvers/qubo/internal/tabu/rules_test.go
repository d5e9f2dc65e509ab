package tabu

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"coalesce/generated/qubo"
	"coalesce/runtime/device"
	"coalesce/runtime/emulated/emulatedtest"
	"coalesce/solvers/qubo/internal/elite"
	"coalesce/solvers/qubo/internal/qubotest"
	"coalesce/solvers/qubo/internal/search"
	"coalesce/solvers/qubo/problem"
	"coalesce/solvers/solve"
)

// ruledBulk opens an island by rules, with few searches where they say nothing.
func ruledBulk(t *testing.T, d device.Device, p *problem.Normal, r search.Rules) *Island {
	t.Helper()
	if r.Searches == 0 {
		r.Searches = 3
	}
	v, err := bulkVariant(p)
	if err != nil {
		t.Fatal(err)
	}
	e, err := Open(p, search.Setup{Settings: solve.Settings{Devices: []device.Device{d}, Variant: v.Label}, Rules: r})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	b := e.Members[0].(*Island)
	if used := e.Used["bulk"]; withRules(r, b.rules, p.N) != b.rules || withRules(used, parameters{}, p.N) != b.rules {
		t.Errorf("%s: %+v are used, which are said to be %s", r, b.rules, used)
	}
	return b
}

// deepest makes rounds and returns the lowest value at the end of one, and how
// many operators each search had in a round after the first, at most.
func deepest(t *testing.T, b *Island) (low int64, operators int) {
	t.Helper()
	if err := b.resetPool(search.Options{}); err != nil {
		t.Fatal(err)
	}
	scores := make([]int64, qubo.BulkScoreScores*b.rules.searches)
	for number := range int64(12) {
		if err := b.enqueueRound(search.Options{Seed: 7}, number, int64(b.rules.flips)+7*number); err != nil {
			t.Fatal(err)
		}
		if err := b.recompute(); err != nil {
			t.Fatal(err)
		}
		if err := b.streams[0].Download(device.Bytes(scores), b.scores, 0); err != nil {
			t.Fatal(err)
		}
		for k := range b.rules.searches {
			score := scores[qubo.BulkScoreScores*k:][:qubo.BulkScoreScores]
			low = min(low, score[qubo.BulkScoreValue])
			had := 0
			for _, spent := range score[qubo.BulkScoreSpent:][:qubo.BulkOperatorOperators] {
				if spent > 0 {
					had++
				}
			}
			if number > 0 {
				operators = max(operators, had)
			}
		}
	}
	return low, operators
}

func TestBulkRules(t *testing.T) {
	d := emulatedtest.Open(t)
	p := qubotest.NewDownhill(97)
	endless := 1 << 20
	for _, c := range []struct{ tenure, spread, above int }{{3, 1, 0}, {24, 1, 5}, {3, 30, 5}} {
		low, operators := deepest(t, ruledBulk(t, d, p, search.Rules{Tenure: c.tenure, Spread: c.spread, Stall: endless}))
		// The list is at most tenure + spread long, and one more flip follows.
		if most := int64(c.tenure + c.spread + 1); -low > most || -low <= int64(c.above) {
			t.Errorf("tenure %d and spread %d: %d below the best, expected more than %d and at most %d", c.tenure, c.spread, -low, c.above, most)
		}
		if operators != 1 {
			t.Errorf("a search that never stalls had %d operators in a round", operators)
		}
	}
	if _, operators := deepest(t, ruledBulk(t, d, p, search.Rules{Stall: 4})); operators < 2 {
		t.Errorf("searches that stall after 4 flips had %d operator in a round", operators)
	}
	// Elites: how many, and how far apart.
	q := qubotest.Dense(97, 1, 2, 1, 0.06, 4) // of many good solutions
	for _, r := range []search.Rules{{Pool: 2, Distance: 1}, {Pool: 9, Distance: 1}, {Pool: 9, Distance: 30}} {
		r.Round = 1
		b := ruledBulk(t, d, q, r)
		deepest(t, b) // which holds distances against the rule
		var elites [][]uint64
		if err := b.reportElites(func(_ int64, x []uint64) { elites = append(elites, x) }); err != nil {
			t.Fatal(err)
		}
		near := q.N
		for k, x := range elites {
			for _, y := range elites[:k] {
				near = min(near, elite.HammingDistance(x, y))
			}
		}
		if len(elites) > r.Pool || r.Distance == 1 && len(elites) != r.Pool || r.Distance == 1 && r.Pool == 9 && near >= 30 || near < r.Distance {
			t.Errorf("%s: %d elites at least %d apart", r, len(elites), near)
		}
	}
}

// Rounds of the length that rules say, of so many searches; and how often they
// begin anew.
func TestBulkRoundsByRules(t *testing.T) {
	d := emulatedtest.Open(t)
	p := qubotest.DenseFor("int8", 97, 3)
	const rounds = 44
	for _, c := range []struct {
		rules search.Rules
		anew  bool
	}{
		{search.Rules{Round: 1, Searches: 2, Restart: search.Never}, false},
		{search.Rules{Round: 2, Searches: 3, Restart: 1}, true},
		{search.Rules{Round: 2, Searches: 3, Restart: 1000}, false},
		{search.Rules{Round: 1, Searches: 5}, true},
	} {
		b := ruledBulk(t, d, p, c.rules)
		o := search.Options{Began: time.Now(), Seed: 5, Work: int64(rounds * c.rules.Round * p.N * c.rules.Searches)}
		var told [2][]int64
		var did [2]search.Work
		for k := range told {
			var err error
			if did[k], err = b.Search(context.Background(), p, o, qubotest.CollectImprovements(t, p, &told[k])); err != nil {
				t.Fatal(err)
			}
		}
		if got := did[0].Restarts; got < int64(rounds*c.rules.Searches) || got > int64((rounds+1)*c.rules.Searches) {
			t.Errorf("%s: %d walks of all searches, expected %d rounds of each", c.rules, got, rounds)
		}
		if (b.life > 0) != c.anew {
			t.Errorf("%s: began anew %d times", c.rules, b.life)
		}
		if !slices.Equal(told[0], told[1]) || did[0] != did[1] {
			t.Errorf("%s: two runs, %v %v and %v %v", c.rules, told[0], did[0], told[1], did[1])
		}
	}
}

// crowded has so much memory.
type crowded struct {
	device.Device
	free int64
}

func (c crowded) Facts() device.Facts {
	f := c.Device.Facts()
	f.Free = c.free
	return f
}

// More searches than there is memory for are refused before it is taken.
func TestBulkSearchesNeedMemory(t *testing.T) {
	d := crowded{emulatedtest.Open(t), 1 << 20}
	p := qubotest.DenseFor("int8", 97, 3)
	for searches, fits := range map[int]bool{50: true, 1 << 16: false} {
		e, err := Open(p, search.Setup{Settings: solve.Settings{Devices: []device.Device{d}}, Rules: search.Rules{Searches: searches}})
		if fits && err != nil || !fits && (!errors.Is(err, device.ErrMemory) || !strings.Contains(err.Error(), "65536 searches")) {
			t.Errorf("%d searches: %v", searches, err)
		}
		if err == nil {
			if err := e.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// Operators that are left out make no flip after the first round, and earn no
// weight.
func TestBulkWithout(t *testing.T) {
	d := emulatedtest.Open(t)
	p := qubotest.DenseFor("int8", 97, 4)
	v, err := bulkVariant(p)
	if err != nil {
		t.Fatal(err)
	}
	for _, without := range [][]string{{"relink"}, {"random", "cross", "majority"}, operators[1:], operators[:]} {
		b := startBulk(t, d, v, p)
		b.Without = without
		if err := b.resetPool(search.Options{}); err != nil {
			t.Fatal(err)
		}
		left := make([]int64, qubo.BulkOperatorOperators) // flips of each operator
		control, scores := make([]int64, controlWords), make([]int64, qubo.BulkScoreScores*b.rules.searches)
		for number := range int64(6) {
			if err := b.enqueueRound(search.Options{Seed: 7}, number, int64(b.rules.flips)); err != nil {
				t.Fatal(err)
			}
			s := b.streams[0]
			if err := s.Download(device.Bytes(control), b.control, 0); err != nil {
				t.Fatal(err)
			}
			if err := s.Download(device.Bytes(scores), b.scores, 0); err != nil {
				t.Fatal(err)
			}
			for k := range b.rules.searches * qubo.BulkOperatorOperators * int(min(number, 1)) {
				left[k%qubo.BulkOperatorOperators] += scores[k/qubo.BulkOperatorOperators*qubo.BulkScoreScores+3+k%qubo.BulkOperatorOperators]
			}
		}
		for k, name := range operators {
			used := !slices.Contains(without, name) || len(without) == qubo.BulkOperatorOperators && k == 0
			if weight := control[qubo.BulkControlWeights+k]; used != (weight > 0) || used != (left[k] > 0) {
				t.Errorf("without %v: %s made %d flips and has weight %d", without, name, left[k], weight)
			}
		}
		if err := b.recompute(); err != nil {
			t.Error(err)
		}
	}
}
