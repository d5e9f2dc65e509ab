package auction

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"coalesce/runtime/device"
	"coalesce/runtime/host"
	"coalesce/solvers/auction/problem"
	"coalesce/solvers/solve"
)

// solveWithProgress solves an auction and returns the incumbents that it reports; their values never fall, their bounds never
// rise, and all lie on their sides of the optimum.
func solveWithProgress(t *testing.T, a *problem.Auction, o Options) ([]solve.Incumbent, *Result) {
	t.Helper()
	var list []solve.Incumbent
	o.Progress = func(now solve.Incumbent) { list = append(list, now) }
	res, err := Solve(context.Background(), a, o)
	if err != nil {
		t.Fatal(err)
	}
	optimum, _ := res.Value.Rat()
	var before solve.Incumbent
	for _, now := range list {
		value, ok := now.Value.Rat()
		if ok && value.Cmp(optimum) > 0 {
			t.Fatalf("reported the value %s, the optimum is %s", now.Value, res.Value)
		}
		if last, reported := before.Value.Rat(); reported && (!ok || value.Cmp(last) < 0) {
			t.Fatalf("reported the value %s after %s", now.Value, before.Value)
		}
		bound, ok := now.Bound.Rat()
		if now.Value != "" && (!ok || bound.Cmp(optimum) < 0 || now.Gap == nil) {
			t.Fatalf("reported the bound %s and the gap %v, the optimum is %s", now.Bound, now.Gap, res.Value)
		}
		if last, reported := before.Bound.Rat(); reported && bound.Cmp(last) > 0 {
			t.Fatalf("reported the bound %s after %s", now.Bound, before.Bound)
		}
		before = now
	}
	return list, res
}

// Branch and cut tells better bids and lower bounds while it runs, of one part and of
// several, in decimals, with limits, reserves and goods that have to be sold.
func TestProgressOfBranch(t *testing.T) {
	a := regional(rand.New(rand.NewPCG(2, 2)), 120, 480)
	list, res := solveWithProgress(t, a, Options{Settings: solve.Settings{Algorithm: Branch}})
	if len(list) < 3 {
		t.Errorf("reported %d times in %d nodes", len(list), res.Nodes)
	}
	hard, err := Generate("arbitrary-upv", 40, 250, 2)
	if err != nil {
		t.Fatal(err)
	}
	if list, res = solveWithProgress(t, hard, Options{Settings: solve.Settings{Algorithm: Branch}}); len(list) < 3 || list[len(list)-1].Work < 1 {
		t.Errorf("reported %d times in %d nodes, at the end %v", len(list), res.Nodes, list[len(list)-1])
	}
	two := *a
	two.Goods, two.Dummies, two.Bids = 2*a.Goods, a.Dummies+1000, nil
	for i, b := range a.Bids {
		copied := b
		copied.Number, copied.Goods = int64(i+len(a.Bids)), nil
		b.Goods = nil
		for _, g := range a.Bids[i].Goods {
			if a.IsDummy(g) {
				b.Goods, copied.Goods = append(b.Goods, g+a.Goods), append(copied.Goods, g+a.Goods+1000)
			} else {
				b.Goods, copied.Goods = append(b.Goods, g), append(copied.Goods, g+a.Goods)
			}
		}
		two.Bids = append(two.Bids, b, copied)
	}
	list, _ = solveWithProgress(t, &two, Options{Settings: solve.Settings{Algorithm: Branch}})
	if len(list) < 3 {
		t.Errorf("two parts: reported %d times", len(list))
	}
	rich := *a
	rich.Bids = append([]problem.Bid(nil), a.Bids...)
	for i := range rich.Bids {
		rich.Bids[i].Bidder = string(rune('a' + i%9))
	}
	rich.Limits = map[string]int{"a": 2, "b": 1}
	for g := range rich.Goods {
		rich.Reserves = append(rich.Reserves, problem.Reserve{Price: 900, Goods: []int64{g}})
	}
	for _, rich.SellAll = range []bool{false, true} {
		if list, res = solveWithProgress(t, &rich, Options{Settings: solve.Settings{Algorithm: Branch}}); len(list) < 2 || len(res.Kept) == 0 {
			t.Errorf("reserves: reported %d times, %d kept", len(list), len(res.Kept))
		}
	}
}

// Coalition structures report the auction's decimals too; those that end early leave bids.
func TestProgressOfStructures(t *testing.T) {
	a, err := Read("testdata/scheduling_g20_b100_s51.txt")
	if err != nil {
		t.Fatal(err)
	}
	d := host.Open(0)
	defer d.Close()
	o := Options{Settings: solve.Settings{Devices: []device.Device{d}}}
	solveWithProgress(t, a, o)
	whole, err := Solve(context.Background(), a, o)
	if err != nil {
		t.Fatal(err)
	}
	o.TimeLimit = time.Nanosecond
	res, err := Solve(context.Background(), a, o)
	if err != nil {
		t.Fatal(err)
	}
	value, _ := res.Value.Rat()
	bound, ok := res.Bound.Rat()
	best, _ := whole.Value.Rat()
	if res.Stopped == res.Proven || !ok || value.Sign() <= 0 || value.Cmp(best) > 0 || bound.Cmp(best) < 0 {
		t.Errorf("ended at %s, bound %s, the optimum is %s", res.Value, res.Bound, whole.Value)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	o.TimeLimit = 0
	if res, err = Solve(ctx, a, o); err != nil || !res.Proven && !res.Stopped {
		t.Errorf("cancelled: %v %v", res, err)
	}
}

// Branch and cut ends with the first bids that pay the target, which is no interruption.
func TestTarget(t *testing.T) {
	a, err := Generate("regions", 100, 400, 1)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := Solve(context.Background(), a, Options{Settings: solve.Settings{Algorithm: Branch}})
	if err != nil || !whole.Proven {
		t.Fatal(whole, err)
	}
	for _, c := range []struct {
		share float64 // of the optimum
		ends  bool    // before the proof
	}{{0.5, true}, {1.5, false}} {
		target := c.share * whole.Value.Float()
		r, err := Solve(context.Background(), a, Options{Settings: solve.Settings{Algorithm: Branch, Target: &target}})
		if err != nil {
			t.Fatal(err)
		}
		if r.Stopped || r.Proven == c.ends || r.Value.Float() < min(target, whole.Value.Float()) || r.CheckClaims() != nil || r.Nodes > whole.Nodes && c.ends {
			t.Errorf("target %v: found %s, proven %t, stopped %t, %d nodes of %d", target, r.Value, r.Proven, r.Stopped, r.Nodes, whole.Nodes)
		}
	}
}
