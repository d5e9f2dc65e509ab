package search

import (
	"context"
	"sync"
	"testing"
	"time"

	"coalesce/solvers/qubo/problem"
)

// A talker gives a solution, and then takes until one came that others gave.
type talker struct {
	gives uint64
	took  *[]uint64
}

func (k talker) Search(ctx context.Context, p *problem.Normal, o Options, found func(int64, []uint64, time.Duration)) (Work, error) {
	o.Give([]uint64{k.gives})
	for ctx.Err() == nil {
		if x := o.Take(); x != nil {
			*k.took = append(*k.took, x[0])
			break
		}
	}
	return Work{}, nil
}

// Islands give to one another and to the partner of all, and take from both.
func TestIslandsAmongOthers(t *testing.T) {
	ctx, stop := context.WithTimeout(t.Context(), 10*time.Second)
	defer stop()
	var own [2][]uint64
	var mu sync.Mutex
	var given []uint64
	outside := []uint64{9}
	o := Options{Give: func(x []uint64) {
		mu.Lock()
		defer mu.Unlock()
		given = append(given, x[0])
	}, Take: func() []uint64 {
		mu.Lock()
		defer mu.Unlock()
		x := outside
		outside = nil
		return x
	}}
	team := Islands{Members: []Searcher{talker{1, &own[0]}, talker{2, &own[1]}}}
	if _, err := team.Search(ctx, &problem.Normal{}, o, nil); err != nil {
		t.Fatal(err)
	}
	if len(given) != 2 || len(own[0]) != 1 || len(own[1]) != 1 {
		t.Errorf("given to the others %d, members took %d", given, own)
	}
}
