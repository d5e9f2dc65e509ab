// Package lapjv writes the AVX-512 and AVX2 kernels of runtime/host/kernels/assignment/lapjv: the parts
// of the algorithm of Jonker and Volgenant for dense linear assignment, and its check.
package lapjv

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Offsets of the fields of lapjv.Search, which a test compares with the struct.
const (
	costs        = 8 * iota // of the first row
	stride                  // bytes from row to row
	rows                    //
	cols                    //
	turns                   // most bids for each row looked at
	share                   // of what a price may fall as a row takes a column
	price                   // of columns
	column                  // of rows
	row                     // of columns
	free                    // rows
	distance                // of columns in a search
	shut                    // price, or minus infinity in columns that a search has left
	from                    // the row that gave a column its distance
	left                    // columns that a search has left
	reach                   // their distances
	scans                   // columns that all searches have left
	dualRow                 // u in units
	dualCol                 // v in units
	scale                   // units in 1
	slack                   // sum of what matched pairs cost more than their duals, in units
	rounded                 // not 0: units rounded a cost
	near                    // columns
	nearby                  // bits of each row's near columns, a byte for eight
	nearbyStride            // bytes from row to row
)

// AVX512 adds the kernels for processors with AVX-512 (F, DQ, BW, VL).
func AVX512(w *build.Context) { kernels(w, true) }

// AVX2 adds the kernels for processors with AVX2 and BMI1.
func AVX2(w *build.Context) { kernels(w, false) }

func kernels(w *build.Context, wide bool) {
	for _, k := range []struct {
		name string
		size int
	}{{"Float64", 8}, {"Float32", 4}, {"Int32", 4}} {
		g := &writer{asm: w, wide: wide, elem: k.name, size: k.size, lanes: 4, suffix: k.name + "AVX2"}
		if wide {
			g.lanes, g.suffix = 8, k.name+"AVX512"
		}
		g.minima()
		g.transfer()
		g.bid()
		g.path()
		g.check()
		g.close()
		n := newNative(g)
		n.nearest()
		n.nearestRows()
		n.rowsBelow()
		g.below()
		g.turn()
		g.span()
		if k.name == "Int32" {
			g.most()
		} else {
			g.cut()
		}
		if k.name == "Float64" {
			g.least()
			g.two()
			g.nearer()
		}
		if k.name != "Float32" {
			g.unlike()
		}
	}
}

// A writer writes the kernels of one type of costs for one set of instructions.
type writer struct {
	asm         *build.Context // not embedded: the compiler would write wrappers of its 6,000 methods, for 4 s
	wide        bool           // AVX-512
	elem        string
	size, lanes int
	suffix      string
	labels      int

	s    reg.GPVirtual // the search
	inf  reg.VecVirtual
	tail reg.Register // lanes of the last block that are columns: an opmask, or a vector
	half reg.VecVirtual
}

func (g *writer) label(name string) string {
	g.labels++
	return fmt.Sprintf("%s%d", name, g.labels)
}

func (g *writer) goTo(jump func(operand.Op), label string) { jump(operand.LabelRef(label)) }

// function begins a kernel.
func (g *writer) function(name, signature string, doc ...string) {
	g.asm.Function(name + g.suffix)
	g.asm.Attributes(attr.NOSPLIT)
	g.asm.SignatureExpr(signature)
	g.asm.Doc(append([]string{name + g.suffix + " " + doc[0]}, doc[1:]...)...)
	g.asm.Pragma("noescape")
	g.s = g.asm.Load(g.asm.Param("s"), g.asm.GP64()).(reg.GPVirtual)
}

// field loads a field of the search.
func (g *writer) field(offset int) reg.GPVirtual {
	x := g.asm.GP64()
	g.asm.MOVQ(operand.Mem{Base: g.s, Disp: offset}, x)
	return x
}

func (g *writer) vector() reg.VecVirtual {
	if g.wide {
		return g.asm.ZMM()
	}
	return g.asm.YMM()
}

func (g *writer) zero() reg.VecVirtual {
	x := g.vector()
	g.asm.VXORPD(x.AsY(), x.AsY(), x.AsY())
	return x
}

// infinity fills inf.
func (g *writer) infinity() { g.inf = g.spread(0x7ff0000000000000) }

// spread is a vector of a constant.
func (g *writer) spread(bits uint64) reg.VecVirtual {
	t, x := g.asm.GP64(), g.vector()
	g.asm.MOVQ(operand.U64(bits), t)
	g.asm.VMOVQ(t, x.AsX())
	g.asm.VBROADCASTSD(x.AsX(), x)
	return x
}

// broadcast is a vector of the low lane of x.
func (g *writer) broadcast(x reg.VecVirtual) reg.VecVirtual {
	y := g.vector()
	g.asm.VBROADCASTSD(x.AsX(), y)
	return y
}

// broadcastInt is a vector of an integer.
func (g *writer) broadcastInt(x reg.Register) reg.VecVirtual {
	y := g.vector()
	if g.wide {
		g.asm.VPBROADCASTQ(x, y)
		return y
	}
	g.asm.VMOVQ(x, y.AsX())
	g.asm.VPBROADCASTQ(y.AsX(), y)
	return y
}

// iota is 0, 1, 2 and so on.
func (g *writer) iota() reg.VecVirtual { return g.numbers(g.asm.VPMOVZXBQ) }

// numbers is 0, 1, 2 and so on in lanes to which an instruction extends bytes.
func (g *writer) numbers(extend func(ops ...operand.Op)) reg.VecVirtual {
	t, x := g.asm.GP64(), g.vector()
	g.asm.MOVQ(operand.U64(0x0706050403020100), t)
	g.asm.VMOVQ(t, x.AsX())
	extend(x.AsX(), x)
	return x
}

// lastColumns is the number of columns after the last full register of m.
func (g *writer) lastColumns(m reg.Register) reg.GPVirtual {
	n := g.asm.GP64()
	g.asm.MOVQ(m, n)
	g.asm.ANDQ(operand.Imm(uint64(g.lanes-1)), n)
	return n
}

// lowBits are n bits that are set, from the lowest on.
func (g *writer) lowBits(n reg.GPVirtual) reg.GPVirtual {
	bits := g.asm.GP64()
	g.asm.MOVQ(n, reg.RCX)
	g.asm.MOVQ(operand.U64(1), bits)
	g.asm.SHLQ(reg.CL, bits)
	g.asm.DECQ(bits)
	return bits
}

// tails fills tail for m columns; infinity was called.
func (g *writer) tails(m reg.Register) {
	n := g.lastColumns(m)
	if g.wide {
		k := g.asm.K()
		g.asm.KMOVB(g.lowBits(n).As32(), k)
		g.tail = k
		return
	}
	x := g.broadcastInt(n)
	mask := g.vector()
	g.asm.VPCMPGTQ(g.iota(), x, mask)
	g.tail = mask
	if g.size == 4 {
		g.half = g.vector()
		t := g.asm.GP64()
		y := g.vector()
		g.asm.MOVQ(operand.U64(0x03020100), t)
		g.asm.VMOVQ(t, y.AsX())
		g.asm.VPMOVZXBD(y.AsX(), y.AsX())
		g.asm.VMOVD(n.As32(), g.half.AsX())
		g.asm.VPSHUFD(operand.Imm(0), g.half.AsX(), g.half.AsX())
		g.asm.VPCMPGTD(y.AsX(), g.half.AsX(), g.half.AsX())
	}
}

// load reads costs as float64s, infinity beyond the last column.
func (g *writer) load(m operand.Mem, last bool) reg.VecVirtual {
	x := g.vector()
	if !last {
		switch g.elem {
		case "Float64":
			g.asm.VMOVUPD(m, x)
		case "Float32":
			g.asm.VCVTPS2PD(m, x)
		case "Int32":
			g.asm.VCVTDQ2PD(m, x)
		}
		return x
	}
	if g.wide {
		g.asm.VMOVAPD(g.inf, x)
		y := g.asm.YMM()
		switch g.elem {
		case "Float64":
			g.asm.VMOVUPD(m, g.tail, x)
		case "Float32":
			g.asm.VMOVUPS_Z(m, g.tail, y)
			g.asm.VCVTPS2PD(y, g.tail, x)
		case "Int32":
			g.asm.VMOVDQU32_Z(m, g.tail, y)
			g.asm.VCVTDQ2PD(y, g.tail, x)
		}
		return x
	}
	switch g.elem {
	case "Float64":
		g.asm.VMASKMOVPD(m, g.tail, x)
	case "Float32":
		g.asm.VMASKMOVPS(m, g.half.AsX(), x.AsX())
		g.asm.VCVTPS2PD(x.AsX(), x)
	case "Int32":
		g.asm.VPMASKMOVD(m, g.half.AsX(), x.AsX())
		g.asm.VCVTDQ2PD(x.AsX(), x)
	}
	g.asm.VBLENDVPD(g.tail, x, g.inf, x)
	return x
}

// loadInts reads int32 costs as int64s, large ones beyond the last column.
func (g *writer) loadInts(m operand.Mem, large reg.VecVirtual, last bool) reg.VecVirtual {
	x := g.vector()
	switch {
	case !last:
		g.asm.VPMOVSXDQ(m, x)
	case g.wide:
		g.asm.VMOVDQA64(large, x)
		y := g.asm.YMM()
		g.asm.VMOVDQU32_Z(m, g.tail, y)
		g.asm.VPMOVSXDQ(y, g.tail, x)
	default:
		g.asm.VPMASKMOVD(m, g.half.AsX(), x.AsX())
		g.asm.VPMOVSXDQ(x.AsX(), x)
		g.asm.VBLENDVPD(g.tail, x, large, x)
	}
	return x
}

// at is column j's cost of a row as a float64, in the low lane.
func (g *writer) at(row, j reg.Register) reg.VecVirtual {
	x := g.vector()
	m := operand.Mem{Base: row, Index: j, Scale: uint8(g.size)}
	switch g.elem {
	case "Float64":
		g.asm.VMOVSD(m, x.AsX())
	case "Float32":
		g.asm.VXORPD(x.AsX(), x.AsX(), x.AsX())
		g.asm.VCVTSS2SD(m, x.AsX(), x.AsX())
	case "Int32":
		g.asm.VXORPD(x.AsX(), x.AsX(), x.AsX())
		g.asm.VCVTSI2SDL(m, x.AsX(), x.AsX())
	}
	return x
}

func (g *writer) cost(row, j reg.Register, block int) operand.Mem {
	return operand.Mem{Base: row, Index: j, Scale: uint8(g.size), Disp: block * g.lanes * g.size}
}

func (g *writer) eight(list, j reg.Register, block int) operand.Mem {
	return operand.Mem{Base: list, Index: j, Scale: 8, Disp: block * g.lanes * 8}
}

func four(list, j reg.Register) operand.Mem { return operand.Mem{Base: list, Index: j, Scale: 4} }

func (g *writer) sub(a, b, to operand.Op) { g.asm.VSUBPD(b, a, to) } // to = a - b

// bits are the lanes where a comparison of a with b holds.
func (g *writer) bits(compare uint64, a reg.VecVirtual, b operand.Op) reg.GPVirtual {
	x := g.asm.GP64()
	if g.wide {
		k := g.asm.K()
		g.asm.VCMPPD(operand.Imm(compare), b, a, k)
		g.asm.KMOVB(k, x.As32())
		return x
	}
	y := g.vector()
	g.asm.VCMPPD(operand.Imm(compare), b, a, y)
	g.asm.VMOVMSKPD(y, x.As32())
	return x
}

const (
	equal     = 0  // EQ_OQ
	lesser    = 17 // LT_OQ
	unordered = 3  // UNORD_Q
	unequal   = 4  // NEQ_UQ
	differ    = 12 // NEQ_OQ: not of an infinity less itself
	notAbove  = 25 // NGE_UQ: less, or no number
)

// low is the least lane of x.
func (g *writer) low(x reg.VecVirtual) reg.VecVirtual {
	y, z := g.vector(), g.vector()
	if g.wide {
		g.asm.VEXTRACTF64X4(operand.Imm(1), x, y.AsY())
		g.asm.VMINPD(x.AsY(), y.AsY(), y.AsY())
	} else {
		g.asm.VMOVAPD(x, y)
	}
	g.asm.VEXTRACTF128(operand.Imm(1), y.AsY(), z.AsX())
	g.asm.VMINPD(y.AsX(), z.AsX(), y.AsX())
	g.asm.VUNPCKHPD(y.AsX(), y.AsX(), z.AsX())
	g.asm.VMINSD(y.AsX(), z.AsX(), y.AsX())
	return y
}

// lowTwo are the two least lanes of two vectors, of which one has the least of each lane and two the second least.
func (g *writer) lowTwo(one, two reg.VecVirtual) (first, second reg.VecVirtual) {
	a, b := g.vector(), g.vector()
	g.asm.VMOVAPD(one, a)
	g.asm.VMOVAPD(two, b)
	merge := func(h, t operand.Op, x, y func(reg.VecVirtual) reg.Register) {
		p := g.vector()
		g.asm.VMAXPD(h, x(a), y(p))
		g.asm.VMINPD(h, x(a), x(a))
		g.asm.VMINPD(t, x(b), x(b))
		g.asm.VMINPD(y(p), x(b), x(b))
	}
	asY := func(v reg.VecVirtual) reg.Register { return v.AsY() }
	asX := func(v reg.VecVirtual) reg.Register { return v.AsX() }
	if g.wide {
		c, d := g.vector(), g.vector()
		g.asm.VEXTRACTF64X4(operand.Imm(1), a, c.AsY())
		g.asm.VEXTRACTF64X4(operand.Imm(1), b, d.AsY())
		merge(c.AsY(), d.AsY(), asY, asY)
	}
	c, d := g.vector(), g.vector()
	g.asm.VEXTRACTF128(operand.Imm(1), a.AsY(), c.AsX())
	g.asm.VEXTRACTF128(operand.Imm(1), b.AsY(), d.AsX())
	merge(c.AsX(), d.AsX(), asX, asX)
	g.asm.VUNPCKHPD(a.AsX(), a.AsX(), c.AsX())
	g.asm.VUNPCKHPD(b.AsX(), b.AsX(), d.AsX())
	merge(c.AsX(), d.AsX(), asX, asX)
	return a, b
}

// lowInt is the least lane of a vector of int64s.
func (g *writer) lowInt(x reg.VecVirtual) reg.GPVirtual {
	y, z, out := g.vector(), g.vector(), g.asm.GP64()
	if g.wide {
		g.asm.VEXTRACTI64X4(operand.Imm(1), x, y.AsY())
		g.asm.VPMINSQ(x.AsY(), y.AsY(), y.AsY())
		g.asm.VEXTRACTI128(operand.Imm(1), y.AsY(), z.AsX())
		g.asm.VPMINSQ(y.AsX(), z.AsX(), y.AsX())
		g.asm.VPUNPCKHQDQ(y.AsX(), y.AsX(), z.AsX())
		g.asm.VPMINSQ(y.AsX(), z.AsX(), y.AsX())
	} else {
		g.asm.VEXTRACTI128(operand.Imm(1), x, y.AsX())
		a, m := g.vector(), g.vector()
		g.asm.VMOVDQU(x.AsX(), a.AsX())
		g.asm.VPCMPGTQ(y.AsX(), a.AsX(), m.AsX())
		g.asm.VBLENDVPD(m.AsX(), y.AsX(), a.AsX(), y.AsX())
		g.asm.VPUNPCKHQDQ(y.AsX(), y.AsX(), z.AsX())
		g.asm.VPCMPGTQ(z.AsX(), y.AsX(), m.AsX())
		g.asm.VBLENDVPD(m.AsX(), z.AsX(), y.AsX(), y.AsX())
	}
	g.asm.VMOVQ(y.AsX(), out)
	return out
}

// lessInt makes to the lesser of to and x.
func (g *writer) lessInt(x, to reg.VecVirtual) {
	if g.wide {
		g.asm.VPMINSQ(x, to, to)
		return
	}
	m := g.vector()
	g.asm.VPCMPGTQ(x, to, m)
	g.asm.VBLENDVPD(m, x, to, to)
}

// set makes lane j of a list in memory the low lane of x: by a whole block, as loads of the block that follow a store
// of one lane wait for the store.
func (g *writer) set(list, j reg.Register, x reg.VecVirtual) {
	block, y := g.asm.GP64(), g.broadcast(x)
	g.asm.MOVQ(j, block)
	g.asm.ANDQ(operand.I32(-g.lanes), block)
	m := operand.Mem{Base: list, Index: block, Scale: 8}
	lane := g.asm.GP64()
	g.asm.MOVQ(j, lane)
	g.asm.SUBQ(block, lane)
	old := g.vector()
	g.asm.VMOVUPD(m, old)
	mask := g.vector()
	if g.wide {
		k := g.asm.K()
		g.asm.VPCMPEQQ(g.broadcastInt(lane), g.iota(), k)
		g.asm.VMOVAPD(y, k, old)
	} else {
		g.asm.VPCMPEQQ(g.broadcastInt(lane), g.iota(), mask)
		g.asm.VBLENDVPD(mask, y, old, old)
	}
	g.asm.VMOVUPD(old, m)
}

// blocks writes a loop over the blocks of m columns. body gets the column that a block is counted from, how many blocks
// further it is, and whether it is the last one, which is short.
func (g *writer) blocks(m reg.Register, unroll int, body func(j reg.Register, block int, last bool)) {
	g.groups(m, unroll, func(j reg.Register, n int, last bool) {
		for b := range n {
			body(j, b, last)
		}
	})
}

// groups writes a loop over the blocks of m columns, unroll at once and then one at once. body gets the first column of n blocks, and whether that is the
// last one, which is short.
func (g *writer) groups(m reg.Register, unroll int, body func(j reg.Register, n int, last bool)) {
	j, t := g.asm.GP64(), g.asm.GP64()
	g.asm.XORQ(j, j)
	loop := func(n int, again bool) {
		turn, end := g.label("turn"), g.label("end")
		g.asm.Label(turn)
		g.asm.LEAQ(operand.Mem{Base: j, Disp: n * g.lanes}, t)
		g.asm.CMPQ(t, m)
		g.goTo(g.asm.JGT, end)
		body(j, n, false)
		g.asm.MOVQ(t, j)
		if again {
			g.goTo(g.asm.JMP, turn)
		}
		g.asm.Label(end)
	}
	if unroll > 1 {
		loop(unroll, true)
	}
	loop(1, unroll != 2)
	end := g.label("whole")
	g.asm.CMPQ(j, m)
	g.goTo(g.asm.JGE, end)
	body(j, 1, true)
	g.asm.Label(end)
}

// search writes a loop over the columns where what at gives is equal to x, with one branch for four blocks; body may jump out.
func (g *writer) search(m reg.Register, x reg.VecVirtual, at func(j reg.Register, b int, last bool) operand.Op, body func(k reg.GPVirtual)) {
	g.groups(m, 4, func(j reg.Register, n int, last bool) {
		var all reg.GPVirtual
		if g.wide && n == 4 {
			var k [4]reg.OpmaskVirtual
			for b := range k {
				k[b] = g.asm.K()
				g.asm.VCMPPD(operand.Imm(equal), at(j, b, last), x, k[b])
			}
			g.asm.KUNPCKBW(k[0], k[1], k[0])
			g.asm.KUNPCKBW(k[2], k[3], k[2])
			g.asm.KUNPCKWD(k[0], k[2], k[0])
			all = g.asm.GP64()
			g.asm.KMOVD(k[0], all.As32())
		} else {
			all = g.bits(equal, x, at(j, 0, last))
			for b := 1; b < n; b++ {
				y := g.bits(equal, x, at(j, b, last))
				g.asm.SHLL(operand.Imm(uint64(b*g.lanes)), y.As32())
				g.asm.ORL(y.As32(), all.As32())
			}
		}
		g.lanesOf(all, j, 0, body)
	})
}

// rowAt is the address of row i.
func (g *writer) rowAt(i reg.Register) reg.GPVirtual {
	x := g.asm.GP64()
	g.asm.MOVQ(operand.Mem{Base: g.s, Disp: stride}, x)
	g.asm.IMULQ(i, x)
	g.asm.ADDQ(operand.Mem{Base: g.s, Disp: costs}, x)
	return x
}

// lanesOf writes body for each lane of bits, with the column of that lane; body may jump out.
func (g *writer) lanesOf(bits, j reg.Register, block int, body func(k reg.GPVirtual)) {
	again, none := g.label("lane"), g.label("none")
	b := bits.(reg.GPVirtual)
	g.asm.TESTL(b.As32(), b.As32())
	g.goTo(g.asm.JEQ, none)
	g.asm.Label(again)
	k := g.asm.GP64()
	g.asm.TZCNTL(b.As32(), k.As32())
	g.asm.LEAQ(operand.Mem{Base: k, Index: j, Scale: 1, Disp: block * g.lanes}, k)
	body(k)
	g.asm.BLSRL(b.As32(), b.As32())
	g.goTo(g.asm.JNE, again)
	g.asm.Label(none)
}

// minima writes column reduction.
func (g *writer) minima() {
	g.function("minima", "func(s *byte) int",
		"makes the prices the least costs of their columns. It returns 0, 1 where a column is allowed to no row.")
	m := g.field(cols)
	g.infinity()
	g.tails(m)
	v := g.field(price)
	first := g.field(costs)
	g.blocks(m, 1, func(j reg.Register, b int, last bool) {
		g.asm.VMOVUPD(g.load(g.cost(first, j, b), last), g.eight(v, j, b))
	})
	i := g.asm.GP64()
	g.asm.MOVQ(operand.U64(1), i)
	turn, done := g.label("rows"), g.label("rows")
	g.asm.Label(turn)
	g.asm.CMPQ(i, operand.Mem{Base: g.s, Disp: rows})
	g.goTo(g.asm.JGE, done)
	c := g.rowAt(i)
	g.blocks(m, 2, func(j reg.Register, b int, last bool) {
		x := g.load(g.cost(c, j, b), last)
		g.asm.VMINPD(g.eight(v, j, b), x, x)
		g.asm.VMOVUPD(x, g.eight(v, j, b))
	})
	g.asm.INCQ(i)
	g.goTo(g.asm.JMP, turn)
	g.asm.Label(done)

	// Columns without a finite cost, and 0 beyond the last.
	bad := g.label("bad")
	g.blocks(m, 1, func(j reg.Register, b int, last bool) {
		x := g.vector()
		g.asm.VMOVUPD(g.eight(v, j, b), x)
		miss := g.bits(lesser, x, g.inf)
		if !last {
			g.asm.CMPL(miss.As32(), operand.Imm(uint64(1<<g.lanes-1)))
			g.goTo(g.asm.JNE, bad)
			return
		}
		n := g.asm.GP64()
		g.asm.MOVQ(m, n)
		g.asm.SUBQ(j, n)
		g.asm.INCL(miss.As32()) // 2^n - 1 were finite
		g.asm.BTL(n.As32(), miss.As32())
		g.goTo(g.asm.JCC, bad)
		if g.wide {
			y := g.vector()
			g.asm.VMOVUPD_Z(x, g.tail, y)
			g.asm.VMOVUPD(y, g.eight(v, j, b))
		} else {
			g.asm.VANDPD(g.tail, x, x)
			g.asm.VMOVUPD(x, g.eight(v, j, b))
		}
	})

	g.result(0)
	g.asm.Label(bad)
	g.result(1)
}

// result returns a number.
func (g *writer) result(x int32) {
	n := g.asm.GP64()
	g.asm.MOVQ(operand.I32(x), n)
	g.asm.Store(n, g.asm.ReturnIndex(0))
	g.asm.VZEROUPPER()
	g.asm.RET()
}

// transfer writes the first matching and reduction transfer.
func (g *writer) transfer() {
	g.function("transfer", "func(s *byte) int",
		"gives each row the first free column that costs it as much as the price, and moves what the row could lose from",
		"that. It lists the free rows, and returns how many they are.")
	m := g.field(cols)
	g.infinity()
	g.tails(m)
	v := g.field(price)
	list, n, i := g.field(free), g.asm.GP64(), g.asm.GP64()
	g.asm.XORQ(n, n)
	g.asm.XORQ(i, i)
	turn, done := g.label("rows"), g.label("rows")
	g.asm.Label(turn)
	g.asm.CMPQ(i, m)
	g.goTo(g.asm.JGE, done)
	c := g.rowAt(i)
	found := g.label("found")
	owner, at := g.field(row), g.asm.GP64()
	g.blocks(m, 1, func(j reg.Register, b int, last bool) {
		x := g.load(g.cost(c, j, b), last)
		g.lanesOf(g.bits(equal, x, g.eight(v, j, b)), j, b, func(k reg.GPVirtual) {
			g.asm.MOVQ(k, at)
			g.asm.CMPL(four(owner, k), operand.Imm(0))
			g.goTo(g.asm.JLT, found)
		})
	})
	g.asm.MOVL(i.As32(), four(list, n))
	g.asm.INCQ(n)
	next := g.label("next")
	g.goTo(g.asm.JMP, next)
	g.asm.Label(found)
	g.asm.MOVL(i.As32(), four(owner, at))
	own := g.field(column)
	g.asm.MOVL(at.As32(), four(own, i))
	before, minus := g.vector(), g.spread(0xfff0000000000000)
	g.asm.VMOVSD(operand.Mem{Base: v, Index: at, Scale: 8}, before.AsX())
	g.set(v, at, minus)
	least := [2]reg.VecVirtual{g.vector(), g.vector()}
	g.asm.VMOVAPD(g.inf, least[0])
	g.asm.VMOVAPD(g.inf, least[1])
	g.blocks(m, 2, func(j reg.Register, b int, last bool) {
		x := g.load(g.cost(c, j, b), last)
		g.sub(x, g.eight(v, j, b), x)
		g.asm.VMINPD(x, least[b&1], least[b&1])
	})
	g.asm.VMINPD(least[1], least[0], least[0])
	second := g.low(least[0])
	g.asm.VUCOMISD(second.AsX(), g.inf.AsX())
	keep := g.label("keep")
	g.goTo(g.asm.JLS, keep)
	g.asm.VMULSD(operand.Mem{Base: g.s, Disp: share}, second.AsX(), second.AsX())
	g.sub(before.AsX(), second.AsX(), before.AsX())
	g.asm.Label(keep)
	g.set(v, at, before)
	g.asm.Label(next)
	g.asm.INCQ(i)
	g.goTo(g.asm.JMP, turn)
	g.asm.Label(done)
	g.asm.Store(n, g.asm.ReturnIndex(0))
	g.asm.VZEROUPPER()
	g.asm.RET()
}

// bid writes augmenting row reduction.
func (g *writer) bid() {
	g.function("bid", "func(s *byte, n int) int",
		"has n free rows bid for their nearest columns, and those that lost theirs at once while the price falls.",
		"It lists the rows that are free in the end, and returns how many they are, -1 where nothing is allowed to a row.")
	m := g.field(cols)
	g.infinity()
	g.tails(m)
	v := g.field(price)
	n := g.asm.Load(g.asm.Param("n"), g.asm.GP64())
	k, kept, bids := g.asm.GP64(), g.asm.GP64(), g.asm.GP64()
	for _, x := range []reg.GPVirtual{k, kept, bids} {
		g.asm.XORQ(x, x)
	}
	turn, done, bad := g.label("bids"), g.label("done"), g.label("bad")
	g.asm.Label(turn)
	g.asm.CMPQ(k, n)
	g.goTo(g.asm.JGE, done)
	i, list := g.asm.GP64(), g.field(free)
	g.asm.MOVLQSX(four(list, k), i)
	g.asm.INCQ(k)
	g.asm.INCQ(bids)
	c := g.rowAt(i)
	one := [2]reg.VecVirtual{g.vector(), g.vector()}
	two := [2]reg.VecVirtual{g.vector(), g.vector()}
	for b := range 2 {
		g.asm.VMOVAPD(g.inf, one[b])
		g.asm.VMOVAPD(g.inf, two[b])
	}
	g.blocks(m, 2, func(j reg.Register, b int, last bool) {
		if last {
			b = 0
		}
		x, y := g.load(g.cost(c, j, b), last), g.vector()
		g.sub(x, g.eight(v, j, b), x)
		g.asm.VMAXPD(x, one[b], y)
		g.asm.VMINPD(x, one[b], one[b])
		g.asm.VMINPD(y, two[b], two[b])
	})
	top := g.vector()
	g.asm.VMAXPD(one[0], one[1], top)
	g.asm.VMINPD(one[0], one[1], one[0])
	g.asm.VMINPD(two[0], two[1], two[0])
	g.asm.VMINPD(top, two[0], two[0])
	first, second := g.lowTwo(one[0], two[0])
	g.asm.VUCOMISD(first.AsX(), g.inf.AsX())
	g.goTo(g.asm.JLS, bad)

	at, any, owner := g.asm.GP64(), g.label("any"), g.field(row)
	wanted := g.broadcast(first)
	g.asm.MOVQ(operand.I32(-1), at)
	g.asm.VUCOMISD(first.AsX(), second.AsX())
	ties := g.label("ties")
	g.goTo(g.asm.JEQ, ties)
	search := func(tied bool) {
		g.blocks(m, 1, func(j reg.Register, b int, last bool) {
			x := g.load(g.cost(c, j, b), last)
			g.sub(x, g.eight(v, j, b), x)
			g.lanesOf(g.bits(equal, x, wanted), j, b, func(k reg.GPVirtual) {
				g.asm.MOVQ(k, at)
				if tied { // a free column ends the search
					g.asm.CMPL(four(owner, k), operand.Imm(0))
					g.goTo(g.asm.JLT, any)
				} else {
					g.goTo(g.asm.JMP, any)
				}
			})
		})
	}
	search(false)
	g.goTo(g.asm.JMP, bad) // costs that are no numbers
	g.asm.Label(ties)
	search(true)
	g.asm.CMPQ(at, operand.Imm(0))
	g.goTo(g.asm.JLT, bad)
	g.asm.Label(any)

	// Whether the price falls, within the budget.
	falls, stays, next := g.asm.GP64(), g.label("stays"), g.label("next")
	budget := g.field(turns)
	g.asm.IMULQ(k, budget)
	lower := g.vector()
	g.asm.VMOVSD(operand.Mem{Base: v, Index: at, Scale: 8}, lower.AsX())
	g.sub(second.AsX(), first.AsX(), second.AsX())
	fallen := g.vector()
	g.asm.VMULSD(operand.Mem{Base: g.s, Disp: share}, second.AsX(), second.AsX())
	g.sub(lower.AsX(), second.AsX(), fallen.AsX())
	g.asm.XORQ(falls, falls)
	g.asm.CMPQ(bids, budget)
	g.goTo(g.asm.JGE, stays)
	g.asm.VUCOMISD(second.AsX(), g.inf.AsX())
	g.goTo(g.asm.JLS, stays)
	g.asm.VUCOMISD(fallen.AsX(), lower.AsX())
	g.goTo(g.asm.JLS, stays)
	g.asm.INCQ(falls)
	g.set(v, at, fallen)
	g.asm.Label(stays)
	own, out := g.field(column), g.asm.GP64()
	g.asm.MOVL(at.As32(), four(own, i))
	g.asm.MOVLQSX(four(owner, at), out)
	g.asm.MOVL(i.As32(), four(owner, at))
	g.asm.TESTQ(out, out)
	g.goTo(g.asm.JLT, turn)
	g.asm.MOVL(operand.I32(-1), four(own, out))
	list2 := g.field(free)
	g.asm.TESTQ(falls, falls)
	g.goTo(g.asm.JEQ, next)
	g.asm.DECQ(k)
	g.asm.MOVL(out.As32(), four(list2, k))
	g.goTo(g.asm.JMP, turn)
	g.asm.Label(next)
	g.asm.MOVL(out.As32(), four(list2, kept))
	g.asm.INCQ(kept)
	g.goTo(g.asm.JMP, turn)

	g.asm.Label(done)
	g.asm.Store(kept, g.asm.ReturnIndex(0))
	g.asm.VZEROUPPER()
	g.asm.RET()
	g.asm.Label(bad)
	g.result(-1)
}

// manyBlocks is how many columns there are from which on a branch for four blocks is faster in paths than one for each: by 5 % at 200, where 75 would
// take 3 % longer.
const manyBlocks = 160

// path writes the search of a shortest augmenting path.
func (g *writer) path() {
	g.function("path", "func(s *byte, root int) int",
		"augments along a shortest path from the row root, which is free, to a free column, and lowers the prices of the columns",
		"that the search has left. It returns 0, 1 where no free column can be reached.")
	m := g.field(cols)
	g.infinity()
	g.tails(m)
	root := g.asm.Load(g.asm.Param("root"), g.asm.GP64()).(reg.GPVirtual)
	c := g.rowAt(root)
	least := [2]reg.VecVirtual{g.vector(), g.vector()}
	g.asm.VMOVAPD(g.inf, least[0])
	g.asm.VMOVAPD(g.inf, least[1])
	d, s, f := g.field(distance), g.field(shut), g.field(from)
	v := g.field(price)
	giver := g.broadcastInt(root)
	g.blocks(m, 2, func(j reg.Register, b int, last bool) {
		x, y := g.load(g.cost(c, j, b), last), g.vector()
		g.asm.VMOVUPD(g.eight(v, j, b), y)
		g.sub(x, y, x)
		g.asm.VMOVUPD(y, g.eight(s, j, b))
		g.asm.VMOVUPD(x, g.eight(d, j, b))
		if g.wide {
			g.asm.VMOVDQU64(giver, g.eight(f, j, b))
		} else {
			g.asm.VMOVDQU(giver, g.eight(f, j, b))
		}
		g.asm.VMINPD(x, least[b], least[b])
	})
	n := g.asm.GP64() // columns that were left
	g.asm.XORQ(n, n)
	turn, end, bad := g.label("search"), g.label("end"), g.label("bad")
	g.asm.Label(turn)
	g.asm.VMINPD(least[1], least[0], least[0])
	best := g.low(least[0])
	g.asm.VUCOMISD(best.AsX(), g.inf.AsX())
	g.goTo(g.asm.JLS, bad)
	at, wanted := g.asm.GP64(), g.broadcast(best)
	owner := g.field(row)
	g.asm.MOVQ(operand.I32(-1), at)
	few, searched := g.label("few"), g.label("searched")
	reached := func(k reg.GPVirtual) {
		g.asm.MOVQ(k, at)
		g.asm.CMPL(four(owner, k), operand.Imm(0))
		g.goTo(g.asm.JLT, end)
	}
	g.asm.CMPQ(m, operand.I32(manyBlocks))
	g.goTo(g.asm.JLT, few)
	g.search(m, wanted, func(j reg.Register, b int, _ bool) operand.Op { return g.eight(d, j, b) }, reached)
	g.goTo(g.asm.JMP, searched)
	g.asm.Label(few)
	g.blocks(m, 2, func(j reg.Register, b int, last bool) {
		g.lanesOf(g.bits(equal, wanted, g.eight(d, j, b)), j, b, reached)
	})
	g.asm.Label(searched)
	g.asm.CMPQ(at, operand.Imm(0))
	g.goTo(g.asm.JLT, bad)
	list := g.field(left)
	g.asm.MOVL(at.As32(), four(list, n))
	list = g.field(reach)
	g.asm.VMOVSD(best.AsX(), operand.Mem{Base: list, Index: n, Scale: 8})
	g.asm.INCQ(n)
	g.set(d, at, g.inf)
	g.set(s, at, g.spread(0xfff0000000000000))
	i := g.asm.GP64()
	g.asm.MOVLQSX(four(owner, at), i)
	c2 := g.rowAt(i)
	h := g.at(c2, at)
	list = g.field(price)
	g.asm.VSUBSD(operand.Mem{Base: list, Index: at, Scale: 8}, h.AsX(), h.AsX())
	g.asm.VSUBSD(best.AsX(), h.AsX(), h.AsX())
	hh := g.broadcast(h)
	giver2 := g.broadcastInt(i)
	g.asm.VMOVAPD(g.inf, least[0])
	g.asm.VMOVAPD(g.inf, least[1])
	g.blocks(m, 2, func(j reg.Register, b int, last bool) {
		x, y := g.load(g.cost(c2, j, b), last), g.vector()
		g.sub(x, g.eight(s, j, b), x)
		g.sub(x, hh, x)
		g.asm.VMOVUPD(g.eight(d, j, b), y)
		if g.wide {
			k := g.asm.K()
			g.asm.VCMPPD(operand.Imm(lesser), y, x, k)
			g.asm.VMINPD(x, y, y)
			g.asm.VMOVUPD(y, g.eight(d, j, b))
			g.asm.VMOVDQU64(giver2, k, g.eight(f, j, b))
		} else {
			k := g.vector()
			g.asm.VCMPPD(operand.Imm(lesser), y, x, k)
			g.asm.VMINPD(x, y, y)
			g.asm.VMOVUPD(y, g.eight(d, j, b))
			g.asm.VPMASKMOVQ(giver2, k, g.eight(f, j, b))
		}
		g.asm.VMINPD(y, least[b], least[b])
	})
	g.goTo(g.asm.JMP, turn)

	g.asm.Label(end)
	{
		g.asm.ADDQ(n, operand.Mem{Base: g.s, Disp: scans})
		v, cols, dist := g.field(price), g.field(left), g.field(reach)
		again, none := g.label("lower"), g.label("lower")
		g.asm.Label(again)
		g.asm.SUBQ(operand.Imm(1), n)
		g.goTo(g.asm.JLT, none)
		k, x := g.asm.GP64(), g.vector()
		g.asm.MOVLQSX(four(cols, n), k)
		g.asm.VMOVSD(operand.Mem{Base: dist, Index: n, Scale: 8}, x.AsX())
		g.asm.VSUBSD(best.AsX(), x.AsX(), x.AsX())
		m := operand.Mem{Base: v, Index: k, Scale: 8}
		g.asm.VADDSD(m, x.AsX(), x.AsX())
		g.asm.VMOVSD(x.AsX(), m)
		g.goTo(g.asm.JMP, again)
		g.asm.Label(none)
		own, of, by := g.field(column), g.field(row), g.field(from)
		walk := g.label("walk")
		g.asm.Label(walk)
		i, before := g.asm.GP64(), g.asm.GP64()
		g.asm.MOVQ(operand.Mem{Base: by, Index: at, Scale: 8}, i)
		g.asm.MOVLQSX(four(own, i), before)
		g.asm.MOVL(at.As32(), four(own, i))
		g.asm.MOVL(i.As32(), four(of, at))
		g.asm.MOVQ(before, at)
		g.asm.CMPQ(i, g.asm.Load(g.asm.Param("root"), g.asm.GP64()))
		g.goTo(g.asm.JNE, walk)
	}
	g.result(0)
	g.asm.Label(bad)
	g.result(1)
}

// nearbyUnits is how many units a near pair's slack has at most.
const nearbyUnits = 1 << 20

const (
	far    = 0x43c0000000000000 // 2^61
	minus  = 1 << 63
	magic  = 0x4338000000000000 // 1.5 * 2^52
	down26 = 0x3e50000000000000 // 2^-26
	up26   = 0x4190000000000000 // 2^26
)

// A rounding turns costs into units: integers, nearest, ties to even, at most 2^61 in magnitude. What is no number and what is
// less becomes -2^61.
type rounding struct {
	scale, far, least reg.VecVirtual
	magic, down, up   reg.VecVirtual
}

func (g *writer) rounding() rounding {
	r := rounding{scale: g.vector(), far: g.spread(far), least: g.spread(far | minus)}
	g.asm.VBROADCASTSD(operand.Mem{Base: g.s, Disp: scale}, r.scale)
	if !g.wide {
		r.magic, r.down, r.up = g.spread(magic), g.spread(down26), g.spread(up26)
	}
	return r
}

// units are x in units; lost, unless it is nil, gets bits where that loses some.
func (g *writer) units(r rounding, x reg.VecVirtual, lost reg.VecVirtual) {
	g.asm.VMULPD(r.scale, x, x)
	g.asm.VMAXPD(r.least, x, x) // the second operand where one is no number
	g.asm.VMINPD(r.far, x, x)
	y := g.vector()
	if lost != nil {
		if g.wide {
			g.asm.VREDUCEPD(operand.Imm(8), x, y)
		} else {
			g.asm.VROUNDPD(operand.Imm(8), x, y)
			g.asm.VSUBPD(y, x, y)
		}
		g.asm.VORPD(y, lost, lost)
	}
	if g.wide {
		g.asm.VCVTPD2QQ(x, x)
		return
	}
	high := g.vector()
	g.asm.VMULPD(r.down, x, y)
	g.asm.VADDPD(r.magic, y, y)
	g.asm.VPSUBQ(r.magic, y, high)
	g.asm.VPSLLQ(operand.Imm(26), high, high)
	g.asm.VSUBPD(r.magic, y, y)
	g.asm.VMULPD(r.up, y, y)
	g.asm.VSUBPD(y, x, x)
	g.asm.VADDPD(r.magic, x, x)
	g.asm.VPSUBQ(r.magic, x, x)
	g.asm.VPADDQ(high, x, x)
}

// check writes the pass that makes duals of the prices and compares each cost with them.
func (g *writer) check() {
	g.function("check", "func(s *byte, raise int) int",
		"makes the duals v of the prices in units, and for each row whose u is not known the least c - v, so that u + v is at most c for",
		"every pair. Their slack at the matched pairs is summed up. With raise it takes the duals v as they are, and raises those of pairs",
		"with slack. It returns 0, 1 where the slack is too large.")
	m := g.field(cols)
	g.infinity()
	g.tails(m)
	r := g.rounding()
	v, w := g.field(price), g.field(dualCol)
	lost := g.zero()
	all := g.asm.GP64()
	g.asm.MOVQ(m, all)
	g.asm.ADDQ(operand.Imm(uint64(g.lanes-1)), all)
	g.asm.ANDQ(operand.I32(-g.lanes), all)
	j, raise := g.asm.GP64(), g.asm.GP64()
	again, skip := g.label("prices"), g.label("raises")
	g.asm.MOVQ(g.asm.Load(g.asm.Param("raise"), g.asm.GP64()), raise)
	g.asm.TESTQ(raise, raise)
	g.goTo(g.asm.JNE, skip)
	g.asm.XORQ(j, j)
	g.asm.Label(again)
	x := g.vector()
	g.asm.VMOVUPD(g.eight(v, j, 0), x)
	g.units(r, x, nil)
	g.asm.VMOVUPD(x, g.eight(w, j, 0))
	g.asm.ADDQ(operand.Imm(uint64(g.lanes)), j)
	g.asm.CMPQ(j, all)
	g.goTo(g.asm.JLT, again)
	g.asm.Label(skip)

	own, u := g.field(column), g.field(dualRow)
	i, sum := g.asm.GP64(), g.asm.GP64()
	g.asm.XORQ(i, i)
	g.asm.XORQ(sum, sum)
	c := g.field(costs)
	turn, done, bad := g.label("rows"), g.label("done"), g.label("bad")
	large := g.spread(1 << 61)
	g.asm.Label(turn)
	g.asm.CMPQ(i, operand.Mem{Base: g.s, Disp: rows})
	g.goTo(g.asm.JGE, done)
	low, open, known := g.asm.GP64(), g.asm.GP64(), g.label("known")
	g.asm.MOVQ(operand.U64(minus), open)
	g.asm.MOVQ(operand.Mem{Base: u, Index: i, Scale: 8}, low)
	g.asm.CMPQ(low, open)
	g.goTo(g.asm.JNE, known)
	marks := g.elem != "Int32"
	var lists reg.GPVirtual
	var bar reg.VecVirtual
	if marks { // of what costs less than the matched pair, and nearly as little
		lists = g.field(nearbyStride)
		g.asm.IMULQ(i, lists)
		if g.wide {
			g.asm.ADDQ(operand.Mem{Base: g.s, Disp: nearby}, lists)
		} else { // 0 without marks
			list := g.field(nearby)
			g.asm.ADDQ(list, lists)
			g.asm.TESTQ(list, list)
			g.asm.CMOVQEQ(list, lists)
		}
		at, t := g.asm.GP64(), g.asm.GP64()
		g.asm.MOVLQSX(four(own, i), at)
		g.asm.MOVQ(g.matchedUnits(r, c, at), t)
		g.asm.SUBQ(operand.Mem{Base: w, Index: at, Scale: 8}, t)
		if g.wide {
			g.asm.ADDQ(operand.I32(nearbyUnits), t)
		} else { // AVX2 compares with the next
			g.asm.ADDQ(operand.I32(nearbyUnits+1), t)
		}
		bar = g.broadcastInt(t)
	}
	least := [2]reg.VecVirtual{g.vector(), g.vector()}
	for b := range 2 {
		g.asm.VMOVAPD(large, least[b])
	}
	g.groups(m, 2, func(j reg.Register, n int, last bool) {
		bits := g.asm.GP64() // of AVX2's blocks
		for b := range n {
			var x reg.VecVirtual
			if g.elem == "Int32" {
				x = g.loadInts(g.cost(c, j, b), large, last)
			} else {
				x = g.load(g.cost(c, j, b), last)
				g.units(r, x, lost)
			}
			g.asm.VPSUBQ(g.eight(w, j, b), x, x)
			g.lessInt(x, least[b])
			switch {
			case !marks:
			case g.wide:
				k, t := g.asm.K(), g.asm.GP64()
				g.asm.VPCMPQ(operand.Imm(2), bar, x, k)
				g.asm.MOVQ(j, t)
				g.asm.SHRQ(operand.Imm(3), t)
				g.asm.KMOVB(k, operand.Mem{Base: lists, Index: t, Scale: 1, Disp: b})
			default:
				more, none := bits, g.label("none")
				g.asm.TESTQ(lists, lists)
				g.goTo(g.asm.JEQ, none)
				g.asm.VPCMPGTQ(x, bar, x)
				if b > 0 {
					more = g.asm.GP64()
				}
				g.asm.VMOVMSKPD(x, more.As32())
				if b > 0 {
					g.asm.SHLL(operand.Imm(4), more.As32())
					g.asm.ORL(more.As32(), bits.As32())
				}
				g.asm.Label(none)
			}
		}
		if marks && !g.wide { // a byte is two blocks
			none := g.label("none")
			g.asm.TESTQ(lists, lists)
			g.goTo(g.asm.JEQ, none)
			m, first := operand.Mem{Base: lists}, g.label("first")
			if last {
				g.asm.TESTL(operand.U32(4), j.(reg.GPVirtual).As32())
				g.goTo(g.asm.JEQ, first)
				g.asm.SHLL(operand.Imm(4), bits.As32())
				g.asm.ORB(m, bits.As8())
				g.asm.Label(first)
			}
			g.asm.MOVB(bits.As8(), m)
			if n == 2 {
				g.asm.INCQ(lists)
			}
			g.asm.Label(none)
		}
	})
	g.lessInt(least[1], least[0])
	g.asm.MOVQ(g.lowInt(least[0]), low)
	g.asm.MOVQ(low, operand.Mem{Base: u, Index: i, Scale: 8})
	g.asm.Label(known)
	at, more := g.asm.GP64(), g.asm.GP64()
	g.asm.MOVLQSX(four(own, i), at)
	g.asm.MOVQ(g.matchedUnits(r, c, at), more)
	g.asm.SUBQ(operand.Mem{Base: w, Index: at, Scale: 8}, more)
	g.asm.SUBQ(low, more)
	g.asm.ADDQ(more, sum)
	most := g.asm.GP64()
	g.asm.MOVQ(operand.U64(1<<55), most)
	g.asm.CMPQ(more, most)
	g.goTo(g.asm.JHI, bad)
	g.asm.CMPQ(sum, most)
	g.goTo(g.asm.JHI, bad)
	still := g.label("still")
	g.asm.TESTQ(more, more)
	g.goTo(g.asm.JEQ, still)
	g.asm.CMPQ(g.asm.Load(g.asm.Param("raise"), g.asm.GP64()), operand.Imm(0))
	g.goTo(g.asm.JEQ, still)
	g.asm.ADDQ(more, operand.Mem{Base: w, Index: at, Scale: 8})
	g.asm.Label(still)
	g.asm.ADDQ(operand.Mem{Base: g.s, Disp: stride}, c)
	g.asm.INCQ(i)
	g.goTo(g.asm.JMP, turn)
	g.asm.Label(done)
	g.asm.MOVQ(sum, operand.Mem{Base: g.s, Disp: slack})
	y := g.vector()
	if g.wide {
		g.asm.VEXTRACTF64X4(operand.Imm(1), lost, y.AsY())
		g.asm.VORPD(y.AsY(), lost.AsY(), lost.AsY())
	}
	g.asm.VEXTRACTF128(operand.Imm(1), lost.AsY(), y.AsX())
	g.asm.VORPD(y.AsX(), lost.AsX(), lost.AsX())
	g.asm.VUNPCKHPD(lost.AsX(), lost.AsX(), y.AsX())
	g.asm.VORPD(y.AsX(), lost.AsX(), lost.AsX())
	bits := g.asm.GP64()
	g.asm.VMOVQ(lost.AsX(), bits)
	g.asm.ADDQ(bits, bits) // without the sign
	g.asm.MOVQ(bits, operand.Mem{Base: g.s, Disp: rounded})
	g.result(0)
	g.asm.Label(bad)
	g.result(1)
}

// matchedUnits is column j's cost of a row in units.
func (g *writer) matchedUnits(r rounding, c, j reg.Register) reg.GPVirtual {
	out := g.asm.GP64()
	if g.elem == "Int32" {
		g.asm.MOVLQSX(operand.Mem{Base: c, Index: j, Scale: 4}, out)
		return out
	}
	x := g.at(c, j)
	g.asm.VMULSD(r.scale.AsX(), x.AsX(), x.AsX())
	g.asm.VMAXSD(r.least.AsX(), x.AsX(), x.AsX())
	g.asm.VMINSD(r.far.AsX(), x.AsX(), x.AsX())
	g.asm.VCVTSD2SIQ(x.AsX(), out)
	return out
}

// close writes the list of a row's pairs that rounding leaves open.
func (g *writer) close() {
	g.function("close", "func(s *byte, row int, width int, lost int) int",
		"lists the columns of a row whose slack is at most width units, with lost those alone whose costs units round, and returns how",
		"many they are.")
	m := g.field(cols)
	g.infinity()
	g.tails(m)
	r := g.rounding()
	large := g.spread(1 << 61)
	i := g.asm.Load(g.asm.Param("row"), g.asm.GP64()).(reg.GPVirtual)
	c := g.rowAt(i)
	bar := g.field(dualRow)
	g.asm.MOVQ(operand.Mem{Base: bar, Index: i, Scale: 8}, bar)
	g.asm.ADDQ(g.asm.Load(g.asm.Param("width"), g.asm.GP64()), bar)
	b0 := g.broadcastInt(bar)
	w, list, n := g.field(dualCol), g.field(near), g.asm.GP64()
	g.asm.XORQ(n, n)
	g.blocks(m, 1, func(j reg.Register, b int, last bool) {
		var x reg.VecVirtual
		cut := g.zero()
		if g.elem == "Int32" {
			x = g.loadInts(g.cost(c, j, b), large, last)
		} else {
			x = g.load(g.cost(c, j, b), last)
			g.units(r, x, cut)
		}
		g.asm.VPSUBQ(g.eight(w, j, b), x, x)
		bits := g.asm.GP64()
		if g.wide {
			k := g.asm.K()
			g.asm.VPCMPQ(operand.Imm(2), b0, x, k) // x <= bar
			g.asm.KMOVB(k, bits.As32())
		} else {
			y := g.vector()
			g.asm.VPCMPGTQ(b0, x, y)
			g.asm.VMOVMSKPD(y, bits.As32())
			g.asm.XORL(operand.Imm(15), bits.As32())
		}
		all := g.label("all")
		g.asm.CMPQ(g.asm.Load(g.asm.Param("lost"), g.asm.GP64()), operand.Imm(0))
		g.goTo(g.asm.JEQ, all)
		g.asm.ANDL(g.bits(unequal, cut, g.zero()).As32(), bits.As32())
		g.asm.Label(all)
		g.lanesOf(bits, j, b, func(k reg.GPVirtual) {
			g.asm.MOVL(k.As32(), four(list, n))
			g.asm.INCQ(n)
		})
	})
	g.asm.Store(n, g.asm.ReturnIndex(0))
	g.asm.VZEROUPPER()
	g.asm.RET()
}

// below writes the list of a row's nearest pairs.
func (g *writer) below() {
	g.function("below", "func(s *byte, row, bar int, columns *int32, costs *float64) int",
		"lists the columns of a row whose cost less the price is not bar or more, and their costs. bar has the bits of a float64.",
		"It returns how many they are.")
	m := g.field(cols)
	g.infinity()
	g.tails(m)
	c := g.rowAt(g.asm.Load(g.asm.Param("row"), g.asm.GP64()))
	bar := g.broadcastInt(g.asm.Load(g.asm.Param("bar"), g.asm.GP64()))
	v, n := g.field(price), g.asm.GP64()
	at := g.asm.Load(g.asm.Param("columns"), g.asm.GP64())
	to := g.asm.Load(g.asm.Param("costs"), g.asm.GP64())
	g.asm.XORQ(n, n)
	if g.wide { // stores of whole registers: the lists have room
		numbers := g.numbers(g.asm.VPMOVZXBD)
		g.blocks(m, 4, func(j reg.Register, b int, last bool) {
			x, y, k, bits, columns := g.load(g.cost(c, j, b), last), g.vector(), g.asm.K(), g.asm.GP64(), g.vector()
			g.sub(x, g.eight(v, j, b), y)
			g.asm.VCMPPD(operand.Imm(notAbove), bar, y, k)
			g.asm.LEAQ(operand.Mem{Base: j, Disp: b * g.lanes}, bits)
			g.asm.VPBROADCASTD(bits.As32(), columns.AsY())
			g.asm.VPADDD(numbers.AsY(), columns.AsY(), columns.AsY())
			g.asm.KMOVB(k, bits.As32())
			if last { // infinities beyond the last column
				mask := g.asm.GP64()
				g.asm.KMOVB(g.tail, mask.As32())
				g.asm.ANDL(mask.As32(), bits.As32())
				g.asm.KANDB(g.tail, k, k)
			}
			g.asm.VPCOMPRESSD_Z(columns.AsY(), k, columns.AsY())
			g.asm.VCOMPRESSPD_Z(x, k, x)
			g.asm.VMOVDQU(columns.AsY(), four(at, n))
			g.asm.VMOVUPD(x, operand.Mem{Base: to, Index: n, Scale: 8})
			g.asm.POPCNTL(bits.As32(), bits.As32())
			g.asm.ADDQ(bits, n)
		})
	} else {
		g.blocks(m, 4, func(j reg.Register, b int, last bool) {
			x := g.load(g.cost(c, j, b), last)
			g.sub(x, g.eight(v, j, b), x)
			g.lanesOf(g.bits(notAbove, x, bar), j, b, func(k reg.GPVirtual) {
				g.asm.MOVL(k.As32(), four(at, n))
				g.asm.VMOVSD(g.at(c, k).AsX(), operand.Mem{Base: to, Index: n, Scale: 8})
				g.asm.INCQ(n)
			})
		})
	}
	g.asm.Store(n, g.asm.ReturnIndex(0))
	g.asm.VZEROUPPER()
	g.asm.RET()
}

// least writes the search of a list for its least number.
func (g *writer) least() {
	g.asm.Function("least" + map[bool]string{true: "AVX512", false: "AVX2"}[g.wide])
	g.asm.Attributes(attr.NOSPLIT)
	g.asm.SignatureExpr("func(list *float64, n int) int")
	g.asm.Doc("least" + map[bool]string{true: "AVX512", false: "AVX2"}[g.wide] + " is the place of the least of n numbers, which are a multiple of 8.")
	g.asm.Pragma("noescape")
	at := g.asm.Load(g.asm.Param("list"), g.asm.GP64())
	n := g.asm.Load(g.asm.Param("n"), g.asm.GP64())
	g.infinity()
	var least []reg.VecVirtual
	for range 8 / g.lanes * 2 {
		x := g.vector()
		g.asm.VMOVAPD(g.inf, x)
		least = append(least, x)
	}
	j, t := g.asm.GP64(), g.asm.GP64()
	g.asm.XORQ(j, j)
	turn, one, search := g.label("turn"), g.label("one"), g.label("search")
	g.asm.Label(turn)
	g.asm.LEAQ(operand.Mem{Base: j, Disp: 16}, t)
	g.asm.CMPQ(t, n)
	g.goTo(g.asm.JGT, one)
	for k, x := range least {
		g.asm.VMINPD(g.eight(at, j, k), x, x)
	}
	g.asm.MOVQ(t, j)
	g.goTo(g.asm.JMP, turn)
	g.asm.Label(one)
	g.asm.CMPQ(j, n)
	g.goTo(g.asm.JGE, search)
	for k, x := range least[:8/g.lanes] {
		g.asm.VMINPD(g.eight(at, j, k), x, x)
	}
	g.asm.Label(search)
	for k := len(least) - 1; k > 0; k-- {
		g.asm.VMINPD(least[k], least[0], least[0])
	}
	wanted := g.broadcast(g.low(least[0]))
	g.asm.XORQ(j, j)
	turn, found, none := g.label("turn"), g.label("found"), g.label("none")
	bits := g.asm.GP64()
	g.asm.Label(turn)
	g.asm.CMPQ(j, n)
	g.goTo(g.asm.JGE, none)
	if g.wide {
		k := g.asm.K()
		g.asm.VCMPPD(operand.Imm(equal), g.eight(at, j, 0), wanted, k)
		g.asm.KMOVB(k, bits.As32())
	} else {
		y := g.vector()
		g.asm.VCMPPD(operand.Imm(equal), g.eight(at, j, 0), wanted, y)
		g.asm.VMOVMSKPD(y, bits.As32())
	}
	g.asm.TESTL(bits.As32(), bits.As32())
	g.goTo(g.asm.JNE, found)
	g.asm.ADDQ(operand.Imm(uint64(g.lanes)), j)
	g.goTo(g.asm.JMP, turn)
	g.asm.Label(found)
	g.asm.TZCNTL(bits.As32(), bits.As32())
	g.asm.ADDQ(bits, j)
	g.asm.Label(none)
	g.asm.Store(j, g.asm.ReturnIndex(0))
	g.asm.VZEROUPPER()
	g.asm.RET()
}

// turn writes the transposition of a band of rows, as many as a register has lanes.
func (g *writer) turn() {
	g.asm.Function("turn" + g.suffix)
	g.asm.Attributes(attr.NOSPLIT)
	g.asm.SignatureExpr("func(from *" + map[string]string{"Float64": "float64", "Float32": "float32", "Int32": "int32"}[g.elem] +
		", fromStride, cols int, to *float64, toStride int, sign int)")
	g.asm.Doc("turn"+g.suffix+" writes the first cols costs of "+fmt.Sprint(g.lanes)+" rows, a multiple of that, as float64s in columns. sign is 0, or the bit that",
		"negates them. Strides are in bytes. The largest int32 becomes infinite.")
	g.asm.Pragma("noescape")
	from := g.asm.Load(g.asm.Param("from"), g.asm.GP64())
	stride := g.asm.Load(g.asm.Param("fromStride"), g.asm.GP64())
	n := g.asm.Load(g.asm.Param("cols"), g.asm.GP64())
	to := g.asm.Load(g.asm.Param("to"), g.asm.GP64())
	other := g.asm.Load(g.asm.Param("toStride"), g.asm.GP64())
	sign := g.broadcastInt(g.asm.Load(g.asm.Param("sign"), g.asm.GP64()))
	var most reg.VecVirtual
	if g.elem == "Int32" {
		g.infinity()
		most = g.spread(0x41dfffffffc00000) // 2^31 - 1
	}
	j := g.asm.GP64()
	g.asm.XORQ(j, j)
	turn, done := g.label("turn"), g.label("done")
	g.asm.Label(turn)
	g.asm.CMPQ(j, n)
	g.goTo(g.asm.JGE, done)
	at := g.asm.GP64()
	g.asm.MOVQ(from, at)
	rows := make([]reg.VecVirtual, g.lanes)
	for k := range rows {
		x := g.load(g.cost(at, j, 0), false)
		if g.elem != "Int32" {
			g.asm.VXORPD(sign, x, x)
		} else if g.wide {
			mask := g.asm.K()
			g.asm.VCMPPD(operand.Imm(equal), most, x, mask)
			g.asm.VXORPD(sign, x, x)
			g.asm.VMOVAPD(g.inf, mask, x)
		} else {
			mask := g.vector()
			g.asm.VCMPPD(operand.Imm(equal), most, x, mask)
			g.asm.VXORPD(sign, x, x)
			g.asm.VBLENDVPD(mask, g.inf, x, x)
		}
		rows[k] = x
		if k+1 < len(rows) {
			g.asm.ADDQ(stride, at)
		}
	}
	pairs := make([]reg.VecVirtual, g.lanes)
	for k := 0; k < g.lanes; k += 2 {
		pairs[k], pairs[k+1] = g.vector(), g.vector()
		g.asm.VUNPCKLPD(rows[k+1], rows[k], pairs[k])
		g.asm.VUNPCKHPD(rows[k+1], rows[k], pairs[k+1])
	}
	columns := make([]reg.VecVirtual, g.lanes)
	for odd := range 2 {
		p := func(k int) reg.VecVirtual { return pairs[2*k+odd] }
		if !g.wide {
			columns[odd], columns[2+odd] = g.vector(), g.vector()
			g.asm.VPERM2F128(operand.Imm(0x20), p(1), p(0), columns[odd])
			g.asm.VPERM2F128(operand.Imm(0x31), p(1), p(0), columns[2+odd])
			continue
		}
		for half := range 2 {
			choose := operand.Imm(uint64([]int{0x88, 0xdd}[half]))
			a, b := g.vector(), g.vector()
			g.asm.VSHUFF64X2(choose, p(1), p(0), a)
			g.asm.VSHUFF64X2(choose, p(3), p(2), b)
			columns[2*half+odd], columns[4+2*half+odd] = g.vector(), g.vector()
			g.asm.VSHUFF64X2(operand.Imm(0x88), b, a, columns[2*half+odd])
			g.asm.VSHUFF64X2(operand.Imm(0xdd), b, a, columns[4+2*half+odd])
		}
	}
	for _, x := range columns {
		g.asm.VMOVUPD(x, operand.Mem{Base: to})
		g.asm.ADDQ(other, to)
	}
	g.asm.ADDQ(operand.Imm(uint64(g.lanes)), j)
	g.goTo(g.asm.JMP, turn)
	g.asm.Label(done)
	g.asm.VZEROUPPER()
	g.asm.RET()
}

// list begins a kernel of a list of n costs, a multiple of the lanes of a register, and returns where it is, n and a counter.
func (g *writer) list(name, more string, doc ...string) (at, n reg.Register, count reg.GPVirtual) {
	g.asm.Function(name + g.suffix)
	g.asm.Attributes(attr.NOSPLIT)
	g.asm.SignatureExpr("func(costs *" + map[string]string{"Float64": "float64", "Float32": "float32", "Int32": "int32"}[g.elem] + ", n int, " + more + ") int")
	g.asm.Doc(append([]string{name + g.suffix + " " + doc[0]}, doc[1:]...)...)
	g.asm.Pragma("noescape")
	count = g.asm.GP64()
	g.asm.XORQ(count, count)
	return g.asm.Load(g.asm.Param("costs"), g.asm.GP64()), g.asm.Load(g.asm.Param("n"), g.asm.GP64()), count
}

// each writes a loop over the registers of a list.
func (g *writer) each(at, n reg.Register, body func(x reg.VecVirtual)) {
	j, turn, done := g.asm.GP64(), g.label("turn"), g.label("done")
	g.asm.XORQ(j, j)
	g.asm.Label(turn)
	g.asm.CMPQ(j, n)
	g.goTo(g.asm.JGE, done)
	body(g.load(g.cost(at, j, 0), false))
	g.asm.ADDQ(operand.Imm(uint64(g.lanes)), j)
	g.goTo(g.asm.JMP, turn)
	g.asm.Label(done)
}

// span writes the range of costs.
func (g *writer) span() {
	at, n, count := g.list("span", "ends *float64", "counts the costs of a list that allow a pair, and widens the range of two ends by these.")
	ends := g.asm.Load(g.asm.Param("ends"), g.asm.GP64())
	bar, sign := g.spread(0x7ff0000000000000), g.spread(minus)
	if g.elem == "Int32" {
		bar = g.spread(0x41dfffffffc00000) // 2^31 - 1
	}
	least, most := g.vector(), g.vector()
	g.asm.VBROADCASTSD(operand.Mem{Base: ends}, least)
	g.asm.VBROADCASTSD(operand.Mem{Base: ends, Disp: 8}, most)
	g.each(at, n, func(x reg.VecVirtual) {
		bits, y := g.asm.GP64(), g.vector()
		if g.elem == "Int32" {
			g.asm.VMOVAPD(x, y)
		} else {
			g.asm.VANDNPD(x, sign, y)
		}
		if g.wide {
			k := g.asm.K()
			g.asm.VCMPPD(operand.Imm(lesser), bar, y, k)
			g.asm.VMINPD(x, least, k, least)
			g.asm.VMAXPD(x, most, k, most)
			g.asm.KMOVB(k, bits.As32())
		} else {
			k := g.vector()
			g.asm.VCMPPD(operand.Imm(lesser), bar, y, k)
			g.asm.VMOVMSKPD(k, bits.As32())
			g.asm.VBLENDVPD(k, x, least, y)
			g.asm.VMINPD(y, least, least)
			g.asm.VBLENDVPD(k, x, most, y)
			g.asm.VMAXPD(y, most, most)
		}
		g.asm.POPCNTL(bits.As32(), bits.As32())
		g.asm.ADDQ(bits, count)
	})
	g.asm.VMOVSD(g.low(least).AsX(), operand.Mem{Base: ends})
	g.asm.VXORPD(sign, most, most)
	high := g.low(most)
	g.asm.VXORPD(sign.AsX(), high.AsX(), high.AsX())
	g.asm.VMOVSD(high.AsX(), operand.Mem{Base: ends, Disp: 8})
	g.asm.Store(count, g.asm.ReturnIndex(0))
	g.asm.VZEROUPPER()
	g.asm.RET()
}

// cut writes the count of costs that units round.
func (g *writer) cut() {
	at, n, count := g.list("cut", "scale int", "counts the costs of a list that are no multiples of a unit. scale has the bits of a float64, the units in 1, at least 1.")
	scale, zero := g.broadcastInt(g.asm.Load(g.asm.Param("scale"), g.asm.GP64())), g.zero()
	g.each(at, n, func(x reg.VecVirtual) {
		g.asm.VMULPD(scale, x, x)
		y := g.vector()
		if g.wide {
			g.asm.VREDUCEPD(operand.Imm(8), x, y)
		} else {
			g.asm.VROUNDPD(operand.Imm(8), x, y)
			g.asm.VSUBPD(y, x, y)
		}
		bits := g.bits(differ, y, zero)
		g.asm.POPCNTL(bits.As32(), bits.As32())
		g.asm.ADDQ(bits, count)
	})
	g.asm.Store(count, g.asm.ReturnIndex(0))
	g.asm.VZEROUPPER()
	g.asm.RET()
}

// most writes the largest of a list of integers.
func (g *writer) most() {
	name := "most" + map[bool]string{true: "AVX512", false: "AVX2"}[g.wide]
	g.asm.Function(name)
	g.asm.Attributes(attr.NOSPLIT)
	g.asm.SignatureExpr("func(list *int32, n int) int")
	g.asm.Doc(name + " is the largest of n integers, which are a multiple of 16 and more than none.")
	g.asm.Pragma("noescape")
	at := g.asm.Load(g.asm.Param("list"), g.asm.GP64())
	n := g.asm.Load(g.asm.Param("n"), g.asm.GP64())
	per := 2 * g.lanes // integers of a register
	var most [4]reg.VecVirtual
	for k := range most {
		most[k] = g.vector()
		g.asm.VPBROADCASTD(operand.Mem{Base: at}, most[k])
	}
	j, t := g.asm.GP64(), g.asm.GP64()
	g.asm.XORQ(j, j)
	loop := func(registers int) {
		turn, end := g.label("turn"), g.label("end")
		g.asm.Label(turn)
		g.asm.LEAQ(operand.Mem{Base: j, Disp: registers * per}, t)
		g.asm.CMPQ(t, n)
		g.goTo(g.asm.JGT, end)
		for k, x := range most[:registers] {
			g.asm.VPMAXSD(operand.Mem{Base: at, Index: j, Scale: 4, Disp: 4 * k * per}, x, x)
		}
		g.asm.MOVQ(t, j)
		g.goTo(g.asm.JMP, turn)
		g.asm.Label(end)
	}
	loop(4)
	loop(1)
	g.asm.VPMAXSD(most[1], most[0], most[0])
	g.asm.VPMAXSD(most[3], most[2], most[2])
	g.asm.VPMAXSD(most[2], most[0], most[0])
	x, y := most[0], g.vector()
	if g.wide {
		g.asm.VEXTRACTI64X4(operand.Imm(1), x, y.AsY())
		g.asm.VPMAXSD(y.AsY(), x.AsY(), x.AsY())
	}
	g.asm.VEXTRACTI128(operand.Imm(1), x.AsY(), y.AsX())
	g.asm.VPMAXSD(y.AsX(), x.AsX(), x.AsX())
	for _, order := range []uint64{0x0e, 0x01} {
		g.asm.VPSHUFD(operand.Imm(order), x.AsX(), y.AsX())
		g.asm.VPMAXSD(y.AsX(), x.AsX(), x.AsX())
	}
	out := g.asm.GP64()
	g.asm.VMOVD(x.AsX(), out.As32())
	g.asm.MOVLQSX(out.As32(), out)
	g.asm.Store(out, g.asm.ReturnIndex(0))
	g.asm.VZEROUPPER()
	g.asm.RET()
}

// unlike writes the search of a list of words for those that differ from one.
func (g *writer) unlike() {
	name := fmt.Sprintf("unlike%d", 8*g.size) + map[bool]string{true: "AVX512", false: "AVX2"}[g.wide]
	g.asm.Function(name)
	g.asm.Attributes(attr.NOSPLIT)
	g.asm.SignatureExpr("func(list *byte, n, word int, at *int32) int")
	g.asm.Doc(fmt.Sprintf("%s lists the places of words of %d bits that differ from one, of n, a multiple of 64. It returns how many they are, and", name, 8*g.size),
		"may write 15 more.")
	g.asm.Pragma("noescape")
	list, n := g.asm.Load(g.asm.Param("list"), g.asm.GP64()), g.asm.Load(g.asm.Param("n"), g.asm.GP64())
	x := g.asm.Load(g.asm.Param("word"), g.asm.GP64()).(reg.GPVirtual)
	to, count, j := g.asm.Load(g.asm.Param("at"), g.asm.GP64()), g.asm.GP64(), g.asm.GP64()
	lanes := 8 * g.lanes / g.size // of a register
	word := g.vector()
	switch {
	case g.size == 8:
		word = g.broadcastInt(x)
	case g.wide:
		g.asm.VPBROADCASTD(x.As32(), word)
	default:
		g.asm.VMOVD(x.As32(), word.AsX())
		g.asm.VPBROADCASTD(word.AsX(), word)
	}
	g.asm.XORQ(count, count)
	g.asm.XORQ(j, j)
	places := g.vector()
	if g.wide {
		t, high := g.asm.GP64(), g.vector()
		g.asm.MOVQ(operand.U64(0x0706050403020100), t)
		g.asm.VMOVQ(t, places.AsX())
		g.asm.MOVQ(operand.U64(0x0f0e0d0c0b0a0908), t)
		g.asm.VMOVQ(t, high.AsX())
		g.asm.VPUNPCKLQDQ(high.AsX(), places.AsX(), places.AsX())
		g.asm.VPMOVZXBD(places.AsX(), places)
	}
	turn, next, done := g.label("turn"), g.label("next"), g.label("done")
	g.asm.Label(turn)
	g.asm.CMPQ(j, n)
	g.goTo(g.asm.JGE, done)
	words := func(b int) operand.Mem {
		return operand.Mem{Base: list, Index: j, Scale: uint8(g.size), Disp: b * lanes * g.size}
	}
	if g.wide {
		var k [4]reg.OpmaskVirtual
		for b := range k {
			k[b] = g.asm.K()
			if g.size == 8 {
				g.asm.VPCMPQ(operand.Imm(4), words(b), word, k[b])
			} else {
				g.asm.VPCMPD(operand.Imm(4), words(b), word, k[b])
			}
		}
		low, high := g.asm.K(), g.asm.K()
		g.asm.KORW(k[0], k[1], low)
		g.asm.KORW(k[2], k[3], high)
		g.asm.KORTESTW(low, high)
		g.goTo(g.asm.JEQ, next)
		for b := range k {
			at, first, bits := g.asm.ZMM(), g.asm.ZMM(), g.asm.GP64()
			g.asm.LEAQ(operand.Mem{Base: j, Disp: b * lanes}, bits)
			g.asm.VPBROADCASTD(bits.As32(), first)
			g.asm.VPADDD(places, first, at)
			g.asm.VPCOMPRESSD_Z(at, k[b], at)
			g.asm.VMOVDQU32(at, operand.Mem{Base: to, Index: count, Scale: 4})
			g.asm.KMOVW(k[b], bits.As32())
			g.asm.POPCNTL(bits.As32(), bits.As32())
			g.asm.ADDQ(bits, count)
		}
	} else {
		var all reg.GPVirtual
		for b := range 4 {
			y, bits := g.vector(), g.asm.GP64()
			if g.size == 8 {
				g.asm.VPCMPEQQ(words(b), word, y)
				g.asm.VMOVMSKPD(y, bits.As32())
			} else {
				g.asm.VPCMPEQD(words(b), word, y)
				g.asm.VMOVMSKPS(y, bits.As32())
			}
			if b == 0 {
				all = bits
				continue
			}
			g.asm.SHLQ(operand.Imm(uint64(b*lanes)), bits)
			g.asm.ORQ(bits, all)
		}
		if g.size == 8 {
			g.asm.XORL(operand.U32(1<<16-1), all.As32())
		} else {
			g.asm.NOTL(all.As32())
		}
		g.lanesOf(all, j, 0, func(k reg.GPVirtual) {
			g.asm.MOVL(k.As32(), four(to, count))
			g.asm.INCQ(count)
		})
	}
	g.asm.Label(next)
	g.asm.ADDQ(operand.Imm(uint64(4*lanes)), j)
	g.goTo(g.asm.JMP, turn)
	g.asm.Label(done)
	g.asm.Store(count, g.asm.ReturnIndex(0))
	g.asm.VZEROUPPER()
	g.asm.RET()
}
