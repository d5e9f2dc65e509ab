//go:build unix

package oddcycle

import (
	"context"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

	"coalesce/solvers/qubo/internal/frustration"
)

// processorSeconds is the processor's time of this process.
func processorSeconds() float64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds()
}

// processorLimit is a context that ends at a time of the processor.
type processorLimit struct {
	context.Context
	end float64
}

func (c processorLimit) Err() error {
	if processorSeconds() > c.end {
		return context.Canceled
	}
	return nil
}

// BenchmarkProve proves drawn instances from nothing, within 30 processor seconds: run it with -benchtime 1x. Its draws are those of seeds 1 and 2.
func BenchmarkProve(b *testing.B) {
	for _, c := range []struct {
		name    string
		n, side int
		degree  float64
		kind    int // of coefficients
	}{
		{"torus20-signs-fields", 0, 20, 0, 0},
		{"torus25-signs-fields", 0, 25, 0, 0},
		{"torus20-integers-fields", 0, 20, 0, 1},
		{"torus30-real-fields", 0, 30, 0, 2},
		{"degree3-400-signs", 400, 0, 3, 0},
		{"degree3-300-real", 300, 0, 3, 2},
		{"degree4-200-signs", 200, 0, 4, 0},
		{"degree4-250-real", 250, 0, 4, 2},
		{"degree6-120-signs", 120, 0, 6, 0},
		{"degree6-100-real", 100, 0, 6, 2},
	} {
		for seed := range uint64(2) {
			b.Run(c.name, func(b *testing.B) {
				r := rand.New(rand.NewPCG(seed+1, uint64(c.n+c.side)))
				n, edges, coefficient := c.n, [][2]int(nil), coefficients(r, c.kind)
				field := coefficient
				if c.side > 0 {
					n, edges = c.side*c.side, torus(c.side, c.side)
				} else {
					edges, field = sparse(r, c.n, c.degree), nil
				}
				m := frustration.New(drawn(b, n, edges, coefficient, field), nil)
				for range b.N {
					began := processorSeconds()
					proof, up, ok := proveAll(processorLimit{b.Context(), began + 30}, m)
					b.ReportMetric(processorSeconds()-began, "processor-s")
					if b.ReportMetric(float64(max(1, len(proof.Cases))), "cases"); !ok {
						loss, shift, err := m.Check(proof)
						if err != nil {
							b.Fatal(err)
						}
						b.Logf("not proven: bound %v, value %v", m.Bound(loss, shift), m.Bound(m.Loss(m.Spins(up)), m.Shift))
					}
				}
			})
		}
	}
}
