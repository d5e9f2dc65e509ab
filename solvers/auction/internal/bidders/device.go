package bidders

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"slices"

	"coalesce/generated/auction"
	"coalesce/runtime/device"
)

// MaxItemsOnDevice is the most items of a device's tables. The device's memory may set a lower limit.
const MaxItemsOnDevice = 32

// DeviceTables names what makes the tables: a device, with a variant of auction/bidders whose values hold the
// value of every allocation (Problem.FitsInt32), or without a variant the host.
type DeviceTables struct {
	Device  device.Device
	Variant *device.Variant
	Work    *Work               // counts the work; may be nil
	Share   func(share float64) // is called between passes with the finished share, 0 to 1, of the tables of all bidders; may be nil
}

// Work counts the work of tables on a device.
type Work struct {
	Passes int     `json:"passes"`             // passes over tables, a launch each
	Bytes  float64 `json:"bytes" unit:"bytes"` // traffic of the passes, computed from the number of sets
}

// valueSize is the bytes of a value of a variant's tables.
func valueSize(v *device.Variant) int64 {
	return int64(device.Value(auction.Bidders.Value(v, "value")).Size())
}

// tileItems are the items that sets of a variant's tile differ in: tables have at least as many.
func tileItems(v *device.Variant) int {
	return bits.Len(uint(auction.Bidders.Int(v, "block")*auction.Bidders.Int(v, "items"))) - 1
}

// memoryOf is the device memory of Solve for so many items, in bytes: two tables, and a third one for
// the results of passes.
func memoryOf(v *device.Variant, items int) int64 {
	return 3*valueSize(v)<<max(items, tileItems(v)) + 1<<24
}

// checkFits returns an error if a variant cannot solve problems of so many items on a device.
func checkFits(v *device.Variant, facts device.Facts, items int) error {
	if need := memoryOf(v, items); facts.Free > 0 && need > facts.Free {
		return fmt.Errorf("tables of %d items take %s: %w", items, facts.MemoryShortage(float64(need)), device.ErrMemory)
	}
	return facts.BlockFits(auction.Bidders.Int(v, "block"), 0)
}

// Solve is Problem.Solve with tables on a device. Errors of memory wrap device.ErrMemory.
func (on DeviceTables) Solve(ctx context.Context, p *Problem) (ids []int, value int64, err error) {
	if on.Variant == nil {
		return p.Solve(ctx)
	}
	d, err := on.openTables(p)
	if err != nil {
		return nil, 0, err
	}
	defer func() { err = errors.Join(err, d.scope.Close()) }()
	return p.solveByHalves(ctx, d, hostOrDevice{d})
}

// ValuesWithout is Problem.ValuesWithout with tables on a device. Errors of memory wrap device.ErrMemory.
func (on DeviceTables) ValuesWithout(ctx context.Context, p *Problem, groups [][]int) (worth []int64, err error) {
	if on.Variant == nil {
		return p.ValuesWithout(ctx, groups)
	}
	d, err := on.openTables(p)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, d.scope.Close()) }()
	base, left := p.splitOffGroups(groups)
	t, err := d.fillTable(ctx, d.planPasses(base))
	if err != nil {
		return nil, err
	}
	if err = d.growTable(t, p.Items); err != nil {
		return nil, err
	}
	worth = make([]int64, len(groups))
	return worth, d.computeWithout(ctx, t, left, worth)
}

// A deviceTables makes tables on a device.
type deviceTables struct {
	on      DeviceTables
	kernels *auction.BiddersKernels
	stream  device.Stream
	unit    int64 // divides all prices; values are multiples of this unit
	tile    int   // how many items the sets of a tile differ in
	most    int64 // bytes of a table of all items
	scope   device.Scope
	spare   []device.Buffer // buffers of tables that are not in use

	all, done, reported float64 // the cost of all passes, that of the finished ones, and the share reported last

	bids, prices device.Buffer // bids that passes offer, and their prices
	worth, sets  device.Buffer // values and sets that enqueueBest and readSets write and read
}

// A deviceTable table is the values of all sets of some lowest items, at least those of a tile.
type deviceTable struct {
	room  device.Buffer
	items int
}

func (on DeviceTables) openTables(p *Problem) (*deviceTables, error) {
	if err := tooMany(p.Items, MaxItemsOnDevice); err != nil {
		return nil, err
	}
	if valueSize(on.Variant) == 4 && !p.FitsInt32() {
		return nil, fmt.Errorf("variant %s: allocations may be worth %d units, expected less than 2^31", on.Variant.Label, p.valueBound()/p.priceUnit())
	}
	d := &deviceTables{on: on, unit: p.priceUnit(), tile: tileItems(on.Variant)}
	d.most = valueSize(on.Variant) << max(p.Items, d.tile)
	var err error
	if d.kernels, err = auction.LoadBidders(on.Device, on.Variant); err != nil {
		return nil, err
	}
	d.scope.CloseLater(d.kernels)
	if d.stream, err = d.scope.NewStream(on.Device); err != nil {
		return nil, errors.Join(err, d.scope.Close())
	}
	return d, nil
}

// takeBuffer is room for a table.
func (d *deviceTables) takeBuffer() (device.Buffer, error) {
	if last := len(d.spare) - 1; last >= 0 {
		room := d.spare[last]
		d.spare = d.spare[:last]
		return room, nil
	}
	return d.scope.Alloc(d.on.Device, d.most)
}

// freeBuffer takes room back.
func (d *deviceTables) freeBuffer(room device.Buffer) { d.spare = append(d.spare, room) }

// ensureBuffer replaces the buffer at `at` by one of so many bytes, unless it is as large; its content is lost.
func (d *deviceTables) ensureBuffer(at *device.Buffer, bytes int64) error {
	if *at != nil && (*at).Len() >= bytes {
		return nil
	}
	return d.scope.AllocAll(d.on.Device, device.BufferFor(at, max(bytes, 1<<16)))
}

// planPasses returns the passes of bidders of a peeled problem, and adds their cost to that of all passes.
func (d *deviceTables) planPasses(bidders [][]Bid) []pass {
	list := makePasses(bidders)
	for _, p := range list {
		d.all += p.cost()
	}
	return list
}

// fillTable is the table of planned passes.
func (d *deviceTables) fillTable(ctx context.Context, list []pass) (*deviceTable, error) {
	room, err := d.takeBuffer()
	if err != nil {
		return nil, err
	}
	t := &deviceTable{room, d.tile}
	if err := d.clearTable(t); err != nil {
		return nil, err
	}
	return t, d.addBidders(ctx, t, list)
}

// clearTable sets a table to that of no bidders: all values are 0.
func (d *deviceTables) clearTable(t *deviceTable) error {
	t.items = d.tile
	return d.stream.Fill(t.room, 0, valueSize(d.on.Variant)<<d.tile, 0)
}

// uploadBids uploads the bids of passes.
func (d *deviceTables) uploadBids(list []pass) error {
	var sets []uint32
	var prices []int64
	for _, p := range list {
		for _, b := range p.bids {
			sets, prices = append(sets, b.Items), append(prices, b.Price/d.unit)
		}
	}
	size := valueSize(d.on.Variant)
	if err := errors.Join(d.ensureBuffer(&d.bids, 4*int64(len(sets))), d.ensureBuffer(&d.prices, size*int64(len(prices)))); err != nil {
		return err
	}
	return errors.Join(d.stream.Upload(d.bids, 0, device.Bytes(sets)), d.stream.Upload(d.prices, 0, tableValues(prices, size)))
}

// ahead is the number of passes that are enqueued before the host waits for them.
const ahead = 8

// addBidders adds the bidders of passes to a table.
func (d *deviceTables) addBidders(ctx context.Context, t *deviceTable, list []pass) error {
	if err := d.uploadBids(list); err != nil {
		return err
	}
	first := 0
	for k, p := range list {
		if k%ahead == 0 {
			if err := errors.Join(ctx.Err(), d.stream.Sync()); err != nil {
				return err
			}
			if d.on.Share != nil {
				d.reported = max(d.reported, d.done/d.all)
				d.on.Share(d.reported)
			}
		}
		if err := d.enqueuePass(t, &p, first); err != nil {
			return err
		}
		d.done += p.cost()
		first += len(p.bids)
	}
	return d.stream.Sync()
}

// enqueuePass enqueues a pass; its bids begin at place `from` of the lists.
func (d *deviceTables) enqueuePass(t *deviceTable, p *pass, first int) error {
	if err := d.growTable(t, p.itemCount()); err != nil {
		return err
	}
	tiles, have, to := uint64(1)<<(t.items-d.tile), uint32(0), t.room
	if p.alone {
		have = p.commonItems() >> d.tile
		tiles >>= bits.OnesCount32(have)
	} else {
		var err error
		if to, err = d.takeBuffer(); err != nil {
			return err
		}
	}
	if w := d.on.Work; w != nil {
		w.Passes++
		w.Bytes += float64(valueSize(d.on.Variant)<<t.items) * p.share()
	}
	if err := d.kernels.Come(d.stream, d.grid(tiles), t.room, to, d.bids, d.prices, uint64(first), uint64(len(p.bids)), tiles, uint64(have)); err != nil {
		return err
	}
	if !p.alone {
		d.freeBuffer(t.room)
		t.room = to
	}
	return nil
}

// grid has a block for each tile, up to a limit.
func (d *deviceTables) grid(tiles uint64) device.Grid {
	return device.Grid{Blocks: int64(min(tiles, 1<<20)), Threads: auction.Bidders.Int(d.on.Variant, "block")}
}

// growTable extends a table to so many items. No bidder so far asks for the added ones: they add nothing
// to the value of a set.
func (d *deviceTables) growTable(t *deviceTable, items int) error {
	size := valueSize(d.on.Variant)
	for ; t.items < items; t.items++ {
		if err := d.stream.Copy(t.room, size<<t.items, t.room, 0, size<<t.items); err != nil {
			return err
		}
	}
	return nil
}

// split looks for the best set in the tables of both groups.
func (d *deviceTables) split(ctx context.Context, p *Problem, half int) (uint32, int64, error) {
	first, second := d.planPasses(p.Bidders[:half]), d.planPasses(p.Bidders[half:])
	one, err := d.fillTable(ctx, first)
	if err != nil {
		return 0, 0, err
	}
	other, err := d.fillTable(ctx, second)
	if err != nil {
		return 0, 0, err
	}
	defer d.freeBuffer(one.room)
	defer d.freeBuffer(other.room)
	if err := errors.Join(d.bestRoom(), d.enqueueBest(one, other, p.Items)); err != nil {
		return 0, 0, err
	}
	return d.downloadBest(one, other, p.Items)
}

// bestBlocks is the number of blocks that look for the best set; each writes the best one it found.
const bestBlocks = 1 << 12

// bestRoom makes room for the results of enqueueBest.
func (d *deviceTables) bestRoom() error {
	return errors.Join(d.ensureBuffer(&d.worth, valueSize(d.on.Variant)*bestBlocks), d.ensureBuffer(&d.sets, 4*bestBlocks))
}

// bestGrid is the grid of enqueueBest for so many tiles.
func (d *deviceTables) bestGrid(one, other *deviceTable, items int) (device.Grid, uint64) {
	tiles := uint64(1) << (max(one.items, other.items, items) - d.tile)
	g := d.grid(tiles)
	g.Blocks = min(g.Blocks, bestBlocks)
	return g, tiles
}

// enqueueBest enqueues the search for the set S that maximises the value of S in one table plus the value of
// all other items in the other table.
func (d *deviceTables) enqueueBest(one, other *deviceTable, items int) error {
	grid, tiles := d.bestGrid(one, other, items)
	return d.kernels.Best(d.stream, grid, one.room, other.room, d.worth, d.sets, 1<<one.items-1, 1<<other.items-1, tiles)
}

// downloadBest downloads the set that enqueueBest has found, and its value.
func (d *deviceTables) downloadBest(one, other *deviceTable, items int) (uint32, int64, error) {
	grid, _ := d.bestGrid(one, other, items)
	worth, err := d.downloadValues(d.worth, int(grid.Blocks))
	if err != nil {
		return 0, 0, err
	}
	sets := make([]uint32, len(worth))
	if err := d.stream.Download(device.Bytes(sets), d.sets, 0); err != nil {
		return 0, 0, err
	}
	top := 0
	for k := range worth {
		if worth[k] > worth[top] {
			top = k
		}
	}
	return sets[top] & (uint32(1)<<items - 1), worth[top] * d.unit, nil
}

// fewItems is the number of items up to which a host splits a problem sooner than a device.
const fewItems = 16

// A few splits problems of few items on the host, others on the device.
type hostOrDevice struct{ device *deviceTables }

func (f hostOrDevice) split(ctx context.Context, p *Problem, half int) (uint32, int64, error) {
	if p.Items <= fewItems {
		return host{}.split(ctx, p, half)
	}
	return f.device.split(ctx, p, half)
}

// tableValues converts numbers to values of so many bytes, as tables hold them.
func tableValues(x []int64, size int64) []byte {
	if size == 8 {
		return device.Bytes(x)
	}
	narrow := make([]int32, len(x))
	for k := range x {
		narrow[k] = int32(x[k])
	}
	return device.Bytes(narrow)
}

// downloadValues downloads the first so many values of a buffer.
func (d *deviceTables) downloadValues(from device.Buffer, count int) ([]int64, error) {
	wide := make([]int64, count)
	if valueSize(d.on.Variant) == 8 {
		return wide, d.stream.Download(device.Bytes(wide), from, 0)
	}
	narrow := make([]int32, count)
	err := d.stream.Download(device.Bytes(narrow), from, 0)
	for k, x := range narrow {
		wide[k] = int64(x)
	}
	return wide, err
}

// maxLooked is the most sets of a table that are looked up; for more, bidders are added to a copy of
// the table instead.
const maxLooked = 1 << 13

// computeWithout computes the value of all items without each of some groups, from the table of the bidders in
// no group, which it changes.
func (d *deviceTables) computeWithout(ctx context.Context, t *deviceTable, groups [][][]Bid, worth []int64) error {
	lists, ok := otherCombinations(groups)
	if ok {
		return d.lookUp(t, lists, worth)
	}
	half := len(groups) / 2
	room, err := d.takeBuffer()
	if err != nil {
		return err
	}
	copied := &deviceTable{room, t.items}
	if err := d.stream.Copy(room, 0, t.room, 0, valueSize(d.on.Variant)<<t.items); err != nil {
		return err
	}
	if err := d.addBidders(ctx, copied, d.planPasses(slices.Concat(groups[half:]...))); err != nil {
		return err
	}
	if err := d.computeWithout(ctx, copied, groups[:half], worth[:half]); err != nil {
		return err
	}
	d.freeBuffer(copied.room)
	if err := d.addBidders(ctx, t, d.planPasses(slices.Concat(groups[:half]...))); err != nil {
		return err
	}
	return d.computeWithout(ctx, t, groups[half:], worth[half:])
}

// otherCombinations lists, for each group, the combinations of bids that all other groups can win together, the
// empty one included. It returns false where there are several groups and too many combinations.
func otherCombinations(groups [][][]Bid) ([][]Bid, bool) {
	lists := make([][]Bid, len(groups))
	for g := range groups {
		lists[g] = []Bid{{}}
		for o, group := range groups {
			for _, bids := range group {
				if o == g {
					continue
				}
				if len(lists[g])*(1+len(bids)) > 16*maxLooked {
					return nil, false
				}
				lists[g] = extendCombinations(lists[g], bids)
			}
		}
		if len(lists[g]) > maxLooked {
			return nil, false
		}
	}
	return lists, true
}

// extendCombinations extends the combinations of bids that some bidders can win, the empty one included, by
// the bids of one more bidder.
func extendCombinations(list, bids []Bid) []Bid {
	for _, c := range list {
		for _, b := range bids {
			if b.Items&c.Items == 0 {
				list = append(list, Bid{Items: b.Items | c.Items, Price: b.Price + c.Price})
			}
		}
	}
	return dropDominated(list)
}

// lookUp computes, for each list of combinations, the best sum of a combination's price and the
// table's value of the items that it leaves.
func (d *deviceTables) lookUp(t *deviceTable, lists [][]Bid, worth []int64) error {
	all := uint32(uint64(1)<<t.items - 1)
	var sets []uint32
	for _, list := range lists {
		for _, b := range list {
			sets = append(sets, all&^b.Items)
		}
	}
	if err := d.ensureBuffer(&d.worth, valueSize(d.on.Variant)*int64(len(sets))); err != nil {
		return err
	}
	found, err := d.readSets(t, sets, d.worth)
	if err != nil {
		return err
	}
	k := 0
	for g, list := range lists {
		for _, b := range list {
			worth[g] = max(worth[g], found[k]+b.Price)
			k++
		}
	}
	return nil
}

// readSets returns a table's values of some sets, in pieces that a buffer holds.
func (d *deviceTables) readSets(t *deviceTable, sets []uint32, worth device.Buffer) ([]int64, error) {
	if len(sets) == 0 {
		return nil, nil
	}
	if err := errors.Join(d.ensureBuffer(&d.sets, 4*int64(len(sets))), d.stream.Upload(d.sets, 0, device.Bytes(sets))); err != nil {
		return nil, err
	}
	block := uint64(auction.Bidders.Int(d.on.Variant, "block"))
	if err := d.kernels.Look(d.stream, d.grid((uint64(len(sets))+block-1)/block), t.room, d.sets, worth, uint64(len(sets))); err != nil {
		return nil, err
	}
	found, err := d.downloadValues(worth, len(sets))
	for k := range found {
		found[k] *= d.unit
	}
	return found, err
}
