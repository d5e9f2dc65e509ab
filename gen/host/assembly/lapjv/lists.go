package lapjv

import (
	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// entries begins a kernel of the list of a row, and returns its columns and costs, how many they are, and the prices of all columns.
func (g *writer) entries(name, more string, doc ...string) (columns, list, n, v reg.Register) {
	name += map[bool]string{true: "AVX512", false: "AVX2"}[g.wide]
	g.asm.Function(name)
	g.asm.Attributes(attr.NOSPLIT)
	g.asm.SignatureExpr("func(columns *int32, costs *float64, n int, prices *float64, " + more + ") int")
	g.asm.Doc(append([]string{name + " " + doc[0]}, doc[1:]...)...)
	g.asm.Pragma("noescape")
	load := func(name string) reg.Register { return g.asm.Load(g.asm.Param(name), g.asm.GP64()) }
	return load("columns"), load("costs"), load("n"), load("prices")
}

// reduced is what a register of pairs of a list costs, less the prices.
func (g *writer) reduced(columns, list, v, j reg.Register) reg.VecVirtual {
	x, y := g.vector(), g.vector()
	if g.wide {
		k, ones := g.asm.K(), g.asm.GP64()
		g.asm.MOVL(operand.U32(1<<8-1), ones.As32())
		g.asm.KMOVB(ones.As32(), k)
		g.asm.VMOVDQU(four(columns, j), x.AsY())
		g.asm.VGATHERDPD(operand.Mem{Base: v, Index: x.AsY(), Scale: 8}, k, y)
	} else {
		k := g.vector()
		g.asm.VPCMPEQD(k, k, k)
		g.asm.VMOVDQU(four(columns, j), x.AsX())
		g.asm.VGATHERDPD(k, operand.Mem{Base: v, Index: x.AsX(), Scale: 8}, y)
	}
	z := g.vector()
	g.asm.VMOVUPD(g.eight(list, j, 0), z)
	g.sub(z, y, z)
	return z
}

// two writes the search of a list for its two nearest columns.
func (g *writer) two() {
	columns, list, n, v := g.entries("two", "out *float64", "finds the two pairs of n, a multiple of 8, that cost least, less the prices. It writes what they cost, and returns the",
		"place of the first.")
	out := g.asm.Load(g.asm.Param("out"), g.asm.GP64())
	g.infinity()
	one, two, at, j := g.vector(), g.vector(), g.zero(), g.asm.GP64()
	g.asm.VMOVAPD(g.inf, one)
	g.asm.VMOVAPD(g.inf, two)
	g.asm.XORQ(j, j)
	turn, done := g.label("turn"), g.label("done")
	g.asm.Label(turn)
	g.asm.CMPQ(j, n)
	g.goTo(g.asm.JGE, done)
	x, y, begin := g.reduced(columns, list, v, j), g.vector(), g.broadcastInt(j)
	g.asm.VMAXPD(x, one, y)
	if g.wide {
		k := g.asm.K()
		g.asm.VCMPPD(operand.Imm(lesser), one, x, k)
		g.asm.VMOVDQA64(begin, k, at)
	} else {
		k := g.vector()
		g.asm.VCMPPD(operand.Imm(lesser), one, x, k)
		g.asm.VBLENDVPD(k, begin, at, at)
	}
	g.asm.VMINPD(one, x, one)
	g.asm.VMINPD(y, two, two)
	g.asm.ADDQ(operand.Imm(uint64(g.lanes)), j)
	g.goTo(g.asm.JMP, turn)
	g.asm.Label(done)
	first, second := g.lowTwo(one, two)
	g.asm.VMOVSD(first.AsX(), operand.Mem{Base: out})
	g.asm.VMOVSD(second.AsX(), operand.Mem{Base: out, Disp: 8})
	place, wanted := g.asm.GP64(), g.broadcast(first)
	g.asm.VPADDQ(g.iota(), at, at)
	if g.wide {
		k := g.asm.K()
		g.asm.VCMPPD(operand.Imm(equal), one, wanted, k)
		g.asm.VPCOMPRESSQ_Z(at, k, at)
		g.asm.VMOVQ(at.AsX(), place)
	} else { // the least of the places with the value, in the low halves of the lanes
		x, y := g.vector(), g.vector()
		g.asm.VCMPPD(operand.Imm(unequal), one, wanted, x)
		g.asm.VORPD(at, x, x)
		g.asm.VEXTRACTI128(operand.Imm(1), x, y.AsX())
		g.asm.VPMINUD(y.AsX(), x.AsX(), x.AsX())
		g.asm.VPSHUFD(operand.Imm(0x0e), x.AsX(), y.AsX())
		g.asm.VPMINUD(y.AsX(), x.AsX(), x.AsX())
		g.asm.VMOVD(x.AsX(), place.As32())
	}
	g.asm.Store(place, g.asm.ReturnIndex(0))
	g.asm.VZEROUPPER()
	g.asm.RET()
}

// nearer writes the search of a list for columns that a path may come to.
func (g *writer) nearer() {
	columns, list, n, v := g.entries("nearer", "base, bar int, places *int32, distances *float64", "lists the pairs of n, a multiple of 8, whose distance, base and the cost less the price, is below a bar, by their places, and the",
		"distances. base and bar have the bits of float64s. It returns how many they are, and may write 7 more.")
	base, bar := g.broadcastInt(g.asm.Load(g.asm.Param("base"), g.asm.GP64())), g.broadcastInt(g.asm.Load(g.asm.Param("bar"), g.asm.GP64()))
	to, distances := g.asm.Load(g.asm.Param("places"), g.asm.GP64()), g.asm.Load(g.asm.Param("distances"), g.asm.GP64())
	count, j := g.asm.GP64(), g.asm.GP64()
	g.asm.XORQ(count, count)
	g.asm.XORQ(j, j)
	var numbers reg.VecVirtual
	if g.wide {
		numbers = g.numbers(g.asm.VPMOVZXBD)
	}
	turn, done := g.label("turn"), g.label("done")
	g.asm.Label(turn)
	g.asm.CMPQ(j, n)
	g.goTo(g.asm.JGE, done)
	x := g.reduced(columns, list, v, j)
	g.asm.VADDPD(x, base, x)
	if g.wide {
		k, at, bits := g.asm.K(), g.vector(), g.asm.GP64()
		g.asm.VCMPPD(operand.Imm(lesser), bar, x, k)
		g.asm.VPBROADCASTD(j.As32(), at.AsY())
		g.asm.VPADDD(numbers.AsY(), at.AsY(), at.AsY())
		g.asm.VPCOMPRESSD_Z(at.AsY(), k, at.AsY())
		g.asm.VCOMPRESSPD_Z(x, k, x)
		g.asm.VMOVDQU(at.AsY(), four(to, count))
		g.asm.VMOVUPD(x, operand.Mem{Base: distances, Index: count, Scale: 8})
		g.asm.KMOVB(k, bits.As32())
		g.asm.POPCNTL(bits.As32(), bits.As32())
		g.asm.ADDQ(bits, count)
	} else {
		k, bits, room := g.vector(), g.asm.GP64(), g.asm.AllocLocal(32)
		g.asm.VCMPPD(operand.Imm(lesser), bar, x, k)
		g.asm.VMOVUPD(x, room)
		g.asm.VMOVMSKPD(k, bits.As32())
		g.lanesOf(bits, j, 0, func(place reg.GPVirtual) {
			g.asm.MOVL(place.As32(), four(to, count))
			g.asm.SUBQ(j, place)
			g.asm.VMOVSD(room.Idx(place, 8), x.AsX())
			g.asm.VMOVSD(x.AsX(), operand.Mem{Base: distances, Index: count, Scale: 8})
			g.asm.INCQ(count)
		})
	}
	g.asm.ADDQ(operand.Imm(uint64(g.lanes)), j)
	g.goTo(g.asm.JMP, turn)
	g.asm.Label(done)
	g.asm.Store(count, g.asm.ReturnIndex(0))
	g.asm.VZEROUPPER()
	g.asm.RET()
}
