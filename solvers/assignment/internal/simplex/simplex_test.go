package simplex

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

	"coalesce/solvers/assignment/internal/engine"
	"coalesce/solvers/assignment/problem"
)

func cpu() time.Duration {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano())
}

func BenchmarkTransport(b *testing.B) {
	for _, n := range []int{1000, 2000} {
		for _, kind := range []string{"uniform", "squared", "gauss"} {
			b.Run(fmt.Sprintf("%s/%d", kind, n), func(b *testing.B) {
				r := rand.New(rand.NewPCG(1, 2))
				c := make([]float64, n*n)
				switch kind {
				case "uniform":
					for k := range c {
						c[k] = r.Float64()
					}
				default:
					draw := func() (x, y float64) {
						if kind == "gauss" {
							return r.NormFloat64(), r.NormFloat64()
						}
						return r.Float64(), r.Float64()
					}
					xs, ys := make([][2]float64, n), make([][2]float64, n)
					for i := range n {
						xs[i][0], xs[i][1] = draw()
						ys[i][0], ys[i][1] = draw()
						if kind == "gauss" {
							ys[i][0] += 3
						}
					}
					for i := range n {
						for j := range n {
							dx, dy := xs[i][0]-ys[j][0], xs[i][1]-ys[j][1]
							c[i*n+j] = dx*dx + dy*dy
						}
					}
				}
				inst, err := problem.NewInstance(n, n, c, "")
				if err != nil {
					b.Fatal(err)
				}
				mass := func() []int64 {
					m := make([]float64, n)
					t := 0.0
					for i := range m {
						m[i] = r.Float64()
						t += m[i]
					}
					out := make([]int64, n)
					left := int64(1) << 60
					for i := range m {
						out[i] = int64(math.Ldexp(m[i]/t, 60))
						left -= out[i]
					}
					out[0] += left
					return out
				}
				inst.Supply, inst.Capacity = mass(), mass()
				p, err := problem.Normalise(inst)
				if err != nil {
					b.Fatal(err)
				}
				for b.Loop() {
					begin := cpu()
					f, err := Solve(context.Background(), p, engine.Host{Threads: 2})
					if err != nil {
						b.Fatal(err)
					}
					b.Logf("%v passes %v pivots %d edges %d", cpu()-begin, f.Counts.Passes, f.Counts.Steps, f.Counts.Edges)
				}
			})
		}
	}
}
