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

// Offsets into lapjv.Small. Lists have room for 128 columns and rows, and some for one more. Sets of columns are bits of one word or two.
const (
	smallAll   = 0  // set of the columns
	smallOpen  = 16 // of the free columns, where they are two words
	smallEnds  = 32 // of columns that may as well be free
	smallLeft  = 48 // free rows that a turn of bids or the paths begin with
	smallTurn  = 56 // turns of bids left
	smallAt    = 64 // of the list of free rows, in the paths
	smallPrice = 128
	// distances, or reduced costs of a row, of AVX2, which has no registers for them: at most 64
	smallDistance = smallPrice + 8*64
	smallDual     = smallPrice + 8*128 // int64s: v in units
	// of AVX2: masks of the registers in which columns may end, for costs of 8 bytes and of 4
	smallTails = smallDual + 8*64
	smallNear  = smallDual + 8*128 // of rows: sets of the near columns that are not the row's own
	// of the steps of a search, before the check: sets of the columns whose distance the step made
	smallUpdated = smallNear
	smallOwner   = smallNear + 16*130 // int32s, of columns: its row, where it is not free
	smallFree    = smallOwner + 4*128 // int32s: free rows
	smallTree    = smallFree + 4*132  // int32s: the row of a step
	smallWhen    = smallTree + 4*132  // int32s, of columns that a search has left: the step
)

// smallRegisters and smallHalves are the numbers of registers of columns that there are kernels for, of AVX-512 and of AVX2.
var (
	smallRegisters = []int{1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16}
	smallHalves    = []int{2, 4, 6, 8, 10, 12, 14, 16}
)

// Small adds the kernels for at most 128 columns, for AVX-512.
func Small(w *build.Context) { smalls(w, true, "AVX512", smallRegisters) }

// SmallAVX2 adds those for at most 64 columns, for AVX2.
func SmallAVX2(w *build.Context) {
	w.StaticGlobal("smallBits")
	w.DataAttributes(attr.RODATA | attr.NOPTR)
	for j := range 64 {
		w.AppendDatum(operand.U64(1 << j))
	}
	smalls(w, false, "AVX2", smallHalves)
}

func smalls(w *build.Context, wide bool, suffix string, sizes []int) {
	lanes := map[bool]int{true: 8, false: 4}[wide]
	for _, k := range []struct {
		name string
		size int
	}{{"Float64", 8}, {"Float32", 4}, {"Int32", 4}} {
		for at, n := range sizes {
			before := 0
			if at > 0 {
				before = sizes[at-1]
			}
			g := &small{writer: &writer{asm: w, wide: wide, elem: k.name, size: k.size, lanes: lanes, suffix: suffix}, registers: n, before: before}
			g.write()
		}
		choice(w, k.name, suffix, lanes, sizes)
	}
	w.Function("entries" + suffix)
	w.Attributes(attr.NOSPLIT)
	w.SignatureExpr("func(to *uintptr)")
	w.Doc("entries" + suffix + " writes the addresses of the kernels that C can call, five for each of float64, float32 and int32: they use their arguments and the stack alone.")
	w.Pragma("noescape")
	to, x := w.Load(w.Param("to"), w.GP64()), w.GP64()
	for k, elem := range []string{"Float64", "Float32", "Int32"} {
		for q, name := range []string{"small", "nearest", "path", "check", "close"} {
			w.LEAQ(operand.Mem{Symbol: operand.Symbol{Name: "·" + name + elem + suffix}, Base: reg.StaticBase}, x)
			w.MOVQ(x, operand.Mem{Base: to, Disp: 8 * (5*k + q)})
		}
	}
	w.RET()
}

// choice writes the kernel for a type, which jumps to that for the number of columns.
func choice(w *build.Context, elem, suffix string, lanes int, sizes []int) {
	w.Function("small" + elem + suffix)
	w.Attributes(attr.NOSPLIT)
	w.SignatureExpr(smallSignature(elem))
	w.Doc(fmt.Sprintf("small%s%s finds the best matching of a matrix of 1 to %d columns, and no more rows, and writes the columns of the rows. It", elem, suffix, lanes*sizes[len(sizes)-1]),
		"returns 0 where its check, in integers, has shown that no other is better, else 1. s is a Small, stride in bytes.")
	w.Pragma("noescape")
	cols := w.Load(w.Param("cols"), w.GP64())
	for _, n := range sizes {
		next := fmt.Sprintf("more%d", n)
		w.CMPQ(cols, operand.I32(int32(lanes*n)))
		w.JGT(operand.LabelRef(next))
		to := operand.Mem{Symbol: operand.Symbol{Name: "·" + smallName(elem, lanes*n, suffix)}, Base: reg.StaticBase}
		w.Instruction(&ir.Instruction{Opcode: "JMP", Operands: []operand.Op{to}, IsTerminal: true}) // the arguments are the same
		w.Label(next)
	}
	x := w.GP64()
	w.MOVQ(operand.I32(1), x)
	w.Store(x, w.ReturnIndex(0))
	w.RET()
}

func smallName(elem string, columns int, suffix string) string {
	return fmt.Sprintf("small%sOf%d%s", elem, columns, suffix)
}

func smallSignature(elem string) string {
	return "func(s *byte, costs *" + strings.ToLower(elem) + ", stride, rows, cols int, column *int32) int"
}

// A small writes the kernel for a number of registers of columns. Distances stay in registers, and so do prices and the set of the free columns of at most 64
// columns; those of more lie in memory.
type small struct {
	*writer
	registers int
	before    int              // those of the next smaller kernel
	open      reg.GPVirtual    // bits of the free columns
	v, d      []reg.VecVirtual // prices; distances, or reduced costs of a row
	bad       string
}

// words are those of a set.
func (g *small) words() int { return (g.registers*g.lanes + 63) / 64 }

// long reports whether sets are two words.
func (g *small) long() bool { return g.words() == 2 }

// stored reports whether prices lie in memory.
func (g *small) stored() bool { return g.long() || !g.wide }

// distance is register k of the distances.
func (g *small) distance(k int) operand.Op {
	if !g.wide {
		return g.at(smallDistance + 32*k)
	}
	return g.d[k]
}

// toDistance is the register that distances k are computed in, for keep.
func (g *small) toDistance(k int) reg.VecVirtual {
	if !g.wide {
		return g.vector()
	}
	return g.d[k]
}

// keep makes x the distances k.
func (g *small) keep(k int, x reg.VecVirtual) {
	if !g.wide {
		g.asm.VMOVUPD(x, g.distance(k))
	}
}

// price is register k of the prices.
func (g *small) price(k int) operand.Op {
	if g.stored() {
		return g.at(smallPrice + 8*g.lanes*k)
	}
	return g.v[k]
}

// dual is register k of the prices in units.
func (g *small) dual(k int) operand.Op {
	if g.stored() {
		return g.at(smallDual + 8*g.lanes*k)
	}
	return g.v[k]
}

// read is what an operand holds, in a register.
func (g *small) read(x operand.Op) reg.VecVirtual {
	if y, ok := x.(reg.VecVirtual); ok {
		return y
	}
	y := g.vector()
	g.asm.VMOVUPD(x, y)
	return y
}

// setOf is the set of row or step k of a list.
func (g *small) setOf(offset int, k reg.Register) operand.Mem {
	if !g.long() {
		return g.item8(offset, k)
	}
	x := g.asm.GP64()
	g.asm.MOVQ(k, x)
	g.asm.SHLQ(operand.Imm(4), x)
	return operand.Mem{Base: g.s, Index: x, Scale: 1, Disp: offset}
}

// second is the second word of a set in memory.
func second(m operand.Mem) operand.Mem {
	m.Disp += 8
	return m
}

// store writes a set.
func (g *small) store(x []reg.GPVirtual, m operand.Mem) {
	g.asm.MOVQ(x[0], m)
	if g.long() {
		g.asm.MOVQ(x[1], second(m))
	}
}

// and leaves the columns of x that are in a set in memory, and sets the flag of zero where none is.
func (g *small) and(m operand.Mem, x []reg.GPVirtual) {
	g.asm.ANDQ(m, x[0])
	if g.long() {
		g.asm.ANDQ(second(m), x[1])
		t := g.asm.GP64()
		g.asm.MOVQ(x[0], t)
		g.asm.ORQ(x[1], t)
	}
}

// pick is a column of a set, a free one if there is one. any is not zero then, where sets are two words.
func (g *small) pick(equals []reg.GPVirtual) (j, any reg.GPVirtual) {
	free, j := g.asm.GP64(), g.asm.GP64()
	if !g.long() {
		g.asm.MOVQ(g.open, free)
		g.asm.ANDQ(equals[0], free)
		g.asm.CMOVQEQ(equals[0], free)
		g.asm.TZCNTQ(free, j)
		return j, nil
	}
	more, any := g.asm.GP64(), g.asm.GP64()
	g.asm.MOVQ(g.at(smallOpen), free)
	g.asm.ANDQ(equals[0], free)
	g.asm.MOVQ(g.at(smallOpen+8), more)
	g.asm.ANDQ(equals[1], more)
	g.asm.MOVQ(free, any)
	g.asm.ORQ(more, any)
	g.asm.CMOVQEQ(equals[0], free)
	g.asm.CMOVQEQ(equals[1], more)
	g.first(free, more, j)
	return j, any
}

// bitsOf is the set of column j alone, of two words.
func (g *small) bitsOf(j reg.Register) []reg.GPVirtual {
	low, high, none := g.zeroed(), g.asm.GP64(), g.zeroed()
	g.asm.BTSQ(j, low) // j modulo 64
	g.asm.MOVQ(low, high)
	g.asm.CMPQ(j, operand.Imm(64))
	g.asm.CMOVQGE(none, low)
	g.asm.CMOVQLT(none, high)
	return []reg.GPVirtual{low, high}
}

// without takes column j away from a set of two words.
func (g *small) without(j reg.Register, x []reg.GPVirtual) {
	for w, b := range g.bitsOf(j) {
		g.asm.ANDNQ(x[w], b, x[w])
	}
}

// first makes j the first column of a set of two words, and overwrites the second.
func (g *small) first(low, high, j reg.GPVirtual) {
	g.asm.TZCNTQ(high, high)
	g.asm.TZCNTQ(low, j) // 64 of none
	g.asm.ADDQ(j, high)
	g.asm.TESTQ(low, low)
	g.asm.CMOVQEQ(high, j)
}

// take has column j no longer free.
func (g *small) take(j reg.Register) {
	if g.long() {
		g.asm.BTRQ(j, g.at(smallOpen))
		return
	}
	g.asm.BTRQ(j, g.open)
}

func (g *small) param(name string) reg.GPVirtual {
	return g.asm.Load(g.asm.Param(name), g.asm.GP64()).(reg.GPVirtual)
}

func (g *small) at(offset int) operand.Mem { return operand.Mem{Base: g.s, Disp: offset} }

func (g *small) item4(offset int, k reg.Register) operand.Mem {
	return operand.Mem{Base: g.s, Index: k, Scale: 4, Disp: offset}
}

func (g *small) item8(offset int, k reg.Register) operand.Mem {
	return operand.Mem{Base: g.s, Index: k, Scale: 8, Disp: offset}
}

func (g *small) zeroed() reg.GPVirtual {
	x := g.asm.GP64()
	g.asm.XORL(x.As32(), x.As32())
	return x
}

// addressOf is the address of row i.
func (g *small) addressOf(i reg.Register) reg.GPVirtual {
	x := g.param("stride")
	g.asm.IMULQ(i, x)
	t := g.param("costs")
	g.asm.ADDQ(t, x)
	return x
}

// costsOf are register k of a row's costs.
func (g *small) costsOf(row reg.Register, k int) reg.VecVirtual {
	return g.load(operand.Mem{Base: row, Disp: k * g.lanes * g.size}, g.ends(k))
}

// ends reports whether columns end in register k, or before, and has tail say which it has.
func (g *small) ends(k int) bool {
	if !g.wide {
		if k < g.before {
			return false
		}
		g.tail = g.read(g.at(smallTails + 32*(k-g.before)))
		if g.size == 4 {
			g.half = g.vector()
			g.asm.VMOVUPS(g.at(smallTails+128+16*(k-g.before)), g.half.AsX())
		}
		return true
	}
	if g.long() && k >= g.before {
		x := g.asm.K()
		g.asm.KMOVB(g.at(smallAll+k), x)
		g.tail = x
		return true
	}
	return k == g.registers-1
}

// each is the numbers of the registers.
func (g *small) each(body func(k int)) {
	for k := range g.registers {
		body(k)
	}
}

// lanesIn is the mask of register k of AVX2, given a set in all lanes.
func (g *small) lanesIn(all reg.VecVirtual, k int) reg.VecVirtual {
	bits, x := operand.NewDataAddr(operand.NewStaticSymbol("smallBits"), 32*k), g.vector()
	g.asm.VPAND(bits, all, x)
	g.asm.VPCMPEQQ(bits, x, x)
	return x
}

// join are the bits of all lanes, given the mask of each register: an opmask, or a vector of AVX2.
func (g *small) join(mask func(k int) operand.Op) []reg.GPVirtual {
	all := make([]reg.GPVirtual, g.words())
	if g.long() {
		var parts []operand.Op
		unpack := []func(a, b, c operand.Op){g.asm.KUNPCKBW, g.asm.KUNPCKWD, g.asm.KUNPCKDQ}
		g.each(func(k int) {
			parts = append(parts, mask(k))
			for level, n := 0, k%8+1; n%2 == 0; level, n = level+1, n/2 { // two halves of a part are there
				low, high := parts[len(parts)-2], parts[len(parts)-1]
				unpack[level](low, high, low)
				parts = parts[:len(parts)-1]
			}
			if k%8 < 7 && k < g.registers-1 {
				return
			}
			if len(parts) > 1 { // 32 columns and 16
				unpack[2](parts[0], parts[1], parts[0])
			}
			all[k/8] = g.asm.GP64()
			g.asm.KMOVQ(parts[0], all[k/8])
			parts = nil
		})
		return all
	}
	g.each(func(k int) {
		x := g.asm.GP64()
		if g.wide {
			g.asm.KMOVB(mask(k), x.As32())
		} else {
			g.asm.VMOVMSKPD(mask(k), x.As32())
		}
		if k == 0 {
			all[0] = x
			return
		}
		g.asm.SHLQ(operand.Imm(uint64(g.lanes*k)), x)
		g.asm.ORQ(x, all[0])
	})
	return all
}

// compare is a mask.
func (g *small) compare(how uint64, a reg.VecVirtual, b operand.Op) operand.Op {
	var k operand.Op = g.vector()
	if g.wide {
		k = g.asm.K()
	}
	g.asm.VCMPPD(operand.Imm(how), b, a, k)
	return k
}

// lesser makes to the lesser of itself and x where a mask is set.
func (g *small) lesser(x operand.Op, mask operand.Op, to reg.VecVirtual) {
	if g.wide {
		g.asm.VMINPD(x, to, mask, to)
		return
	}
	y := g.vector()
	g.asm.VBLENDVPD(mask, x, g.inf, y)
	g.asm.VMINPD(y, to, to)
}

// split are the masks of each register of a set, given its words.
func (g *small) split(bits ...operand.Op) func(k int) operand.Op {
	if !g.wide {
		all := g.broadcastInt(bits[0].(reg.Register))
		return func(k int) operand.Op { return g.lanesIn(all, k) }
	}
	var word reg.OpmaskVirtual
	return func(k int) operand.Op { // of k from 0 on
		if k%8 == 0 {
			word = g.asm.K()
			g.asm.KMOVQ(bits[k/8], word)
			return word
		}
		x := g.asm.K()
		g.asm.KSHIFTRQ(operand.Imm(uint64(k%8*8)), word, x)
		return x
	}
}

// bit is the bit of column j alone.
func (g *small) bit(j reg.Register) reg.GPVirtual {
	x := g.zeroed()
	g.asm.BTSQ(j, x)
	return x
}

// fold combines the lanes of x.
func (g *small) fold(x reg.VecVirtual, op func(ops ...operand.Op)) reg.VecVirtual {
	y, z := g.vector(), g.vector()
	if g.wide {
		g.asm.VEXTRACTF64X4(operand.Imm(1), x, y.AsY())
		op(x.AsY(), y.AsY(), y.AsY())
		g.asm.VEXTRACTF64X2(operand.Imm(1), y.AsY(), z.AsX())
		op(y.AsX(), z.AsX(), z.AsX())
	} else {
		g.asm.VEXTRACTF128(operand.Imm(1), x, z.AsX())
		op(x.AsX(), z.AsX(), z.AsX())
	}
	g.asm.VPERMILPD(operand.Imm(1), z.AsX(), y.AsX())
	op(z.AsX(), y.AsX(), y.AsX())
	return y
}

// copied is a copy of x.
func (g *small) copied(x reg.VecVirtual) reg.VecVirtual {
	y := g.vector()
	g.asm.VMOVAPD(x, y)
	return y
}

// setPrice makes the price of column j the low lane of x.
func (g *small) setPrice(j reg.Register, x reg.VecVirtual) {
	if g.stored() {
		list := g.asm.GP64()
		g.asm.LEAQ(g.at(smallPrice), list)
		g.set(list, j, x)
		return
	}
	g.asm.VMOVSD(x.AsX(), g.item8(smallPrice, j))
	y := g.broadcast(x)
	mask := g.split(g.bit(j))
	g.each(func(k int) { g.asm.VMOVAPD(y, mask(k), g.v[k]) })
}

func (g *small) write() {
	name := smallName(g.elem, g.lanes*g.registers, g.suffix)
	g.asm.Function(name)
	g.asm.Attributes(attr.NOSPLIT)
	g.asm.SignatureExpr(smallSignature(g.elem))
	g.asm.Doc(fmt.Sprintf("%s does the work of small%s%s for %d to %d columns.", name, g.elem, g.suffix, g.before*g.lanes+1, g.registers*g.lanes))
	g.asm.Pragma("noescape")
	g.s = g.param("s")
	g.bad = g.label("bad")
	g.infinity()
	columns := g.asm.GP64()
	g.asm.MOVQ(operand.I32(int32(64*g.words())), reg.RCX)
	cols := g.param("cols")
	g.asm.SUBQ(cols, reg.RCX)
	g.asm.MOVQ(operand.I32(-1), columns)
	if g.long() {
		g.asm.MOVQ(columns, g.at(smallAll))
		g.asm.MOVQ(columns, g.at(smallOpen))
		g.asm.SHRQ(reg.CL, columns)
		g.asm.MOVQ(columns, g.at(smallAll+8))
		g.asm.MOVQ(columns, g.at(smallOpen+8))
	} else {
		g.open = columns
		g.asm.SHRQ(reg.CL, g.open)
		g.asm.MOVQ(g.open, g.at(smallAll))
		for k := g.before; !g.wide && k < g.registers; k++ {
			mask := g.lanesIn(g.broadcastInt(g.open), k)
			if g.asm.VMOVUPD(mask, g.at(smallTails+32*(k-g.before))); g.size == 4 {
				x := g.vector()
				g.asm.VEXTRACTF128(operand.Imm(1), mask, x.AsX())
				g.asm.VSHUFPS(operand.Imm(0x88), x.AsX(), mask.AsX(), x.AsX())
				g.asm.VMOVUPS(x.AsX(), g.at(smallTails+128+16*(k-g.before)))
			}
		}
		if g.wide {
			last, tail := g.asm.GP64(), g.asm.K()
			g.asm.MOVQ(g.open, last)
			g.asm.SHRQ(operand.Imm(uint64(8*(g.registers-1))), last)
			g.asm.KMOVB(last.As32(), tail)
			g.tail = tail
		}
	}
	g.v, g.d = nil, nil
	g.each(func(int) {
		if g.wide {
			g.d = append(g.d, g.asm.ZMM())
		}
		if !g.stored() {
			g.v = append(g.v, g.asm.ZMM())
		}
	})

	wide, bids := g.label("wide"), g.label("bids")
	n := g.asm.GP64()
	rows := g.param("rows")
	g.asm.CMPQ(rows, cols)
	g.goTo(g.asm.JNE, wide)
	g.minima()
	g.transfer(n)
	g.goTo(g.asm.JMP, bids)
	g.asm.Label(wide)
	var none reg.VecVirtual
	if g.stored() {
		none = g.zero()
	}
	g.each(func(k int) {
		x := none
		if !g.stored() {
			x = g.v[k]
			g.asm.VXORPD(x, x, x)
		}
		g.asm.VMOVUPD(x, g.at(smallPrice+8*g.lanes*k))
	})
	g.asm.XORL(n.As32(), n.As32())
	all, column := g.label("all"), g.param("column")
	g.asm.Label(all)
	g.asm.MOVL(n.As32(), g.item4(smallFree, n))
	g.asm.MOVL(operand.I32(-1), four(column, n))
	g.asm.INCQ(n)
	g.asm.CMPQ(n, rows)
	g.goTo(g.asm.JLT, all)

	g.asm.Label(bids)
	g.asm.MOVQ(operand.I32(2), g.at(smallTurn))
	g.bids(n)
	g.paths()
	g.check()
	g.asm.Label(g.bad)
	g.result(1)
}

// minima makes the prices the least costs of their columns.
func (g *small) minima() {
	v := g.v
	if g.long() {
		v = g.d
	}
	row, stride, left := g.param("costs"), g.param("stride"), g.param("rows")
	g.each(func(k int) {
		if !g.wide {
			g.asm.VMOVUPD(g.costsOf(row, k), g.price(k))
			return
		}
		g.asm.VMOVAPD(g.costsOf(row, k), v[k])
	})
	turn, done := g.label("rows"), g.label("done")
	g.asm.DECQ(left)
	g.goTo(g.asm.JEQ, done)
	g.asm.Label(turn)
	g.asm.ADDQ(stride, row)
	g.each(func(k int) {
		x := g.costsOf(row, k)
		if !g.wide {
			g.asm.VMINPD(g.price(k), x, x)
			g.asm.VMOVUPD(x, g.price(k))
			return
		}
		g.asm.VMINPD(x, v[k], v[k])
	})
	g.asm.DECQ(left)
	g.goTo(g.asm.JNE, turn)
	g.asm.Label(done)
	finite := g.join(func(k int) operand.Op {
		if !g.wide {
			return g.compare(lesser, g.read(g.price(k)), g.inf)
		}
		return g.compare(lesser, v[k], g.inf)
	})
	for w, x := range finite {
		g.asm.CMPQ(x, g.at(smallAll+8*w))
		g.goTo(g.asm.JNE, g.bad)
	}
	g.each(func(k int) {
		switch ends := g.ends(k); {
		case !g.wide && ends:
			x := g.read(g.price(k))
			g.asm.VANDPD(g.tail, x, x)
			g.asm.VMOVUPD(x, g.price(k))
		case g.wide:
			if ends {
				g.asm.VMOVAPD_Z(v[k], g.tail, v[k])
			}
			g.asm.VMOVUPD(v[k], g.at(smallPrice+64*k))
		}
	})
}

// transfer gives each row the first free column that costs it as much as the price, and moves what the row could lose from that.
func (g *small) transfer(n reg.GPVirtual) {
	g.asm.XORL(n.As32(), n.As32())
	i, row, column := g.zeroed(), g.param("costs"), g.param("column")
	turn, next := g.label("rows"), g.label("next")
	g.asm.Label(turn)
	if g.wide {
		g.each(func(k int) { g.asm.VMOVAPD(g.costsOf(row, k), g.d[k]) })
	}
	costs := func(k int) reg.VecVirtual {
		if !g.wide {
			return g.costsOf(row, k)
		}
		return g.d[k]
	}
	equals := g.join(func(k int) operand.Op { return g.compare(equal, costs(k), g.price(k)) })
	can, j, free := []reg.GPVirtual{g.asm.GP64()}, g.asm.GP64(), g.label("free")
	if g.long() {
		can = append(can, g.asm.GP64())
		for w, x := range equals {
			g.asm.MOVQ(x, can[w])
		}
		g.and(g.at(smallOpen), can)
		g.goTo(g.asm.JEQ, free)
		g.first(can[0], can[1], j)
	} else {
		g.asm.MOVQ(g.open, can[0])
		g.asm.ANDQ(equals[0], can[0])
		g.goTo(g.asm.JEQ, free)
		g.asm.TZCNTQ(can[0], j)
	}
	g.take(j)
	g.asm.MOVL(j.As32(), four(column, i))
	g.asm.MOVL(i.As32(), g.item4(smallOwner, j))
	var mask func(k int) operand.Op
	if g.long() {
		for _, x := range equals {
			g.asm.POPCNTQ(x, x)
		}
		g.asm.ADDQ(equals[0], equals[1])
		g.asm.CMPQ(equals[1], operand.Imm(1))
		g.goTo(g.asm.JHI, next)
		others := g.bitsOf(j)
		g.asm.NOTQ(others[0])
		g.asm.NOTQ(others[1])
		mask = g.split(others[0], others[1])
	} else {
		g.asm.BLSRQ(equals[0], equals[0])
		g.goTo(g.asm.JNE, next)
		others := g.bit(j)
		g.asm.NOTQ(others)
		mask = g.split(others)
	}
	least := g.copied(g.inf)
	g.each(func(k int) {
		x := g.vector()
		g.asm.VSUBPD(g.price(k), costs(k), x)
		g.lesser(x, mask(k), least)
	})
	second := g.fold(least, g.asm.VMINPD)
	g.asm.VUCOMISD(second.AsX(), g.inf.AsX())
	g.goTo(g.asm.JLS, next)
	price := g.vector()
	g.asm.VMOVSD(g.item8(smallPrice, j), price.AsX())
	g.asm.VSUBSD(second.AsX(), price.AsX(), price.AsX())
	g.setPrice(j, price)
	g.goTo(g.asm.JMP, next)
	g.asm.Label(free)
	g.asm.MOVL(i.As32(), g.item4(smallFree, n))
	g.asm.MOVL(operand.I32(-1), four(column, i))
	g.asm.INCQ(n)
	g.asm.Label(next)
	stride := g.param("stride")
	g.asm.ADDQ(stride, row)
	g.asm.INCQ(i)
	rows := g.param("rows")
	g.asm.CMPQ(i, rows)
	g.goTo(g.asm.JLT, turn)
}

// bids has the first n free rows bid for their nearest columns, and those that lost theirs at once while the price falls, in two turns of
// at most two bids for each row: a path then takes less than further bids.
func (g *small) bids(n reg.GPVirtual) {
	turn, done := g.label("turn"), g.label("done")
	g.asm.Label(turn)
	g.asm.MOVQ(n, g.at(smallLeft))
	g.asm.TESTQ(n, n)
	g.goTo(g.asm.JEQ, done)
	next, bids := g.zeroed(), g.zeroed()
	g.asm.XORL(n.As32(), n.As32())
	bid := g.label("bid")
	g.asm.Label(bid)
	i := g.asm.GP64()
	g.asm.MOVLQSX(g.item4(smallFree, next), i)
	g.asm.INCQ(next)
	g.asm.INCQ(bids)
	row := g.addressOf(i)
	var one, two reg.VecVirtual
	reduced := func(k int) reg.VecVirtual {
		x := g.toDistance(k)
		g.asm.VSUBPD(g.price(k), g.costsOf(row, k), x)
		g.keep(k, x)
		return x
	}
	if g.wide {
		g.each(func(k int) { reduced(k) })
		reduced = func(k int) reg.VecVirtual { return g.d[k] }
	}
	for k := 0; k < g.registers; k += 2 {
		low, high := reduced(k), g.inf
		if k+1 < g.registers {
			x, y := low, reduced(k+1)
			low, high = g.vector(), g.vector()
			g.asm.VMINPD(x, y, low)
			g.asm.VMAXPD(x, y, high)
		}
		if k == 0 {
			one, two = g.copied(low), g.copied(high)
			continue
		}
		x := g.vector()
		g.asm.VMAXPD(one, low, x)
		g.asm.VMINPD(one, low, one)
		g.asm.VMINPD(x, two, two)
		g.asm.VMINPD(high, two, two)
	}
	merge := func(a, b, c, d, x reg.Register) { // of the least a and c and the second least b and d
		g.asm.VMAXPD(a, c, x)
		g.asm.VMINPD(a, c, a)
		g.asm.VMINPD(b, d, b)
		g.asm.VMINPD(x, b, b)
	}
	a, b, x := g.vector(), g.vector(), g.vector()
	if g.wide {
		g.asm.VEXTRACTF64X4(operand.Imm(1), one, a.AsY())
		g.asm.VEXTRACTF64X4(operand.Imm(1), two, b.AsY())
		merge(one.AsY(), two.AsY(), a.AsY(), b.AsY(), x.AsY())
		g.asm.VEXTRACTF64X2(operand.Imm(1), one.AsY(), a.AsX())
		g.asm.VEXTRACTF64X2(operand.Imm(1), two.AsY(), b.AsX())
	} else {
		g.asm.VEXTRACTF128(operand.Imm(1), one, a.AsX())
		g.asm.VEXTRACTF128(operand.Imm(1), two, b.AsX())
	}
	merge(one.AsX(), two.AsX(), a.AsX(), b.AsX(), x.AsX())
	g.asm.VPERMILPD(operand.Imm(1), one.AsX(), a.AsX())
	g.asm.VPERMILPD(operand.Imm(1), two.AsX(), b.AsX())
	merge(one.AsX(), two.AsX(), a.AsX(), b.AsX(), x.AsX())
	first, second := one, two
	g.asm.VUCOMISD(first.AsX(), g.inf.AsX())
	g.goTo(g.asm.JLS, g.bad)
	wanted := g.broadcast(first)
	equals := g.join(func(k int) operand.Op { return g.compare(equal, wanted, g.distance(k)) })
	if g.long() {
		x := g.asm.GP64()
		g.asm.MOVQ(equals[0], x)
		g.asm.ORQ(equals[1], x)
	} else {
		g.asm.TESTQ(equals[0], equals[0])
	}
	g.goTo(g.asm.JEQ, g.bad) // costs that are no numbers
	j, any := g.pick(equals)

	falls, stays, owned := g.zeroed(), g.label("stays"), g.label("owned")
	budget, price := g.asm.GP64(), g.vector()
	g.asm.LEAQ(operand.Mem{Base: next, Index: next, Scale: 1}, budget)
	g.asm.VMOVSD(g.item8(smallPrice, j), price.AsX())
	fallen := g.vector()
	g.asm.VSUBSD(first.AsX(), second.AsX(), fallen.AsX())
	g.asm.VSUBSD(fallen.AsX(), price.AsX(), fallen.AsX())
	g.asm.CMPQ(bids, budget)
	g.goTo(g.asm.JGE, stays)
	g.asm.VUCOMISD(second.AsX(), g.inf.AsX())
	g.goTo(g.asm.JLS, stays)
	g.asm.VUCOMISD(fallen.AsX(), price.AsX())
	g.goTo(g.asm.JLS, stays)
	g.asm.INCQ(falls)
	g.setPrice(j, fallen)
	g.asm.Label(stays)
	column, again, out := g.param("column"), g.label("again"), g.asm.GP64()
	g.asm.MOVL(j.As32(), four(column, i))
	g.asm.MOVLQSX(g.item4(smallOwner, j), out)
	g.asm.MOVL(i.As32(), g.item4(smallOwner, j))
	if g.long() {
		g.asm.TESTQ(any, any)
		g.goTo(g.asm.JEQ, owned)
		g.take(j)
	} else {
		g.take(j)
		g.goTo(g.asm.JCC, owned)
	}
	g.goTo(g.asm.JMP, again)
	g.asm.Label(owned)
	g.asm.MOVL(operand.I32(-1), four(column, out))
	kept := g.label("kept")
	g.asm.TESTQ(falls, falls)
	g.goTo(g.asm.JEQ, kept)
	g.asm.DECQ(next)
	g.asm.MOVL(out.As32(), g.item4(smallFree, next))
	g.goTo(g.asm.JMP, bid)
	g.asm.Label(kept)
	g.asm.MOVL(out.As32(), g.item4(smallFree, n))
	g.asm.INCQ(n)
	g.asm.Label(again)
	g.asm.CMPQ(next, g.at(smallLeft))
	g.goTo(g.asm.JLT, bid)
	g.asm.MOVQ(n, g.at(smallLeft))
	g.asm.DECQ(g.at(smallTurn))
	g.goTo(g.asm.JNE, turn)
	g.asm.Label(done)
}

// paths augments along a shortest path from each row that is free.
func (g *small) paths() {
	path, done := g.label("path"), g.label("done")
	at := g.asm.GP64()
	g.asm.MOVQ(operand.I32(0), g.at(smallAt))
	g.asm.Label(path)
	g.asm.MOVQ(g.at(smallAt), at)
	g.asm.CMPQ(at, g.at(smallLeft))
	g.goTo(g.asm.JGE, done)
	g.asm.INCQ(g.at(smallAt))
	root, steps := g.asm.GP64(), g.asm.GP64()
	left := make([]reg.GPVirtual, g.words())
	for w := range left {
		left[w] = g.asm.GP64()
	}
	g.asm.MOVLQSX(g.item4(smallFree, at), root)
	row := g.addressOf(root)
	var least [2]reg.VecVirtual
	g.each(func(k int) {
		x := g.toDistance(k)
		g.asm.VSUBPD(g.price(k), g.costsOf(row, k), x)
		if g.keep(k, x); k < 2 {
			least[k] = g.copied(x)
		} else {
			g.asm.VMINPD(x, least[k&1], least[k&1])
		}
	})
	for w, x := range left {
		g.asm.MOVQ(g.at(smallAll+8*w), x)
		g.asm.MOVQ(x, g.at(smallUpdated+8*w))
	}
	g.asm.MOVL(root.As32(), g.at(smallTree))
	g.asm.MOVQ(operand.I32(1), steps)
	search, end := g.label("search"), g.label("end")
	g.asm.Label(search)
	if g.registers > 1 {
		g.asm.VMINPD(least[1], least[0], least[0])
	}
	best := g.fold(least[0], g.asm.VMINPD)
	g.asm.VUCOMISD(best.AsX(), g.inf.AsX())
	g.goTo(g.asm.JLS, g.bad)
	wanted := g.broadcast(best)
	equals := g.join(func(k int) operand.Op { return g.compare(equal, wanted, g.distance(k)) })
	g.asm.ANDQ(left[0], equals[0])
	if g.long() {
		g.asm.ANDQ(left[1], equals[1])
		x := g.asm.GP64()
		g.asm.MOVQ(equals[0], x)
		g.asm.ORQ(equals[1], x)
	}
	g.goTo(g.asm.JEQ, g.bad)
	j, any := g.pick(equals)
	if g.long() {
		g.asm.TESTQ(any, any)
		g.goTo(g.asm.JNE, end)
		g.without(j, left)
	} else {
		g.asm.BTQ(j, g.open)
		g.goTo(g.asm.JCS, end)
		g.asm.BTRQ(j, left[0])
	}
	g.asm.MOVL(steps.As32(), g.item4(smallWhen, j))
	i := g.asm.GP64()
	g.asm.MOVLQSX(g.item4(smallOwner, j), i)
	row2 := g.addressOf(i)
	h := g.writer.at(row2, j)
	g.asm.VSUBSD(g.item8(smallPrice, j), h.AsX(), h.AsX())
	g.asm.VSUBSD(best.AsX(), h.AsX(), h.AsX())
	hh := g.broadcast(h)
	sets := []operand.Op{left[0]}
	if g.long() {
		sets = append(sets, left[1])
	}
	mask := g.split(sets...)
	for k := range min(2, g.registers) {
		g.asm.VMOVAPD(g.inf, least[k])
	}
	updated := g.join(func(k int) operand.Op {
		x, open := g.costsOf(row2, k), mask(k)
		g.asm.VSUBPD(g.price(k), x, x)
		g.asm.VSUBPD(hh, x, x)
		if !g.wide {
			d := g.read(g.distance(k))
			nearer := g.compare(lesser, x, d)
			g.asm.VANDPD(open, nearer, nearer)
			g.asm.VBLENDVPD(nearer, x, d, d)
			g.keep(k, d)
			g.lesser(d, open, least[k&1])
			return nearer
		}
		nearer := g.asm.K()
		g.asm.VCMPPD(operand.Imm(lesser), g.d[k], x, open, nearer)
		g.asm.VMOVAPD(x, nearer, g.d[k])
		g.asm.VMINPD(g.d[k], least[k&1], open, least[k&1])
		return nearer
	})
	g.store(updated, g.setOf(smallUpdated, steps))
	g.asm.MOVL(i.As32(), g.item4(smallTree, steps))
	g.asm.INCQ(steps)
	g.goTo(g.asm.JMP, search)

	g.asm.Label(end)
	g.take(j)
	trace := g.label("trace")
	for w, x := range left {
		g.asm.NOTQ(x)
		g.asm.ANDQ(g.at(smallAll+8*w), x)
	}
	if g.long() {
		x := g.asm.GP64()
		g.asm.MOVQ(left[0], x)
		g.asm.ORQ(left[1], x)
	}
	g.goTo(g.asm.JEQ, trace)
	mask = g.split(sets...)
	g.each(func(k int) {
		x, v := g.vector(), g.read(g.price(k))
		if g.asm.VSUBPD(g.distance(k), wanted, x); g.wide {
			g.asm.VSUBPD(x, v, mask(k), v)
		} else {
			g.asm.VANDPD(mask(k), x, x)
			g.asm.VSUBPD(x, v, v)
		}
		g.asm.VMOVUPD(v, g.at(smallPrice+8*g.lanes*k))
	})
	g.asm.Label(trace)
	back, column, before := g.label("back"), g.param("column"), g.asm.GP64()
	g.asm.Label(back)
	g.asm.DECQ(steps)
	set := g.asm.GP64()
	if g.long() {
		g.asm.MOVQ(j, set)
		g.asm.SHRQ(operand.Imm(6), set)
		g.asm.LEAQ(operand.Mem{Base: set, Index: steps, Scale: 2}, set)
		g.asm.MOVQ(g.item8(smallUpdated, set), set)
	} else {
		g.asm.MOVQ(g.item8(smallUpdated, steps), set)
	}
	g.asm.BTQ(j, set) // j modulo 64
	g.goTo(g.asm.JCC, back)
	g.asm.MOVLQSX(g.item4(smallTree, steps), i)
	g.asm.MOVLQSX(four(column, i), before)
	g.asm.MOVL(j.As32(), four(column, i))
	g.asm.MOVL(i.As32(), g.item4(smallOwner, j))
	g.asm.CMPQ(i, root)
	g.goTo(g.asm.JEQ, path)
	g.asm.MOVQ(before, j)
	g.asm.MOVLQSX(g.item4(smallWhen, j), steps)
	g.goTo(g.asm.JMP, back)
	g.asm.Label(done)
}

// check compares each cost with the duals, in integers, and returns 0 where no other matching is better.
func (g *small) check() {
	float, rows := g.elem != "Int32", g.param("rows")
	column := g.param("column")
	scale := g.asm.GP64()
	g.asm.MOVQ(operand.U64(0x3ff0000000000000), scale)
	if float { // the finest units for prices and matched costs
		magnitudes := g.spread(1<<63 - 1)
		most := g.vector()
		g.each(func(k int) {
			x := most
			if k > 0 {
				x = g.vector()
			}
			if g.asm.VANDPD(g.price(k), magnitudes, x); k > 0 {
				g.asm.VMAXPD(x, most, most)
			}
		})
		most = g.fold(most, g.asm.VMAXPD)
		i, row, stride, j := g.zeroed(), g.param("costs"), g.param("stride"), g.asm.GP64()
		turn, exact := g.label("rows"), g.label("zero")
		g.asm.Label(turn)
		g.asm.MOVLQSX(four(column, i), j)
		x := g.writer.at(row, j)
		g.asm.VANDPD(magnitudes.AsX(), x.AsX(), x.AsX())
		g.asm.VMAXSD(x.AsX(), most.AsX(), most.AsX())
		g.asm.ADDQ(stride, row)
		g.asm.INCQ(i)
		g.asm.CMPQ(i, rows)
		g.goTo(g.asm.JLT, turn)
		bits := g.asm.GP64()
		g.asm.VMOVQ(most.AsX(), bits)
		g.asm.TESTQ(bits, bits)
		g.goTo(g.asm.JEQ, exact)
		g.asm.SHRQ(operand.Imm(52), bits)
		g.asm.CMPQ(bits, operand.I32(1023-900))
		g.goTo(g.asm.JLT, g.bad)
		g.asm.CMPQ(bits, operand.I32(1023+57)) // the units are at most 1
		g.goTo(g.asm.JGT, g.bad)
		g.asm.MOVQ(operand.I32(2*1023+58), scale)
		g.asm.SUBQ(bits, scale)
		g.asm.SHLQ(operand.Imm(52), scale)
		g.asm.Label(exact)
	}
	r := rounding{scale: g.broadcastInt(scale), far: g.spread(far), least: g.spread(far | minus)}
	if !g.wide {
		r.magic, r.down, r.up = g.spread(magic), g.spread(down26), g.spread(up26)
	}
	g.each(func(k int) {
		x := g.read(g.price(k))
		g.units(r, x, nil)
		g.asm.VMOVUPD(x, g.at(smallDual+8*g.lanes*k))
	})
	square, cols, zero := g.label("square"), g.param("cols"), g.zero()
	ends := g.zeroed() // bits of the columns that may as well be free
	if g.long() {
		g.asm.MOVQ(ends, g.at(smallEnds))
		g.asm.MOVQ(ends, g.at(smallEnds+8))
	}
	g.asm.CMPQ(rows, cols)
	g.goTo(g.asm.JEQ, square)
	above := func(a, b operand.Op) operand.Op { // mask of a > b
		if !g.wide {
			x := g.vector()
			g.asm.VPCMPGTQ(b, g.read(a), x)
			return x
		}
		k := g.asm.K()
		g.asm.VPCMPQ(operand.Imm(6), b, g.read(a), k)
		return k
	}
	for _, x := range g.join(func(k int) operand.Op { return above(g.dual(k), zero) }) {
		g.asm.TESTQ(x, x)
		g.goTo(g.asm.JNE, g.bad)
	}
	for w, x := range g.join(func(k int) operand.Op { return above(zero, g.dual(k)) }) {
		if g.long() {
			g.asm.TESTQ(x, g.at(smallOpen+8*w))
		} else {
			g.asm.TESTQ(g.open, x)
		}
		g.goTo(g.asm.JNE, g.bad)
	}
	t := g.asm.GP64()
	g.asm.MOVQ(operand.I32(-nearbyUnits), t)
	bar := g.broadcastInt(t)
	found := g.join(func(k int) operand.Op { return above(bar, g.dual(k)) })
	for _, x := range found {
		g.asm.NOTQ(x)
	}
	if g.long() {
		g.and(g.at(smallAll), found)
		g.store(found, g.at(smallEnds))
	} else {
		g.asm.MOVQ(found[0], ends)
		g.asm.ANDQ(g.at(smallAll), ends)
	}
	g.asm.Label(square)
	if !g.long() {
		g.asm.MOVQ(ends, g.at(smallEnds))
	}

	lost := g.zero()
	i, sum, row := g.zeroed(), g.zeroed(), g.param("costs")
	var width reg.VecVirtual // as a cost, and some for rounding
	if float && !g.wide {
		width = g.spread(nearbyWidth)
		g.asm.VDIVSD(r.scale.AsX(), width.AsX(), width.AsX())
	}
	turn, next := g.label("rows"), g.label("next")
	g.asm.Label(turn)
	j := g.asm.GP64()
	g.asm.MOVLQSX(four(column, i), j)
	if float && g.wide {
		g.allPairs(r, row, i, j, sum, lost)
	} else {
		own := g.vector()
		g.asm.VSUBSD(g.item8(smallPrice, j), g.writer.at(row, j).AsX(), own.AsX())
		if float {
			g.asm.VADDSD(width.AsX(), own.AsX(), own.AsX())
		}
		most := g.broadcast(own)
		near := g.join(func(k int) operand.Op {
			x := g.costsOf(row, k)
			if g.asm.VSUBPD(g.at(smallPrice+8*g.lanes*k), x, x); float {
				return g.compare(notMore, x, most)
			}
			return g.compare(lesser, x, most)
		})
		if float {
			g.nearPairs(r, row, i, j, sum, near, lost, next)
		} else { // all of them are integers in float64
			for _, x := range near {
				g.asm.TESTQ(x, x)
				g.goTo(g.asm.JNE, g.bad)
			}
		}
	}
	g.asm.Label(next)
	stride := g.param("stride")
	g.asm.ADDQ(stride, row)
	g.asm.INCQ(i)
	g.asm.CMPQ(i, rows)
	g.goTo(g.asm.JLT, turn)
	best := g.label("best")
	if float {
		rounded := g.nonzero(lost)
		g.asm.ORQ(sum, rounded)
		g.goTo(g.asm.JEQ, best)
		g.asm.ADDQ(rows, sum)
		g.asm.CMPQ(sum, operand.I32(nearbyUnits-1))
		g.goTo(g.asm.JHI, g.bad)
		if g.long() {
			g.aloneOfTwo(best)
		} else {
			g.alone(best)
		}
	}
	g.asm.Label(best)
	g.result(0)
}

// nearbyWidth is nearbyUnits, and more than float64 rounds of the largest cost and price in their units.
const nearbyWidth = 0x4130040000000000 // 2^20 + 2^10

// notMore is a comparison that holds of what is no number.
const notMore = 26 // NGT_UQ

// fewNear is the most near pairs of a row that are looked at one by one.
const fewNear = 3

// nearPairs compares a row's near pairs with its own pair, of column j, in integers, and adds what that costs more than the least to sum. Other pairs cost more by
// far, so that it does not matter what units round of them. With AVX2 most rows take a quarter of the time so, as it has no conversion to integers of eight bytes.
func (g *small) nearPairs(r rounding, row, i, j, sum reg.GPVirtual, near []reg.GPVirtual, lost reg.VecVirtual, next string) {
	bits := near[0]
	g.asm.BTRQ(j, bits)
	g.asm.MOVQ(bits, g.item8(smallNear, i))
	units := func(j reg.Register) reg.GPVirtual { // of a cost less the dual
		x, out := g.writer.at(row, j), g.asm.GP64()
		g.asm.VMULSD(r.scale.AsX(), x.AsX(), x.AsX())
		g.asm.VMAXSD(r.least.AsX(), x.AsX(), x.AsX()) // the second operand where one is no number
		g.asm.VCVTSD2SIQ(x.AsX(), out)
		y := g.vector()
		g.asm.VXORPD(y.AsX(), y.AsX(), y.AsX())
		g.asm.VCVTSI2SDQ(out, y.AsX(), y.AsX())
		g.asm.VSUBSD(x.AsX(), y.AsX(), y.AsX())
		g.asm.VORPD(y.AsX(), lost.AsX(), lost.AsX())
		g.asm.SUBQ(g.item8(smallDual, j), out)
		return out
	}
	more, many, low := units(j), g.label("many"), g.asm.GP64()
	count := g.asm.GP64()
	g.asm.POPCNTQ(bits, count)
	g.asm.TESTQ(count, count)
	g.goTo(g.asm.JEQ, next)
	g.asm.CMPQ(count, operand.Imm(fewNear))
	g.goTo(g.asm.JHI, many)
	g.asm.MOVQ(more, low)
	again, k, found := g.label("near"), g.asm.GP64(), g.label("found")
	g.asm.Label(again)
	g.asm.TZCNTQ(bits, k)
	x := units(k)
	g.asm.CMPQ(x, low)
	g.asm.CMOVQLT(x, low)
	g.asm.BLSRQ(bits, bits)
	g.goTo(g.asm.JNE, again)
	g.goTo(g.asm.JMP, found)
	g.asm.Label(many)
	g.asm.MOVQ(g.leastUnits(r, row, lost, func(int, reg.VecVirtual) {}), low)
	g.asm.Label(found)
	g.asm.SUBQ(low, more)
	g.asm.CMPQ(more, operand.I32(nearbyUnits))
	g.goTo(g.asm.JHI, g.bad)
	g.asm.ADDQ(more, sum)
}

// allPairs does what nearPairs does for all pairs of a row: AVX-512 takes as long to find the near ones.
func (g *small) allPairs(r rounding, row, i, j, sum reg.GPVirtual, lost reg.VecVirtual) {
	low := g.asm.GP64()
	g.asm.MOVQ(g.leastUnits(r, row, lost, func(k int, x reg.VecVirtual) { g.asm.VMOVDQA64(x, g.d[k]) }), low)
	more, own := g.asm.GP64(), g.writer.at(row, j)
	g.asm.VMULSD(r.scale.AsX(), own.AsX(), own.AsX())
	g.asm.VCVTSD2SIQ(own.AsX(), more)
	g.asm.SUBQ(g.item8(smallDual, j), more)
	g.asm.SUBQ(low, more)
	g.asm.CMPQ(more, operand.I32(nearbyUnits))
	g.goTo(g.asm.JHI, g.bad)
	g.asm.ADDQ(more, sum)
	g.asm.ADDQ(operand.I32(nearbyUnits), low)
	bar := g.broadcastInt(low)
	near := g.join(func(k int) operand.Op {
		atMost := g.asm.K()
		g.asm.VPCMPQ(operand.Imm(2), bar, g.d[k], atMost)
		return atMost
	})
	if g.long() {
		g.without(j, near)
	} else {
		g.asm.BTRQ(j, near[0])
	}
	g.store(near, g.setOf(smallNear, i))
}

// leastUnits is the least of a row's costs less the duals, in units; keep gets those of each register.
func (g *small) leastUnits(r rounding, row reg.Register, lost reg.VecVirtual, keep func(k int, x reg.VecVirtual)) reg.GPVirtual {
	var least reg.VecVirtual
	g.each(func(k int) {
		x := g.costsOf(row, k)
		g.units(r, x, lost)
		g.asm.VPSUBQ(g.dual(k), x, x)
		if keep(k, x); k == 0 {
			least = g.copied(x)
		} else {
			g.lessInt(x, least)
		}
	})
	if !g.wide {
		return g.lowInt(least)
	}
	out := g.asm.GP64()
	g.asm.VMOVQ(g.fold(least, g.asm.VPMINSQ).AsX(), out)
	return out
}

// nonzero are the bits of the lanes of x that are not zero, but for signs.
func (g *small) nonzero(x reg.VecVirtual) reg.GPVirtual {
	return g.bits(unequal, x, g.zero())
}

// alone goes to best where the matching is the only one of its own pairs and the near ones: columns that lead nowhere are taken away until none
// is left, as refine.HasNoCycle has it. Edges lead from a row's own column to the columns near it, and from a free column to
// the columns that could be free in its place at no cost.
func (g *small) alone(best string) {
	alive, before := g.asm.GP64(), g.asm.GP64()
	g.asm.MOVQ(g.at(smallAll), alive)
	round := g.label("round")
	g.asm.Label(round)
	g.asm.MOVQ(alive, before)
	i, column := g.param("rows"), g.param("column")
	turn, next, owned := g.label("turn"), g.label("next"), g.label("owned")
	g.asm.Label(turn)
	j, leads := g.asm.GP64(), g.asm.GP64()
	g.asm.MOVLQSX(operand.Mem{Base: column, Index: i, Scale: 4, Disp: -4}, j)
	g.asm.MOVQ(g.item8(smallNear-8, i), leads)
	g.asm.TESTQ(alive, leads)
	g.goTo(g.asm.JNE, next)
	g.asm.BTRQ(j, alive)
	g.asm.Label(next)
	g.asm.DECQ(i)
	g.goTo(g.asm.JNE, turn)
	g.asm.TESTQ(g.open, alive)
	g.goTo(g.asm.JEQ, owned)
	g.asm.TESTQ(alive, g.at(smallEnds))
	g.goTo(g.asm.JNE, owned)
	g.asm.MOVQ(g.open, leads)
	g.asm.NOTQ(leads)
	g.asm.ANDQ(leads, alive)
	g.asm.Label(owned)
	g.asm.TESTQ(alive, alive)
	g.goTo(g.asm.JEQ, best)
	g.asm.CMPQ(alive, before)
	g.goTo(g.asm.JNE, round)
	g.goTo(g.asm.JMP, g.bad)
}

// aloneOfTwo is alone for sets of two words.
func (g *small) aloneOfTwo(best string) {
	alive, leads, changed := []reg.GPVirtual{g.asm.GP64(), g.asm.GP64()}, []reg.GPVirtual{g.asm.GP64(), g.asm.GP64()}, g.asm.GP64()
	for w, x := range alive {
		g.asm.MOVQ(g.at(smallAll+8*w), x)
	}
	round := g.label("round")
	g.asm.Label(round)
	g.asm.XORL(changed.As32(), changed.As32())
	i, column := g.param("rows"), g.param("column")
	turn, next, owned := g.label("turn"), g.label("next"), g.label("owned")
	any := func() { // sets the flag of zero where leads are not alive
		g.asm.ANDQ(alive[0], leads[0])
		g.asm.ANDQ(alive[1], leads[1])
		g.asm.ORQ(leads[1], leads[0])
	}
	g.asm.Label(turn)
	set := g.setOf(smallNear-16, i)
	g.asm.MOVQ(set, leads[0])
	g.asm.MOVQ(second(set), leads[1])
	any()
	g.goTo(g.asm.JNE, next)
	j := g.asm.GP64()
	g.asm.MOVLQSX(operand.Mem{Base: column, Index: i, Scale: 4, Disp: -4}, j)
	for w, b := range g.bitsOf(j) {
		g.asm.TESTQ(b, alive[w])
		gone := g.asm.GP64()
		g.asm.MOVQ(operand.U32(0), gone)
		g.asm.CMOVQNE(b, gone)
		g.asm.ORQ(gone, changed)
		g.asm.ANDNQ(alive[w], b, alive[w])
	}
	g.asm.Label(next)
	g.asm.DECQ(i)
	g.goTo(g.asm.JNE, turn)
	for k, offset := range []int{smallOpen, smallEnds} { // free columns are alive, and may take the place of none that is
		for w := range leads {
			g.asm.MOVQ(g.at(offset+8*w), leads[w])
		}
		any()
		g.goTo([]func(operand.Op){g.asm.JEQ, g.asm.JNE}[k], owned)
	}
	for w, x := range alive {
		g.asm.MOVQ(g.at(smallOpen+8*w), leads[w])
		g.asm.ANDNQ(x, leads[w], x)
	}
	g.asm.INCQ(changed)
	g.asm.Label(owned)
	g.asm.MOVQ(alive[0], leads[0])
	g.asm.ORQ(alive[1], leads[0])
	g.goTo(g.asm.JEQ, best)
	g.asm.TESTQ(changed, changed)
	g.goTo(g.asm.JNE, round)
	g.goTo(g.asm.JMP, g.bad)
}
