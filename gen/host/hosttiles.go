package host

import (
	"fmt"
	"slices"

	"github.com/dave/jennifer/jen"

	"coalesce/gen/space"
)

// tilePoint is a checked point of csg/hosttiles.
type tilePoint struct {
	symbol string
	k, r   int
	vector bool
	value  string
}

func tiles(p space.Point) (tilePoint, error) {
	t := tilePoint{symbol: p.Symbol()}
	var err error
	if t.k, err = p.Int("k"); err != nil {
		return t, err
	}
	if t.r, err = p.Int("r"); err != nil {
		return t, err
	}
	unit, _ := p.Get("unit")
	t.value, _ = p.Get("value")
	switch {
	case t.r < 1 || t.r > 3:
		return t, fmt.Errorf("%s: r is %d, expected 1 to 3", p.Label(), t.r)
	case t.k <= t.r || t.k > 14:
		return t, fmt.Errorf("%s: k is %d, expected more than r and at most 14", p.Label(), t.k)
	case unit != "scalar" && unit != "vector":
		return t, fmt.Errorf("%s: unit is %q, expected scalar or vector", p.Label(), unit)
	case !slices.Contains([]string{"int32", "int64", "float32", "float64"}, t.value):
		return t, fmt.Errorf("%s: value is %q, expected int32, int64, float32 or float64", p.Label(), t.value)
	}
	t.vector = unit == "vector"
	return t, nil
}

// hosttiles solves coalition structures on a host: f(S) = max(v(S), f(T) +
// f(S\T)), the last agent set apart (rule R1), blocked by tiles.
//
// f is one buffer of 2^n values: v by bit mask. The lower half, coalitions of
// the first m = n-1 agents, becomes f in place; the upper half stays v and is
// read once. Write a coalition of the lower half as (H, L), L its k low bits;
// the 2^k coalitions of one H are tile H. For each H the work is a (max,+)
// subset convolution of tiles H' and H\H' for each unordered pair, 3^k
// splittings, then the pair (H, 0), which couples tile H with itself.
//
// A solver launches, in this order, on one stream:
//
//	direct(f, min(k, m))                         grid 1
//	for p := 1; p <= m-k; p++ {                  C = binomial(m-k, p)
//		level(f, m-k, p, split)                  grid C << split; not needed for p = 1
//		couple(f, m-k, p)                        grid C
//	}
//	last(f, n, out)                              grid B, any B from 1 to the values of out
//	best(out, B)                                 grid 1; out[0] = f(A)
//
// split cuts a target tile into 2^split slices, for levels with fewer tiles
// than workers; 0 is fastest otherwise. Entries need no scratch memory. f[0]
// is never read.
func hosttiles() Emitter {
	buffer := func(name string) Param { return Param{Name: name, Type: "buffer"} }
	number := func(name string) Param { return Param{Name: name, Type: "uint64"} }
	return Emitter{
		Version: "1",
		Entries: []Entry{
			{"direct", []Param{buffer("f"), number("m")}},
			{"level", []Param{buffer("f"), number("high"), number("p"), number("split")}},
			{"couple", []Param{buffer("f"), number("high"), number("p")}},
			{"last", []Param{buffer("f"), number("n"), buffer("out")}},
			{"best", []Param{buffer("out"), number("count")}},
		},
		Kernels: func(file *jen.File, p space.Point) error {
			t, err := tiles(p)
			if err != nil {
				return err
			}
			t.declare(file)
			t.pair(file)
			t.level(file)
			t.couple(file)
			t.writeSharedEntries(file)
			return nil
		},
	}
}

func (t tilePoint) id(name string) *jen.Statement { return jen.Id(t.symbol + "_" + name) }

// declareEntry writes the declaration of an entry: its head, and the body that it is given.
func (t tilePoint) declareEntry(file *jen.File, name string, body ...jen.Code) {
	file.Func().Id(t.symbol+"_"+name).Params(
		jen.Id("block"), jen.Id("blocks").Int64(),
		jen.Id("args").Index().Qual(devicePath, "Arg"),
	).Block(body...)
}

// sliceArgument is host.Slice[elem](args[i]).
func sliceArgument(elem jen.Code, i int) *jen.Statement {
	return jen.Qual(hostPath, "Slice").Types(elem).Call(jen.Id("args").Index(jen.Lit(i)))
}

// scalarArgument is int(args[i].Bits).
func scalarArgument(i int) *jen.Statement {
	return jen.Int().Call(jen.Id("args").Index(jen.Lit(i)).Dot("Bits"))
}

// register is a local variable or an element of a chunk.
func register(name string, i int) *jen.Statement { return jen.Id(fmt.Sprint(name, i)) }

func elementAt(name string, i int) *jen.Statement { return jen.Id(name).Index(jen.Lit(i)) }

// declare writes the tile's type: 2^(k-r) chunks of 2^r values.
func (t tilePoint) declare(file *jen.File) {
	file.Commentf("%s_tile is a tile of 2^%d values in chunks of 2^%d.", t.symbol, t.k, t.r)
	file.Type().Id(t.symbol + "_tile").Index(jen.Lit(1 << (t.k - t.r))).Index(jen.Lit(1 << t.r)).Id(t.value)
}

// raise is `if x := a + b; x > d { d = x }`, which integers compile to a
// conditional move where that is better, and floats to a branch that is
// seldom taken.
func raise(d, a, b jen.Code) jen.Code {
	return jen.If(jen.Id("x").Op(":=").Add(a).Op("+").Add(b), jen.Id("x").Op(">").Add(d)).Block(
		jen.Add(d).Op("=").Id("x"),
	)
}

// chunk is &tile[index & mask], which needs no bounds check.
func (t tilePoint) chunk(tile string, index jen.Code) *jen.Statement {
	return jen.Op("&").Id(tile).Index(jen.Add(index).Op("&").Lit(1<<(t.k-t.r) - 1))
}

// products raises the accumulators d0… by all disjoint pairs of chunks a, b.
func (t tilePoint) products() []jen.Code {
	var out []jen.Code
	for j := range 1 << t.r {
		for i := range 1 << t.r {
			if i&j == 0 {
				out = append(out, raise(register("d", i|j), elementAt("a", i), register("b", j)))
			}
		}
	}
	return out
}

func (t tilePoint) loadChunk(reg0 string, from string) []jen.Code {
	var left, right []jen.Code
	for i := range 1 << t.r {
		left = append(left, register(reg0, i))
		right = append(right, elementAt(from, i))
	}
	return []jen.Code{jen.List(left...).Op(":=").List(right...)}
}

func (t tilePoint) storeChunk(to string, reg0 string) jen.Code {
	var left, right []jen.Code
	for i := range 1 << t.r {
		left = append(left, elementAt(to, i))
		right = append(right, register(reg0, i))
	}
	return jen.List(left...).Op("=").List(right...)
}

// pair writes the convolution of two tiles into a slice of a third.
func (t tilePoint) pair(file *jen.File) {
	inner := []jen.Code{
		jen.Id("a").Op(":=").Add(t.chunk("ta", jen.Id("s"))),
		jen.Id("b").Op(":=").Add(t.chunk("tb", jen.Parens(jen.Id("t").Op("^").Id("s")))),
	}
	inner = append(inner, t.loadChunk("b", "b")...)
	inner = append(inner, t.products()...)
	inner = append(inner,
		jen.If(jen.Id("s").Op("==").Lit(0)).Block(jen.Break()),
		jen.Id("s").Op("=").Parens(jen.Id("s").Op("-").Lit(1)).Op("&").Id("t"),
	)
	body := []jen.Code{jen.Id("d").Op(":=").Add(t.chunk("td", jen.Id("t")))}
	body = append(body, t.loadChunk("d", "d")...)
	body = append(body,
		jen.Id("s").Op(":=").Id("t"),
		jen.For().Block(inner...),
		t.storeChunk("d", "d"),
	)
	file.Commentf("%s_pair raises chunks from to to-1 of td by the (max,+) subset convolution of ta and tb.", t.symbol)
	file.Func().Id(t.symbol+"_pair").Params(
		jen.List(jen.Id("td"), jen.Id("ta"), jen.Id("tb")).Op("*").Add(t.id("tile")),
		jen.List(jen.Id("from"), jen.Id("to")).Int(),
	).Block(jen.For(jen.Id("t").Op(":=").Id("from"), jen.Id("t").Op("<").Id("to"), jen.Id("t").Op("++")).Block(body...))
}

// level runs over the pairs of one target tile, the lowest bit of H in H'.
func (t tilePoint) level(file *jen.File) {
	target := func(chunks int) jen.Code {
		return jen.List(jen.Id("h"), jen.Id("from"), jen.Id("to")).Op(":=").Qual(csgPath, "Target").Call(
			jen.Id("block"), scalarArgument(1), scalarArgument(2), scalarArgument(3), jen.Lit(chunks))
	}
	var body []jen.Code
	if t.vector {
		body = append(body,
			jen.If(jen.Qual(csgPath, "Level").Call(sliceArgument(jen.Id(t.value), 0), jen.Lit(t.k),
				jen.Id("block"), scalarArgument(1), scalarArgument(2), scalarArgument(3))).Block(jen.Return()))
	}
	body = append(body,
		jen.Id("f").Op(":=").Add(sliceArgument(t.id("tile"), 0)),
		target(1<<(t.k-t.r)),
		jen.Id("rest").Op(":=").Id("h").Op("&").Parens(jen.Id("h").Op("-").Lit(1)),
		jen.For(jen.Id("b").Op(":=").Id("rest"), jen.Id("b").Op("!=").Lit(0),
			jen.Id("b").Op("=").Parens(jen.Id("b").Op("-").Lit(1)).Op("&").Id("rest")).Block(
			t.id("pair").Call(
				jen.Op("&").Id("f").Index(jen.Id("h")),
				jen.Op("&").Id("f").Index(jen.Id("h").Op("^").Id("b")),
				jen.Op("&").Id("f").Index(jen.Id("b")),
				jen.Id("from"), jen.Id("to")),
		),
	)
	t.declareEntry(file, "level", body...)
}

// couple writes the pair (H, 0): chunk t of tile H takes proper subsets s of t
// from itself, finished before since s < t, then splittings within the chunk.
func (t tilePoint) couple(file *jen.File) {
	var body []jen.Code
	if t.vector {
		body = append(body,
			jen.If(jen.Qual(csgPath, "Couple").Call(sliceArgument(jen.Id(t.value), 0), jen.Lit(t.k),
				jen.Id("block"), scalarArgument(1), scalarArgument(2))).Block(jen.Return()))
	}
	inner := []jen.Code{
		jen.Id("s").Op("=").Parens(jen.Id("s").Op("-").Lit(1)).Op("&").Id("t"),
		jen.Id("a").Op(":=").Add(t.chunk("ta", jen.Id("s"))),
		jen.Id("b").Op(":=").Add(t.chunk("tb", jen.Parens(jen.Id("t").Op("^").Id("s")))),
	}
	inner = append(inner, t.loadChunk("b", "b")...)
	inner = append(inner, t.products()...)
	loop := []jen.Code{jen.Id("d").Op(":=").Add(t.chunk("ta", jen.Id("t")))}
	loop = append(loop, t.loadChunk("d", "d")...)
	loop = append(loop, jen.For(jen.Id("s").Op(":=").Id("t"), jen.Id("s").Op("!=").Lit(0), jen.Empty()).Block(inner...))
	for c := range 1 << t.r {
		for i := range c {
			if i&^c == 0 {
				loop = append(loop, raise(register("d", c), register("d", i), register("z", c^i)))
			}
		}
	}
	loop = append(loop, t.storeChunk("d", "d"))
	var left, right []jen.Code
	for i := 1; i < 1<<t.r; i++ {
		left = append(left, register("z", i))
		right = append(right, elementAt("z", i))
	}
	body = append(body,
		jen.Id("f").Op(":=").Add(sliceArgument(t.id("tile"), 0)),
		jen.List(jen.Id("h"), jen.Id("_"), jen.Id("_")).Op(":=").Qual(csgPath, "Target").Call(
			jen.Id("block"), scalarArgument(1), scalarArgument(2), jen.Lit(0), jen.Lit(1)),
		jen.List(jen.Id("ta"), jen.Id("tb")).Op(":=").List(jen.Op("&").Id("f").Index(jen.Id("h")), jen.Op("&").Id("f").Index(jen.Lit(0))),
		jen.Id("z").Op(":=").Op("&").Id("tb").Index(jen.Lit(0)),
		jen.List(left...).Op(":=").List(right...),
		jen.For(jen.Id("t").Op(":=").Range().Id("ta")).Block(loop...),
	)
	t.declareEntry(file, "couple", body...)
}

// writeSharedEntries writes the entries that are the same for every point of a value type.
func (t tilePoint) writeSharedEntries(file *jen.File) {
	v := func(i int) jen.Code { return sliceArgument(jen.Id(t.value), i) }
	t.declareEntry(file, "direct", jen.Qual(csgPath, "Direct").Call(v(0), scalarArgument(1)))
	t.declareEntry(file, "last",
		jen.Add(v(2)).Index(jen.Id("block")).Op("=").Qual(csgPath, "Last").Call(
			v(0), scalarArgument(1), jen.Id("block"), jen.Id("blocks")))
	t.declareEntry(file, "best", jen.Qual(csgPath, "Best").Call(jen.Add(v(0)).Index(jen.Empty(), scalarArgument(1))))
}
