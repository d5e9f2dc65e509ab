package lp

import (
	"math"
	"slices"
)

// AddRows adds rows whose entries are 1. rows lists the columns of each, ascending; most has their right-hand sides. Their slacks enter the basis, which stays dual feasible.
func (s *Solver) AddRows(rows [][]int32, most []float64) { s.AddRowsWithEntries(rows, nil, most) }

// AddRowsWithEntries is AddRows with the entries of each row; nil: all are 1.
func (s *Solver) AddRowsWithEntries(rows [][]int32, entries [][]float64, most []float64) {
	if entries != nil && s.Entries == nil {
		s.Entries = make([][]float64, s.n)
		s.most += float64(s.n)
		for j, rows := range s.Columns {
			s.Entries[j] = slices.Repeat([]float64{1}, len(rows))
		}
	}
	before, m := s.m, s.m+len(rows)
	if s.lu == nil {
		s.resize(m)
		for r := range before {
			copy(s.spare[r*m:], s.inverse[r*before:(r+1)*before])
		}
		s.inverse, s.spare = s.spare, s.inverse
	}
	if s.Most == nil {
		for range before {
			s.Most = append(s.Most, 1)
		}
	}
	for k, columns := range rows {
		i := before + k
		length := 0.0
		if s.lu == nil {
			line := s.inverse[i*m : (i+1)*m]
			line[i] = 1
			for at, j := range columns {
				if p := int(s.place[j]); p >= 0 {
					times := 1.0
					if entries != nil {
						times = entries[k][at]
					}
					for c, v := range s.inverse[p*m : p*m+before] {
						line[c] -= times * v
					}
				}
			}
			for _, v := range line {
				length += v * v
			}
		}
		for at, j := range columns {
			s.Columns[j] = append(s.Columns[j], int32(i))
			if s.Entries != nil {
				entry := 1.0
				if entries != nil {
					entry = entries[k][at]
				}
				s.Entries[j] = append(s.Entries[j], entry)
			}
		}
		s.weight, s.x, s.head = append(s.weight, length), append(s.x, 0), append(s.head, int32(s.n+i))
		s.given, s.cost, s.d = append(s.given, 0), append(s.cost, 0), append(s.d, 0)
		s.low, s.up, s.upper = append(s.low, 0), append(s.up, inf), append(s.upper, false)
		s.place = append(s.place, int32(i))
		s.Most = append(s.Most, most[k])
		s.most += math.Abs(most[k])
	}
	s.m, s.Rows, s.changed = m, m, true
	s.row, s.column, s.shift = make([]float64, s.n+m), make([]float64, m), make([]float64, m)
	if s.chooseFactors() {
		s.refactor()
		s.computeWeights(before)
	}
}

// RemoveRows removes rows whose slacks are in the basis, and returns the rows that stay, by their old numbers. Others stay.
func (s *Solver) RemoveRows(remove func(i int) bool) (kept []int) {
	before := s.m
	number := make([]int32, before) // the new one of each row, -1: none
	var places []int32
	dropped := make([]bool, before) // places
	for i := range before {
		number[i] = -1
		if s.SlackIsBasic(i) && remove(i) {
			dropped[s.place[s.n+i]] = true
			s.most -= math.Abs(s.Most[i])
			continue
		}
		number[i] = int32(len(kept))
		kept = append(kept, i)
	}
	m := len(kept)
	if m == before {
		return kept
	}
	for p := range int32(before) {
		if !dropped[p] {
			places = append(places, p)
		}
	}
	if s.lu == nil {
		s.resize(m)
	}
	for r, p := range places {
		if s.lu == nil {
			line := s.inverse[int(p)*before : (int(p)+1)*before]
			for c, i := range kept {
				s.spare[r*m+c] = line[i]
			}
		}
		s.weight[r], s.x[r] = s.weight[p], s.x[p]
		if s.head[r] = s.head[p]; int(s.head[r]) >= s.n {
			s.head[r] = int32(s.n) + number[int(s.head[r])-s.n]
		}
	}
	if s.lu == nil {
		s.inverse, s.spare = s.spare, s.inverse
	}
	for c, i := range kept {
		to, from := s.n+c, s.n+i
		s.given[to], s.cost[to], s.d[to] = s.given[from], s.cost[from], s.d[from]
		s.low[to], s.up[to], s.upper[to], s.place[to] = s.low[from], s.up[from], s.upper[from], s.place[from]
		s.Most[c] = s.Most[i]
	}
	s.weight, s.x, s.head, s.Most = s.weight[:m], s.x[:m], s.head[:m], s.Most[:m]
	size := s.n + m
	s.given, s.cost, s.d, s.low, s.up, s.upper, s.place = s.given[:size], s.cost[:size], s.d[:size], s.low[:size], s.up[:size], s.upper[:size], s.place[:size]
	for r, j := range s.head {
		s.place[j] = int32(r)
	}
	for j, rows := range s.Columns {
		to := rows[:0]
		for k, i := range rows {
			if number[i] < 0 {
				continue
			}
			if s.Entries != nil {
				s.Entries[j][len(to)] = s.Entries[j][k]
			}
			to = append(to, number[i])
		}
		if s.Columns[j] = to; s.Entries != nil {
			s.Entries[j] = s.Entries[j][:len(to)]
		}
	}
	s.m, s.Rows = m, m
	s.row, s.column, s.shift = s.row[:size], s.column[:m], s.shift[:m]
	s.stale = s.chooseFactors()
	return kept
}

// resize makes the spare memory one of zeros for the inverse of m rows.
func (s *Solver) resize(m int) {
	if cap(s.spare) < m*m {
		s.spare = make([]float64, m*m, m*m+m*m/2)
		return
	}
	s.spare = s.spare[:m*m]
	clear(s.spare)
}

// Allow sets the most that the columns of a row may add up to.
func (s *Solver) Allow(i int, most float64) {
	if s.Most[i] != most {
		s.most += math.Abs(most) - math.Abs(s.Most[i])
		s.Most[i], s.changed = most, true
	}
}

// Length is the number of rows.
func (s *Solver) Length() int { return s.m }

// PricesOf are the prices of rows in the basis that is there, if costs were others: of columns in the basis, by their numbers.
func (s *Solver) PricesOf(cost func(j int) float64) []float64 {
	if s.stale {
		s.refactor()
	}
	price := make([]float64, s.m)
	s.pricesOf(func(j int32) float64 {
		if int(j) >= s.n {
			return 0
		}
		return cost(int(j))
	}, price)
	return price
}

// BasisRow computes the multipliers of rows that make the tableau's row of a column in the basis; false: it is not in the basis.
func (s *Solver) BasisRow(j int, multipliers []float64) bool {
	p := int(s.place[j])
	if p < 0 {
		return false
	}
	if s.stale {
		s.refactor()
		if p = int(s.place[j]); p < 0 {
			return false
		}
	}
	if s.lu == nil {
		copy(multipliers, s.inverse[p*s.m:(p+1)*s.m])
		return true
	}
	s.lu.byPlace[p] = 1
	s.lu.solveRow(s.lu.byPlace, multipliers)
	return true
}
