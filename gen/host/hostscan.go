package host

import (
	"fmt"
	"slices"

	"github.com/dave/jennifer/jen"

	"coalesce/gen/space"
)

const assignmentPath = "coalesce/runtime/host/kernels/assignment"

// scanPoint is a checked point of assignment/hostscan.
type scanPoint struct {
	symbol       string
	room, unroll int
	vector       bool
	value        string
}

func scans(p space.Point) (scanPoint, error) {
	t := scanPoint{symbol: p.Symbol()}
	var err error
	if t.room, err = p.Int("room"); err != nil {
		return t, err
	}
	if t.unroll, err = p.Int("unroll"); err != nil {
		return t, err
	}
	unit, _ := p.Get("unit")
	t.value, _ = p.Get("value")
	switch {
	case t.room < 8 || t.room > 1024:
		return t, fmt.Errorf("%s: room is %d, expected 8 to 1024", p.Label(), t.room)
	case t.unroll < 1 || t.unroll > 16:
		return t, fmt.Errorf("%s: unroll is %d, expected 1 to 16", p.Label(), t.unroll)
	case unit != "scalar" && unit != "vector":
		return t, fmt.Errorf("%s: unit is %q, expected scalar or vector", p.Label(), unit)
	case !slices.Contains([]string{"int32", "int64", "float32", "float64"}, t.value):
		return t, fmt.Errorf("%s: value is %q, expected int32, int64, float32 or float64", p.Label(), t.value)
	}
	t.vector = unit == "vector"
	return t, nil
}

// hostscan reads rows of a dense cost matrix for the host solver of
// assignment. Costs are scaled integers; v holds a dual of each column.
//
//	least(costs, cols, scale, row, v, first, k, few, guess, col, value, state)
//		block b: the k to 2k allowed pairs of row row+b with the least c - v:
//		their columns at col[2bk:], their scaled costs at value[2bk:], how many
//		they are at state[2b], a bound that c - v of all others reach at
//		state[2b+1]. It takes those below guess where they are few or more. Columns are looked at from
//		(row+b)*first mod cols on; among equals the earlier ones win.
//	below(costs, cols, scale, row, limit, col, value, state)
//		block 0: all allowed pairs of a row that cost less than limit[j]: their
//		columns at col, scaled costs at value, how many they are at state[0].
//	lower(costs, cols, scale, rows, u, v)
//		block b of B: v[b*cols+j] becomes the least c - u of column j, over rows
//		b*rows/B to (b+1)*rows/B, where that is less.
func hostscan() Emitter {
	buffer := func(name string) Param { return Param{Name: name, Type: "buffer"} }
	number := func(name string) Param { return Param{Name: name, Type: "uint64"} }
	head := func(rest ...Param) []Param {
		return append([]Param{buffer("costs"), number("cols"), {Name: "scale", Type: "float64"}}, rest...)
	}
	return Emitter{
		Version: "1",
		Entries: []Entry{
			{"least", head(number("row"), buffer("v"), number("first"), number("k"), number("few"), Param{Name: "guess", Type: "int64"},
				buffer("col"), buffer("value"), buffer("state"))},
			{"below", head(number("row"), buffer("limit"), buffer("col"), buffer("value"), buffer("state"))},
			{"lower", head(number("rows"), buffer("u"), buffer("v"))},
		},
		Kernels: func(file *jen.File, p space.Point) error {
			t, err := scans(p)
			if err != nil {
				return err
			}
			t.filter(file)
			t.entries(file)
			return nil
		},
	}
}

// scaled is the scaled cost of a[i] less b[i].
func (t scanPoint) scaled(i int) jen.Code {
	var x *jen.Statement
	switch t.value {
	case "int32":
		x = jen.Id("sign").Op("*").Int64().Call(elementAt("a", i))
	case "int64":
		x = jen.Id("sign").Op("*").Add(elementAt("a", i))
	default:
		x = jen.Int64().Call(jen.Qual("math", "RoundToEven").Call(jen.Float64().Call(elementAt("a", i)).Op("*").Id("scale")))
	}
	return jen.Add(x).Op("-").Add(elementAt("b", i))
}

// allowed says that the cost forbids no pair.
func (t scanPoint) allowed(i int) jen.Code {
	switch t.value {
	case "int32":
		return jen.Add(elementAt("a", i)).Op("!=").Qual("math", "MaxInt32")
	case "int64":
		return jen.Add(elementAt("a", i)).Op("!=").Qual("math", "MaxInt64")
	}
	return jen.Add(elementAt("a", i)).Op("-").Add(elementAt("a", i)).Op("==").Lit(0)
}

// filter writes the search in plain Go, unroll costs a turn.
func (t scanPoint) filter(file *jen.File) {
	var left, right, all []jen.Code
	var turn []jen.Code
	for i := range t.unroll {
		left = append(left, register("d", i))
		right = append(right, t.scaled(i))
		all = append(all, register("d", i))
	}
	for i := range t.unroll {
		turn = append(turn, jen.If(register("d", i).Op("<").Id("limit").Op("&&").Add(t.allowed(i))).Block(
			jen.Id("h").Dot("Add").Call(jen.Id("from").Op("+").Lit(i), register("d", i))))
	}
	turn = append(turn, jen.If(jen.Id("h").Dot("Full").Call()).Block(
		jen.Return(jen.Id("from").Op("+").Lit(t.unroll))))
	var body []jen.Code
	if t.value == "int32" || t.value == "int64" {
		body = append(body, jen.Id("sign").Op(":=").Int64().Call(jen.Id("scale")))
	}
	array := func(name string, elem jen.Code, from string, width int) jen.Code {
		return jen.Id(name).Op(":=").Parens(jen.Op("*").Index(jen.Lit(width)).Add(elem)).Call(jen.Id(from).Index(jen.Id("from"), jen.Empty()))
	}
	body = append(body,
		jen.For(jen.Empty(), jen.Id("from").Op("+").Lit(t.unroll).Op("<=").Id("to"), jen.Id("from").Op("+=").Lit(t.unroll)).Block(
			array("a", jen.Id(t.value), "c", t.unroll),
			array("b", jen.Int64(), "v", t.unroll),
			jen.List(left...).Op(":=").List(right...),
			jen.If(jen.Min(all...).Op("<").Id("limit")).Block(turn...),
		))
	if t.unroll > 1 {
		body = append(body,
			jen.For(jen.Empty(), jen.Id("from").Op("<").Id("to"), jen.Id("from").Op("++")).Block(
				array("a", jen.Id(t.value), "c", 1),
				array("b", jen.Int64(), "v", 1),
				jen.If(jen.Id("d").Op(":=").Add(t.scaled(0)), jen.Id("d").Op("<").Id("limit").Op("&&").Add(t.allowed(0))).Block(
					jen.Id("h").Dot("Add").Call(jen.Id("from"), jen.Id("d")))))
	}
	body = append(body, jen.Return(jen.Id("to")))
	file.Commentf("%s_filter adds the allowed pairs with c - v below limit to h.", t.symbol)
	file.Func().Id(t.symbol+"_filter").Params(
		jen.Id("c").Index().Id(t.value), jen.Id("v").Index().Int64(), jen.Id("scale").Float64(), jen.Id("limit").Int64(),
		jen.List(jen.Id("from"), jen.Id("to")).Int(), jen.Id("h").Op("*").Qual(assignmentPath, "Hits"),
	).Int().Block(body...)
}

func (t scanPoint) entry(file *jen.File, name string, body ...jen.Code) {
	tilePoint{symbol: t.symbol}.declareEntry(file, name, body...)
}

// entries write the entry points, which hand their arguments to runtime/host/kernels/assignment.
func (t scanPoint) entries(file *jen.File) {
	number := func(i int) *jen.Statement { return scalarArgument(i) }
	scale := jen.Qual("math", "Float64frombits").Call(jen.Id("args").Index(jen.Lit(2)).Dot("Bits"))
	var filter jen.Code = jen.Id(t.symbol + "_filter")
	if t.vector {
		filter = jen.Qual(assignmentPath, "Vector").Call(filter)
	}
	costs, long := sliceArgument(jen.Id(t.value), 0), func(i int) jen.Code { return sliceArgument(jen.Int64(), i) }
	t.entry(file, "least",
		jen.Qual(assignmentPath, "LeastRow").Call(filter, costs, number(1), scale, number(3), jen.Int().Call(jen.Id("block")),
			long(4), number(5), number(6), number(7), jen.Int64().Call(jen.Id("args").Index(jen.Lit(8)).Dot("Bits")), jen.Lit(t.room),
			sliceArgument(jen.Int32(), 9), long(10), long(11)))
	t.entry(file, "below",
		jen.Qual(assignmentPath, "BelowRow").Call(filter, costs, number(1), scale, number(3),
			long(4), sliceArgument(jen.Int32(), 5), long(6), long(7)))
	t.entry(file, "lower",
		jen.Qual(assignmentPath, "LowerRows").Call(costs, number(1), scale, number(3), jen.Id("block"), jen.Id("blocks"), long(4), long(5)))
}
