// Package bounds bounds many children of a node of branch and cut at once, a block of a GPU a child
// (auction/bounds): linear programs by restarted primal-dual hybrid gradients (Applegate, Díaz,
// Hinder, Lu, Lubin, O'Donoghue and Schudy, NeurIPS 2021), which take two sparse products a step,
// with steps by columns' and rows' counts (Pock and Chambolle, ICCV 2011), reflected and averaged
// with the point of the last restart (Lu and Yang 2024).
package bounds

import (
	"math"

	"coalesce/solvers/auction/internal/packing"
)

const (
	boundInterval = 20    // steps between two computations of the bound
	stepShare     = 0.998 // step length as a share of the longest with which convergence is proven
)

// stepsOf is the number of steps for each child, which grows with the number of rows.
func stepsOf(c *packing.Children) int { return min(max(500, 8*len(c.Rows)), 8000) }

// initialWeight is the first weight of the primal side: the length of the vector of prices over that of the
// vector of the rows' limits.
func initialWeight(c *packing.Children) float32 {
	prices, most := 0.0, 0.0
	in := make([]int, len(c.Prices))
	for i, row := range c.Rows {
		for _, k := range row {
			in[k]++
		}
		most += float64(c.Most[i]) * float64(c.Most[i]) / float64(len(row))
	}
	for k, p := range c.Prices {
		prices += float64(p) * float64(p) / float64(max(1, in[k]))
	}
	if prices == 0 || most == 0 {
		return 1
	}
	return float32(math.Sqrt(prices / most))
}

// rowsOfColumns are the rows of each column.
func rowsOfColumns(c *packing.Children) [][]uint16 {
	columns := make([][]uint16, len(c.Prices))
	for i, row := range c.Rows {
		for _, k := range row {
			columns[k] = append(columns[k], uint16(i))
		}
	}
	return columns
}
