package price

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"coalesce/generated/csg"
	"coalesce/runtime/device"
	"coalesce/solvers/csg/problem"
)

// On says where passes are made instead of on this machine's cores: on a device, by a
// variant of csg/price whose values are of the instance's type.
type On struct {
	Device  device.Device
	Variant *device.Variant
	// Law has the values of N agents drawn on the device; nil: this machine holds them.
	Law problem.Law
	N   int
}

// TileBits is the number of agents of a variant's tiles: a device's instance has at
// least as many.
func TileBits(v *device.Variant) int {
	f := &csg.Price
	return int(math.Log2(float64(f.Int(v, "block") * f.Int(v, "items"))))
}

// Memory is what passes of a variant take of a device for n agents, in bytes.
func Memory(v *device.Variant, n int) int64 {
	size := int64(device.Value(csg.Price.Value(v, "value")).Size())
	return size<<n + 8*columnRoom + 8<<(n-min(n, TileBits(v))) + 1<<20
}

// columnRoom is how many coalitions a pass of a device can hand back.
const columnRoom = 1 << 22

// An onDevice makes passes on a device, which holds the values; single ones are
// read from this machine's memory.
type onDevice[T device.Number] struct {
	host[T]
	on      *On
	kernels *csg.PriceKernels
	stream  device.Stream
	n, bits int          // agents, of a tile
	scope   device.Scope // holds the memory, the stream and the module

	v, prices, low, high, columns, count device.Buffer
}

// newDevice loads the variant and uploads the values.
func newDevice[T device.Number](ctx context.Context, values []T, n int, o *Settings) (_ *onDevice[T], err error) {
	on := o.On
	d := &onDevice[T]{host: host[T]{values: values, cores: o.Cores}, on: on, n: n, bits: TileBits(on.Variant)}
	if n < d.bits {
		return nil, fmt.Errorf("csg/price: %d agents, expected at least the %d of a tile", n, d.bits)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, d.close())
		}
	}()
	if d.kernels, err = csg.LoadPrice(on.Device, on.Variant); err != nil {
		return d, err
	}
	d.scope.Keep(d.kernels)
	if d.stream, err = d.scope.NewStream(on.Device); err != nil {
		return d, err
	}
	if err = d.scope.Take(on.Device, device.Into(&d.v, int64(device.Value(csg.Price.Value(on.Variant, "value")).Size())<<n), device.Into(&d.prices, 8*64), device.Into(&d.low, 8<<d.bits),
		device.Into(&d.high, 8<<(n-d.bits)), device.Into(&d.columns, 8*columnRoom), device.Into(&d.count, 8)); err != nil {
		return d, err
	}
	if values == nil {
		return d, d.draw(ctx)
	}
	const piece = 64 << 20
	all := device.Bytes(values)
	for off := 0; off < len(all); off += piece {
		if err = ctx.Err(); err != nil {
			return d, err
		}
		if err = d.stream.Upload(d.v, int64(off), all[off:min(off+piece, len(all))]); err != nil {
			return d, err
		}
	}
	return d, d.stream.Sync()
}

// draw has the values drawn on the device.
func (d *onDevice[T]) draw(ctx context.Context) error {
	by, err := d.on.Law.On(d.on.Device)
	if err != nil {
		return err
	}
	return errors.Join(by.Into(d.stream, d.v, 0, 1<<d.n), ctx.Err(), by.Close())
}

// at is a value of this machine's, or of the law.
func (d *onDevice[T]) at(mask uint64) int64 {
	if d.values == nil {
		return lift(T(d.on.Law.Value(mask)), d.unit)
	}
	return d.host.at(mask)
}

func (d *onDevice[T]) close() error { return d.scope.Close() }

// extent is that of the values.
func (d *onDevice[T]) extent() (float64, error) {
	if err := d.stream.Fill(d.count, 0, 8, 0); err != nil {
		return 0, err
	}
	if err := d.kernels.Extent(d.stream, d.grid(), d.v, d.count, uint64(d.tiles())); err != nil {
		return 0, err
	}
	word := make([]uint64, 1)
	if err := d.stream.Download(device.Bytes(word), d.count, 0); err != nil {
		return 0, err
	}
	if integer[T]() {
		return float64(word[0]), nil
	}
	return math.Float64frombits(word[0]), nil
}

func (d *onDevice[T]) tiles() int { return 1 << (d.n - d.bits) }

// pass collects with sums of prices that may be rounded down, and leaves out what is
// above limit.
func (d *onDevice[T]) pass(ctx context.Context, prices []int64, limit int64, keep int) (found, error) {
	room := min(columnRoom, 4*keep)
	limit, err := d.holds(prices, limit)
	if err != nil {
		return found{}, err
	}
	for {
		if err := ctx.Err(); err != nil {
			return found{}, err
		}
		masks, all, err := d.collect(prices, limit, room)
		if err != nil {
			return found{}, err
		}
		f := found{make([]column, len(masks)), limit}
		const piece = 1 << 12
		each(d.cores, (len(masks)+piece-1)/piece, func(k int) {
			for i := k * piece; i < min((k+1)*piece, len(masks)); i++ {
				f.columns[i] = column{masks[i], d.at(masks[i])}
			}
		})
		f.columns = slices.DeleteFunc(f.columns, func(c column) bool {
			return c.mask == 0 || c.value == forbidden || sum(prices, c.mask)-c.value > limit
		})
		switch {
		case all:
			return f, nil
		case len(f.columns) < len(masks)/2:
			// Rounding hides the losses that are looked for: the cores have exact sums.
			if d.values == nil {
				return found{}, fmt.Errorf("sums of prices are rounded: %w", ErrCostly)
			}
			return d.host.pass(ctx, prices, limit, keep)
		}
		f.tighten(prices)
		limit = f.limit
	}
}

// holds is the loss up to which sums of prices can be compared: limit, or what narrow
// integers hold.
func (d *onDevice[T]) holds(prices []int64, limit int64) (int64, error) {
	if !d.narrow() || !integer[T]() {
		return limit, nil
	}
	limit = min(limit, 1<<(30+d.unit)-int64(magnitude(prices)))
	if limit < 0 {
		return 0, fmt.Errorf("prices up to %g: %w", magnitude(prices), ErrCostly)
	}
	return limit, nil
}

// collect makes one pass, and returns at most room coalitions, and whether these are all.
func (d *onDevice[T]) collect(prices []int64, limit int64, room int) ([]uint64, bool, error) {
	if err := d.launch(prices, limit, room); err != nil {
		return nil, false, err
	}
	return d.fetch(room)
}

// fetch returns what a pass has found.
func (d *onDevice[T]) fetch(room int) ([]uint64, bool, error) {
	count := make([]uint64, 1)
	if err := d.stream.Download(device.Bytes(count), d.count, 0); err != nil {
		return nil, false, err
	}
	masks := make([]uint64, min(count[0], uint64(room)))
	if err := d.stream.Download(device.Bytes(masks), d.columns, 0); err != nil {
		return nil, false, err
	}
	slices.Sort(masks)
	return masks, count[0] <= uint64(room), nil
}

// launch enqueues a pass.
func (d *onDevice[T]) launch(prices []int64, limit int64, room int) error {
	if err := d.sums(d.low, 0, prices[:d.bits], 1<<d.bits); err != nil {
		return err
	}
	least := -roundUp(limit + 1)
	if d.narrow() && !integer[T]() {
		// Sums are rounded down, and so may be the sum of two.
		least -= roundUp(int64(math.Ldexp(magnitude(prices)+math.Abs(float64(limit)), -23)))
	}
	if err := d.sums(d.high, least, prices[d.bits:], d.tiles()); err != nil {
		return err
	}
	if err := d.stream.Fill(d.count, 0, 8, 0); err != nil {
		return err
	}
	return d.kernels.Collect(d.stream, d.grid(), d.v, d.low, d.high, d.columns, d.count, uint64(d.tiles()), uint64(room), uint64(max(0, d.unit)))
}

func (d *onDevice[T]) narrow() bool { return csg.Price.Value(d.on.Variant, "sums") == "narrow" }

// sums makes the sums of prices over the subsets of some agents, each with first added.
func (d *onDevice[T]) sums(out device.Buffer, first int64, prices []int64, count int) error {
	var words []byte
	list := append([]int64{first}, prices...)
	if integer[T]() {
		words = device.Bytes(list)
	} else {
		floats := make([]float64, len(list))
		for k, y := range list {
			floats[k] = math.Ldexp(float64(y), -d.unit)
		}
		words = device.Bytes(floats)
	}
	if err := d.stream.Upload(d.prices, 0, words); err != nil {
		return err
	}
	return d.kernels.Sums(d.stream, d.grid(), d.prices, out, uint64(count), uint64(max(0, d.unit)))
}

// grid is as many blocks as a device runs at once, whose threads go through all work.
func (d *onDevice[T]) grid() device.Grid {
	const perSM = 16
	blocks := min(d.tiles(), perSM*max(1, d.on.Device.Facts().SMs))
	return device.Grid{Blocks: int64(blocks), Threads: csg.Price.Int(d.on.Variant, "block")}
}
