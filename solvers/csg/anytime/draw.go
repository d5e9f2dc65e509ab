package anytime

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"coalesce/solvers/qubo/problem"
	"coalesce/solvers/solve"
)

// Weights are the names of the distributions of edges' weights that Draw knows: normal and
// laplace as GCS-Q's instances have (Venkatesh, Macaluso and Klusch, ICCS 2023), of mean 0 and scale 10, rounded to
// three decimals; uniform integers from -100 to 100; sign, -1 or 1; planted, integers from -100 to 100 whose sign tells
// whether two agents belong together, but for one in ten.
func Weights() []string { return []string{"normal", "laplace", "uniform", "sign", "planted"} }

// Draw makes a graph of n agents, each two of which have an edge with a chance of
// density; the same arguments give the same graph.
func Draw(weights string, n int, density float64, seed uint64) (*Instance, error) {
	switch {
	case !slices.Contains(Weights(), weights):
		return nil, solve.InvalidInput("weights", "found %.40q, expected one of %s", weights, strings.Join(Weights(), ", "))
	case n < 0 || n > problem.MaxVariables:
		return nil, solve.InvalidInput("n", "found %d agents, expected 0 to %d", n, problem.MaxVariables)
	case !(density >= 0 && density <= 1):
		return nil, solve.InvalidInput("density", "found %v, expected 0 to 1", density)
	}
	r := rand.New(rand.NewPCG(seed, uint64(n)))
	groups := max(1, int(math.Sqrt(float64(n))/2)) // of planted
	b := problem.NewBuilder(n)
	b.Form(problem.MaxCut) // a graph
	b.Maximize()
	for j := range n {
		for i := range j {
			if r.Float64() >= density {
				continue
			}
			w := 0.0
			switch weights {
			case "normal":
				w = thousandths(10 * r.NormFloat64())
			case "laplace":
				w = thousandths(math.Copysign(10*r.ExpFloat64(), r.Float64()-0.5))
			case "uniform":
				w = float64(r.IntN(201) - 100)
			case "sign":
				w = float64(2*r.IntN(2) - 1)
			case "planted":
				w = float64(1 + r.IntN(100))
				if (i%groups == j%groups) == (r.IntN(10) == 0) {
					w = -w
				}
			}
			b.Pair(i, j, w)
		}
	}
	terms, err := b.Build()
	if err != nil {
		return nil, err
	}
	terms.Source = fmt.Sprintf("%s graph, %d agents, density %v, seed %d", weights, n, density, seed)
	return newInstance(terms)
}

func thousandths(x float64) float64 { return math.Round(1000*x) / 1000 }
