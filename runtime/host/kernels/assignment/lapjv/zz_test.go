package lapjv
import ("testing";"math/rand/v2";"unsafe";"os")
func BenchmarkZZ(b *testing.B) {
	r := rand.New(rand.NewPCG(1,2))
	n:=50
	all := make([][]float64, 40)
	for k := range all { all[k]=make([]float64,n*n); for q := range all[k] { x:=r.Float64(); all[k][q]=x; if os.Getenv("K")=="tracker" { all[k][q]=1; if r.IntN(17)==0 {all[k][q]=x} } } }
	var s Small
	column := make([]int32, n)
	k:=0
	wide := os.Getenv("WIDE")!=""
	for b.Loop() { findSmall(unsafe.Pointer(&s), all[k%40], n, n, column, wide); k++ }
}
