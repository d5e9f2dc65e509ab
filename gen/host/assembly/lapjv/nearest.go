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
	n := g.GP64()
	g.MOVQ(m, n)
	g.ANDQ(operand.Imm(uint64(g.lanes-1)), n)
	if g.wide {
		bits, k := g.GP64(), g.K()
		g.MOVQ(n, reg.RCX)
		g.MOVQ(operand.U64(1), bits)
		g.SHLQ(reg.CL, bits)
		g.DECQ(bits)
		g.KMOVW(bits.As32(), k)
		g.tail = k
		return
	}
	mask := g.vector()
	if g.size == 8 {
		g.VPCMPGTQ(g.iota(), g.broadcastInt(n), mask)
	} else {
		g.VPCMPGTD(g.places(), g.broadcast4(n), mask)
	}
	g.tail = mask
}

// places is 0, 1, 2 and so on, in lanes of four bytes of AVX2.
func (g *native) places() reg.VecVirtual {
	t, x := g.GP64(), g.vector()
	g.MOVQ(operand.U64(0x0706050403020100), t)
	g.VMOVQ(t, x.AsX())
	g.VPMOVZXBD(x.AsX(), x)
	return x
}

// broadcast4 is a vector of an integer of four bytes.
func (g *native) broadcast4(x reg.GPVirtual) reg.VecVirtual {
	y := g.vector()
	if g.wide {
		g.VPBROADCASTD(x.As32(), y)
		return y
	}
	g.VMOVD(x.As32(), y.AsX())
	g.VPBROADCASTD(y.AsX(), y)
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
		g.VMOVUPD(m, x)
	case g.wide:
		if g.VMOVAPD(g.most, x); double {
			g.VMOVUPD(m, g.tail, x)
		} else {
			g.VMOVUPS(m, g.tail, x)
		}
	default:
		if double {
			g.VMASKMOVPD(m, g.tail, x)
		} else {
			g.VMASKMOVPS(m, g.tail, x)
		}
		g.blend(g.tail, x, g.most, x)
	}
	return x
}

// lower makes to the lesser of itself and x, the former where they are equal or x is no number.
func (g *native) lower(x operand.Op, to reg.Register) {
	switch g.elem {
	case "Float64":
		g.VMINPD(to, x, to)
	case "Float32":
		g.VMINPS(to, x, to)
	case "Int32":
		g.VPMINSD(x, to, to)
	}
}

// add adds x to a sum, which is no number then if x is none.
func (g *native) add(x, sum reg.VecVirtual) {
	switch g.elem {
	case "Float64":
		g.VADDPD(x, sum, sum)
	case "Float32":
		g.VADDPS(x, sum, sum)
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
			g.VPCMPGTD(x, y, k) // y > x
		} else {
			g.VPCMPEQD(y, x, k)
		}
		return k
	}
	var k reg.Register = g.vector()
	if g.wide {
		k = g.K()
	}
	switch g.elem {
	case "Float64":
		g.VCMPPD(operand.Imm(how), y, x, k)
	case "Float32":
		g.VCMPPS(operand.Imm(how), y, x, k)
	case "Int32":
		g.VPCMPD(operand.Imm(how&1), y, x, k)
	}
	return k
}

// bitsIn are the lanes of a mask.
func (g *native) bitsIn(k reg.Register) reg.GPVirtual {
	x := g.GP64()
	switch {
	case g.wide:
		g.KMOVW(k, x.As32())
		if g.size == 8 {
			g.MOVBLZX(x.As8(), x.As32())
		}
	case g.size == 8:
		g.VMOVMSKPD(k, x.As32())
	default:
		g.VMOVMSKPS(k, x.As32())
	}
	return x
}

// blend makes to x where a mask of AVX2 is set, and y elsewhere.
func (g *native) blend(mask, x, y, to reg.Register) {
	if g.size == 8 {
		g.VBLENDVPD(mask, x, y, to)
	} else {
		g.VBLENDVPS(mask, x, y, to)
	}
}

// choose makes to x where a mask is set.
func (g *native) choose(x reg.VecVirtual, mask reg.Register, to reg.VecVirtual) {
	switch {
	case !g.wide:
		g.blend(mask, x, to, to)
	case g.size == 8:
		g.VMOVDQA64(x, mask, to)
	default:
		g.VMOVDQA32(x, mask, to)
	}
}

// low is the least lane of x.
func (g *native) low(x reg.VecVirtual) reg.VecVirtual {
	y, z := g.vector(), g.vector()
	if g.wide {
		g.VEXTRACTF64X4(operand.Imm(1), x, y.AsY())
		g.lower(x.AsY(), y.AsY())
	} else {
		g.VMOVAPD(x, y)
	}
	g.VEXTRACTF128(operand.Imm(1), y.AsY(), z.AsX())
	g.lower(z.AsX(), y.AsX())
	g.VPERMILPD(operand.Imm(1), y.AsX(), z.AsX())
	g.lower(z.AsX(), y.AsX())
	if g.size == 4 {
		g.VPSHUFD(operand.Imm(1), y.AsX(), z.AsX())
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
	g.VBROADCASTSS(x.AsX(), y)
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
		k = g.K()
	}
	if g.size == 8 {
		g.VCMPPD(operand.Imm(unordered), sums[0], sums[0], k)
	} else {
		g.VCMPPS(operand.Imm(unordered), sums[0], sums[0], k)
	}
	x := g.bitsIn(k)
	g.TESTL(x.As32(), x.As32())
	g.goTo(g.JNE, bad)
}

// nearest writes the least cost of each row.
func (g *native) nearest() {
	g.function("nearest", "func(s *byte) int",
		"gives each row its nearest column where that is free, at prices of 0, and writes the costs as float64s where u is to be. It lists the",
		"free rows, and returns how many they are, -1 where nothing is allowed to a row, or a cost is no number.")
	m := g.field(cols)
	g.large()
	g.tails(m)
	i, n := g.GP64(), g.GP64()
	g.XORQ(i, i)
	g.XORQ(n, n)
	c := g.field(costs)
	list, own, owner, u := g.field(free), g.field(column), g.field(row), g.field(dualRow)
	var sums []reg.VecVirtual
	for range 4 {
		sums = append(sums, g.zero())
	}
	turn, done, bad, next := g.label("rows"), g.label("done"), g.label("bad"), g.label("next")
	g.Label(turn)
	g.CMPQ(i, operand.Mem{Base: g.s, Disp: rows})
	g.goTo(g.JGE, done)
	least := [4]reg.VecVirtual{g.vector(), g.vector(), g.vector(), g.vector()}
	for b := range 4 {
		g.VMOVAPD(g.most, least[b])
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
		g.VXORPD(value.AsX(), value.AsX(), value.AsX())
		g.VCVTSS2SD(first.AsX(), value.AsX(), value.AsX())
	case "Int32":
		x := g.GP64()
		g.VMOVD(first.AsX(), x.As32())
		g.VXORPD(value.AsX(), value.AsX(), value.AsX())
		g.VCVTSI2SDL(x.As32(), value.AsX(), value.AsX())
	}
	if g.elem != "Int32" {
		g.ucomis(first, g.most)
		g.goTo(g.JLS, bad)
	}
	g.VMOVSD(value.AsX(), operand.Mem{Base: u, Index: i, Scale: 8})
	wanted, at, found := g.wholly(first), g.GP64(), g.label("found")
	g.groups(m, 4, func(j reg.Register, blocks int, last bool) {
		var all reg.GPVirtual
		for b := range blocks {
			x := g.bitsIn(g.compared(wanted, g.load(g.cost(c, j, b), last), false))
			if b == 0 {
				all = x
				continue
			}
			g.SHLQ(operand.Imm(uint64(b*g.lanes)), x)
			g.ORQ(x, all)
		}
		miss := g.label("miss")
		g.TESTQ(all, all)
		g.goTo(g.JEQ, miss)
		g.TZCNTQ(all, at)
		g.ADDQ(j, at)
		g.goTo(g.JMP, found)
		g.Label(miss)
	})
	g.goTo(g.JMP, bad) // costs that are no numbers
	g.Label(found)
	g.CMPL(four(owner, at), operand.Imm(0))
	taken := g.label("taken")
	g.goTo(g.JGE, taken)
	g.MOVL(at.As32(), four(own, i))
	g.MOVL(i.As32(), four(owner, at))
	g.goTo(g.JMP, next)
	g.Label(taken)
	g.MOVL(i.As32(), four(list, n))
	g.INCQ(n)
	g.Label(next)
	g.ADDQ(operand.Mem{Base: g.s, Disp: stride}, c)
	g.INCQ(i)
	g.goTo(g.JMP, turn)
	g.Label(done)
	g.broken(sums, bad)
	g.Store(n, g.ReturnIndex(0))
	g.VZEROUPPER()
	g.RET()
	g.Label(bad)
	g.result(-1)
}

// ucomis compares the low lanes of x and y.
func (g *native) ucomis(x, y reg.VecVirtual) {
	if g.size == 8 {
		g.VUCOMISD(x.AsX(), y.AsX())
	} else {
		g.VUCOMISS(x.AsX(), y.AsX())
	}
}

// bandRows is how many rows of a tall matrix are read at once, for all columns.
const bandRows = 64

// nearestRows writes the nearest row of each column.
func (g *native) nearestRows() {
	elem := strings.ToLower(g.elem)
	g.Function("nearestRows" + g.suffix)
	g.Attributes(attr.NOSPLIT)
	g.SignatureExpr("func(least, costs *" + elem + ", stride, rows, cols int, at *int32) int")
	g.Doc("nearestRows"+g.suffix+fmt.Sprintf(" finds the least cost of each column and its row, of %d rows or more. Lists have room for", bandRows),
		fmt.Sprintf("%d columns more. It returns 0, or 1 where a cost is no number.", g.lanes))
	g.Pragma("noescape")
	param := func(name string) reg.GPVirtual { return g.Load(g.Param(name), g.GP64()).(reg.GPVirtual) }
	stride, m := param("stride"), param("cols")
	least, at := param("least"), param("at")
	accumulators := 4
	if g.wide {
		accumulators = 8
	}
	g.large()
	g.tails(m)
	none := g.zero()
	j := g.GP64()
	g.XORQ(j, j)
	clearing, cleared := g.label("clear"), g.label("clear")
	g.Label(clearing)
	g.CMPQ(j, m)
	g.goTo(g.JGE, cleared)
	g.VMOVUPD(g.most, operand.Mem{Base: least, Index: j, Scale: uint8(g.size)})
	if g.size == 8 { // of half as many bytes
		g.VMOVUPD(none.AsY(), four(at, j))
	} else {
		g.VMOVUPD(none, four(at, j))
	}
	g.ADDQ(operand.Imm(uint64(g.lanes)), j)
	g.goTo(g.JMP, clearing)
	g.Label(cleared)
	sums := []reg.VecVirtual{none, g.zero()}
	if g.wide {
		sums = append(sums, g.zero(), g.zero())
	}

	i, bands, done := g.GP64(), g.label("bands"), g.label("done")
	g.XORQ(i, i)
	g.Label(bands)
	g.XORQ(j, j)
	panel := func(registers int, last bool) {
		phases := accumulators / registers
		from, end := g.label("panel"), g.label("panel")
		if last {
			g.CMPQ(j, m)
			g.goTo(g.JGE, end)
		} else {
			g.Label(from)
			t := g.GP64()
			g.LEAQ(operand.Mem{Base: j, Disp: registers * g.lanes}, t)
			g.CMPQ(t, m)
			g.goTo(g.JGT, end)
		}
		c := g.GP64()
		g.MOVQ(stride, c)
		g.IMULQ(i, c)
		g.LEAQ(operand.Mem{Base: c, Index: j, Scale: uint8(g.size)}, c)
		g.ADDQ(g.Load(g.Param("costs"), g.GP64()), c)
		rows := []operand.Mem{{Base: c}}
		step := g.GP64() // bytes from one turn to the next
		g.MOVQ(stride, step)
		if phases > 1 {
			g.SHLQ(operand.Imm(map[int]uint64{2: 1, 4: 2, 8: 3}[phases]), step)
			rows = append(rows, operand.Mem{Base: c, Index: stride, Scale: 1})
		}
		var fourth reg.GPVirtual
		if phases > 2 {
			three := g.GP64()
			g.LEAQ(operand.Mem{Base: stride, Index: stride, Scale: 2}, three)
			rows = append(rows, operand.Mem{Base: c, Index: stride, Scale: 2}, operand.Mem{Base: c, Index: three, Scale: 1})
			if phases > 4 {
				fourth = g.GP64()
				g.LEAQ(operand.Mem{Base: c, Index: stride, Scale: 4}, fourth)
				rows = append(rows, operand.Mem{Base: fourth}, operand.Mem{Base: fourth, Index: stride, Scale: 1},
					operand.Mem{Base: fourth, Index: stride, Scale: 2}, operand.Mem{Base: fourth, Index: three, Scale: 1})
			}
		}
		var low, where []reg.VecVirtual
		for range accumulators {
			low, where = append(low, g.vector()), append(where, g.vector())
			g.VMOVAPD(g.most, low[len(low)-1])
		}
		number, more := g.same(i), g.GP64()
		for _, x := range where {
			g.VMOVAPD(number, x)
		}
		g.MOVQ(operand.U64(uint64(phases)), more)
		by, left := g.same(more), g.GP64()
		g.MOVQ(operand.U64(uint64(bandRows/phases)), left)
		turn := g.label("turn")
		g.Label(turn)
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
			g.VPADDQ(by, number, number)
		} else {
			g.VPADDD(by, number, number)
		}
		g.ADDQ(step, c)
		if phases > 4 {
			g.ADDQ(step, fourth)
		}
		g.DECQ(left)
		g.goTo(g.JNE, turn)
		for r := range registers {
			for p := 1; p < phases; p++ {
				a, b := r, p*registers+r
				t := g.GP64()
				g.MOVQ(operand.U64(uint64(p)), t)
				if further := g.same(t); g.size == 8 {
					g.VPADDQ(further, where[b], where[b])
				} else {
					g.VPADDD(further, where[b], where[b])
				}
				g.choose(where[b], g.compared(low[b], low[a], true), where[a])
				g.lower(low[b], low[a])
			}
			to := operand.Mem{Base: least, Index: j, Scale: uint8(g.size), Disp: r * g.lanes * g.size}
			place := four(at, j)
			place.Disp = r * g.lanes * 4
			before, held := g.vector(), g.vector()
			g.VMOVUPD(to, before)
			if g.size == 8 {
				g.VPMOVSXDQ(place, held)
			} else {
				g.VMOVUPD(place, held)
			}
			g.choose(where[r], g.compared(low[r], before, true), held)
			g.lower(low[r], before)
			g.VMOVUPD(before, to)
			switch {
			case g.size == 4:
				g.VMOVUPD(held, place)
			case g.wide:
				g.VPMOVQD(held, place)
			default:
				high := g.vector()
				g.VEXTRACTF128(operand.Imm(1), held, high.AsX())
				g.VSHUFPS(operand.Imm(0x88), high.AsX(), held.AsX(), held.AsX())
				g.VMOVUPD(held.AsX(), place)
			}
		}
		if !last {
			g.ADDQ(operand.Imm(uint64(registers*g.lanes)), j)
			if registers == accumulators {
				g.goTo(g.JMP, from)
			}
		}
		g.Label(end)
	}
	for registers := accumulators; registers > 0; registers /= 2 {
		panel(registers, false)
	}
	panel(1, true)
	rows, end := param("rows"), g.GP64()
	g.ADDQ(operand.Imm(bandRows), i)
	g.CMPQ(i, rows)
	g.goTo(g.JGE, done)
	g.LEAQ(operand.Mem{Base: rows, Disp: -bandRows}, end) // the last band may read rows again
	g.CMPQ(i, end)
	g.CMOVQGT(end, i)
	g.goTo(g.JMP, bands)
	g.Label(done)
	bad := g.label("bad")
	g.broken(sums, bad)
	g.result(0)
	g.Label(bad)
	g.result(1)
}

// rowsBelow writes the search of the rows that have a cost below a bar of its column.
func (g *native) rowsBelow() {
	elem := strings.ToLower(g.elem)
	g.Function("rowsBelow" + g.suffix)
	g.Attributes(attr.NOSPLIT)
	g.SignatureExpr("func(bars, costs *" + elem + ", stride, rows, cols int, at *int32) int")
	g.Doc("rowsBelow"+g.suffix+" lists the rows with a cost below a bar of its column, and returns how many they are. bars have room for",
		fmt.Sprintf("%d columns more.", g.lanes))
	g.Pragma("noescape")
	param := func(name string) reg.GPVirtual { return g.Load(g.Param(name), g.GP64()).(reg.GPVirtual) }
	bars, c, stride, rows, m, at := param("bars"), param("costs"), param("stride"), param("rows"), param("cols"), param("at")
	g.large()
	g.tails(m)
	i, n := g.GP64(), g.GP64()
	g.XORQ(i, i)
	g.XORQ(n, n)
	turn, next, done := g.label("rows"), g.label("next"), g.label("done")
	g.Label(turn)
	g.CMPQ(i, rows)
	g.goTo(g.JGE, done)
	var hits [2]reg.Register
	for b := range hits {
		if g.wide {
			k := g.K()
			g.KXORW(k, k, k)
			hits[b] = k
		} else {
			hits[b] = g.zero()
		}
	}
	g.blocks(m, 2, func(j reg.Register, b int, last bool) {
		bar := g.vector()
		g.VMOVUPD(g.cost(bars, j, b), bar)
		within := g.compared(g.load(g.cost(c, j, b), last), bar, true)
		if g.wide {
			g.KORW(within, hits[b], hits[b])
		} else {
			g.VPOR(within, hits[b].(reg.VecVirtual), hits[b].(reg.VecVirtual))
		}
	})
	if g.wide {
		g.KORW(hits[1], hits[0], hits[0])
	} else {
		g.VPOR(hits[1].(reg.VecVirtual), hits[0].(reg.VecVirtual), hits[0].(reg.VecVirtual))
	}
	any := g.bitsIn(hits[0])
	g.TESTL(any.As32(), any.As32())
	g.goTo(g.JEQ, next)
	g.MOVL(i.As32(), four(at, n))
	g.INCQ(n)
	g.Label(next)
	g.ADDQ(stride, c)
	g.INCQ(i)
	g.goTo(g.JMP, turn)
	g.Label(done)
	g.Store(n, g.ReturnIndex(0))
	g.VZEROUPPER()
	g.RET()
}
