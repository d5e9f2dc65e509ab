package auction

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"coalesce/runtime/device"
	"coalesce/runtime/host"
	"coalesce/solvers/csg"
	"coalesce/solvers/solve"
	"coalesce/solvers/solve/inputtest"
)

// filled is an auction as a program fills it.
func filled(r *rand.Rand) *Auction {
	a := &Auction{Goods: int64(r.IntN(5)), Dummies: int64(r.IntN(3)), Scale: r.IntN(3), Source: "by hand", SellAll: r.IntN(3) == 0}
	ids := func(n int64) []int64 {
		var list []int64
		for g := range n {
			if r.IntN(3) == 0 {
				list = append(list, g)
			}
		}
		return list
	}
	for k := range int64(r.IntN(7)) {
		a.Bids = append(a.Bids, Bid{Number: k, Price: r.Int64N(30) - 3, Goods: ids(a.Goods + a.Dummies), Bidder: []string{"", "ann", "bob"}[r.IntN(3)]})
	}
	if r.IntN(3) == 0 {
		a.Limits = map[string]int{"ann": r.IntN(3)}
	}
	for range r.IntN(2) {
		if goods := ids(a.Goods); len(goods) > 0 {
			a.Reserves = append(a.Reserves, Reserve{Price: r.Int64N(20), Goods: goods})
		}
	}
	if r.IntN(3) == 0 {
		a.Names = []string{"p", "q", "r", "s", "t"}[:a.Goods]
	}
	return a
}

// worth is the value of the best bids and reserves by trying all sets of them; nil where none sell all goods
// that have to be sold.
func worth(a *Auction) *big.Int {
	var best *big.Int
	for set := range 1 << (len(a.Bids) + len(a.Reserves)) {
		held, wins, sum, ok := map[int64]bool{}, map[string]int{}, new(big.Int), true
		take := func(goods []int64, price int64) {
			for _, g := range goods {
				ok = ok && !held[g]
				held[g] = true
			}
			sum.Add(sum, big.NewInt(price))
		}
		for k, b := range a.Bids {
			if set>>k&1 == 1 {
				take(b.Goods, b.Price)
				wins[b.Bidder]++
			}
		}
		for k, r := range a.Reserves {
			if set>>(len(a.Bids)+k)&1 == 1 {
				take(r.Goods, r.Price)
			}
		}
		for name, most := range a.Limits {
			ok = ok && wins[name] <= most
		}
		for g := range a.Goods {
			ok = ok && (!a.SellAll || held[g])
		}
		if ok && (best == nil || sum.Cmp(best) > 0) {
			best = sum
		}
	}
	return best
}

// Auctions and options that a program fills, rightly and wrongly, are solved for what they say, or refused
// with an error that names the field. No error says that the solver is wrong.
func TestFilledAuctions(t *testing.T) {
	d := host.Open(2)
	defer d.Close()
	ctx := context.Background()
	r := rand.New(rand.NewPCG(6, 7))
	solved, refused, none := 0, 0, 0
	for range 1500 {
		a := filled(r)
		o := Options{Settings: solve.Settings{Devices: []device.Device{d}, Algorithm: []string{"", "", Branch, Bidders, "apart", "dp"}[r.IntN(6)]}, Proof: r.IntN(2) == 0}
		var how []string
		for range r.IntN(3) {
			if r.IntN(6) == 0 {
				how = append(how, inputtest.Spoil(r, &o))
			} else {
				how = append(how, inputtest.Spoil(r, a))
			}
		}
		o.TimeLimit, o.Log, o.Progress = min(o.TimeLimit, 0), nil, nil
		rule, won, other := Rule(Rules()[r.IntN(3)]), []int{r.IntN(9) - 1, r.IntN(9)}, filled(r)
		var answer *Result
		var failed error
		for name, work := range map[string]func() error{
			"Solve": func() (err error) {
				answer, failed = Solve(ctx, a, o)
				return failed
			},
			"Verify": func() error {
				res, err := Solve(ctx, a, o)
				if res == nil {
					return err
				}
				if err == nil && len(a.Bids) < 8 {
					if err := Pay(ctx, res, rule, o); err != nil {
						return err
					}
				}
				text, err := json.Marshal(res)
				if err != nil {
					return err
				}
				v, err := Verify(a, text)
				if err == nil {
					err = v.Err()
				}
				if err == nil && res.Value == "" && res.Proven != v.BoundChecked {
					err = fmt.Errorf("proven %t, checked %t: %v", res.Proven, v.BoundChecked, v.Messages)
				}
				return err
			},
			"Reference": func() error { _, err := Reference(a); return err },
			"Write":     func() error { _, err := Write(&bytes.Buffer{}, a, JSON); return err },
			"Reduction": func() error { _, err := NewReduction(a); return err },
			"Pay": func() error {
				wrong := NewResult(other)
				wrong.Auction, wrong.Winners, wrong.Proven, wrong.Gap = a, won, true, new(float64)
				return Pay(ctx, wrong, VCG, o)
			},
		} {
			panicked, err := inputtest.Call(work)
			switch {
			case panicked != nil:
				t.Fatalf("%s of %v: panic: %v", name, how, panicked)
			case errors.Is(err, csg.ErrCheck):
				t.Errorf("%s of %v: %v", name, how, err)
			case err == nil || errors.Is(err, solve.ErrInfeasible) || errors.Is(err, ErrSize) || errors.Is(err, ErrItems):
			case name == "Write" && strings.Contains(err.Error(), "found dummy"):
			case !errors.Is(err, solve.ErrInput) || !inputtest.Names(err.Error(), Auction{}, o, Result{}):
				t.Errorf("%s of %v: found the error %v, expected one that names a field", name, how, err)
			default:
				refused++
			}
		}
		if failed != nil && !errors.Is(failed, solve.ErrInfeasible) {
			continue
		}
		want := worth(a)
		switch {
		case want == nil:
			if none++; !errors.Is(failed, solve.ErrInfeasible) || answer == nil || answer.Value != "" {
				t.Errorf("%v: found %+v, %v, expected that no bids sell all goods", how, answer, failed)
			}
		case failed != nil || answer.Value.String() != a.Price(want):
			t.Errorf("%v: found %v, %v, expected %s", how, answer, failed, a.Price(want))
		}
		solved++
	}
	if solved < 300 || refused < 300 || none < 30 {
		t.Errorf("%d auctions were solved, %d of them sell not all goods, and %d calls were refused, expected more", solved, none, refused)
	}
	for name, work := range map[string]func() error{
		"Solve": func() error {
			_, err := Solve(ctx, nil, Options{Settings: solve.Settings{Devices: []device.Device{d}}})
			return err
		},
		"a nil one": func() error {
			_, err := Solve(ctx, filled(r), Options{Settings: solve.Settings{Devices: []device.Device{nil}}})
			return err
		},
		"Reference":  func() error { _, err := Reference(nil); return err },
		"Verify":     func() error { _, err := Verify(nil, []byte(`{"problem":"auction"}`)); return err },
		"Pay":        func() error { return Pay(ctx, nil, FirstPrice, Options{}) },
		"no auction": func() error { return Pay(ctx, &Result{}, FirstPrice, Options{}) },
		"rule":       func() error { return Pay(ctx, NewResult(&Auction{}), "x", Options{}) },
		"Write":      func() error { _, err := Write(nil, nil, CSV); return err },
		"format":     func() error { _, err := Write(&bytes.Buffer{}, &Auction{}, "x"); return err },
		"Reduction":  func() error { _, err := NewReduction(nil); return err },
		"Generate":   func() error { _, err := Generate("paths", -1, 3, 1); return err },
		"name":       func() error { _, err := Generate("x", 3, 3, 1); return err },
		"JSON":       func() error { _, err := json.Marshal(&Result{}); return err },
	} {
		if panicked, err := inputtest.Call(work); panicked != nil || !errors.Is(err, solve.ErrInput) {
			t.Errorf("%s: found %v, %v, expected an error of the input", name, err, panicked)
		}
	}
}

// Every field of which programs fill one wrong is named.
func TestWrongFields(t *testing.T) {
	bids := []Bid{{Number: 0, Price: 3, Goods: []int64{0, 1}}, {Number: 1, Price: 2, Goods: []int64{1}}}
	for want, change := range map[string]func(a *Auction){
		"Goods: found -1":                   func(a *Auction) { a.Goods = -1 },
		"Dummies: found -1":                 func(a *Auction) { a.Dummies = -1 },
		"Scale: found -1":                   func(a *Auction) { a.Scale = -1 },
		"Scale: found 1073741824":           func(a *Auction) { a.Scale = 1 << 30 },
		"Bids[1].Number: found 0":           func(a *Auction) { a.Bids[1].Number = 0 },
		"Bids[0].Goods[1]: found good 2":    func(a *Auction) { a.Bids[0].Goods[1] = 2 },
		"Bids[0].Goods[1]: found good 0 tw": func(a *Auction) { a.Bids[0].Goods[1] = 0 },
		"Bids[0].Goods[1]: found good 0 af": func(a *Auction) { a.Bids[0].Goods = []int64{1, 0} },
		"Names[1]: found \"x\"":             func(a *Auction) { a.Names = []string{"x", "x"} },
		"Names: found 1":                    func(a *Auction) { a.Names = []string{"x"} },
		"Limits[\"ann\"]: found":            func(a *Auction) { a.Limits = map[string]int{"ann": -2} },
		"Reserves[0].Goods: found none":     func(a *Auction) { a.Reserves = []Reserve{{Price: 1}} },
		"Reserves[0].Goods[0]: found good":  func(a *Auction) { a.Reserves = []Reserve{{Price: 1, Goods: []int64{2}}} },
		"Reserves[0].Price: found -0.5":     func(a *Auction) { a.Reserves = []Reserve{{Price: -5, Goods: []int64{0}}} },
	} {
		a := &Auction{Goods: 2, Scale: 1, Bids: slices.Clone(bids)}
		a.Bids[0].Goods = slices.Clone(bids[0].Goods)
		change(a)
		if _, err := Solve(context.Background(), a, Options{}); !errors.Is(err, solve.ErrInput) || !bytes.Contains([]byte(err.Error()), []byte(want)) {
			t.Errorf("found %v, expected %q", err, want)
		}
	}
}
