// Package assignment writes the AVX-512 kernels of runtime/host/kernels/assignment:
// the search of a row for costs below a limit, and the least of each column.
package assignment

import (
	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

const (
	lanes = 8  // 64-bit lanes of a register
	step  = 32 // costs a turn: four registers
)

// A kind is a type of cost. load puts the scaled costs of eight, less what
// forbids, into a register; raw is where none, the value that forbids.
type kind struct {
	name, elem string
	size       int
	float      bool
}

// Kernels adds every kernel of the package to w.
func Kernels(w *build.Context) {
	for _, k := range []kind{
		{"Int32", "int32", 4, false},
		{"Int64", "int64", 8, false},
		{"Float32", "float32", 4, true},
		{"Float64", "float64", 8, true},
	} {
		sift(w, k)
		lower(w, k)
	}
}

// Registers that stay the same: the sign (all ones to negate) or the scale,
// what forbids, and the limit.
var scale, forbids, limit = reg.Z0, reg.Z1, reg.Z2

// constants fills scale and forbids. The argument scale is 0 or -1 for
// integers, for floats the bits of the factor.
func (k kind) constants(w *build.Context) {
	x := w.Load(w.Param("scale"), w.GP64())
	w.VPBROADCASTQ(x, scale)
	switch k.name {
	case "Int32":
		w.MOVQ(operand.U64(1<<31-1), x)
	case "Int64":
		w.MOVQ(operand.U64(1<<63-1), x)
	default:
		w.MOVQ(operand.U64(1<<63), x) // what infinities convert to
	}
	w.VPBROADCASTQ(x, forbids)
}

// load reads eight costs: raw is to be compared with forbids, out scaled.
func (k kind) load(w *build.Context, m operand.Mem, raw, out reg.VecPhysical) {
	switch k.name {
	case "Int32":
		w.VPMOVSXDQ(m, raw)
	case "Int64":
		w.VMOVDQU64(m, raw)
	case "Float32":
		w.VCVTPS2PD(m, raw)
	case "Float64":
		w.VMOVUPD(m, raw)
	}
	if k.float {
		w.VMULPD(scale, raw, raw)
		w.VCVTPD2QQ(raw, raw)
		return
	}
	w.VPXORQ(scale, raw, out)
	w.VPSUBQ(scale, out, out)
}

// scaled is the register that holds the scaled costs after load.
func (k kind) scaled(raw, out reg.VecPhysical) reg.VecPhysical {
	if k.float {
		return raw
	}
	return out
}

var (
	raws   = []reg.VecPhysical{reg.Z8, reg.Z9, reg.Z10, reg.Z11}
	outs   = []reg.VecPhysical{reg.Z12, reg.Z13, reg.Z14, reg.Z15}
	passes = []reg.OpmaskPhysical{reg.K1, reg.K2, reg.K3, reg.K4}
)

// sift writes the search for costs below a limit.
func sift(w *build.Context, k kind) {
	w.Function("sift" + k.name)
	w.Attributes(attr.NOSPLIT)
	w.SignatureExpr("func(c *" + k.elem + ", v *int64, n, scale int, limit int64, base int, index, value *int64, room int) (hits, next int)")
	w.Doc("sift"+k.name+" looks at n costs, a multiple of 32, for allowed ones with c - v < limit, and puts base and their place into index,",
		"c - v into value. It stops when fewer than 32 places are left of room; next is how many costs it looked at.")
	w.Pragma("noescape")
	c := w.Load(w.Param("c"), w.GP64())
	v := w.Load(w.Param("v"), w.GP64())
	n := w.Load(w.Param("n"), w.GP64())
	k.constants(w)
	t := w.Load(w.Param("limit"), w.GP64())
	w.VPBROADCASTQ(t, limit)
	base := w.Load(w.Param("base"), w.GP64())
	index := w.Load(w.Param("index"), w.GP64())
	value := w.Load(w.Param("value"), w.GP64())
	room := w.Load(w.Param("room"), w.GP64())
	w.SUBQ(operand.Imm(step), room)
	iota8 := reg.Z3
	places := w.GP64()
	w.MOVQ(operand.U64(0x0706050403020100), places)
	w.VMOVQ(places, reg.X3)
	w.VPMOVZXBQ(reg.X3, iota8)
	i, hits, mask, at := w.GP64(), w.GP64(), w.GP64(), w.GP64()
	w.XORQ(i, i)
	w.XORQ(hits, hits)

	w.Label("turn")
	w.CMPQ(i, n)
	w.JGE(operand.LabelRef("done"))
	for r := range 4 {
		k.load(w, operand.Mem{Base: c, Index: i, Scale: uint8(k.size), Disp: lanes * k.size * r}, raws[r], outs[r])
		d := k.scaled(raws[r], outs[r])
		w.VPSUBQ(operand.Mem{Base: v, Index: i, Scale: 8, Disp: lanes * 8 * r}, d, outs[r])
		w.VPCMPQ(operand.Imm(1), limit, outs[r], passes[r])
	}
	w.KORB(reg.K1, reg.K2, reg.K5)
	w.KORB(reg.K3, reg.K4, reg.K6)
	w.KORTESTB(reg.K5, reg.K6)
	w.JNZ(operand.LabelRef("some"))
	w.ADDQ(operand.Imm(step), i)
	w.JMP(operand.LabelRef("turn"))

	w.Label("some")
	for r := range 4 {
		w.VPCMPQ(operand.Imm(4), forbids, raws[r], passes[r], passes[r])
		w.KMOVB(passes[r], mask.As32())
		w.VPCOMPRESSQ_Z(outs[r], passes[r], reg.Z4)
		w.VMOVDQU64(reg.Z4, operand.Mem{Base: value, Index: hits, Scale: 8})
		w.LEAQ(operand.Mem{Base: base, Index: i, Scale: 1, Disp: lanes * r}, at)
		w.VPBROADCASTQ(at, reg.Z5)
		w.VPADDQ(iota8, reg.Z5, reg.Z5)
		w.VPCOMPRESSQ_Z(reg.Z5, passes[r], reg.Z5)
		w.VMOVDQU64(reg.Z5, operand.Mem{Base: index, Index: hits, Scale: 8})
		w.POPCNTQ(mask, mask)
		w.ADDQ(mask, hits)
	}
	w.ADDQ(operand.Imm(step), i)
	w.CMPQ(hits, room)
	w.JLE(operand.LabelRef("turn"))

	w.Label("done")
	w.Store(hits, w.Return("hits"))
	w.Store(i, w.Return("next"))
	w.VZEROUPPER()
	w.RET()
}

// lower writes the minimum of a row and what was there.
func lower(w *build.Context, k kind) {
	w.Function("lower" + k.name)
	w.Attributes(attr.NOSPLIT)
	w.SignatureExpr("func(c *" + k.elem + ", v *int64, n, scale int, u, far int64)")
	w.Doc("lower" + k.name + " makes v the lesser of v and c - u, of n costs, a multiple of 32; forbidden ones cost far.")
	w.Pragma("noescape")
	c := w.Load(w.Param("c"), w.GP64())
	v := w.Load(w.Param("v"), w.GP64())
	n := w.Load(w.Param("n"), w.GP64())
	k.constants(w)
	x := w.Load(w.Param("u"), w.GP64())
	u, far := reg.Z2, reg.Z3
	w.VPBROADCASTQ(x, u)
	y := w.Load(w.Param("far"), w.GP64())
	w.VPBROADCASTQ(y, far)
	i := w.GP64()
	w.XORQ(i, i)
	w.Label("turn")
	w.CMPQ(i, n)
	w.JGE(operand.LabelRef("done"))
	for r := range 4 {
		k.load(w, operand.Mem{Base: c, Index: i, Scale: uint8(k.size), Disp: lanes * k.size * r}, raws[r], outs[r])
		d := k.scaled(raws[r], outs[r])
		w.VPCMPQ(operand.Imm(0), forbids, raws[r], passes[r])
		w.VMOVDQA64(far, passes[r], d)
		w.VPSUBQ(u, d, d)
		w.VPMINSQ(operand.Mem{Base: v, Index: i, Scale: 8, Disp: lanes * 8 * r}, d, d)
		w.VMOVDQU64(d, operand.Mem{Base: v, Index: i, Scale: 8, Disp: lanes * 8 * r})
	}
	w.ADDQ(operand.Imm(step), i)
	w.JMP(operand.LabelRef("turn"))
	w.Label("done")
	w.VZEROUPPER()
	w.RET()
}
