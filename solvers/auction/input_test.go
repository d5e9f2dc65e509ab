package auction

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"coalesce/runtime/device"
	"coalesce/runtime/host"
	"coalesce/solvers/auction/problem"
	"coalesce/solvers/solve"
	"coalesce/solvers/solve/inputtest"
)

// What programs hand over wrongly is refused with an error of the input. scripts/adversary draws such instances at random.
func TestWrongCalls(t *testing.T) {
	d := host.Open(2)
	defer d.Close()
	ctx := context.Background()
	a := &problem.Auction{Goods: 1, Bids: []problem.Bid{{Price: 3, Goods: []int64{0}}}}
	for name, work := range map[string]func() error{
		"Solve": func() error {
			_, err := Solve(ctx, nil, Options{Settings: solve.Settings{Devices: []device.Device{d}}})
			return err
		},
		"a nil one": func() error {
			_, err := Solve(ctx, a, Options{Settings: solve.Settings{Devices: []device.Device{nil}}})
			return err
		},
		"Reference":  func() error { _, err := Reference(nil); return err },
		"Verify":     func() error { _, err := Verify(nil, []byte(`{"problem":"auction"}`)); return err },
		"Pay":        func() error { return ComputePayments(ctx, nil, FirstPrice, Options{}) },
		"no auction": func() error { return ComputePayments(ctx, &Result{}, FirstPrice, Options{}) },
		"rule":       func() error { return ComputePayments(ctx, NewResult(&problem.Auction{}), "x", Options{}) },
		"Write":      func() error { _, err := Write(nil, nil, CSV); return err },
		"format":     func() error { _, err := Write(&bytes.Buffer{}, &problem.Auction{}, "x"); return err },
		"Reduction":  func() error { _, err := NewReduction(nil); return err },
		"Generate":   func() error { _, err := Generate("paths", -1, 3, 1); return err },
		"name":       func() error { _, err := Generate("x", 3, 3, 1); return err },
		"JSON":       func() error { _, err := json.Marshal(&Result{}); return err },
	} {
		if panicked, err := inputtest.RecoverPanic(work); panicked != nil || !errors.Is(err, solve.ErrInput) {
			t.Errorf("%s: found %v, %v, expected an error of the input", name, err, panicked)
		}
	}
}

// Every field of which programs fill one wrong is named.
func TestWrongFields(t *testing.T) {
	bids := []problem.Bid{{Number: 0, Price: 3, Goods: []int64{0, 1}}, {Number: 1, Price: 2, Goods: []int64{1}}}
	for want, change := range map[string]func(a *problem.Auction){
		"Goods: found -1":                   func(a *problem.Auction) { a.Goods = -1 },
		"Dummies: found -1":                 func(a *problem.Auction) { a.Dummies = -1 },
		"Scale: found -1":                   func(a *problem.Auction) { a.Scale = -1 },
		"Scale: found 1073741824":           func(a *problem.Auction) { a.Scale = 1 << 30 },
		"Bids[1].Number: found 0":           func(a *problem.Auction) { a.Bids[1].Number = 0 },
		"Bids[0].Goods[1]: found good 2":    func(a *problem.Auction) { a.Bids[0].Goods[1] = 2 },
		"Bids[0].Goods[1]: found good 0 tw": func(a *problem.Auction) { a.Bids[0].Goods[1] = 0 },
		"Bids[0].Goods[1]: found good 0 af": func(a *problem.Auction) { a.Bids[0].Goods = []int64{1, 0} },
		"Names[1]: found \"x\"":             func(a *problem.Auction) { a.Names = []string{"x", "x"} },
		"Names: found 1":                    func(a *problem.Auction) { a.Names = []string{"x"} },
		"Limits[\"ann\"]: found":            func(a *problem.Auction) { a.Limits = map[string]int{"ann": -2} },
		"Reserves[0].Goods: found none":     func(a *problem.Auction) { a.Reserves = []problem.Reserve{{Price: 1}} },
		"Reserves[0].Goods[0]: found good":  func(a *problem.Auction) { a.Reserves = []problem.Reserve{{Price: 1, Goods: []int64{2}}} },
		"Reserves[0].Price: found -0.5":     func(a *problem.Auction) { a.Reserves = []problem.Reserve{{Price: -5, Goods: []int64{0}}} },
	} {
		a := &problem.Auction{Goods: 2, Scale: 1, Bids: slices.Clone(bids)}
		a.Bids[0].Goods = slices.Clone(bids[0].Goods)
		change(a)
		if _, err := Solve(context.Background(), a, Options{}); !errors.Is(err, solve.ErrInput) || !bytes.Contains([]byte(err.Error()), []byte(want)) {
			t.Errorf("found %v, expected %q", err, want)
		}
	}
}
