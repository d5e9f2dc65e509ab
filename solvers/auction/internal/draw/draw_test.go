package draw

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func drawn(t *testing.T, name string, goods, bids int, seed uint64) *Auction {
	t.Helper()
	a, err := Draw(name, goods, bids, seed)
	if err != nil {
		t.Fatalf("%s of %d goods and %d bids, seed %d: %v", name, goods, bids, seed, err)
	}
	return a
}

// What holds of all distributions: enough bids, goods that exist and are told once, no bid
// that another replaces, groups of two bids or more, the same auction for the same seed.
func TestEveryDistribution(t *testing.T) {
	for _, d := range Distributions() {
		for _, size := range [][2]int{{16, 40}, {64, 200}} {
			a := drawn(t, d.Name, size[0], size[1], 7)
			if again := drawn(t, d.Name, size[0], size[1], 7); !reflect.DeepEqual(a, again) {
				t.Errorf("%s: the same seed draws another auction", d.Name)
			}
			if other := drawn(t, d.Name, size[0], size[1], 8); reflect.DeepEqual(a, other) {
				t.Errorf("%s: another seed draws the same auction", d.Name)
			}
			if len(a.Bids) < size[1] || len(a.Bids) > size[1]+400 {
				t.Errorf("%s: %d bids, asked for %d", d.Name, len(a.Bids), size[1])
			}
			if d.Name == "paths" {
				if a.Goods < size[0] || a.Goods > size[0]+size[0]/2 {
					t.Errorf("paths: %d goods, asked for %d", a.Goods, size[0])
				}
			} else if a.Goods != size[0] {
				t.Errorf("%s: %d goods, asked for %d", d.Name, a.Goods, size[0])
			}
			sets := make([]map[int]bool, len(a.Bids))
			for i, b := range a.Bids {
				sets[i] = map[int]bool{}
				for _, g := range b.Goods {
					if g < 0 || g >= a.Goods || sets[i][g] {
						t.Fatalf("%s: the goods %v of %d", d.Name, b.Goods, a.Goods)
					}
					sets[i][g] = true
				}
				if len(b.Goods) == 0 || math.IsNaN(b.Price) || math.IsInf(b.Price, 0) || b.Group < -1 || b.Group >= a.Groups {
					t.Fatalf("%s: %+v", d.Name, b)
				}
			}
			if d.Name == "paths" {
				continue // as in CATS, they are not compared
			}
			for i, b := range a.Bids {
				for j, other := range a.Bids {
					if i != j && other.Price >= b.Price && (other.Group < 0 || other.Group == b.Group) && !slices.ContainsFunc(other.Goods, func(g int) bool { return !sets[i][g] }) {
						t.Fatalf("%s: bid %+v replaces %+v", d.Name, other, b)
					}
				}
			}
		}
	}
}

// means are those of a distribution's sizes and of its prices a good, of many bids.
func means(a *Auction) (size, price float64) {
	for _, b := range a.Bids {
		size += float64(len(b.Goods))
		price += b.Price / float64(len(b.Goods))
	}
	return size / float64(len(a.Bids)), price / float64(len(a.Bids))
}

func between(t *testing.T, what string, found, low, high float64) {
	t.Helper()
	if !(found >= low && found <= high) {
		t.Errorf("%s is %g, expected %g to %g", what, found, low, high)
	}
}

// Sizes have the stated distributions, before bids that others replace are left out.
func TestSizesOfLegacy(t *testing.T) {
	d := newDrawer(40)
	const tries = 40000
	for which, want := range map[int]float64{1: 20.5, 2: 20.5, 3: 3, 4: 1 / (1 - 0.55), 5: 4, 6: 5.52, 7: 8, 8: 3} {
		sum := 0
		for range tries {
			sum += d.bundleSize(which)
		}
		between(t, "the mean size of L"+string(rune('0'+which)), float64(sum)/tries, 0.97*want, 1.03*want)
	}
}

// Prices a good lie where the distributions say.
func TestPricesOfLegacy(t *testing.T) {
	for name, limits := range map[string][2]float64{"L2": {1, 1000}, "L4": {1, 1000}, "L6": {1, 1000}, "L7": {1, 1000}} {
		for _, b := range drawn(t, name, 40, 200, 3).Bids {
			each := b.Price / float64(len(b.Goods))
			between(t, "a price a good of "+name, each, limits[0], limits[1])
		}
	}
	for _, name := range []string{"L1", "L3"} {
		for _, b := range drawn(t, name, 40, 60, 3).Bids {
			between(t, "a price of "+name, b.Price, 0, 1000)
		}
	}
	for _, b := range drawn(t, "L5", 40, 200, 3).Bids {
		between(t, "a price of L5", b.Price, 16-6*3, 16+6*3)
	}
	for _, b := range drawn(t, "L8", 40, 200, 3).Bids {
		between(t, "a price of L8", b.Price, 0, 0)
	}
}

// A bidder of scheduling wants as many slots in a run, and pays as much for all that end
// by the same deadline.
func TestScheduling(t *testing.T) {
	a := drawn(t, "scheduling", 30, 300, 5)
	length := map[int]int{}
	for _, b := range a.Bids {
		if b.Group < 0 {
			continue
		}
		if length[b.Group] == 0 {
			length[b.Group] = len(b.Goods)
		}
		if len(b.Goods) != length[b.Group] || len(b.Goods) > 10 || b.Goods[len(b.Goods)-1]-b.Goods[0] != len(b.Goods)-1 {
			t.Fatalf("%+v", b)
		}
		worth := math.Pow(float64(len(b.Goods)), 1.2)
		between(t, "a price", b.Price, 0, 1.5*worth)
	}
}

// A bid of matching is a slot to take off and one to land, at two airports.
func TestMatching(t *testing.T) {
	a := drawn(t, "matching", 80, 400, 5)
	for _, b := range a.Bids {
		off, land := b.Goods[0], b.Goods[1]
		if len(b.Goods) != 2 || off%4 == land%4 || off%4+land%4 == 5 || off/4 > land/4 {
			t.Fatalf("%+v", b)
		}
		between(t, "a price", b.Price, 0, 1.5*2*5/0.75/0.75)
	}
	if _, err := Draw("matching", 30, 10, 1); err == nil {
		t.Error("30 goods at 4 airports")
	}
}

// Bidders of regions and arbitrary have at most six alternatives, of at most 1.5 times the
// price of one of them; bundles have ten goods, less what the auction lacks.
func TestLikeness(t *testing.T) {
	for _, name := range []string{"arbitrary-npv", "arbitrary-upv", "regions-npv", "regions-upv"} {
		a := drawn(t, name, 100, 600, 5)
		most, least, alternatives := map[int]float64{}, map[int]float64{}, map[int]int{}
		for _, b := range a.Bids {
			if b.Group < 0 {
				continue
			}
			if alternatives[b.Group]++; alternatives[b.Group] == 1 {
				least[b.Group] = b.Price
			}
			most[b.Group], least[b.Group] = max(most[b.Group], b.Price), min(least[b.Group], b.Price)
		}
		for g, n := range alternatives {
			if n > 6 {
				t.Errorf("%s: a bidder has %d alternatives", name, n)
			}
			if least[g] < 0 || most[g] <= 0 {
				t.Errorf("%s: alternatives from %g to %g", name, least[g], most[g])
			}
		}
		size, price := means(a)
		between(t, "the mean size of "+name, size, 7, 15)
		between(t, "the mean price a good of "+name, price, 40, 100)
	}
}

// A bidder of paths has at most five ways, all of one price; a way is a simple path.
func TestPaths(t *testing.T) {
	a := drawn(t, "paths", 60, 300, 5)
	price, count := map[int]float64{}, map[int]int{}
	for _, b := range a.Bids {
		between(t, "a price", b.Price, 0, 1.5*math.Sqrt2)
		if b.Group < 0 {
			continue
		}
		if count[b.Group]++; count[b.Group] > 5 || count[b.Group] > 1 && price[b.Group] != b.Price {
			t.Fatalf("%+v", b)
		}
		price[b.Group] = b.Price
	}
}

func TestRefused(t *testing.T) {
	for _, c := range []struct {
		name        string
		goods, bids int
	}{{"L9", 10, 10}, {"L2", 0, 10}, {"L2", 10, -1}, {"L2", MaxGoods + 1, 1}, {"L2", 1, MaxBids + 1}, {"L3", 2, 1}, {"L3", 3, 2}, {"paths", 100, 1}, {"paths", maxRoads + 1, 1}} {
		if _, err := Draw(c.name, c.goods, c.bids, 1); err == nil {
			t.Errorf("%s of %d goods and %d bids is drawn", c.name, c.goods, c.bids)
		}
	}
	for _, d := range Distributions() {
		if d.Name == "matching" || d.Name == "L3" || d.Name == "L8" {
			continue
		}
		if a, err := Draw(d.Name, 1, 0, 1); err != nil || len(a.Bids) != 0 {
			t.Errorf("%s of no bids: %v", d.Name, err)
		}
	}
}

// What a drawn auction holds is no more than was said before.
func TestFootprint(t *testing.T) {
	for _, d := range Distributions() {
		goods, bids := 256, 300
		a, err := Draw(d.Name, goods, bids, 1)
		if err != nil {
			t.Fatal(d.Name, err)
		}
		held := int64(len(a.Bids) * (goods/8 + 40)) // sets of goods, prices, slices
		for _, b := range a.Bids {
			held += int64(8 * cap(b.Goods))
		}
		if most := Footprint(d.Name, goods, len(a.Bids)); held > most || most < 8*int64(goods*goods) && strings.HasPrefix(d.Name, "regions") {
			t.Errorf("%s: %d bids hold %d bytes, expected at most %d", d.Name, len(a.Bids), held, most)
		}
	}
}
