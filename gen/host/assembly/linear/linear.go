// Package linear writes the AVX2 kernels of runtime/host/kernels/linear.
package linear

import (
	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

const lanes = 8 // of float32

// AVX2 adds the kernels for processors with AVX2 and FMA.
func AVX2(w *build.Context) {
	combine(w)
	subtract(w)
	eliminate(w)
}

// combine writes the sum of rows with weights.
func combine(w *build.Context) {
	w.Function("combineAVX2")
	w.Attributes(attr.NOSPLIT)
	w.SignatureExpr("func(out, rows *float32, width int, col *int32, weight *float64, n int)")
	w.Doc("combineAVX2 sets out to the sum of n rows of width numbers, a multiple of 16: weight[t] times row col[t].")
	w.Pragma("noescape")
	out, rows := w.Load(w.Param("out"), w.GP64()), w.Load(w.Param("rows"), w.GP64())
	width := w.Load(w.Param("width"), w.GP64())
	col, weight, n := w.Load(w.Param("col"), w.GP64()), w.Load(w.Param("weight"), w.GP64()), w.Load(w.Param("n"), w.GP64())
	left, stride := w.GP64(), w.GP64()
	w.MOVQ(width, left)
	w.MOVQ(width, stride)
	w.SHLQ(operand.Imm(2), stride)
	for _, vectors := range []int{8, 2} {
		name := map[int]string{8: "wide", 2: "narrow"}[vectors]
		w.Label(name)
		w.CMPQ(left, operand.Imm(uint64(vectors*lanes)))
		w.JL(operand.LabelRef(name + "End"))
		sum := make([]reg.VecVirtual, vectors)
		for v := range sum {
			sum[v] = w.YMM()
			w.VXORPS(sum[v], sum[v], sum[v])
		}
		t, row, factor := w.GP64(), w.GP64(), w.YMM()
		w.XORQ(t, t)
		w.Label(name + "Row")
		w.CMPQ(t, n)
		w.JGE(operand.LabelRef(name + "Store"))
		w.MOVLQSX(operand.Mem{Base: col, Index: t, Scale: 4}, row)
		w.IMULQ(stride, row)
		w.ADDQ(rows, row)
		w.VXORPS(factor, factor, factor)
		w.VCVTSD2SS(operand.Mem{Base: weight, Index: t, Scale: 8}, factor.AsX(), factor.AsX())
		w.VBROADCASTSS(factor.AsX(), factor)
		for v := range sum {
			w.VFMADD231PS(operand.Mem{Base: row, Disp: 4 * lanes * v}, factor, sum[v])
		}
		w.INCQ(t)
		w.JMP(operand.LabelRef(name + "Row"))
		w.Label(name + "Store")
		for v := range sum {
			w.VMOVUPS(sum[v], operand.Mem{Base: out, Disp: 4 * lanes * v})
		}
		w.ADDQ(operand.U32(4*lanes*vectors), out)
		w.ADDQ(operand.U32(4*lanes*vectors), rows)
		w.SUBQ(operand.Imm(uint64(lanes*vectors)), left)
		w.JMP(operand.LabelRef(name))
		w.Label(name + "End")
	}
	w.VZEROUPPER()
	w.RET()
}

// subtract writes the update of a tile of 4 rows and 8 columns.
func subtract(w *build.Context) {
	w.Function("subtractAVX2")
	w.Attributes(attr.NOSPLIT)
	w.SignatureExpr("func(tile *float64, stride int, left, right *float64, depth int)")
	w.Doc("subtractAVX2 subtracts from a tile of 4 rows and 8 columns, stride numbers from row to row, the product of left, depth columns of 4", "numbers, and right, depth rows of 8.")
	w.Pragma("noescape")
	tile, stride := w.Load(w.Param("tile"), w.GP64()), w.Load(w.Param("stride"), w.GP64())
	left, right, depth := w.Load(w.Param("left"), w.GP64()), w.Load(w.Param("right"), w.GP64()), w.Load(w.Param("depth"), w.GP64())
	w.SHLQ(operand.Imm(3), stride)
	var sum [4][2]reg.VecVirtual
	for i := range sum {
		for h := range sum[i] {
			sum[i][h] = w.YMM()
			w.VXORPD(sum[i][h], sum[i][h], sum[i][h])
		}
	}
	right0, right1 := w.YMM(), w.YMM()
	w.Label("column")
	w.TESTQ(depth, depth)
	w.JLE(operand.LabelRef("store"))
	w.VMOVUPD(operand.Mem{Base: right}, right0)
	w.VMOVUPD(operand.Mem{Base: right, Disp: 32}, right1)
	for i := range sum {
		x := w.YMM()
		w.VBROADCASTSD(operand.Mem{Base: left, Disp: 8 * i}, x)
		w.VFMADD231PD(right0, x, sum[i][0])
		w.VFMADD231PD(right1, x, sum[i][1])
	}
	w.ADDQ(operand.Imm(32), left)
	w.ADDQ(operand.Imm(64), right)
	w.DECQ(depth)
	w.JMP(operand.LabelRef("column"))
	w.Label("store")
	for i := range sum {
		for h := range sum[i] {
			at, x := operand.Mem{Base: tile, Disp: 32 * h}, w.YMM()
			w.VMOVUPD(at, x)
			w.VSUBPD(sum[i][h], x, x)
			w.VMOVUPD(x, at)
		}
		w.ADDQ(stride, tile)
	}
	w.VZEROUPPER()
	w.RET()
}

// eliminate writes the step of an elimination on a row.
func eliminate(w *build.Context) {
	w.Function("eliminateAVX2")
	w.Attributes(attr.NOSPLIT)
	w.SignatureExpr("func(row, pivot *float64, n int, factor float64) float64")
	w.Doc("eliminateAVX2 subtracts factor times pivot from row, n numbers, a multiple of 8, and returns by how much the sum of squares has grown.")
	w.Pragma("noescape")
	row, pivot, n := w.Load(w.Param("row"), w.GP64()), w.Load(w.Param("pivot"), w.GP64()), w.Load(w.Param("n"), w.GP64())
	factor := w.YMM()
	w.Load(w.Param("factor"), factor.AsX())
	w.VBROADCASTSD(factor.AsX(), factor)
	var grown [2]reg.VecVirtual
	for h := range grown {
		grown[h] = w.YMM()
		w.VXORPD(grown[h], grown[h], grown[h])
	}
	w.Label("numbers")
	w.TESTQ(n, n)
	w.JLE(operand.LabelRef("end"))
	for h := range grown {
		at, old, now, sum := operand.Mem{Base: row, Disp: 32 * h}, w.YMM(), w.YMM(), w.YMM()
		w.VMOVUPD(at, old)
		w.VMOVAPD(old, now)
		w.VFNMADD231PD(operand.Mem{Base: pivot, Disp: 32 * h}, factor, now)
		w.VMOVUPD(now, at)
		w.VADDPD(old, now, sum)
		w.VSUBPD(old, now, now)
		w.VFMADD231PD(sum, now, grown[h])
	}
	w.ADDQ(operand.Imm(64), row)
	w.ADDQ(operand.Imm(64), pivot)
	w.SUBQ(operand.Imm(8), n)
	w.JMP(operand.LabelRef("numbers"))
	w.Label("end")
	high := w.XMM()
	w.VADDPD(grown[1], grown[0], grown[0])
	w.VEXTRACTF128(operand.Imm(1), grown[0], high)
	w.VADDPD(high, grown[0].AsX(), grown[0].AsX())
	w.VHADDPD(grown[0].AsX(), grown[0].AsX(), grown[0].AsX())
	w.VZEROUPPER()
	w.Store(grown[0].AsX(), w.ReturnIndex(0))
	w.RET()
}
