package csg

import (
	"fmt"
	"math/bits"
	"strings"

	"coalesce/gen/host/assembly/arm64"
)

// A NEON register has 16 bytes. As in AVX-512 there are 32, in four parts of 8: what conv
// keeps of d, of a, of b, and scratch.
const (
	neonWidth, neonGroup   = 16, 8
	neonD, neonA, neonB    = 0, 8, 16
	neonScratch, neonMasks = 24, 30 // six for sums and two for comparisons
)

// A neonKind is a value type and the instructions that add and compare it.
type neonKind struct {
	name, elem string
	add        arm64.VectorOp
	max        func(w *arm64.File, x, acc, scratch int) // acc = max(x, acc)
}

// NEON adds every kernel in NEON, which each arm64 processor has, to w.
func NEON(w *arm64.File) {
	for _, k := range []neonKind{
		{"Int32", "int32", arm64.AddInt32, neonRaise(arm64.MaxInt32)},
		{"Int64", "int64", arm64.AddInt64, func(w *arm64.File, x, acc, greater int) {
			// There is no greatest of 64-bit integers: the lanes where x is greater are copied.
			w.Vector(arm64.GreaterInt64, x, acc, greater)
			w.Vector(arm64.Insert, x, greater, acc)
		}},
		{"Float32", "float32", arm64.AddFloat32, neonRaise(arm64.MaxFloat32)},
		{"Float64", "float64", arm64.AddFloat64, neonRaise(arm64.MaxFloat64)},
	} {
		k.conv(w)
		k.dot(w)
		k.expand(w)
	}
}

func neonRaise(op arm64.VectorOp) func(w *arm64.File, x, acc, scratch int) {
	return func(w *arm64.File, x, acc, _ int) { w.Vector(op, x, acc, acc) }
}

// conv writes what machine.conv writes.
func (k neonKind) conv(w *arm64.File) {
	value := "*" + k.elem
	w.Function("conv"+k.name+"NEON", convDoc, arm64.Param{Name: "d", Type: value}, arm64.Param{Name: "a", Type: value},
		arm64.Param{Name: "b", Type: value}, arm64.Param{Name: "from", Type: "int"},
		arm64.Param{Name: "to", Type: "int"}, arm64.Param{Name: "proper", Type: "int"})
	const d, a, b, u, to, proper, at, s, t, left, right = "R0", "R1", "R2", "R3", "R4", "R5", "R6", "R7", "R8", "R9", "R10"
	const bytes = neonGroup * neonWidth
	shift, group := arm64.Imm(bits.Len(uint(bytes))-1), arm64.Imm(bytes)
	w.Op("LSL", shift, u)
	w.Op("LSL", shift, to)

	w.Label("target")
	w.Op("CMP", to, u)
	w.Op("BGE", "done")
	w.Op("ADD", u, d, at)
	w.Load(at, neonD, neonGroup)
	w.Op("MOVD", u, s)
	w.Op("CBZ", proper, "source")
	w.Op("CBZ", s, "store")
	w.Op("SUB", group, s)
	w.Op("AND", u, s)

	w.Label("source")
	w.Op("EOR", s, u, t)
	w.Op("ADD", s, a, left)
	w.Op("ADD", t, b, right)
	w.Load(left, neonA, neonGroup)
	w.Load(right, neonB, neonGroup)
	k.products(w)
	w.Op("CBZ", s, "store")
	w.Op("SUB", group, s)
	w.Op("AND", u, s)
	w.Op("B", "source")

	w.Label("store")
	w.Store(at, neonD, neonGroup)
	w.Op("ADD", group, u)
	w.Op("B", "target")
	w.Label("done")
	w.Op("RET")
}

// products raises all registers of d. Sums are added while those before are compared.
func (k neonKind) products(w *arm64.File) {
	list := disjointPairs(neonGroup)
	sum := func(at int) int { return neonScratch + 2*(at%3) }
	for at := range len(list) + 1 {
		if at < len(list) {
			p, x := list[at], sum(at)
			w.Vector(k.add, neonA+p.i, neonB+p.j, x)
			if p.i != p.j {
				w.Vector(k.add, neonA+p.j, neonB+p.i, x+1)
			}
		}
		if at > 0 {
			p, x := list[at-1], sum(at-1)
			if p.i != p.j {
				k.max(w, x+1, x, neonMasks)
			}
			k.max(w, x, neonD+(p.i|p.j), neonMasks+1)
		}
	}
}

// dot writes what machine.dot writes.
func (k neonKind) dot(w *arm64.File) {
	value := "*" + k.elem
	w.Function("dot"+k.name+"NEON", dotDoc, arm64.Param{Name: "d", Type: value}, arm64.Param{Name: "a", Type: value},
		arm64.Param{Name: "b", Type: value}, arm64.Param{Name: "t", Type: "int"})
	const d, a, b, t, s, left, right = "R0", "R1", "R2", "R3", "R4", "R5", "R6"
	const acc, x, y, scratch = 0, 1, 2, 3
	w.Op("LSL", arm64.Imm(bits.Len(neonWidth)-1), t)
	w.Op("FMOVQ", "("+d+")", fmt.Sprintf("F%d", acc))
	w.Op("MOVD", t, s)
	w.Label("source")
	w.Op("CBZ", s, "done")
	w.Op("SUB", arm64.Imm(neonWidth), s)
	w.Op("AND", t, s)
	w.Op("ADD", s, a, left)
	w.Op("EOR", s, t, right)
	w.Op("ADD", b, right)
	w.Op("FMOVQ", "("+left+")", fmt.Sprintf("F%d", x))
	w.Op("FMOVQ", "("+right+")", fmt.Sprintf("F%d", y))
	w.Vector(k.add, x, y, x)
	k.max(w, x, acc, scratch)
	w.Op("B", "source")
	w.Label("done")
	w.Op("FMOVQ", fmt.Sprintf("F%d", acc), "("+d+")")
	w.Op("RET")
}

// expand writes the permutation of every register of a tile, by bytes.
func (k neonKind) expand(w *arm64.File) {
	value := "*" + k.elem
	w.Function("expand"+k.name+"NEON", expandDoc, arm64.Param{Name: "dst", Type: value}, arm64.Param{Name: "src", Type: value},
		arm64.Param{Name: "index", Type: "*uint8"}, arm64.Param{Name: "chunks", Type: "int"})
	const dst, src, index, chunks = "R0", "R1", "R2", "R3"
	four := func(from int) string {
		var list []string
		for i := range 4 {
			list = append(list, fmt.Sprintf("V%d.B16", from+i))
		}
		return "[" + strings.Join(list, ", ") + "]"
	}
	w.Op("VLD1", "("+index+")", "[V0.B16]")
	w.Label("chunk")
	w.Op("VLD1.P", "64("+src+")", four(1))
	for i := range 4 {
		w.Op("VTBL", "V0.B16", fmt.Sprintf("[V%d.B16]", 1+i), fmt.Sprintf("V%d.B16", 5+i))
	}
	w.Op("VST1.P", four(5), "64("+dst+")")
	w.Op("SUBS", "$4", chunks)
	w.Op("BGT", "chunk")
	w.Op("RET")
}
