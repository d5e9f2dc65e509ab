// Package csg writes the vector kernels of runtime/host/kernels/csg: (max,+) subset
// convolutions of tiles, in AVX-512, in AVX2, in SSE4.2 and in NEON.
package csg

import (
	"math/bits"
	"slices"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// What the kernels of every machine do, for their declarations.
const (
	convDoc = "raises groups from to to-1 of d by the subset convolution of a and b; " +
		"with proper = 1 it leaves the whole of a out."
	dotDoc    = "raises one register at d by registers s of a and t\\s of b, s over the proper subsets of t."
	expandDoc = "permutes each of the chunks registers of src into dst."
)

// A machine is a set of instructions on vector registers of x86.
type machine struct {
	suffix string // of the kernels' names
	width  int    // of a register, in bytes
	// inPlace: instructions overwrite one of their operands, so that a sum takes the place of
	// a register of a or b where that is the last to need it.
	inPlace bool
	// vectors are the registers in four parts of `group`: conv's registers of d, a and b, and
	// scratch registers, the last of them for max.
	vectors []reg.VecPhysical
	group   int
}

// A kind is a value type and the instructions that add and compare it.
type kind struct {
	name, elem string
	add        func(x, y, z operand.Op)
	max        func(x, acc operand.Op) // acc = max(x, acc); x may change
	load       func(from, to operand.Op)
}

// AVX512 adds every kernel in AVX-512 to w.
func AVX512(w *build.Context) {
	m := machine{"AVX512", 64, false, []reg.VecPhysical{
		reg.Z0, reg.Z1, reg.Z2, reg.Z3, reg.Z4, reg.Z5, reg.Z6, reg.Z7,
		reg.Z8, reg.Z9, reg.Z10, reg.Z11, reg.Z12, reg.Z13, reg.Z14, reg.Z15,
		reg.Z16, reg.Z17, reg.Z18, reg.Z19, reg.Z20, reg.Z21, reg.Z22, reg.Z23,
		reg.Z24, reg.Z25, reg.Z26, reg.Z27, reg.Z28, reg.Z29, reg.Z30, reg.Z31,
	}, 8}
	m.kernels(w, []kind{
		{"Int32", "int32", three(w.VPADDD), raise(w.VPMAXSD), two(w.VMOVDQU32)},
		{"Int64", "int64", three(w.VPADDQ), raise(w.VPMAXSQ), two(w.VMOVDQU64)},
		{"Float32", "float32", three(w.VADDPS), raise(w.VMAXPS), two(w.VMOVUPS)},
		{"Float64", "float64", three(w.VADDPD), raise(w.VMAXPD), two(w.VMOVUPD)},
	})
}

// AVX2 adds every kernel in AVX2 to w.
func AVX2(w *build.Context) {
	m := machine{"AVX2", 32, false, []reg.VecPhysical{
		reg.Y0, reg.Y1, reg.Y2, reg.Y3, reg.Y4, reg.Y5, reg.Y6, reg.Y7,
		reg.Y8, reg.Y9, reg.Y10, reg.Y11, reg.Y12, reg.Y13, reg.Y14, reg.Y15,
	}, 4}
	m.kernels(w, []kind{
		{"Int32", "int32", three(w.VPADDD), raise(w.VPMAXSD), w.VMOVDQU},
		{"Int64", "int64", three(w.VPADDQ), func(x, acc operand.Op) {
			// There is no greatest of 64-bit integers: the lanes where x is greater are copied.
			greater := m.vectors[15]
			w.VPCMPGTQ(acc, x, greater)
			w.VBLENDVPD(greater, x, acc, acc)
		}, w.VMOVDQU},
		{"Float32", "float32", three(w.VADDPS), raise(w.VMAXPS), two(w.VMOVUPS)},
		{"Float64", "float64", three(w.VADDPD), raise(w.VMAXPD), two(w.VMOVUPD)},
	})
}

// SSE42 adds every kernel in SSE4.2 to w.
func SSE42(w *build.Context) {
	m := machine{"SSE42", 16, true, []reg.VecPhysical{
		reg.X1, reg.X2, reg.X3, reg.X4, reg.X5, reg.X6, reg.X7, reg.X8,
		reg.X9, reg.X10, reg.X11, reg.X12, reg.X13, reg.X14, reg.X15, reg.X0,
	}, 4}
	// z = x + y by an instruction that adds to z; operands in memory need not be aligned.
	sum := func(add func(x, z operand.Op)) func(x, y, z operand.Op) {
		return func(x, y, z operand.Op) {
			if _, memory := x.(operand.Mem); memory {
				w.MOVUPS(x, m.vectors[15])
				x = m.vectors[15]
			}
			if x == z {
				x, y = y, x
			}
			if y != z {
				w.MOVAPS(y, z)
			}
			add(x, z)
		}
	}
	m.kernels(w, []kind{
		{"Int32", "int32", sum(w.PADDD), w.PMAXSD, w.MOVUPS},
		{"Int64", "int64", sum(w.PADDQ), func(x, acc operand.Op) {
			// As in AVX2; the blend reads its mask from X0.
			w.MOVAPS(x, reg.X0)
			w.PCMPGTQ(acc, reg.X0)
			w.BLENDVPD(reg.X0, x, acc)
		}, w.MOVUPS},
		{"Float32", "float32", sum(w.ADDPS), w.MAXPS, w.MOVUPS},
		{"Float64", "float64", sum(w.ADDPD), w.MAXPD, w.MOVUPS},
	})
}

func (m machine) kernels(w *build.Context, kinds []kind) {
	for _, k := range kinds {
		m.conv(w, k)
		m.dot(w, k)
		m.expand(w, k)
	}
}

// raise is the maximum of instructions that name three operands.
func raise(f func(...operand.Op)) func(x, acc operand.Op) {
	return func(x, acc operand.Op) { f(x, acc, acc) }
}

func three(f func(...operand.Op)) func(x, y, z operand.Op) {
	return func(x, y, z operand.Op) { f(x, y, z) }
}

func two(f func(...operand.Op)) func(x, y operand.Op) {
	return func(x, y operand.Op) { f(x, y) }
}

// conv writes the subset convolution over groups of registers: group u of d
// takes groups s of a and u\s of b for all s within u; proper leaves s = u
// out. All lanes do the same.
func (m machine) conv(w *build.Context, k kind) {
	w.Function("conv" + k.name + m.suffix)
	w.Attributes(attr.NOSPLIT)
	w.SignatureExpr("func(d, a, b *" + k.elem + ", from, to, proper int)")
	w.Doc("conv" + k.name + m.suffix + " " + convDoc)
	w.Pragma("noescape")
	d := w.Load(w.Param("d"), w.GP64())
	a := w.Load(w.Param("a"), w.GP64())
	b := w.Load(w.Param("b"), w.GP64())
	u := w.Load(w.Param("from"), w.GP64())
	to := w.Load(w.Param("to"), w.GP64())
	proper := w.Load(w.Param("proper"), w.GP64())
	n, group := m.group, operand.U32(m.group*m.width)
	shift := operand.Imm(uint64(bits.Len(uint(m.group*m.width)) - 1))
	w.SHLQ(shift, u)
	w.SHLQ(shift, to)
	s, t := w.GP64(), w.GP64()
	dz, az, bz := m.vectors[:n], m.vectors[n:2*n], m.vectors[2*n:3*n]

	w.Label("target")
	w.CMPQ(u, to)
	w.JGE(operand.LabelRef("done"))
	for i := range n {
		k.load(operand.Mem{Base: d, Index: u, Scale: 1, Disp: m.width * i}, dz[i])
	}
	w.MOVQ(u, s)
	w.TESTQ(proper, proper)
	w.JZ(operand.LabelRef("source"))
	w.TESTQ(s, s)
	w.JZ(operand.LabelRef("store"))
	w.SUBQ(group, s)
	w.ANDQ(u, s)

	w.Label("source")
	w.MOVQ(u, t)
	w.XORQ(s, t)
	for i := range n {
		k.load(operand.Mem{Base: a, Index: s, Scale: 1, Disp: m.width * i}, az[i])
		k.load(operand.Mem{Base: b, Index: t, Scale: 1, Disp: m.width * i}, bz[i])
	}
	m.products(w, k)
	w.TESTQ(s, s)
	w.JZ(operand.LabelRef("store"))
	w.SUBQ(group, s)
	w.ANDQ(u, s)
	w.JMP(operand.LabelRef("source"))

	w.Label("store")
	for i := range n {
		k.load(dz[i], operand.Mem{Base: d, Index: u, Scale: 1, Disp: m.width * i})
	}
	w.ADDQ(group, u)
	w.JMP(operand.LabelRef("target"))
	w.Label("done")
	m.endFunction(w)
}

// A pair is two sums that go to one register of d: of a's register i and b's j, and of a's
// j and b's i; where i = j = 0 they are one sum. So the maximum of both comes first, and half
// as many maxima wait for one another.
type pair struct{ i, j int }

// disjointPairs are all disjoint i and j below n, the largest unions first.
func disjointPairs(n int) (list []pair) {
	for t := n - 1; t > 0; t-- {
		rest := t & (t - 1) // i never has the lowest element of t
		for i := rest; ; i = (i - 1) & rest {
			list = append(list, pair{i, t ^ i})
			if i == 0 {
				break
			}
		}
	}
	return append(list, pair{})
}

// products raises all registers of d.
func (m machine) products(w *build.Context, k kind) {
	n := m.group
	dz, az, bz, scratch := m.vectors[:n], m.vectors[n:2*n], m.vectors[2*n:3*n], m.vectors[3*n:4*n-1]
	list := disjointPairs(n)
	var left, right []int // of all sums
	for _, p := range list {
		left, right = append(left, p.i, p.j), append(right, p.j, p.i)
	}
	next := 0
	sum := func(at int) operand.Op {
		i, j := left[at], right[at]
		x := scratch[next%len(scratch)]
		switch later := at + 1; {
		case m.inPlace && !slices.Contains(left[later:], i):
			x = az[i]
		case m.inPlace && !slices.Contains(right[later:], j):
			x = bz[j]
		default:
			next++
		}
		k.add(az[i], bz[j], x)
		return x
	}
	for at, p := range list {
		x := sum(2 * at)
		if p.i != p.j {
			y := sum(2*at + 1)
			k.max(y, x)
		}
		k.max(x, dz[p.i|p.j])
	}
}

// dot writes one register of a convolution: d takes registers s of a and t\s
// of b for all proper subsets s of t.
func (m machine) dot(w *build.Context, k kind) {
	w.Function("dot" + k.name + m.suffix)
	w.Attributes(attr.NOSPLIT)
	w.SignatureExpr("func(d, a, b *" + k.elem + ", t int)")
	w.Doc("dot" + k.name + m.suffix + " " + dotDoc)
	w.Pragma("noescape")
	d := w.Load(w.Param("d"), w.GP64())
	a := w.Load(w.Param("a"), w.GP64())
	b := w.Load(w.Param("b"), w.GP64())
	t := w.Load(w.Param("t"), w.GP64())
	w.SHLQ(operand.Imm(uint64(bits.Len(uint(m.width))-1)), t)
	s, r := w.GP64(), w.GP64()
	acc, x := m.vectors[0], m.vectors[1]
	k.load(operand.Mem{Base: d}, acc)
	w.MOVQ(t, s)
	w.Label("source")
	w.TESTQ(s, s)
	w.JZ(operand.LabelRef("done"))
	w.SUBQ(operand.U32(m.width), s)
	w.ANDQ(t, s)
	w.MOVQ(t, r)
	w.XORQ(s, r)
	k.load(operand.Mem{Base: a, Index: s, Scale: 1}, x)
	k.add(operand.Mem{Base: b, Index: r, Scale: 1}, x, x)
	k.max(x, acc)
	w.JMP(operand.LabelRef("source"))
	w.Label("done")
	k.load(acc, operand.Mem{Base: d})
	m.endFunction(w)
}

// endFunction writes the end of a function.
func (m machine) endFunction(w *build.Context) {
	if m.width > 16 {
		w.VZEROUPPER()
	}
	w.RET()
}

// expand writes the permutation of every register of a tile, by words of 4 bytes; AVX-512's
// of 8-byte values by words of 8, and SSE4.2's by bytes.
func (m machine) expand(w *build.Context, k kind) {
	index, permute, load := "uint32", three(w.VPERMD), w.VMOVDQU
	switch {
	case m.width == 16:
		index, load = "uint8", w.MOVUPS
		permute = func(from, lanes, to operand.Op) {
			w.MOVUPS(from, to)
			w.PSHUFB(lanes, to)
		}
	case m.width == 64:
		load = two(w.VMOVDQU64)
		if k.elem == "int64" || k.elem == "float64" {
			index, permute = "uint64", three(w.VPERMQ)
		}
	}
	w.Function("expand" + k.name + m.suffix)
	w.Attributes(attr.NOSPLIT)
	w.SignatureExpr("func(dst, src *" + k.elem + ", index *" + index + ", chunks int)")
	w.Doc("expand" + k.name + m.suffix + " " + expandDoc)
	w.Pragma("noescape")
	dst := w.Load(w.Param("dst"), w.GP64())
	src := w.Load(w.Param("src"), w.GP64())
	idx := w.Load(w.Param("index"), w.GP64())
	n := w.Load(w.Param("chunks"), w.GP64())
	lanes := m.vectors[0]
	load(operand.Mem{Base: idx}, lanes)
	w.Label("chunk")
	for i := range 4 {
		permute(operand.Mem{Base: src, Disp: m.width * i}, lanes, m.vectors[1+i])
	}
	for i := range 4 {
		load(m.vectors[1+i], operand.Mem{Base: dst, Disp: m.width * i})
	}
	w.ADDQ(operand.U32(4*m.width), src)
	w.ADDQ(operand.U32(4*m.width), dst)
	w.SUBQ(operand.Imm(4), n)
	w.JG(operand.LabelRef("chunk"))
	m.endFunction(w)
}
