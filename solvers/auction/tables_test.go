package auction

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"coalesce/autotune/tuned"
	"coalesce/runtime/device"
	"coalesce/runtime/emulated/emulatedtest"
	"coalesce/solvers/auction/internal/bidders"
	"coalesce/solvers/auction/internal/plan"
	"coalesce/solvers/auction/problem"
	"coalesce/solvers/csg"
	"coalesce/solvers/solve"
)

// onTables solves an auction bidder by bidder on a device, with VCG's payments where there
// are such, which are those of branch and cut for the same winners.
func onTables(t *testing.T, d device.Device, a *problem.Auction) *Result {
	t.Helper()
	o := Options{Settings: solve.Settings{Algorithm: Bidders, Devices: []device.Device{d}}}
	res, err := Solve(context.Background(), a, o)
	if err != nil {
		t.Fatalf("%+v: %v", a, err)
	}
	if !res.Proven || !strings.HasPrefix(res.Variant, "auction/bidders block") {
		t.Fatalf("%+v: proven %v by %s", a, res.Proven, res.Variant)
	}
	if err := ComputePayments(context.Background(), res, VCG, o); err != nil || !reflect.DeepEqual(res.Payments, paidAs(t, res)) {
		t.Fatalf("%+v: %v, by tables %s", a, err, res)
	}
	verifyResult(t, res)
	return res
}

// The tables of a device find what every set of bids and reserves has at best, in all
// languages.
func TestLanguagesOnDevice(t *testing.T) {
	d := emulatedtest.Open(t)
	r := rand.New(rand.NewPCG(21, 22))
	for range 60 {
		a := drawnLanguages(r, r.IntN(4) == 0)
		want := worths(a, make([]int, len(a.Bids)), 1)[1]
		if want == unsold {
			continue
		}
		res := onTables(t, d, a)
		if got := a.Revenue(res.Winners).Int64() + a.KeptPrice(res.Kept).Int64(); got != want {
			t.Fatalf("%+v: tables find %d, every set %d", a, got, want)
		}
	}
}

// The tables of a device, those of the host, and branch and cut find the same in auctions of
// the distributions of CATS; where the items are few, coalition structures too.
func TestCATSOnDevice(t *testing.T) {
	d := emulatedtest.Open(t)
	for _, name := range []string{"arbitrary_g20_b100_s11", "regions_g20_b100_s41", "scheduling_g20_b100_s51"} {
		a, err := Read("testdata/" + name + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		if res, want := onTables(t, d, a), paid(t, a, VCG); res.Value != want.Value {
			t.Errorf("%s: the tables of a device find %s, branch and cut %s", name, res.Value, want.Value)
		}
	}
	structures := 0
	for _, name := range []string{"arbitrary", "regions", "scheduling", "paths", "matching", "L2", "L3", "L4", "L6"} {
		a, err := Generate(name, 12, 60, 7)
		if err != nil {
			t.Fatal(err)
		}
		res := onTables(t, d, a)
		ways := []Options{{Settings: solve.Settings{Algorithm: Branch}}, {Settings: solve.Settings{Algorithm: Bidders}}}
		if res.Items <= 12 {
			ways = append(ways, Options{Settings: solve.Settings{Algorithm: string(csg.Apart), Devices: []device.Device{d}}})
			structures++
		}
		for _, o := range ways {
			other, err := Solve(context.Background(), a, o)
			if err != nil || other.Value != res.Value {
				t.Errorf("%s by %s: %v, %v, the tables of a device find %s", name, o.Algorithm, other, err, res.Value)
			}
		}
	}
	if structures < 2 {
		t.Errorf("%d auctions by coalition structures, expected two or more", structures)
	}
}

// What does not run on a device, or on several, says so.
func TestTablesRefused(t *testing.T) {
	d := emulatedtest.Open(t)
	a, err := Generate("regions", 12, 60, 7)
	if err != nil {
		t.Fatal(err)
	}
	for want, o := range map[string]Options{
		"Devices: found 2": {Settings: solve.Settings{Algorithm: Bidders, Devices: []device.Device{d, d}}},
		"has no variant":   {Settings: solve.Settings{Algorithm: Bidders, Devices: []device.Device{d}, Variant: "block=7"}},
		"no such variant":  {Settings: solve.Settings{Algorithm: Bidders, Variant: "block=256,items=16,bids=256,value=int32"}},
		"has value=int64":  {Settings: solve.Settings{Variant: "block=256,items=16,bids=256,value=int64", Devices: []device.Device{d}}},
	} {
		if _, err := Solve(context.Background(), a, o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("found %v, expected %q", err, want)
		}
	}
	named := Options{Settings: solve.Settings{Variant: "block=128,items=8,bids=256,value=int32", Devices: []device.Device{d}}}
	if res, err := Solve(context.Background(), a, named); err != nil || res.Variant != "auction/bidders "+named.Variant {
		t.Errorf("by its label: %v %v", res, err)
	}
}

// Tables report the share that is made, which never falls.
func TestShareOfTables(t *testing.T) {
	d := emulatedtest.Open(t)
	a, err := Generate("arbitrary", 16, 200, 3)
	if err != nil {
		t.Fatal(err)
	}
	reported, last := 0, 0.0
	o := Options{Settings: solve.Settings{Algorithm: Bidders, Devices: []device.Device{d}}}
	o.Progress = func(now solve.Incumbent) {
		if reported++; now.Value != "" || now.Bound != "" || now.Share < last || now.Share > 1 {
			t.Errorf("reported %+v after the share %g", now, last)
		}
		last = now.Share
	}
	if _, err := Solve(context.Background(), a, o); err != nil {
		t.Fatal(err)
	}
	if reported < 2 || last < 0.2 {
		t.Errorf("reported %d times, at last %g", reported, last)
	}
}

// Where nobody asks for an algorithm a device makes tables of few items, and none of many, or
// of too many bids for the time.
func TestTablesByDefault(t *testing.T) {
	d := emulatedtest.Open(t)
	for _, c := range []struct {
		distribution string
		goods, bids  int
		want         string
	}{{"regions", 12, 60, Bidders}, {"arbitrary", 40, 120, Branch}, {"L2", 6, 10, Bidders}} {
		a, err := Generate(c.distribution, c.goods, c.bids, 5)
		if err != nil {
			t.Fatal(err)
		}
		res, err := Solve(context.Background(), a, Options{Settings: solve.Settings{Devices: []device.Device{d}}})
		if err != nil || res.Algorithm != c.want {
			t.Errorf("%+v: %v by %s", c, err, res.Algorithm)
		}
	}
	wide := &problem.Auction{Goods: 32, Source: "wide"}
	for i := range 1000 {
		wide.Bids = append(wide.Bids, problem.Bid{Number: int64(i), Price: 1, Goods: []int64{0}})
	}
	p, err := problem.NewAtomicBids(wide, true)
	if err != nil {
		t.Fatal(err)
	}
	for i := range p.Bids { // a thousand bids for two of 32 goods
		p.Bids[i].Goods = []int64{int64(i % 31), 31}
	}
	if chosen, err := plan.New(&solve.Settings{Devices: []device.Device{d}}, p, 32); err != nil || chosen.Tables != nil || chosen.Algorithm != Branch {
		t.Errorf("tables that take long are made unasked: %v %+v", err, chosen)
	}
}

// A winner that the tuner kept leaves an auction whose prices it does not take to other algorithms.
func TestTunedBranchLeavesLargePrices(t *testing.T) {
	d := emulatedtest.Open(t)
	won := plan.Table.Variant("algorithm=branch,seconds=0")
	db, err := tuned.New(tuned.Entry{Family: plan.Table.Name, Class: d.Facts().Class(), Fixed: map[string]string{"bids": "few"}, Size: 2, Protocol: tuned.Protocol,
		Winner: won.Label, Results: []tuned.Result{{Variant: won.Label, Hash: tuned.Hash(won.Hash), Nanos: 1}}})
	if err != nil {
		t.Fatal(err)
	}
	for price, want := range map[int64]bool{5: true, 1 << 61: false} {
		a := &problem.Auction{Goods: 2, Source: "a", Bids: []problem.Bid{{Price: price, Goods: []int64{0}}, {Number: 1, Price: price, Goods: []int64{1}}, {Number: 2, Price: price + 1, Goods: []int64{0, 1}}}}
		res, err := Solve(context.Background(), a, Options{Settings: solve.Settings{Devices: []device.Device{d}, Tuning: db}})
		if err != nil || !res.Proven || res.Value != solve.Number(fmt.Sprint(2*price)) || (res.Algorithm == Branch) != want {
			t.Errorf("prices of %d: %v %+v", price, err, res)
		}
	}
}

// Payments of winners found by tables are found by branch and cut where tables have no room.
func TestPaymentsWithoutRoom(t *testing.T) {
	a := regional(rand.New(rand.NewPCG(2, 2)), 40, 120)
	want := paid(t, a, VCG)
	if p, err := problem.NewAtomicBids(a, false); err != nil {
		t.Fatal(err)
	} else if _, err := bidders.NewTablePlan(p, solve.Settings{}); !errors.Is(err, problem.ErrItems) {
		t.Fatalf("the tables have room: %v", err)
	}
	got := *want
	got.Algorithm, got.Payments = Bidders, nil
	if err := ComputePayments(context.Background(), &got, VCG, Options{}); err != nil || !reflect.DeepEqual(got.Payments, want.Payments) {
		t.Errorf("%v, %v", err, got.Payments)
	}
}
