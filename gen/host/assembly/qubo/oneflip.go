// Package qubo writes the AVX-512 kernels of runtime/host/kernels/qubo: the update of
// fields by a row and the search for the best flip.
package qubo

import (
	"fmt"
	"strconv"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// turn is the number of variables looked at together: a word of the bit maps.
const turn = 64

// Kernels adds every kernel of the package to w.
func Kernels(w *build.Context) {
	for _, sum := range []int{16, 32} {
		pick(w, kernel{sum: sum})
		for row := 8; row <= sum; row *= 2 {
			pick(w, kernel{row: row, sum: sum})
			add(w, kernel{row: row, sum: sum})
		}
	}
}

// A kernel adds a row of row-bit weights, none where row is 0, to sum-bit
// fields.
type kernel struct{ row, sum int }

func (k kernel) lanes() int     { return 512 / k.sum }
func (k kernel) registers() int { return turn / k.lanes() }

// name is verb and the widths, as in step8x16.
func (k kernel) name(verb string) string {
	if k.row == 0 {
		return verb + strconv.Itoa(k.sum)
	}
	return fmt.Sprintf("%s%dx%d", verb, k.row, k.sum)
}

func (k kernel) at(base, i reg.Register, bits, r int) operand.Mem {
	return operand.Mem{Base: base, Index: i, Scale: uint8(bits / 8), Disp: r * k.lanes() * bits / 8}
}

// Registers that stay the same, and those of each part of a turn.
var (
	zero, one, count, all = reg.Z0, reg.Z1, reg.Z2, reg.Z3
	best                  = []reg.VecPhysical{reg.Z4, reg.Z5, reg.Z6, reg.Z7}
	index                 = []reg.VecPhysical{reg.Z8, reg.Z9, reg.Z10, reg.Z11}
	temps                 = []reg.VecPhysical{reg.Z12, reg.Z13, reg.Z14, reg.Z15}
	fields                = []reg.VecPhysical{reg.Z16, reg.Z17, reg.Z18, reg.Z19}
	ones                  = []reg.OpmaskPhysical{reg.K1, reg.K2, reg.K3, reg.K4}
	passes                = []reg.OpmaskPhysical{reg.K5, reg.K6, reg.K7, reg.K5}
)

// double is the number of bits by which weights are shifted to the left.
var double = reg.X20

// loadShift reads it.
func loadShift(w *build.Context) {
	x := w.Load(w.Param("shift"), w.GP64())
	w.VMOVQ(x, double)
}

// update leaves part r of the new fields in temps[r] and memory.
func (k kernel) update(w *build.Context, row, field, i reg.Register, r int, negate bool) {
	to, f := k.at(field, i, k.sum, r), temps[r]
	move := w.VMOVDQU16
	if k.sum == 32 {
		move = w.VMOVDQU32
	}
	if k.row == 0 {
		move(to, f)
		return
	}
	from := k.at(row, i, k.row, r)
	switch k.name("") {
	case "8x16":
		w.VPMOVSXBW(from, f)
	case "8x32":
		w.VPMOVSXBD(from, f)
	case "16x32":
		w.VPMOVSXWD(from, f)
	default:
		move(from, f)
	}
	if k.sum == 16 {
		w.VPSLLW(double, f, f)
	} else {
		w.VPSLLD(double, f, f)
	}
	switch {
	case negate && k.sum == 16:
		move(to, fields[r])
		w.VPSUBW(f, fields[r], f)
	case negate:
		move(to, fields[r])
		w.VPSUBD(f, fields[r], f)
	case k.sum == 16:
		w.VPADDW(to, f, f)
	default:
		w.VPADDD(to, f, f)
	}
	move(f, to)
}

// loop writes body for every turn, once adding and once subtracting the row.
func (k kernel) loop(w *build.Context, n, negate reg.Register, i reg.GPVirtual, body func(negate bool)) {
	w.XORQ(i, i)
	if k.row != 0 {
		w.TESTQ(negate, negate)
		w.JNZ(operand.LabelRef("minus"))
	}
	one := func(label string, negate bool) {
		w.Label(label)
		w.CMPQ(i, n)
		w.JGE(operand.LabelRef("done"))
		body(negate)
		w.ADDQ(operand.Imm(turn), i)
		w.JMP(operand.LabelRef(label))
	}
	one("plus", false)
	if k.row != 0 {
		one("minus", true)
	}
	w.Label("done")
}

// add writes the update of the fields alone.
func add(w *build.Context, k kernel) {
	w.Function(k.name("add"))
	w.Attributes(attr.NOSPLIT)
	w.SignatureExpr(fmt.Sprintf("func(row *int%d, field *int%d, n, negate, shift int)", k.row, k.sum))
	w.Doc(k.name("add") + " adds a row, its weights shifted to the left, to n fields, a multiple of 64, or subtracts it.")
	w.Pragma("noescape")
	row := w.Load(w.Param("row"), w.GP64())
	field := w.Load(w.Param("field"), w.GP64())
	n := w.Load(w.Param("n"), w.GP64())
	negate := w.Load(w.Param("negate"), w.GP64())
	loadShift(w)
	i := w.GP64()
	k.loop(w, n, negate, i, func(negate bool) {
		for r := range k.registers() {
			k.update(w, row, field, i, r, negate)
		}
	})
	w.VZEROUPPER()
	w.RET()
}

// pick writes the update fused with the search for the best gain.
func pick(w *build.Context, k kernel) {
	name := k.name("step")
	params := fmt.Sprintf("field *int%d, x, free *uint64, n, rotate int", k.sum)
	doc := "finds"
	if k.row == 0 {
		name = k.name("pick")
	} else {
		params = fmt.Sprintf("row *int%d, ", k.row) + params + ", negate, shift int"
		doc = "adds a row, its weights shifted to the left, to the fields, or subtracts it, and finds"
	}
	w.Function(name)
	w.Attributes(attr.NOSPLIT)
	w.SignatureExpr("func(" + params + ") (gain, at, any int)")
	w.Doc(name+" "+doc+" the largest gain among n variables, a multiple of 64: that of the free ones,",
		"where it is, and that of any. Among equals rotate, 0 to 63, chooses.")
	w.Pragma("noescape")
	var row, negate reg.Register
	if k.row != 0 {
		row = w.Load(w.Param("row"), w.GP64())
	}
	field := w.Load(w.Param("field"), w.GP64())
	x := w.Load(w.Param("x"), w.GP64())
	free := w.Load(w.Param("free"), w.GP64())
	n := w.Load(w.Param("n"), w.GP64())
	if k.row != 0 {
		negate = w.Load(w.Param("negate"), w.GP64())
		loadShift(w)
	}
	i, word := w.GP64(), w.GP64()

	lowest := w.GP64()
	w.VPXORQ(zero, zero, zero)
	w.VPXORQ(count, count, count)
	w.MOVQ(operand.U64(1), lowest)
	k.broadcast(w, lowest, one)
	w.MOVQ(operand.U64(1<<(k.sum-1)), lowest)
	k.broadcast(w, lowest, all)
	for r := range k.registers() {
		w.VMOVDQA64(all, best[r])
		w.VPXORQ(index[r], index[r], index[r])
	}
	k.loop(w, n, negate, i, func(negate bool) {
		w.MOVQ(i, word)
		w.SHRQ(operand.Imm(3), word)
		for r := range k.registers() {
			k.update(w, row, field, i, r, negate)
			k.compare(w, operand.Mem{Base: x, Index: word, Scale: 1, Disp: r * k.lanes() / 8},
				operand.Mem{Base: free, Index: word, Scale: 1, Disp: r * k.lanes() / 8}, r)
		}
		if k.sum == 16 {
			w.VPADDW(one, count, count)
		} else {
			w.VPADDD(one, count, count)
		}
	})
	k.answer(w)
	w.VZEROUPPER()
	w.RET()
}

func (k kernel) broadcast(w *build.Context, from reg.Register, to reg.VecPhysical) {
	if k.sum == 16 {
		w.VPBROADCASTW(from.(reg.GPVirtual).As32(), to)
		return
	}
	w.VPBROADCASTD(from.(reg.GPVirtual).As32(), to)
}

// compare turns part r of the fields into gains and keeps the best.
func (k kernel) compare(w *build.Context, x, free operand.Mem, r int) {
	gain := temps[r]
	if k.sum == 16 {
		w.KMOVD(x, ones[r])
		w.VPSUBW(gain, zero, ones[r], gain)
		w.VPMAXSW(gain, all, all)
		w.KMOVD(free, ones[r])
		w.VPCMPW(operand.Imm(6), best[r], gain, ones[r], passes[r])
		w.VMOVDQU16(gain, passes[r], best[r])
		w.VMOVDQU16(count, passes[r], index[r])
		return
	}
	w.KMOVW(x, ones[r])
	w.VPSUBD(gain, zero, ones[r], gain)
	w.VPMAXSD(gain, all, all)
	w.KMOVW(free, ones[r])
	w.VPCMPD(operand.Imm(6), best[r], gain, ones[r], passes[r])
	w.VMOVDQA32(gain, passes[r], best[r])
	w.VMOVDQA32(count, passes[r], index[r])
}

// largest leaves the largest lane of from, sign extended, in to.
func (k kernel) largest(w *build.Context, from reg.VecPhysical, to reg.GPVirtual) {
	w.VEXTRACTI64X4(operand.Imm(1), from, reg.Y12)
	x, y := reg.X12, reg.X13
	if k.sum == 16 {
		w.VPMAXSW(from.AsY(), reg.Y12, reg.Y12)
		w.VEXTRACTI128(operand.Imm(1), reg.Y12, y)
		w.VPMAXSW(y, x, x)
		for _, shuffle := range []uint64{0x4e, 0xb1} {
			w.VPSHUFD(operand.Imm(shuffle), x, y)
			w.VPMAXSW(y, x, x)
		}
		w.VPSRLD(operand.Imm(16), x, y)
		w.VPMAXSW(y, x, x)
		w.MOVQ(x, to)
		w.MOVWQSX(to.As16(), to)
		return
	}
	w.VPMAXSD(from.AsY(), reg.Y12, reg.Y12)
	w.VEXTRACTI128(operand.Imm(1), reg.Y12, y)
	w.VPMAXSD(y, x, x)
	for _, shuffle := range []uint64{0x4e, 0xb1} {
		w.VPSHUFD(operand.Imm(shuffle), x, y)
		w.VPMAXSD(y, x, x)
	}
	w.MOVQ(x, to)
	w.MOVLQSX(to.As32(), to)
}

// answer reduces the lanes and stores the results.
func (k kernel) answer(w *build.Context) {
	top := reg.Z14
	w.VMOVDQA64(best[0], top)
	for r := 1; r < k.registers(); r++ {
		if k.sum == 16 {
			w.VPMAXSW(best[r], top, top)
		} else {
			w.VPMAXSD(best[r], top, top)
		}
	}
	gain, any, mask, part := w.GP64(), w.GP64(), w.GP64(), w.GP64()
	k.largest(w, all, any)
	w.Store(any, w.Return("any"))
	k.largest(w, top, gain)
	w.Store(gain, w.Return("gain"))
	k.broadcast(w, gain, top)
	w.XORQ(mask, mask)
	for r := range k.registers() {
		if k.sum == 16 {
			w.VPCMPEQW(top, best[r], reg.K1)
			w.KMOVD(reg.K1, part.As32())
		} else {
			w.VPCMPEQD(top, best[r], reg.K1)
			w.KMOVW(reg.K1, part.As32())
		}
		w.SHLQ(operand.Imm(uint64(r*k.lanes())), part)
		w.ORQ(part, mask)
	}
	scratch := w.AllocLocal(turn * k.sum / 8)
	for r := range k.registers() {
		w.VMOVDQU64(index[r], scratch.Offset(64*r))
	}
	lane := w.GP64()
	w.Load(w.Param("rotate"), reg.RCX)
	w.RORQ(reg.CL, mask)
	w.TZCNTQ(mask, lane)
	w.ADDQ(reg.RCX, lane)
	w.ANDQ(operand.Imm(turn-1), lane)
	turns, base := w.GP64(), w.GP64()
	w.LEAQ(scratch, base)
	if k.sum == 16 {
		w.MOVWQZX(operand.Mem{Base: base, Index: lane, Scale: 2}, turns)
	} else {
		w.MOVLQZX(operand.Mem{Base: base, Index: lane, Scale: 4}, turns)
	}
	w.SHLQ(operand.Imm(6), turns)
	w.ADDQ(lane, turns)
	w.Store(turns, w.Return("at"))
}
