package bounds

import (
	"context"
	"math"

	"coalesce/solvers/auction/internal/packing"
)

// BoundOnHost is a packing.Bounder in plain Go, one child after the other. Tests and the tuner compare the
// kernels with it.
func BoundOnHost(ctx context.Context, c *packing.Children) *packing.Bounds {
	columns := rowsOfColumns(c)
	b := &packing.Bounds{}
	weight := initialWeight(c)
	for k := range c.Live {
		if ctx.Err() != nil {
			return nil
		}
		s := newSteps(c, columns, k, weight)
		s.run(stepsOf(c))
		b.Values, b.Y = append(b.Values, s.least), append(b.Y, s.best)
	}
	return b
}

// gradientSteps is the linear program of a child, and where its steps are.
type gradientSteps struct {
	*packing.Children
	columns   [][]uint16 // rows of each column
	enough    float32
	x, x0, xb []float32 // by column: the point, the point of the last restart, and twice the step's x minus the point
	y, y0, ty []float32 // by row: the point, the point of the last restart, and the step's y
	tau, sig  []float32 // step lengths by column and by row; 0: the child lacks the column or the row
	weight    float32   // weight of the primal side
	inner     int       // steps since the last restart
	first     float32   // distance that the first step since the restart moved the point
	last      float32   // distance of the last step that was looked at
	least     float32   // bound
	best      []float32
}

func newSteps(c *packing.Children, columns [][]uint16, child int, weight float32) *gradientSteps {
	n, m := len(c.Prices), len(c.Rows)
	s := &gradientSteps{Children: c, columns: columns, enough: c.Enough[child], weight: weight, least: float32(math.Inf(1)), best: make([]float32, m),
		x: make([]float32, n), xb: make([]float32, n), y: make([]float32, m), ty: make([]float32, m), tau: make([]float32, n), sig: make([]float32, m)}
	for k := range n {
		if c.Live[child][k/32]>>(k%32)&1 != 0 {
			s.tau[k] = 1 / float32(max(1, len(columns[k])))
			s.x[k] = c.X[k]
		}
	}
	for i, row := range c.Rows {
		live := 0
		for _, k := range row {
			if s.tau[k] > 0 {
				live++
			}
		}
		if live > 0 {
			s.sig[i] = 1 / float32(live)
			s.y[i] = c.Y[i]
		}
	}
	s.x0, s.y0 = append([]float32(nil), s.x...), append([]float32(nil), s.y...)
	return s
}

// run makes at most so many steps.
func (s *gradientSteps) run(most int) {
	for step := range most {
		due := step%boundInterval == boundInterval-1 || s.inner == 0
		s.inner++
		keep := float32(s.inner) / float32(s.inner+1) // weight of the step in the average with the point of the last restart
		for k, tau := range s.tau {
			rest := s.Prices[k]
			for _, i := range s.columns[k] {
				rest -= s.y[i]
			}
			t := min(1, max(0, s.x[k]+stepShare/s.weight*tau*rest))
			s.xb[k] = 2*t - s.x[k]
			if tau == 0 {
				s.xb[k] = 0
			}
			if !due {
				s.x[k] = keep*s.xb[k] + (1-keep)*s.x0[k]
			}
		}
		for i, sig := range s.sig {
			over := -s.Most[i]
			for _, k := range s.Rows[i] {
				over += s.xb[k]
			}
			s.ty[i] = max(0, s.y[i]+stepShare*s.weight*sig*over)
			if !due {
				s.y[i] = keep*(2*s.ty[i]-s.y[i]) + (1-keep)*s.y0[i]
			}
		}
		if due && s.boundAndRestart(step, keep) {
			return
		}
	}
}

// boundAndRestart bounds the child by a step's row prices, and restarts where the steps have become short.
// It reports whether the bound closes the child.
func (s *gradientSteps) boundAndRestart(step int, keep float32) bool {
	bound, moved, dx, dy := float32(0), float32(0), float32(0), float32(0)
	for k, tau := range s.tau {
		if tau == 0 {
			continue
		}
		rest := s.Prices[k]
		for _, i := range s.columns[k] {
			rest -= s.ty[i]
		}
		bound += max(0, rest)
		half := (s.xb[k] - s.x[k]) / 2 // the step's x less the point's
		moved += half * half * s.weight / tau
		far := s.x[k] + half - s.x0[k]
		dx += far * far / tau
	}
	for i, sig := range s.sig {
		if sig == 0 {
			continue
		}
		bound += s.ty[i] * s.Most[i]
		by := s.ty[i] - s.y[i]
		moved += by * by / (s.weight * sig)
		far := s.ty[i] - s.y0[i]
		dy += far * far / sig
	}
	if bound < s.least {
		s.least = bound
		copy(s.best, s.ty)
	}
	if s.inner == 1 {
		s.first, s.last = moved, moved
	}
	// Squares of 0.2 and 0.8.
	restart := s.inner > 1 && (moved <= 0.04*s.first || moved <= 0.64*s.first && moved > s.last || 100*s.inner >= 36*(step+1))
	s.last = moved
	for k := range s.x {
		if restart {
			s.x[k] = (s.xb[k] + s.x[k]) / 2
			s.x0[k] = s.x[k]
		} else {
			s.x[k] = keep*s.xb[k] + (1-keep)*s.x0[k]
		}
	}
	for i := range s.y {
		if restart {
			s.y[i] = s.ty[i]
			s.y0[i] = s.y[i]
		} else {
			s.y[i] = keep*(2*s.ty[i]-s.y[i]) + (1-keep)*s.y0[i]
		}
	}
	if restart {
		s.inner = 0
		if dx > 0 && dy > 0 {
			s.weight = float32(math.Sqrt(float64(s.weight) * math.Sqrt(float64(dy/dx))))
		}
	}
	return s.least <= s.enough
}
