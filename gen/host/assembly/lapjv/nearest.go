package lapjv

import (
	"fmt"
	"strings"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A native writes kernels that compare costs as they are, without converting them to float64: a register holds twice as many of four bytes.
type native struct {
	*writer
	most reg.VecVirtual // in all lanes: what costs most
	tail reg.Register   // lanes of the last block that are columns: an opmask, or a vector
}

// newNative is a writer for the lanes that a register has of a type.
func newNative(g *writer) *native {
	n := *g
	n.lanes = 8 * g.lanes / g.size
	return &native{writer: &n}
}

// large fills most.
func (g *native) large() {
	switch g.elem {
	case "Float64":
		g.most = g.spread(0x7ff0000000000000)
	case "Float32":
		g.most = g.spread(0x7f8000007f800000)
	case "Int32":
		g.most = g.spread(0x7fffffff7fffffff)
	}
}

// tails fills tail for m columns.
func (g *native) tails(m reg.Register) {
	n := g.lastColumns(m)
	if g.wide {
		k := g.asm.K()
		g.asm.KMOVW(g.lowBits(n).As32(), k)
		g.tail = k
		return
	}
	mask := g.vector()
	if g.size == 8 {
		g.asm.VPCMPGTQ(g.iota(), g.broadcastInt(n), mask)
	} else {
		g.asm.VPCMPGTD(g.places(), g.broadcast4(n), mask)
	}
	g.tail = mask
}

// places is 0, 1, 2 and so on, in lanes of four bytes of AVX2.
func (g *native) places() reg.VecVirtual { return g.numbers(g.asm.VPMOVZXBD) }

// broadcast4 is a vector of an integer of four bytes.
func (g *native) broadcast4(x reg.GPVirtual) reg.VecVirtual {
	y := g.vector()
	if g.wide {
		g.asm.VPBROADCASTD(x.As32(), y)
		return y
	}
	g.asm.VMOVD(x.As32(), y.AsX())
	g.asm.VPBROADCASTD(y.AsX(), y)
	return y
}

// same is a vector of an integer, in lanes of the costs' size.
func (g *native) same(x reg.GPVirtual) reg.VecVirtual {
	if g.size == 8 {
		return g.broadcastInt(x)
	}
	return g.broadcast4(x)
}

// load reads costs, what costs most beyond the last column.
func (g *native) load(m operand.Mem, last bool) reg.VecVirtual {
	x := g.vector()
	double := g.size == 8
	switch {
	case !last:
		g.asm.VMOVUPD(m, x)
	case g.wide:
		if g.asm.VMOVAPD(g.most, x); double {
			g.asm.VMOVUPD(m, g.tail, x)
		} else {
			g.asm.VMOVUPS(m, g.tail, x)
		}
	default:
		if double {
			g.asm.VMASKMOVPD(m, g.tail, x)
		} else {
			g.asm.VMASKMOVPS(m, g.tail, x)
		}
		g.blend(g.tail, x, g.most, x)
	}
	return x
}

// lower makes to the lesser of itself and x, the former where they are equal or x is no number.
func (g *native) lower(x operand.Op, to reg.Register) {
	switch g.elem {
	case "Float64":
		g.asm.VMINPD(to, x, to)
	case "Float32":
		g.asm.VMINPS(to, x, to)
	case "Int32":
		g.asm.VPMINSD(x, to, to)
	}
}

// add adds x to a sum, which is no number then if x is none.
func (g *native) add(x, sum reg.VecVirtual) {
	switch g.elem {
	case "Float64":
		g.asm.VADDPD(x, sum, sum)
	case "Float32":
		g.asm.VADDPS(x, sum, sum)
	}
}

// compared is the mask of the lanes of x that are equal to those of y, or less.
func (g *native) compared(x reg.VecVirtual, y operand.Op, less bool) reg.Register {
	how := uint64(equal)
	if less {
		how = lesser
	}
	if g.elem == "Int32" && !g.wide {
		k := g.vector()
		if less {
			g.asm.VPCMPGTD(x, y, k) // y > x
		} else {
			g.asm.VPCMPEQD(y, x, k)
		}
		return k
	}
	var k reg.Register = g.vector()
	if g.wide {
		k = g.asm.K()
	}
	switch g.elem {
	case "Float64":
		g.asm.VCMPPD(operand.Imm(how), y, x, k)
	case "Float32":
		g.asm.VCMPPS(operand.Imm(how), y, x, k)
	case "Int32":
		g.asm.VPCMPD(operand.Imm(how&1), y, x, k)
	}
	return k
}

// bitsIn are the lanes of a mask.
func (g *native) bitsIn(k reg.Register) reg.GPVirtual {
	x := g.asm.GP64()
	switch {
	case g.wide:
		g.asm.KMOVW(k, x.As32())
		if g.size == 8 {
			g.asm.MOVBLZX(x.As8(), x.As32())
		}
	case g.size == 8:
		g.asm.VMOVMSKPD(k, x.As32())
	default:
		g.asm.VMOVMSKPS(k, x.As32())
	}
	return x
}

// blend makes to x where a mask of AVX2 is set, and y elsewhere.
func (g *native) blend(mask, x, y, to reg.Register) {
	if g.size == 8 {
		g.asm.VBLENDVPD(mask, x, y, to)
	} else {
		g.asm.VBLENDVPS(mask, x, y, to)
	}
}

// choose makes to x where a mask is set.
func (g *native) choose(x reg.VecVirtual, mask reg.Register, to reg.VecVirtual) {
	switch {
	case !g.wide:
		g.blend(mask, x, to, to)
	case g.size == 8:
		g.asm.VMOVDQA64(x, mask, to)
	default:
		g.asm.VMOVDQA32(x, mask, to)
	}
}

// low is the least lane of x.
func (g *native) low(x reg.VecVirtual) reg.VecVirtual {
	y, z := g.vector(), g.vector()
	if g.wide {
		g.asm.VEXTRACTF64X4(operand.Imm(1), x, y.AsY())
		g.lower(x.AsY(), y.AsY())
	} else {
		g.asm.VMOVAPD(x, y)
	}
	g.asm.VEXTRACTF128(operand.Imm(1), y.AsY(), z.AsX())
	g.lower(z.AsX(), y.AsX())
	g.asm.VPERMILPD(operand.Imm(1), y.AsX(), z.AsX())
	g.lower(z.AsX(), y.AsX())
	if g.size == 4 {
		g.asm.VPSHUFD(operand.Imm(1), y.AsX(), z.AsX())
		g.lower(z.AsX(), y.AsX())
	}
	return y
}

// wholly is a vector of the low lane of x.
func (g *native) wholly(x reg.VecVirtual) reg.VecVirtual {
	if g.size == 8 {
		return g.broadcast(x)
	}
	y := g.vector()
	g.asm.VBROADCASTSS(x.AsX(), y)
	return y
}

// broken goes to bad where the sum of some sums is no number.
func (g *native) broken(sums []reg.VecVirtual, bad string) {
	if g.elem == "Int32" {
		return
	}
	for _, x := range sums[1:] {
		g.add(x, sums[0])
	}
	var k reg.Register = g.vector()
	if g.wide {
		k = g.asm.K()
	}
	if g.size == 8 {
		g.asm.VCMPPD(operand.Imm(unordered), sums[0], sums[0], k)
	} else {
		g.asm.VCMPPS(operand.Imm(unordered), sums[0], sums[0], k)
	}
	x := g.bitsIn(k)
	g.asm.TESTL(x.As32(), x.As32())
	g.goTo(g.asm.JNE, bad)
}

// nearest writes the least cost of each row.
func (g *native) nearest() {
	g.function("nearest", "func(s *byte) int",
		"gives each row its nearest column where that is free, at prices of 0, and writes the costs as float64s where u is to be. It lists the",
		"free rows, and returns how many they are, -1 where nothing is allowed to a row, or a cost is no number.")
	m := g.field(cols)
	g.large()
	g.tails(m)
	i, n := g.asm.GP64(), g.asm.GP64()
	g.asm.XORQ(i, i)
	g.asm.XORQ(n, n)
	c := g.field(costs)
	list, own, owner, u := g.field(free), g.field(column), g.field(row), g.field(dualRow)
	var sums []reg.VecVirtual
	for range 4 {
		sums = append(sums, g.zero())
	}
	turn, done, bad, next := g.label("rows"), g.label("done"), g.label("bad"), g.label("next")
	g.asm.Label(turn)
	g.asm.CMPQ(i, operand.Mem{Base: g.s, Disp: rows})
	g.goTo(g.asm.JGE, done)
	least := [4]reg.VecVirtual{g.vector(), g.vector(), g.vector(), g.vector()}
	for b := range 4 {
		g.asm.VMOVAPD(g.most, least[b])
	}
	g.blocks(m, 4, func(j reg.Register, b int, last bool) {
		x := g.load(g.cost(c, j, b), last)
		g.lower(x, least[b])
		g.add(x, sums[b])
	})
	g.lower(least[2], least[0])
	g.lower(least[3], least[1])
	g.lower(least[1], least[0])
	first := g.low(least[0])
	value := g.vector()
	switch g.elem {
	case "Float64":
		value = first
	case "Float32":
		g.asm.VXORPD(value.AsX(), value.AsX(), value.AsX())
		g.asm.VCVTSS2SD(first.AsX(), value.AsX(), value.AsX())
	case "Int32":
		x := g.asm.GP64()
		g.asm.VMOVD(first.AsX(), x.As32())
		g.asm.VXORPD(value.AsX(), value.AsX(), value.AsX())
		g.asm.VCVTSI2SDL(x.As32(), value.AsX(), value.AsX())
	}
	if g.elem != "Int32" {
		g.ucomis(first, g.most)
		g.goTo(g.asm.JLS, bad)
	}
	g.asm.VMOVSD(value.AsX(), operand.Mem{Base: u, Index: i, Scale: 8})
	wanted, at, found := g.wholly(first), g.asm.GP64(), g.label("found")
	g.groups(m, 4, func(j reg.Register, blocks int, last bool) {
		var all reg.GPVirtual
		for b := range blocks {
			x := g.bitsIn(g.compared(wanted, g.load(g.cost(c, j, b), last), false))
			if b == 0 {
				all = x
				continue
			}
			g.asm.SHLQ(operand.Imm(uint64(b*g.lanes)), x)
			g.asm.ORQ(x, all)
		}
		miss := g.label("miss")
		g.asm.TESTQ(all, all)
		g.goTo(g.asm.JEQ, miss)
		g.asm.TZCNTQ(all, at)
		g.asm.ADDQ(j, at)
		g.goTo(g.asm.JMP, found)
		g.asm.Label(miss)
	})
	g.goTo(g.asm.JMP, bad) // costs that are no numbers
	g.asm.Label(found)
	g.asm.CMPL(four(owner, at), operand.Imm(0))
	taken := g.label("taken")
	g.goTo(g.asm.JGE, taken)
	g.asm.MOVL(at.As32(), four(own, i))
	g.asm.MOVL(i.As32(), four(owner, at))
	g.goTo(g.asm.JMP, next)
	g.asm.Label(taken)
	g.asm.MOVL(i.As32(), four(list, n))
	g.asm.INCQ(n)
	g.asm.Label(next)
	g.asm.ADDQ(operand.Mem{Base: g.s, Disp: stride}, c)
	g.asm.INCQ(i)
	g.goTo(g.asm.JMP, turn)
	g.asm.Label(done)
	g.broken(sums, bad)
	g.asm.Store(n, g.asm.ReturnIndex(0))
	g.asm.VZEROUPPER()
	g.asm.RET()
	g.asm.Label(bad)
	g.result(-1)
}

// ucomis compares the low lanes of x and y.
func (g *native) ucomis(x, y reg.VecVirtual) {
	if g.size == 8 {
		g.asm.VUCOMISD(x.AsX(), y.AsX())
	} else {
		g.asm.VUCOMISS(x.AsX(), y.AsX())
	}
}

// bandRows is how many rows of a tall matrix are read at once, for all columns.
const bandRows = 64

// nearestRows writes the nearest row of each column.
func (g *native) nearestRows() {
	elem := strings.ToLower(g.elem)
	g.asm.Function("nearestRows" + g.suffix)
	g.asm.Attributes(attr.NOSPLIT)
	g.asm.SignatureExpr("func(least, costs *" + elem + ", stride, rows, cols int, at *int32) int")
	g.asm.Doc("nearestRows"+g.suffix+fmt.Sprintf(" finds the least cost of each column and its row, of %d rows or more. Lists have room for", bandRows),
		fmt.Sprintf("%d columns more. It returns 0, or 1 where a cost is no number.", g.lanes))
	g.asm.Pragma("noescape")
	param := func(name string) reg.GPVirtual { return g.asm.Load(g.asm.Param(name), g.asm.GP64()).(reg.GPVirtual) }
	stride, m := param("stride"), param("cols")
	least, at := param("least"), param("at")
	accumulators := 4
	if g.wide {
		accumulators = 8
	}
	g.large()
	g.tails(m)
	none := g.zero()
	j := g.asm.GP64()
	g.asm.XORQ(j, j)
	clearing, cleared := g.label("clear"), g.label("clear")
	g.asm.Label(clearing)
	g.asm.CMPQ(j, m)
	g.goTo(g.asm.JGE, cleared)
	g.asm.VMOVUPD(g.most, operand.Mem{Base: least, Index: j, Scale: uint8(g.size)})
	if g.size == 8 { // of half as many bytes
		g.asm.VMOVUPD(none.AsY(), four(at, j))
	} else {
		g.asm.VMOVUPD(none, four(at, j))
	}
	g.asm.ADDQ(operand.Imm(uint64(g.lanes)), j)
	g.goTo(g.asm.JMP, clearing)
	g.asm.Label(cleared)
	sums := []reg.VecVirtual{none, g.zero()}
	if g.wide {
		sums = append(sums, g.zero(), g.zero())
	}

	i, bands, done := g.asm.GP64(), g.label("bands"), g.label("done")
	g.asm.XORQ(i, i)
	g.asm.Label(bands)
	g.asm.XORQ(j, j)
	panel := func(registers int, last bool) {
		phases := accumulators / registers
		from, end := g.label("panel"), g.label("panel")
		if last {
			g.asm.CMPQ(j, m)
			g.goTo(g.asm.JGE, end)
		} else {
			g.asm.Label(from)
			t := g.asm.GP64()
			g.asm.LEAQ(operand.Mem{Base: j, Disp: registers * g.lanes}, t)
			g.asm.CMPQ(t, m)
			g.goTo(g.asm.JGT, end)
		}
		c := g.asm.GP64()
		g.asm.MOVQ(stride, c)
		g.asm.IMULQ(i, c)
		g.asm.LEAQ(operand.Mem{Base: c, Index: j, Scale: uint8(g.size)}, c)
		g.asm.ADDQ(g.asm.Load(g.asm.Param("costs"), g.asm.GP64()), c)
		rows := []operand.Mem{{Base: c}}
		step := g.asm.GP64() // bytes from one turn to the next
		g.asm.MOVQ(stride, step)
		if phases > 1 {
			g.asm.SHLQ(operand.Imm(map[int]uint64{2: 1, 4: 2, 8: 3}[phases]), step)
			rows = append(rows, operand.Mem{Base: c, Index: stride, Scale: 1})
		}
		var fourth reg.GPVirtual
		if phases > 2 {
			three := g.asm.GP64()
			g.asm.LEAQ(operand.Mem{Base: stride, Index: stride, Scale: 2}, three)
			rows = append(rows, operand.Mem{Base: c, Index: stride, Scale: 2}, operand.Mem{Base: c, Index: three, Scale: 1})
			if phases > 4 {
				fourth = g.asm.GP64()
				g.asm.LEAQ(operand.Mem{Base: c, Index: stride, Scale: 4}, fourth)
				rows = append(rows, operand.Mem{Base: fourth}, operand.Mem{Base: fourth, Index: stride, Scale: 1},
					operand.Mem{Base: fourth, Index: stride, Scale: 2}, operand.Mem{Base: fourth, Index: three, Scale: 1})
			}
		}
		var low, where []reg.VecVirtual
		for range accumulators {
			low, where = append(low, g.vector()), append(where, g.vector())
			g.asm.VMOVAPD(g.most, low[len(low)-1])
		}
		number, more := g.same(i), g.asm.GP64()
		for _, x := range where {
			g.asm.VMOVAPD(number, x)
		}
		g.asm.MOVQ(operand.U64(uint64(phases)), more)
		by, left := g.same(more), g.asm.GP64()
		g.asm.MOVQ(operand.U64(uint64(bandRows/phases)), left)
		turn := g.label("turn")
		g.asm.Label(turn)
		for p := range phases {
			for r := range registers {
				m := rows[p]
				m.Disp = r * g.lanes * g.size
				x, a := g.load(m, last), p*registers+r
				mask := g.compared(x, low[a], true)
				g.choose(number, mask, where[a])
				g.lower(x, low[a])
				g.add(x, sums[a%len(sums)])
			}
		}
		if g.size == 8 {
			g.asm.VPADDQ(by, number, number)
		} else {
			g.asm.VPADDD(by, number, number)
		}
		g.asm.ADDQ(step, c)
		if phases > 4 {
			g.asm.ADDQ(step, fourth)
		}
		g.asm.DECQ(left)
		g.goTo(g.asm.JNE, turn)
		for r := range registers {
			for p := 1; p < phases; p++ {
				a, b := r, p*registers+r
				t := g.asm.GP64()
				g.asm.MOVQ(operand.U64(uint64(p)), t)
				if further := g.same(t); g.size == 8 {
					g.asm.VPADDQ(further, where[b], where[b])
				} else {
					g.asm.VPADDD(further, where[b], where[b])
				}
				g.choose(where[b], g.compared(low[b], low[a], true), where[a])
				g.lower(low[b], low[a])
			}
			to := operand.Mem{Base: least, Index: j, Scale: uint8(g.size), Disp: r * g.lanes * g.size}
			place := four(at, j)
			place.Disp = r * g.lanes * 4
			before, held := g.vector(), g.vector()
			g.asm.VMOVUPD(to, before)
			if g.size == 8 {
				g.asm.VPMOVSXDQ(place, held)
			} else {
				g.asm.VMOVUPD(place, held)
			}
			g.choose(where[r], g.compared(low[r], before, true), held)
			g.lower(low[r], before)
			g.asm.VMOVUPD(before, to)
			switch {
			case g.size == 4:
				g.asm.VMOVUPD(held, place)
			case g.wide:
				g.asm.VPMOVQD(held, place)
			default:
				high := g.vector()
				g.asm.VEXTRACTF128(operand.Imm(1), held, high.AsX())
				g.asm.VSHUFPS(operand.Imm(0x88), high.AsX(), held.AsX(), held.AsX())
				g.asm.VMOVUPD(held.AsX(), place)
			}
		}
		if !last {
			g.asm.ADDQ(operand.Imm(uint64(registers*g.lanes)), j)
			if registers == accumulators {
				g.goTo(g.asm.JMP, from)
			}
		}
		g.asm.Label(end)
	}
	for registers := accumulators; registers > 0; registers /= 2 {
		panel(registers, false)
	}
	panel(1, true)
	rows, end := param("rows"), g.asm.GP64()
	g.asm.ADDQ(operand.Imm(bandRows), i)
	g.asm.CMPQ(i, rows)
	g.goTo(g.asm.JGE, done)
	g.asm.LEAQ(operand.Mem{Base: rows, Disp: -bandRows}, end) // the last band may read rows again
	g.asm.CMPQ(i, end)
	g.asm.CMOVQGT(end, i)
	g.goTo(g.asm.JMP, bands)
	g.asm.Label(done)
	bad := g.label("bad")
	g.broken(sums, bad)
	g.result(0)
	g.asm.Label(bad)
	g.result(1)
}

// rowsBelow writes the search of the rows that have a cost below a bar of its column.
func (g *native) rowsBelow() {
	elem := strings.ToLower(g.elem)
	g.asm.Function("rowsBelow" + g.suffix)
	g.asm.Attributes(attr.NOSPLIT)
	g.asm.SignatureExpr("func(bars, costs *" + elem + ", stride, rows, cols int, at *int32) int")
	g.asm.Doc("rowsBelow"+g.suffix+" lists the rows with a cost below a bar of its column, and returns how many they are. bars have room for",
		fmt.Sprintf("%d columns more.", g.lanes))
	g.asm.Pragma("noescape")
	param := func(name string) reg.GPVirtual { return g.asm.Load(g.asm.Param(name), g.asm.GP64()).(reg.GPVirtual) }
	bars, c, stride, rows, m, at := param("bars"), param("costs"), param("stride"), param("rows"), param("cols"), param("at")
	g.large()
	g.tails(m)
	i, n := g.asm.GP64(), g.asm.GP64()
	g.asm.XORQ(i, i)
	g.asm.XORQ(n, n)
	turn, next, done := g.label("rows"), g.label("next"), g.label("done")
	g.asm.Label(turn)
	g.asm.CMPQ(i, rows)
	g.goTo(g.asm.JGE, done)
	var hits [2]reg.Register
	for b := range hits {
		if g.wide {
			k := g.asm.K()
			g.asm.KXORW(k, k, k)
			hits[b] = k
		} else {
			hits[b] = g.zero()
		}
	}
	g.blocks(m, 2, func(j reg.Register, b int, last bool) {
		bar := g.vector()
		g.asm.VMOVUPD(g.cost(bars, j, b), bar)
		within := g.compared(g.load(g.cost(c, j, b), last), bar, true)
		if g.wide {
			g.asm.KORW(within, hits[b], hits[b])
		} else {
			g.asm.VPOR(within, hits[b].(reg.VecVirtual), hits[b].(reg.VecVirtual))
		}
	})
	if g.wide {
		g.asm.KORW(hits[1], hits[0], hits[0])
	} else {
		g.asm.VPOR(hits[1].(reg.VecVirtual), hits[0].(reg.VecVirtual), hits[0].(reg.VecVirtual))
	}
	any := g.bitsIn(hits[0])
	g.asm.TESTL(any.As32(), any.As32())
	g.goTo(g.asm.JEQ, next)
	g.asm.MOVL(i.As32(), four(at, n))
	g.asm.INCQ(n)
	g.asm.Label(next)
	g.asm.ADDQ(stride, c)
	g.asm.INCQ(i)
	g.goTo(g.asm.JMP, turn)
	g.asm.Label(done)
	g.asm.Store(n, g.asm.ReturnIndex(0))
	g.asm.VZEROUPPER()
	g.asm.RET()
}
