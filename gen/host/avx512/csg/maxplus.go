// Package csg writes the AVX-512 kernels of runtime/host/kernels/csg: (max,+)
// subset convolutions of tiles.
package csg

import (
	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// zmm is a register's width in bytes.
const zmm = 64

// group is the width in bytes of what conv keeps in registers of each of its
// operands: 2^3 registers.
const group = 8 * zmm

// A kind is a value type and the instructions that add and compare it.
type kind struct {
	name, elem string
	add        func(x, y, z operand.Op)
	max        func(x, y, z operand.Op)
	load       func(from, to operand.Op)
}

// Kernels adds every kernel of the package to w.
func Kernels(w *build.Context) {
	for _, k := range []kind{
		{"Int32", "int32", three(w.VPADDD), three(w.VPMAXSD), two(w.VMOVDQU32)},
		{"Int64", "int64", three(w.VPADDQ), three(w.VPMAXSQ), two(w.VMOVDQU64)},
		{"Float32", "float32", three(w.VADDPS), three(w.VMAXPS), two(w.VMOVUPS)},
		{"Float64", "float64", three(w.VADDPD), three(w.VMAXPD), two(w.VMOVUPD)},
	} {
		conv(w, k)
		dot(w, k)
		expand(w, k)
	}
}

func three(f func(...operand.Op)) func(x, y, z operand.Op) {
	return func(x, y, z operand.Op) { f(x, y, z) }
}

func two(f func(...operand.Op)) func(x, y operand.Op) {
	return func(x, y operand.Op) { f(x, y) }
}

// vectors are the physical registers, eight each of d, a, b and scratch.
var vectors = []reg.VecPhysical{
	reg.Z0, reg.Z1, reg.Z2, reg.Z3, reg.Z4, reg.Z5, reg.Z6, reg.Z7,
	reg.Z8, reg.Z9, reg.Z10, reg.Z11, reg.Z12, reg.Z13, reg.Z14, reg.Z15,
	reg.Z16, reg.Z17, reg.Z18, reg.Z19, reg.Z20, reg.Z21, reg.Z22, reg.Z23,
	reg.Z24, reg.Z25, reg.Z26, reg.Z27, reg.Z28, reg.Z29, reg.Z30, reg.Z31,
}

// conv writes the subset convolution over groups of registers: group u of d
// takes groups s of a and u\s of b for all s within u; proper leaves s = u
// out. All lanes do the same.
func conv(w *build.Context, k kind) {
	w.Function("conv" + k.name)
	w.Attributes(attr.NOSPLIT)
	w.SignatureExpr("func(d, a, b *" + k.elem + ", from, to, proper int)")
	w.Doc("conv" + k.name + " raises groups from to to-1 of d by the subset convolution of a and b; with proper = 1 it leaves the whole of a out.")
	w.Pragma("noescape")
	d := w.Load(w.Param("d"), w.GP64())
	a := w.Load(w.Param("a"), w.GP64())
	b := w.Load(w.Param("b"), w.GP64())
	u := w.Load(w.Param("from"), w.GP64())
	to := w.Load(w.Param("to"), w.GP64())
	proper := w.Load(w.Param("proper"), w.GP64())
	w.SHLQ(operand.Imm(9), u)
	w.SHLQ(operand.Imm(9), to)
	s, t := w.GP64(), w.GP64()
	dz, az, bz, tz := vectors[:8], vectors[8:16], vectors[16:24], vectors[24:]

	w.Label("target")
	w.CMPQ(u, to)
	w.JGE(operand.LabelRef("done"))
	for i := range 8 {
		k.load(operand.Mem{Base: d, Index: u, Scale: 1, Disp: zmm * i}, dz[i])
	}
	w.MOVQ(u, s)
	w.TESTQ(proper, proper)
	w.JZ(operand.LabelRef("source"))
	w.TESTQ(s, s)
	w.JZ(operand.LabelRef("store"))
	w.SUBQ(operand.U32(group), s)
	w.ANDQ(u, s)

	w.Label("source")
	w.MOVQ(u, t)
	w.XORQ(s, t)
	for i := range 8 {
		k.load(operand.Mem{Base: a, Index: s, Scale: 1, Disp: zmm * i}, az[i])
		k.load(operand.Mem{Base: b, Index: t, Scale: 1, Disp: zmm * i}, bz[i])
	}
	next := 0
	for i := range 8 {
		for j := range 8 {
			if i&j != 0 {
				continue
			}
			x := tz[next%8]
			next++
			k.add(az[i], bz[j], x)
			k.max(x, dz[i|j], dz[i|j])
		}
	}
	w.TESTQ(s, s)
	w.JZ(operand.LabelRef("store"))
	w.SUBQ(operand.U32(group), s)
	w.ANDQ(u, s)
	w.JMP(operand.LabelRef("source"))

	w.Label("store")
	for i := range 8 {
		k.load(dz[i], operand.Mem{Base: d, Index: u, Scale: 1, Disp: zmm * i})
	}
	w.ADDQ(operand.U32(group), u)
	w.JMP(operand.LabelRef("target"))
	w.Label("done")
	w.VZEROUPPER()
	w.RET()
}

// dot writes one register of a convolution: d takes registers s of a and t\s
// of b for all proper subsets s of t.
func dot(w *build.Context, k kind) {
	w.Function("dot" + k.name)
	w.Attributes(attr.NOSPLIT)
	w.SignatureExpr("func(d, a, b *" + k.elem + ", t int)")
	w.Doc("dot" + k.name + " raises one register at d by registers s of a and t\\s of b, s over the proper subsets of t.")
	w.Pragma("noescape")
	d := w.Load(w.Param("d"), w.GP64())
	a := w.Load(w.Param("a"), w.GP64())
	b := w.Load(w.Param("b"), w.GP64())
	t := w.Load(w.Param("t"), w.GP64())
	w.SHLQ(operand.Imm(6), t)
	s, r := w.GP64(), w.GP64()
	acc, x := reg.Z0, reg.Z1
	k.load(operand.Mem{Base: d}, acc)
	w.MOVQ(t, s)
	w.Label("source")
	w.TESTQ(s, s)
	w.JZ(operand.LabelRef("done"))
	w.SUBQ(operand.U32(zmm), s)
	w.ANDQ(t, s)
	w.MOVQ(t, r)
	w.XORQ(s, r)
	k.load(operand.Mem{Base: a, Index: s, Scale: 1}, x)
	k.add(operand.Mem{Base: b, Index: r, Scale: 1}, x, x)
	k.max(x, acc, acc)
	w.JMP(operand.LabelRef("source"))
	w.Label("done")
	k.load(acc, operand.Mem{Base: d})
	w.VZEROUPPER()
	w.RET()
}

// expand writes the permutation of every register of a tile.
func expand(w *build.Context, k kind) {
	index, permute := "uint32", three(w.VPERMD)
	if k.elem == "int64" || k.elem == "float64" {
		index, permute = "uint64", three(w.VPERMQ)
	}
	w.Function("expand" + k.name)
	w.Attributes(attr.NOSPLIT)
	w.SignatureExpr("func(dst, src *" + k.elem + ", index *" + index + ", chunks int)")
	w.Doc("expand" + k.name + " permutes each of the chunks registers of src into dst.")
	w.Pragma("noescape")
	dst := w.Load(w.Param("dst"), w.GP64())
	src := w.Load(w.Param("src"), w.GP64())
	idx := w.Load(w.Param("index"), w.GP64())
	n := w.Load(w.Param("chunks"), w.GP64())
	w.VMOVDQU64(operand.Mem{Base: idx}, reg.Z0)
	w.Label("chunk")
	for i := range 4 {
		permute(operand.Mem{Base: src, Disp: zmm * i}, reg.Z0, vectors[1+i])
	}
	for i := range 4 {
		w.VMOVDQU64(vectors[1+i], operand.Mem{Base: dst, Disp: zmm * i})
	}
	w.ADDQ(operand.U32(4*zmm), src)
	w.ADDQ(operand.U32(4*zmm), dst)
	w.SUBQ(operand.Imm(4), n)
	w.JG(operand.LabelRef("chunk"))
	w.VZEROUPPER()
	w.RET()
}
