package price

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"

	gencsg "coalesce/generated/csg"
	"coalesce/runtime/collective"
	"coalesce/runtime/device"
	"coalesce/solvers/csg/problem"
)

// DevicePasses names the devices that make the passes in place of this machine's cores, and the variant of
// csg/price, whose values have the instance's type. Each device holds the values of its shares of
// the coalitions.
type DevicePasses struct {
	Devices []device.Device
	Variant *device.Variant
	// Law draws the values of N agents on the devices; nil: this machine holds the values.
	Law problem.Law
	N   int
}

// TileBits is the number of agents of a variant's tiles: an instance has at least as many.
func TileBits(v *device.Variant) int {
	f := &gencsg.Price
	return int(math.Log2(float64(f.Int(v, "block") * f.Int(v, "items"))))
}

// Memory is the most bytes that the passes of a variant for n agents take on each of some devices.
func Memory(v *device.Variant, n, devices int) int64 {
	size := int64(device.Value(gencsg.Price.Value(v, "value")).Size())
	bits := min(n, TileBits(v))
	k := shareBits(n-bits, devices)
	each := size<<(n-k) + (8+size)*columnRoom(n) + 8<<(n-k-bits) + 1<<20
	return each * int64((1<<k+devices-1)/devices)
}

// shareBits is the logarithm of the number of shares. Shares are as many as the devices
// where these are a power of two; else at least four for each device, so that the load is
// nearly even. A share has one tile at least, of the 2^tiles of all.
func shareBits(tiles, devices int) int {
	k := bits.Len(uint(devices - 1))
	if devices != 1<<k {
		k += 2
	}
	return min(k, tiles)
}

// columnRoom is how many coalitions of n agents a pass of a share can hand back: one in 128, as
// far as the cores search among so many. One in 1024 was too few at 32 agents: of exponential
// and beta values more than 2^22 coalitions may be part of an optimal structure.
func columnRoom(n int) int64 { return 1 << max(22, min(n-7, 25)) }

// onDevices makes passes on devices, which hold the values. A single value is read from this
// machine's memory, or drawn on this machine.
type onDevices[T device.Number] struct {
	onHost[T]
	on     *DevicePasses
	shares []*deviceShare[T]
}

// A deviceShare is the values of the coalitions that have the same highest agents, on a device.
type deviceShare[T device.Number] struct {
	device  device.Device
	variant *device.Variant
	kernels *gencsg.PriceKernels
	stream  device.Stream
	first   uint64       // the least coalition of the share
	n, bits int          // how many of the lowest agents differ within the share; how many of these a tile has
	room    int64        // the most coalitions that a pass returns
	unit    int          // prices are multiples of 2^-unit
	scope   device.Scope // holds the memory, the stream and the module
	// Coalitions of the last pass, counted from first, and their values.
	masks []uint64
	worth []T

	v, prices, low, high, columns, values, count device.Buffer
}

// newOnDevices loads the variant, and uploads the values or draws them on the devices.
func newOnDevices[T device.Number](ctx context.Context, values []T, n int, o *Settings) (*onDevices[T], error) {
	on := o.On
	d := &onDevices[T]{onHost: onHost[T]{values: values, cores: o.Cores}, on: on}
	own := TileBits(on.Variant)
	if n < own {
		return nil, fmt.Errorf("csg/price: %d agents, expected at least the %d of a tile", n, own)
	}
	k := shareBits(n-own, len(on.Devices))
	d.shares = make([]*deviceShare[T], 1<<k)
	// A pass is asked for three quarters of what it can hand back at most, as more than expected may be found.
	o.Columns = min(o.Columns, int(columnRoom(n))/4*3<<k)
	for i := range d.shares {
		d.shares[i] = &deviceShare[T]{device: on.Devices[i%len(on.Devices)], variant: on.Variant, first: uint64(i) << (n - k), n: n - k, bits: own, room: columnRoom(n)}
	}
	err := d.all(func(_ int, s *deviceShare[T]) error {
		if err := s.open(); err != nil {
			return err
		}
		if values == nil {
			return s.draw(ctx, on.Law)
		}
		return s.upload(ctx, device.Bytes(values[s.first:][:1<<s.n]))
	})
	if err != nil {
		return nil, errors.Join(err, d.close())
	}
	return d, nil
}

// all calls do with every share and its number, on one goroutine a share.
func (d *onDevices[T]) all(do func(k int, s *deviceShare[T]) error) error {
	return collective.OnAll(len(d.shares), func(k int) error { return do(k, d.shares[k]) })
}

func (s *deviceShare[T]) open() (err error) {
	if s.kernels, err = gencsg.LoadPrice(s.device, s.variant); err != nil {
		return err
	}
	s.scope.CloseLater(s.kernels)
	if s.stream, err = s.scope.NewStream(s.device); err != nil {
		return err
	}
	size := int64(device.Value(gencsg.Price.Value(s.variant, "value")).Size())
	return s.scope.AllocAll(s.device, device.BufferFor(&s.v, size<<s.n), device.BufferFor(&s.prices, 8*64), device.BufferFor(&s.low, 8<<s.bits),
		device.BufferFor(&s.high, 8<<(s.n-s.bits)), device.BufferFor(&s.columns, 8*s.room), device.BufferFor(&s.values, size*s.room), device.BufferFor(&s.count, 8))
}

// upload sends the share's values.
func (s *deviceShare[T]) upload(ctx context.Context, values []byte) error {
	const piece = 64 << 20
	for off := 0; off < len(values); off += piece {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := s.stream.Upload(s.v, int64(off), values[off:min(off+piece, len(values))]); err != nil {
			return err
		}
	}
	return s.stream.Sync()
}

// draw draws the share's values on the device.
func (s *deviceShare[T]) draw(ctx context.Context, law problem.Law) error {
	by, err := law.OpenDrawer(s.device)
	if err != nil {
		return err
	}
	return errors.Join(by.DrawInto(s.stream, s.v, s.first, 1<<s.n), ctx.Err(), by.Close())
}

// valueAt is the value of one coalition, from this machine's memory or from the law.
func (d *onDevices[T]) valueAt(mask uint64) int64 {
	if d.values == nil {
		return inUnits(T(d.on.Law.Value(mask)), d.unit)
	}
	return d.onHost.valueAt(mask)
}

func (d *onDevices[T]) close() error {
	var errs []error
	for _, s := range d.shares {
		errs = append(errs, s.scope.Close())
	}
	return errors.Join(errs...)
}

// setUnit sets the unit of prices, losses and bounds from now on.
func (d *onDevices[T]) setUnit(unit int) {
	d.onHost.setUnit(unit)
	for _, s := range d.shares {
		s.unit = d.unit
	}
}

// largestMagnitude is the extent of the values, over all shares.
func (d *onDevices[T]) largestMagnitude() (float64, error) {
	of := make([]float64, len(d.shares))
	err := d.all(func(k int, s *deviceShare[T]) (err error) {
		of[k], err = s.largestMagnitude()
		return err
	})
	return slices.Max(of), err
}

func (s *deviceShare[T]) largestMagnitude() (float64, error) {
	if err := s.stream.Fill(s.count, 0, 8, 0); err != nil {
		return 0, err
	}
	if err := s.kernels.Extent(s.stream, s.grid(), s.v, s.count, uint64(s.tiles())); err != nil {
		return 0, err
	}
	word := make([]uint64, 1)
	if err := s.stream.Download(device.Bytes(word), s.count, 0); err != nil {
		return 0, err
	}
	if isInteger[T]() {
		return float64(word[0]), nil
	}
	return math.Float64frombits(word[0]), nil
}

// findNonMultiple is the largest coalition whose value is no multiple of a number of units, over all shares; 0 where
// there is none.
func (d *onDevices[T]) findNonMultiple(units int64) (uint64, error) {
	of := make([]uint64, len(d.shares))
	err := d.all(func(k int, s *deviceShare[T]) (err error) {
		of[k], err = s.findNonMultiple(units)
		return err
	})
	return slices.Max(of), err
}

func (s *deviceShare[T]) findNonMultiple(units int64) (uint64, error) {
	by := inValues[T](units, s.unit)
	if by == 1 {
		return 0, nil
	}
	m := multipleOf(by)
	if err := s.stream.Fill(s.count, 0, 8, 0); err != nil {
		return 0, err
	}
	if err := s.kernels.Uneven(s.stream, s.grid(), s.v, s.count, uint64(s.tiles()), int64(s.unit), m.inverse, uint64(m.twos), m.most); err != nil {
		return 0, err
	}
	end := make([]uint64, 1)
	if err := s.stream.Download(device.Bytes(end), s.count, 0); err != nil || end[0] == 0 {
		return 0, err
	}
	return s.first + end[0] - 1, nil
}

func (s *deviceShare[T]) tiles() int { return 1 << (s.n - s.bits) }

// pass finds coalitions with sums of prices that may be rounded down, and then removes those
// whose exact loss is above limit.
func (d *onDevices[T]) pass(ctx context.Context, prices []int64, limit int64, keep int) (passResult, error) {
	room := int(min(d.shares[0].room, 4*int64(keep)))
	limit, err := d.largestLoss(prices, limit)
	if err != nil {
		return passResult{}, err
	}
	y := sumsOf(prices)
	var list []pricedCoalition
	for {
		if err := ctx.Err(); err != nil {
			return passResult{}, err
		}
		count, all, err := d.collect(prices, limit, room)
		if err != nil {
			return passResult{}, err
		}
		list = slices.Grow(list[:0], count)
		for _, s := range d.shares {
			out := list[len(list) : len(list)+len(s.masks)]
			list = append(list, filterMap(d.cores, s.masks, out, func(k int, mask uint64) (pricedCoalition, bool) {
				mask += s.first
				value := inUnits(s.worth[k], d.unit)
				x := pricedCoalition{mask, y.sumOf(mask) - value}
				return x, mask != 0 && value != forbidden && x.loss <= limit
			})...)
		}
		f := passResult{list, limit}
		switch {
		case all:
			return f, nil
		case hasNarrowSums(d.on.Variant) && len(f.items) < count/2:
			// The rounding of the sums exceeds the losses that the pass looks for.
			if err := d.useExactSums(); err != nil {
				return passResult{}, err
			}
			continue
		case len(f.items) == 0:
			limit = roundUp(limit+1) - grain - 1 // every coalition found has a loss above this limit and below the next multiple of grain
			continue
		}
		f.lowerLimit(d.cores, keep)
		limit = f.limit
	}
}

// useExactSums loads a variant whose sums of prices are exact, for the passes that follow.
func (d *onDevices[T]) useExactSums() error {
	f, value := &gencsg.Price, gencsg.Price.Value(d.on.Variant, "value")
	k := slices.IndexFunc(f.Variants, func(v device.Variant) bool {
		return !hasNarrowSums(&v) && f.Value(&v, "value") == value && TileBits(&v) <= d.shares[0].n
	})
	if k < 0 {
		return fmt.Errorf("sums of prices are rounded: %w", ErrCostly)
	}
	on := *d.on
	on.Variant, d.on = &f.Variants[k], &on
	return d.all(func(_ int, s *deviceShare[T]) (err error) {
		s.variant, s.bits = on.Variant, TileBits(on.Variant)
		if s.kernels, err = gencsg.LoadPrice(s.device, s.variant); err != nil {
			return err
		}
		s.scope.CloseLater(s.kernels)
		return s.scope.AllocAll(s.device, device.BufferFor(&s.low, 8<<s.bits), device.BufferFor(&s.high, 8<<(s.n-s.bits)))
	})
}

// largestLoss is the largest loss that the kernels can compare: limit, or less where narrow integers
// do not hold the limit.
func (d *onDevices[T]) largestLoss(prices []int64, limit int64) (int64, error) {
	if !hasNarrowSums(d.on.Variant) || !isInteger[T]() {
		return limit, nil
	}
	limit = min(limit, 1<<(30+d.unit)-int64(sumMagnitudes(prices)))
	if limit < 0 {
		return 0, fmt.Errorf("prices up to %g: %w", sumMagnitudes(prices), ErrCostly)
	}
	return limit, nil
}

// collect makes one pass, which leaves at most room coalitions with each share, and returns how many these are,
// and whether these are all that the pass looked for.
func (d *onDevices[T]) collect(prices []int64, limit int64, room int) (count int, all bool, err error) {
	whole := make([]bool, len(d.shares))
	err = d.all(func(k int, s *deviceShare[T]) (err error) {
		if err = s.launch(prices, limit, room); err == nil {
			whole[k], err = s.fetch(room)
		}
		return err
	})
	for _, s := range d.shares {
		count += len(s.masks)
	}
	return count, !slices.Contains(whole, false), err
}

// fetch downloads what a pass has found, in no order, and reports whether this is all that the pass looked for.
func (s *deviceShare[T]) fetch(room int) (bool, error) {
	count := make([]uint64, 1)
	if err := s.stream.Download(device.Bytes(count), s.count, 0); err != nil {
		return false, err
	}
	kept := int(min(count[0], uint64(room)))
	s.masks, s.worth = resize(&s.masks, kept), resize(&s.worth, kept)
	return count[0] <= uint64(room), errors.Join(s.stream.Download(device.Bytes(s.masks), s.columns, 0), s.stream.Download(device.Bytes(s.worth), s.values, 0))
}

// launch enqueues a pass.
func (s *deviceShare[T]) launch(prices []int64, limit int64, room int) error {
	if err := s.sums(s.low, 0, prices[:s.bits], 1<<s.bits); err != nil {
		return err
	}
	least := sumPrices(prices, s.first) - limit - 1
	if !isInteger[T]() {
		least = sumPrices(prices, s.first) - roundUp(limit+1)
	}
	if hasNarrowSums(s.variant) && !isInteger[T]() {
		// Both sums of a pair are rounded down, and their own sum may be rounded down again.
		least -= roundUp(int64(math.Ldexp(sumMagnitudes(prices)+math.Abs(float64(limit)), -23)))
	}
	if err := s.sums(s.high, least, prices[s.bits:s.n], s.tiles()); err != nil {
		return err
	}
	if err := s.stream.Fill(s.count, 0, 8, 0); err != nil {
		return err
	}
	return s.kernels.Collect(s.stream, s.grid(), s.v, s.low, s.high, s.columns, s.values, s.count, uint64(s.tiles()), uint64(room), uint64(max(0, s.unit)))
}

// hasNarrowSums reports whether a variant's sums have the width of values.
func hasNarrowSums(v *device.Variant) bool { return gencsg.Price.Value(v, "sums") == "narrow" }

// sums makes the sums of prices over the subsets of some agents, each with first added.
func (s *deviceShare[T]) sums(out device.Buffer, first int64, prices []int64, count int) error {
	var words []byte
	list := append([]int64{first}, prices...)
	if isInteger[T]() {
		words = device.Bytes(list)
	} else {
		floats := make([]float64, len(list))
		for k, y := range list {
			floats[k] = math.Ldexp(float64(y), -s.unit)
		}
		words = device.Bytes(floats)
	}
	if err := s.stream.Upload(s.prices, 0, words); err != nil {
		return err
	}
	return s.kernels.Sums(s.stream, s.grid(), s.prices, out, uint64(count), uint64(max(0, s.unit)))
}

// grid has as many blocks as the device runs at once; their threads stride through all work.
func (s *deviceShare[T]) grid() device.Grid {
	const perSM = 16
	blocks := min(s.tiles(), perSM*max(1, s.device.Facts().SMs))
	return device.Grid{Blocks: int64(blocks), Threads: gencsg.Price.Int(s.variant, "block")}
}
