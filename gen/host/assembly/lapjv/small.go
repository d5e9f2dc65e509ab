package lapjv

import (
	"fmt"
	"strings"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Offsets into lapjv.Small. Lists have room for 64 columns and rows, and some for one more.
const (
	smallAll     = 0    // bits of the columns
	smallLeft    = 8    // free rows that a turn of bids or the paths begin with
	smallTurn    = 16   // turns of bids left
	smallAt      = 24   // of the list of free rows, in the paths
	smallSlack   = 32   // sum of the slack of the matched pairs, in units
	smallPrice   = 64   // float64s
	smallDual    = 576  // int64s: v in units
	smallNear    = 1088 // uint64s, of rows: bits of the near columns that are not the row's own
	smallUpdated = 1600 // uint64s, of the steps of a search: bits of the columns whose distance the step made
	smallOwner   = 2128 // int32s, of columns: its row, where it is not free
	smallFree    = 2384 // int32s: free rows
	smallTree    = 2656 // int32s: the row of a step
	smallWhen    = 2928 // int32s, of columns that a search has left: the step
)

// Small adds the kernels for at most 64 columns, for AVX-512.
func Small(w *build.Context) {
	for _, k := range []struct {
		name string
		size int
	}{{"Float64", 8}, {"Float32", 4}, {"Int32", 4}} {
		for n := 1; n <= 8; n++ {
			g := &small{writer: &writer{Context: w, wide: true, elem: k.name, size: k.size, lanes: 8}, registers: n}
			g.write()
		}
		choice(w, k.name)
	}
	w.Function("smallEntriesAVX512")
	w.Attributes(attr.NOSPLIT)
	w.SignatureExpr("func(to *uintptr)")
	w.Doc("smallEntriesAVX512 writes the addresses of the kernels for float64, float32 and int32. C can call them: they use their arguments and the stack alone.")
	w.Pragma("noescape")
	to, x := w.Load(w.Param("to"), w.GP64()), w.GP64()
	for k, elem := range []string{"Float64", "Float32", "Int32"} {
		w.LEAQ(operand.Mem{Symbol: operand.Symbol{Name: "·small" + elem + "AVX512"}, Base: reg.StaticBase}, x)
		w.MOVQ(x, operand.Mem{Base: to, Disp: 8 * k})
	}
	w.RET()
}

// choice writes the kernel for a type, which jumps to that for the number of columns.
func choice(w *build.Context, elem string) {
	w.Function("small" + elem + "AVX512")
	w.Attributes(attr.NOSPLIT)
	w.SignatureExpr(smallSignature(elem))
	w.Doc("small"+elem+"AVX512 finds the best matching of a matrix of 1 to 64 columns, and no more rows, and writes the columns of the rows. It",
		"returns 0 where its check, in integers, has shown that no other is better, else 1. s is a Small, stride in bytes.")
	w.Pragma("noescape")
	cols := w.Load(w.Param("cols"), w.GP64())
	for n := 1; n <= 8; n++ {
		next := fmt.Sprintf("more%d", n)
		w.CMPQ(cols, operand.Imm(uint64(8*n)))
		w.JGT(operand.LabelRef(next))
		to := operand.Mem{Symbol: operand.Symbol{Name: "·" + smallName(elem, n)}, Base: reg.StaticBase}
		w.Instruction(&ir.Instruction{Opcode: "JMP", Operands: []operand.Op{to}, IsTerminal: true}) // the arguments are the same
		w.Label(next)
	}
	x := w.GP64()
	w.MOVQ(operand.I32(1), x)
	w.Store(x, w.ReturnIndex(0))
	w.RET()
}

func smallName(elem string, registers int) string {
	return fmt.Sprintf("small%sOf%dAVX512", elem, 8*registers)
}

func smallSignature(elem string) string {
	return "func(s *byte, costs *" + strings.ToLower(elem) + ", stride, rows, cols int, column *int32) int"
}

// A small writes the kernel for a number of registers of columns: prices and distances stay in registers, and sets of columns are
// 64 bits.
type small struct {
	*writer
	registers int
	open      reg.GPVirtual    // bits of the free columns
	v, d      []reg.VecVirtual // prices; distances, or reduced costs of a row
	bad       string
}

func (g *small) param(name string) reg.GPVirtual {
	return g.Load(g.Param(name), g.GP64()).(reg.GPVirtual)
}

func (g *small) at(offset int) operand.Mem { return operand.Mem{Base: g.s, Disp: offset} }

func (g *small) item4(offset int, k reg.Register) operand.Mem {
	return operand.Mem{Base: g.s, Index: k, Scale: 4, Disp: offset}
}

func (g *small) item8(offset int, k reg.Register) operand.Mem {
	return operand.Mem{Base: g.s, Index: k, Scale: 8, Disp: offset}
}

func (g *small) zeroed() reg.GPVirtual {
	x := g.GP64()
	g.XORL(x.As32(), x.As32())
	return x
}

// addressOf is the address of row i.
func (g *small) addressOf(i reg.Register) reg.GPVirtual {
	x := g.param("stride")
	g.IMULQ(i, x)
	t := g.param("costs")
	g.ADDQ(t, x)
	return x
}

// costsOf are register k of a row's costs.
func (g *small) costsOf(row reg.Register, k int) reg.VecVirtual {
	return g.load(operand.Mem{Base: row, Disp: k * 8 * g.size}, k == g.registers-1)
}

// each is the numbers of the registers.
func (g *small) each(body func(k int)) {
	for k := range g.registers {
		body(k)
	}
}

// join are the bits of all lanes, given the opmask of each register.
func (g *small) join(mask func(k int) reg.OpmaskVirtual) reg.GPVirtual {
	var all reg.GPVirtual
	g.each(func(k int) {
		x := g.GP64()
		g.KMOVB(mask(k), x.As32())
		if k == 0 {
			all = x
			return
		}
		g.SHLQ(operand.Imm(uint64(8*k)), x)
		g.ORQ(x, all)
	})
	return all
}

// compare is an opmask.
func (g *small) compare(how uint64, a reg.VecVirtual, b operand.Op) reg.OpmaskVirtual {
	k := g.K()
	g.VCMPPD(operand.Imm(how), b, a, k)
	return k
}

// split are the opmasks of each register of bits.
func (g *small) split(bits reg.GPVirtual) func(k int) reg.OpmaskVirtual {
	all := g.K()
	g.KMOVQ(bits, all)
	return func(k int) reg.OpmaskVirtual {
		if k == 0 {
			return all
		}
		x := g.K()
		g.KSHIFTRQ(operand.Imm(uint64(8*k)), all, x)
		return x
	}
}

// bit is the bit of column j alone.
func (g *small) bit(j reg.Register) reg.GPVirtual {
	x := g.zeroed()
	g.BTSQ(j, x)
	return x
}

// fold combines the lanes of x.
func (g *small) fold(x reg.VecVirtual, op func(ops ...operand.Op)) reg.VecVirtual {
	y, z := g.ZMM(), g.ZMM()
	g.VEXTRACTF64X4(operand.Imm(1), x, y.AsY())
	op(x.AsY(), y.AsY(), y.AsY())
	g.VEXTRACTF64X2(operand.Imm(1), y.AsY(), z.AsX())
	op(y.AsX(), z.AsX(), z.AsX())
	g.VPERMILPD(operand.Imm(1), z.AsX(), y.AsX())
	op(z.AsX(), y.AsX(), y.AsX())
	return y
}

// copied is a copy of x.
func (g *small) copied(x reg.VecVirtual) reg.VecVirtual {
	y := g.ZMM()
	g.VMOVAPD(x, y)
	return y
}

// setPrice makes the price of column j the low lane of x.
func (g *small) setPrice(j reg.Register, x reg.VecVirtual) {
	g.VMOVSD(x.AsX(), g.item8(smallPrice, j))
	y := g.broadcast(x)
	mask := g.split(g.bit(j))
	g.each(func(k int) { g.VMOVAPD(y, mask(k), g.v[k]) })
}

func (g *small) write() {
	name := smallName(g.elem, g.registers)
	g.Function(name)
	g.Attributes(attr.NOSPLIT)
	g.SignatureExpr(smallSignature(g.elem))
	g.Doc(fmt.Sprintf("%s does the work of small%sAVX512 for %d to %d columns.", name, g.elem, 8*g.registers-7, 8*g.registers))
	g.Pragma("noescape")
	g.s = g.param("s")
	g.bad = g.label("bad")
	g.infinity()
	g.open = g.GP64()
	g.MOVQ(operand.I32(64), reg.RCX)
	cols := g.param("cols")
	g.SUBQ(cols, reg.RCX)
	g.MOVQ(operand.I32(-1), g.open)
	g.SHRQ(reg.CL, g.open)
	g.MOVQ(g.open, g.at(smallAll))
	last, tail := g.GP64(), g.K()
	g.MOVQ(g.open, last)
	g.SHRQ(operand.Imm(uint64(8*(g.registers-1))), last)
	g.KMOVB(last.As32(), tail)
	g.tail = tail
	g.v, g.d = nil, nil
	g.each(func(int) { g.v, g.d = append(g.v, g.ZMM()), append(g.d, g.ZMM()) })

	wide, bids := g.label("wide"), g.label("bids")
	n := g.GP64()
	rows := g.param("rows")
	g.CMPQ(rows, cols)
	g.goTo(g.JNE, wide)
	g.minima()
	g.transfer(n)
	g.goTo(g.JMP, bids)
	g.Label(wide)
	g.each(func(k int) {
		g.VXORPD(g.v[k], g.v[k], g.v[k])
		g.VMOVUPD(g.v[k], g.at(smallPrice+64*k))
	})
	g.XORL(n.As32(), n.As32())
	all, column := g.label("all"), g.param("column")
	g.Label(all)
	g.MOVL(n.As32(), g.item4(smallFree, n))
	g.MOVL(operand.I32(-1), four(column, n))
	g.INCQ(n)
	g.CMPQ(n, rows)
	g.goTo(g.JLT, all)

	g.Label(bids)
	g.MOVQ(operand.I32(2), g.at(smallTurn))
	g.bids(n)
	g.paths()
	g.check()
	g.Label(g.bad)
	g.result(1)
}

// minima makes the prices the least costs of their columns.
func (g *small) minima() {
	row, stride, left := g.param("costs"), g.param("stride"), g.param("rows")
	g.each(func(k int) { g.VMOVAPD(g.costsOf(row, k), g.v[k]) })
	turn, done := g.label("rows"), g.label("done")
	g.DECQ(left)
	g.goTo(g.JEQ, done)
	g.Label(turn)
	g.ADDQ(stride, row)
	g.each(func(k int) { g.VMINPD(g.costsOf(row, k), g.v[k], g.v[k]) })
	g.DECQ(left)
	g.goTo(g.JNE, turn)
	g.Label(done)
	finite := g.join(func(k int) reg.OpmaskVirtual { return g.compare(lesser, g.v[k], g.inf) })
	g.CMPQ(finite, g.at(smallAll))
	g.goTo(g.JNE, g.bad)
	g.VMOVAPD_Z(g.v[g.registers-1], g.tail, g.v[g.registers-1])
	g.each(func(k int) { g.VMOVUPD(g.v[k], g.at(smallPrice+64*k)) })
}

// transfer gives each row the first free column that costs it as much as the price, and moves what the row could lose from that.
func (g *small) transfer(n reg.GPVirtual) {
	g.XORL(n.As32(), n.As32())
	i, row, column := g.zeroed(), g.param("costs"), g.param("column")
	turn, next := g.label("rows"), g.label("next")
	g.Label(turn)
	g.each(func(k int) { g.VMOVAPD(g.costsOf(row, k), g.d[k]) })
	equals := g.join(func(k int) reg.OpmaskVirtual { return g.compare(equal, g.d[k], g.v[k]) })
	can, j := g.GP64(), g.GP64()
	g.MOVQ(g.open, can)
	g.ANDQ(equals, can)
	free := g.label("free")
	g.goTo(g.JEQ, free)
	g.TZCNTQ(can, j)
	g.BTRQ(j, g.open)
	g.MOVL(j.As32(), four(column, i))
	g.MOVL(i.As32(), g.item4(smallOwner, j))
	g.BLSRQ(equals, equals)
	g.goTo(g.JNE, next)
	others := g.bit(j)
	g.NOTQ(others)
	mask, least := g.split(others), g.copied(g.inf)
	g.each(func(k int) {
		x := g.ZMM()
		g.VSUBPD(g.v[k], g.d[k], x)
		g.VMINPD(x, least, mask(k), least)
	})
	second := g.fold(least, g.VMINPD)
	g.VUCOMISD(second.AsX(), g.inf.AsX())
	g.goTo(g.JLS, next)
	price := g.ZMM()
	g.VMOVSD(g.item8(smallPrice, j), price.AsX())
	g.VSUBSD(second.AsX(), price.AsX(), price.AsX())
	g.setPrice(j, price)
	g.goTo(g.JMP, next)
	g.Label(free)
	g.MOVL(i.As32(), g.item4(smallFree, n))
	g.MOVL(operand.I32(-1), four(column, i))
	g.INCQ(n)
	g.Label(next)
	stride := g.param("stride")
	g.ADDQ(stride, row)
	g.INCQ(i)
	rows := g.param("rows")
	g.CMPQ(i, rows)
	g.goTo(g.JLT, turn)
}

// bids has the first n free rows bid for their nearest columns, and those that lost theirs at once while the price falls, in two turns of
// at most two bids for each row: a path then takes less than further bids.
func (g *small) bids(n reg.GPVirtual) {
	turn, done := g.label("turn"), g.label("done")
	g.Label(turn)
	g.MOVQ(n, g.at(smallLeft))
	g.TESTQ(n, n)
	g.goTo(g.JEQ, done)
	next, bids := g.zeroed(), g.zeroed()
	g.XORL(n.As32(), n.As32())
	bid := g.label("bid")
	g.Label(bid)
	i := g.GP64()
	g.MOVLQSX(g.item4(smallFree, next), i)
	g.INCQ(next)
	g.INCQ(bids)
	row := g.addressOf(i)
	var one, two reg.VecVirtual
	g.each(func(k int) { g.VSUBPD(g.v[k], g.costsOf(row, k), g.d[k]) })
	for k := 0; k < g.registers; k += 2 {
		low, high := g.d[k], g.inf
		if k+1 < g.registers {
			low, high = g.ZMM(), g.ZMM()
			g.VMINPD(g.d[k], g.d[k+1], low)
			g.VMAXPD(g.d[k], g.d[k+1], high)
		}
		if k == 0 {
			one, two = g.copied(low), g.copied(high)
			continue
		}
		x := g.ZMM()
		g.VMAXPD(one, low, x)
		g.VMINPD(one, low, one)
		g.VMINPD(x, two, two)
		g.VMINPD(high, two, two)
	}
	merge := func(a, b, c, d, x reg.Register) { // of the least a and c and the second least b and d
		g.VMAXPD(a, c, x)
		g.VMINPD(a, c, a)
		g.VMINPD(b, d, b)
		g.VMINPD(x, b, b)
	}
	a, b, x := g.ZMM(), g.ZMM(), g.ZMM()
	g.VEXTRACTF64X4(operand.Imm(1), one, a.AsY())
	g.VEXTRACTF64X4(operand.Imm(1), two, b.AsY())
	merge(one.AsY(), two.AsY(), a.AsY(), b.AsY(), x.AsY())
	g.VEXTRACTF64X2(operand.Imm(1), one.AsY(), a.AsX())
	g.VEXTRACTF64X2(operand.Imm(1), two.AsY(), b.AsX())
	merge(one.AsX(), two.AsX(), a.AsX(), b.AsX(), x.AsX())
	g.VPERMILPD(operand.Imm(1), one.AsX(), a.AsX())
	g.VPERMILPD(operand.Imm(1), two.AsX(), b.AsX())
	merge(one.AsX(), two.AsX(), a.AsX(), b.AsX(), x.AsX())
	first, second := one, two
	g.VUCOMISD(first.AsX(), g.inf.AsX())
	g.goTo(g.JLS, g.bad)
	wanted := g.broadcast(first)
	equals := g.join(func(k int) reg.OpmaskVirtual { return g.compare(equal, g.d[k], wanted) })
	g.TESTQ(equals, equals)
	g.goTo(g.JEQ, g.bad) // costs that are no numbers
	free, j := g.GP64(), g.GP64()
	g.MOVQ(g.open, free)
	g.ANDQ(equals, free)
	g.CMOVQEQ(equals, free)
	g.TZCNTQ(free, j)

	falls, stays, owned := g.zeroed(), g.label("stays"), g.label("owned")
	budget, price := g.GP64(), g.ZMM()
	g.LEAQ(operand.Mem{Base: next, Index: next, Scale: 1}, budget)
	g.VMOVSD(g.item8(smallPrice, j), price.AsX())
	fallen := g.ZMM()
	g.VSUBSD(first.AsX(), second.AsX(), fallen.AsX())
	g.VSUBSD(fallen.AsX(), price.AsX(), fallen.AsX())
	g.CMPQ(bids, budget)
	g.goTo(g.JGE, stays)
	g.VUCOMISD(second.AsX(), g.inf.AsX())
	g.goTo(g.JLS, stays)
	g.VUCOMISD(fallen.AsX(), price.AsX())
	g.goTo(g.JLS, stays)
	g.INCQ(falls)
	g.setPrice(j, fallen)
	g.Label(stays)
	column, again, out := g.param("column"), g.label("again"), g.GP64()
	g.MOVL(j.As32(), four(column, i))
	g.MOVLQSX(g.item4(smallOwner, j), out)
	g.MOVL(i.As32(), g.item4(smallOwner, j))
	g.BTRQ(j, g.open)
	g.goTo(g.JCC, owned)
	g.goTo(g.JMP, again)
	g.Label(owned)
	g.MOVL(operand.I32(-1), four(column, out))
	kept := g.label("kept")
	g.TESTQ(falls, falls)
	g.goTo(g.JEQ, kept)
	g.DECQ(next)
	g.MOVL(out.As32(), g.item4(smallFree, next))
	g.goTo(g.JMP, bid)
	g.Label(kept)
	g.MOVL(out.As32(), g.item4(smallFree, n))
	g.INCQ(n)
	g.Label(again)
	g.CMPQ(next, g.at(smallLeft))
	g.goTo(g.JLT, bid)
	g.MOVQ(n, g.at(smallLeft))
	g.DECQ(g.at(smallTurn))
	g.goTo(g.JNE, turn)
	g.Label(done)
}

// paths augments along a shortest path from each row that is free.
func (g *small) paths() {
	path, done := g.label("path"), g.label("done")
	at := g.GP64()
	g.MOVQ(operand.I32(0), g.at(smallAt))
	g.Label(path)
	g.MOVQ(g.at(smallAt), at)
	g.CMPQ(at, g.at(smallLeft))
	g.goTo(g.JGE, done)
	g.INCQ(g.at(smallAt))
	root, left, steps := g.GP64(), g.GP64(), g.GP64()
	g.MOVLQSX(g.item4(smallFree, at), root)
	row := g.addressOf(root)
	var least [2]reg.VecVirtual
	g.each(func(k int) {
		g.VSUBPD(g.v[k], g.costsOf(row, k), g.d[k])
		if k < 2 {
			least[k] = g.copied(g.d[k])
		} else {
			g.VMINPD(g.d[k], least[k&1], least[k&1])
		}
	})
	g.MOVQ(g.at(smallAll), left)
	g.MOVQ(left, g.at(smallUpdated))
	g.MOVL(root.As32(), g.at(smallTree))
	g.MOVQ(operand.I32(1), steps)
	search, end := g.label("search"), g.label("end")
	g.Label(search)
	if g.registers > 1 {
		g.VMINPD(least[1], least[0], least[0])
	}
	best := g.fold(least[0], g.VMINPD)
	g.VUCOMISD(best.AsX(), g.inf.AsX())
	g.goTo(g.JLS, g.bad)
	wanted := g.broadcast(best)
	equals := g.join(func(k int) reg.OpmaskVirtual { return g.compare(equal, g.d[k], wanted) })
	g.ANDQ(left, equals)
	g.goTo(g.JEQ, g.bad)
	free, j := g.GP64(), g.GP64()
	g.MOVQ(g.open, free)
	g.ANDQ(equals, free)
	g.CMOVQEQ(equals, free)
	g.TZCNTQ(free, j)
	g.BTQ(j, g.open)
	g.goTo(g.JCS, end)
	g.BTRQ(j, left)
	g.MOVL(steps.As32(), g.item4(smallWhen, j))
	i := g.GP64()
	g.MOVLQSX(g.item4(smallOwner, j), i)
	row2 := g.addressOf(i)
	h := g.writer.at(row2, j)
	g.VSUBSD(g.item8(smallPrice, j), h.AsX(), h.AsX())
	g.VSUBSD(best.AsX(), h.AsX(), h.AsX())
	hh := g.broadcast(h)
	mask := g.split(left)
	for k := range min(2, g.registers) {
		g.VMOVAPD(g.inf, least[k])
	}
	updated := g.join(func(k int) reg.OpmaskVirtual {
		x, open, nearer := g.costsOf(row2, k), mask(k), g.K()
		g.VSUBPD(g.v[k], x, x)
		g.VSUBPD(hh, x, x)
		g.VCMPPD(operand.Imm(lesser), g.d[k], x, open, nearer)
		g.VMOVAPD(x, nearer, g.d[k])
		g.VMINPD(g.d[k], least[k&1], open, least[k&1])
		return nearer
	})
	g.MOVQ(updated, g.item8(smallUpdated, steps))
	g.MOVL(i.As32(), g.item4(smallTree, steps))
	g.INCQ(steps)
	g.goTo(g.JMP, search)

	g.Label(end)
	g.BTRQ(j, g.open)
	trace := g.label("trace")
	g.NOTQ(left)
	g.ANDQ(g.at(smallAll), left)
	g.goTo(g.JEQ, trace)
	mask = g.split(left)
	g.each(func(k int) {
		x := g.ZMM()
		g.VSUBPD(g.d[k], wanted, x)
		g.VSUBPD(x, g.v[k], mask(k), g.v[k])
		g.VMOVUPD(g.v[k], g.at(smallPrice+64*k))
	})
	g.Label(trace)
	back, column, before := g.label("back"), g.param("column"), g.GP64()
	g.Label(back)
	g.DECQ(steps)
	set := g.GP64()
	g.MOVQ(g.item8(smallUpdated, steps), set)
	g.BTQ(j, set)
	g.goTo(g.JCC, back)
	g.MOVLQSX(g.item4(smallTree, steps), i)
	g.MOVLQSX(four(column, i), before)
	g.MOVL(j.As32(), four(column, i))
	g.MOVL(i.As32(), g.item4(smallOwner, j))
	g.CMPQ(i, root)
	g.goTo(g.JEQ, path)
	g.MOVQ(before, j)
	g.MOVLQSX(g.item4(smallWhen, j), steps)
	g.goTo(g.JMP, back)
	g.Label(done)
}

// check compares each cost with the duals, in integers, and returns 0 where no other matching is better.
func (g *small) check() {
	float, rows := g.elem != "Int32", g.param("rows")
	column := g.param("column")
	scale := g.GP64()
	g.MOVQ(operand.U64(0x3ff0000000000000), scale)
	if float { // the finest units for prices and matched costs
		magnitudes := g.spread(1<<63 - 1)
		most := g.ZMM()
		g.VANDPD(magnitudes, g.v[0], most)
		for _, v := range g.v[1:] {
			x := g.ZMM()
			g.VANDPD(magnitudes, v, x)
			g.VMAXPD(x, most, most)
		}
		most = g.fold(most, g.VMAXPD)
		i, row, stride, j := g.zeroed(), g.param("costs"), g.param("stride"), g.GP64()
		turn, exact := g.label("rows"), g.label("zero")
		g.Label(turn)
		g.MOVLQSX(four(column, i), j)
		x := g.writer.at(row, j)
		g.VANDPD(magnitudes.AsX(), x.AsX(), x.AsX())
		g.VMAXSD(x.AsX(), most.AsX(), most.AsX())
		g.ADDQ(stride, row)
		g.INCQ(i)
		g.CMPQ(i, rows)
		g.goTo(g.JLT, turn)
		bits := g.GP64()
		g.VMOVQ(most.AsX(), bits)
		g.TESTQ(bits, bits)
		g.goTo(g.JEQ, exact)
		g.SHRQ(operand.Imm(52), bits)
		g.CMPQ(bits, operand.I32(1023-900))
		g.goTo(g.JLT, g.bad)
		g.CMPQ(bits, operand.I32(1023+57)) // the units are at most 1
		g.goTo(g.JGT, g.bad)
		g.MOVQ(operand.I32(2*1023+58), scale)
		g.SUBQ(bits, scale)
		g.SHLQ(operand.Imm(52), scale)
		g.Label(exact)
	}
	r := rounding{scale: g.broadcastInt(scale), far: g.spread(far), least: g.spread(far | minus)}
	duals := g.v
	g.each(func(k int) {
		g.units(r, duals[k], nil)
		g.VMOVDQU64(duals[k], g.at(smallDual+64*k))
	})
	square, cols, zero := g.label("square"), g.param("cols"), g.zero()
	ends := g.zeroed() // bits of the columns that may as well be free
	g.CMPQ(rows, cols)
	g.goTo(g.JEQ, square)
	integers := func(how uint64, a reg.VecVirtual, b operand.Op) reg.OpmaskVirtual {
		k := g.K()
		g.VPCMPQ(operand.Imm(how), b, a, k)
		return k
	}
	const above, other, atMost, atLeast = 6, 4, 2, 5
	high := g.join(func(k int) reg.OpmaskVirtual { return integers(above, duals[k], zero) })
	g.TESTQ(high, high)
	g.goTo(g.JNE, g.bad)
	priced := g.join(func(k int) reg.OpmaskVirtual { return integers(other, duals[k], zero) })
	g.TESTQ(g.open, priced)
	g.goTo(g.JNE, g.bad)
	t := g.GP64()
	g.MOVQ(operand.I32(-nearbyUnits), t)
	bar := g.broadcastInt(t)
	g.MOVQ(g.join(func(k int) reg.OpmaskVirtual { return integers(atLeast, duals[k], bar) }), ends)
	g.ANDQ(g.at(smallAll), ends)
	g.Label(square)
	g.MOVQ(ends, g.at(smallLeft))

	lost, large := g.zero(), g.spread(1<<61)
	i, sum, row := g.zeroed(), g.zeroed(), g.param("costs")
	turn := g.label("rows")
	g.Label(turn)
	var least reg.VecVirtual
	g.each(func(k int) {
		var x reg.VecVirtual
		if float {
			x = g.costsOf(row, k)
			g.units(r, x, lost)
		} else {
			x = g.loadInts(operand.Mem{Base: row, Disp: k * 8 * g.size}, large, k == g.registers-1)
		}
		g.VPSUBQ(duals[k], x, g.d[k])
		if k == 0 {
			least = g.copied(g.d[k])
		} else {
			g.VPMINSQ(g.d[k], least, least)
		}
	})
	low := g.GP64()
	g.VMOVQ(g.fold(least, g.VPMINSQ).AsX(), low)
	j, more := g.GP64(), g.GP64()
	g.MOVLQSX(four(column, i), j)
	if float {
		x := g.writer.at(row, j)
		g.VMULSD(r.scale.AsX(), x.AsX(), x.AsX())
		g.VCVTSD2SIQ(x.AsX(), more)
	} else {
		g.MOVLQSX(operand.Mem{Base: row, Index: j, Scale: 4}, more)
	}
	g.SUBQ(g.item8(smallDual, j), more)
	g.SUBQ(low, more)
	g.CMPQ(more, operand.I32(nearbyUnits))
	g.goTo(g.JHI, g.bad)
	g.ADDQ(more, sum)
	if float {
		g.ADDQ(operand.I32(nearbyUnits), low)
		bar := g.broadcastInt(low)
		near := g.join(func(k int) reg.OpmaskVirtual { return integers(atMost, g.d[k], bar) })
		g.BTRQ(j, near)
		g.MOVQ(near, g.item8(smallNear, i))
	}
	stride := g.param("stride")
	g.ADDQ(stride, row)
	g.INCQ(i)
	g.CMPQ(i, rows)
	g.goTo(g.JLT, turn)
	best := g.label("best")
	if !float {
		g.TESTQ(sum, sum)
		g.goTo(g.JNE, g.bad)
	} else {
		rounded := g.nonzero(lost)
		g.ORQ(sum, rounded)
		g.goTo(g.JEQ, best)
		g.ADDQ(rows, sum)
		g.CMPQ(sum, operand.I32(nearbyUnits-1))
		g.goTo(g.JHI, g.bad)
		g.alone(best)
	}
	g.Label(best)
	g.result(0)
}

// nonzero are the bits of the lanes of x that are not zero, but for signs.
func (g *small) nonzero(x reg.VecVirtual) reg.GPVirtual {
	y, k := g.GP64(), g.K()
	g.VCMPPD(operand.Imm(unequal), g.zero(), x, k)
	g.KMOVB(k, y.As32())
	return y
}

// alone goes to best where the matching is the only one of its own pairs and the near ones: columns that lead nowhere are taken away until none
// is left, as refine.HasNoCycle has it. Edges lead from a row's own column to the columns near it, and from a free column to
// the columns that could be free in its place at no cost.
func (g *small) alone(best string) {
	alive, before := g.GP64(), g.GP64()
	g.MOVQ(g.at(smallAll), alive)
	round := g.label("round")
	g.Label(round)
	g.MOVQ(alive, before)
	i, column := g.param("rows"), g.param("column")
	turn, next, owned := g.label("turn"), g.label("next"), g.label("owned")
	g.Label(turn)
	j, leads := g.GP64(), g.GP64()
	g.MOVLQSX(operand.Mem{Base: column, Index: i, Scale: 4, Disp: -4}, j)
	g.MOVQ(g.item8(smallNear-8, i), leads)
	g.TESTQ(alive, leads)
	g.goTo(g.JNE, next)
	g.BTRQ(j, alive)
	g.Label(next)
	g.DECQ(i)
	g.goTo(g.JNE, turn)
	g.TESTQ(g.open, alive)
	g.goTo(g.JEQ, owned)
	g.TESTQ(alive, g.at(smallLeft))
	g.goTo(g.JNE, owned)
	g.MOVQ(g.open, leads)
	g.NOTQ(leads)
	g.ANDQ(leads, alive)
	g.Label(owned)
	g.TESTQ(alive, alive)
	g.goTo(g.JEQ, best)
	g.CMPQ(alive, before)
	g.goTo(g.JNE, round)
	g.goTo(g.JMP, g.bad)
}
