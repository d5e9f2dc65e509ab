package price

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

// Lists that are dealt and sorted in parts hold what those dealt and sorted at once hold, of
// few and of many entries, with ties and without.
func TestLists(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{0, 1, 2, piece - 1, piece + 1, 1 << 14, 1<<17 + 3} {
		for _, span := range []int64{1, 3, 1000, 1 << 40, 1 << 61} {
			for _, cores := range []int{1, 3} {
				list := make([]pricedCoalition, n)
				for i := range list {
					list[i] = pricedCoalition{uint64(i), r.Int64N(span)}
				}
				buckets := make([][]pricedCoalition, 7)
				for _, x := range list {
					buckets[x.loss%7] = append(buckets[x.loss%7], x)
				}
				if got := intoBuckets(cores, list, make([]pricedCoalition, n), 7, func(x pricedCoalition) (pricedCoalition, int) { return x, int(x.loss % 7) }); !slices.EqualFunc(got, buckets, slices.Equal) {
					t.Errorf("%d entries of %d values, %d cores: other buckets", n, span, cores)
				}
				odd := func(k int, x pricedCoalition) (pricedCoalition, bool) {
					return pricedCoalition{uint64(k), x.loss + 1}, x.loss&1 == 1
				}
				var want []pricedCoalition
				for k, x := range list {
					if y, ok := odd(k, x); ok {
						want = append(want, y)
					}
				}
				if got := filterMap(cores, list, make([]pricedCoalition, n), odd); !slices.Equal(got, want) {
					t.Errorf("%d entries of %d values, %d cores: %d are kept, expected %d", n, span, cores, len(got), len(want))
				}
				if got := countWhere(cores, list, func(x pricedCoalition) bool { return x.loss&1 == 1 }); got != len(want) {
					t.Errorf("%d entries of %d values, %d cores: %d are odd, expected %d", n, span, cores, got, len(want))
				}
				sorted := slices.SortedStableFunc(slices.Values(list), func(a, b pricedCoalition) int { return cmp.Compare(a.loss, b.loss) })
				got := slices.Clone(list)
				if sortByKey(cores, got, make([]pricedCoalition, n), func(x pricedCoalition) int64 { return x.loss }); !slices.Equal(got, sorted) {
					t.Errorf("%d entries of %d values, %d cores: another order", n, span, cores)
				}
				for _, k := range []int{0, 1, n / 3, n - 1, n} {
					few := slices.Clone(list)
					selectLowest(few, k, func(a, b pricedCoalition) int { return cmp.Compare(a.loss, b.loss) })
					few = few[:min(max(k, 0), n)]
					slices.SortFunc(few, func(a, b pricedCoalition) int { return cmp.Compare(a.loss, b.loss) })
					if !slices.EqualFunc(few, sorted[:len(few)], func(a, b pricedCoalition) bool { return a.loss == b.loss }) {
						t.Errorf("%d entries of %d values: the %d lowest are others", n, span, k)
					}
				}
			}
		}
	}
}

// Items ascend by loss, and those of one loss by mask, however a pass found them.
func TestItems(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	for _, losses := range []int64{1, 5, 1 << 30} {
		items := make([]pricedCoalition, 1<<15)
		for k, mask := range r.Perm(len(items)) {
			items[k] = pricedCoalition{uint64(mask), r.Int64N(losses) - 2}
		}
		for _, cores := range []int{1, 3} {
			var lists buffers
			got := slices.Clone(items)
			lists.sort(cores, got, -2)
			if !slices.IsSortedFunc(got, func(a, b pricedCoalition) int {
				return cmp.Or(cmp.Compare(a.loss, b.loss), cmp.Compare(a.mask, b.mask))
			}) {
				t.Errorf("%d losses, %d cores: another order", losses, cores)
			}
		}
	}
}

func BenchmarkItems(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	all := make([]pricedCoalition, 1<<22)
	for i := range all {
		all[i] = pricedCoalition{r.Uint64N(1 << 32), r.Int64N(1 << 37)}
	}
	items := make([]pricedCoalition, len(all))
	var lists buffers
	for b.Loop() {
		copy(items, all)
		lists.sort(2, items, 0)
		lists.newCover(items, 32, 1<<37, 2)
	}
}
