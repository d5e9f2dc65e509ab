package lp

import "math"

// An inverse is kept, in place of factors, of up to fewRows rows, and where columns have at least one in rowsAnEntry of the rows: inverses
// of such matrices have few zeros, and vectors of them are faster than lists.
const (
	fewRows     = 100
	rowsAnEntry = 25
)

// Factors are what is kept of a basis in place of its inverse.
type factors struct {
	lu      *lu   // nil: the inverse is kept
	stale   bool  // they are of an older matrix
	lines   lines // the matrix by rows
	fewRows int
}

// chooseFactors decides whether to keep factors of the basis or its inverse, and reports the former. Factors once kept stay.
func (s *Solver) chooseFactors() bool {
	if s.lu == nil {
		entries := 0
		for _, rows := range s.Columns {
			entries += len(rows)
		}
		if s.m <= s.fewRows || s.fewRows > 0 && s.m*s.n <= rowsAnEntry*entries {
			if s.inverse == nil {
				s.inverse = make([]float64, s.m*s.m)
			}
			return false
		}
		s.lu, s.inverse, s.spare = &lu{}, nil, nil
	}
	s.unit, s.edge = resizedNumbers(s.unit, s.m), resizedNumbers(s.edge, s.m)
	s.lines.stale = true
	return true
}

func resizedNumbers(list []float64, n int) []float64 {
	if cap(list) < n {
		return make([]float64, n)
	}
	return list[:n]
}

// lasting is the number of pivots after which rounding calls for new factors, or a new inverse.
func (s *Solver) lasting() int {
	if s.lu != nil {
		return updates
	}
	return s.Lasting
}

// worn reports whether factors or inverse are to be computed again, in a solve of so many pivots at most.
func (s *Solver) worn(limit int) bool {
	if s.lu == nil {
		return s.age > s.Lasting
	}
	return limit == 0 && s.lu.worn() || s.age > 2*updates
}

// factorise computes the factors of the basis. Where its columns depend on each other slacks take their places.
func (s *Solver) factorise() {
	for {
		place, row := s.lu.factorise(s.m, func(p int) (rows []int32, entries []float64, slack int) {
			j := int(s.head[p])
			if j >= s.n {
				return nil, nil, j - s.n
			}
			if s.Entries != nil {
				entries = s.Entries[j]
			}
			return s.Columns[j], entries, -1
		})
		if place < 0 {
			break
		}
		j, k := s.head[place], int32(s.n+row)
		s.place[j], s.upper[j] = -1, int(j) < s.n && s.x[place] > 0.5
		s.head[place], s.place[k] = k, int32(place)
	}
	s.age = 0
	s.reduceCosts()
	s.changed = true
}

// enterNegative factorises the basis, and puts slacks whose rows would have prices below 0 into it.
func (s *Solver) enterNegative() {
	s.refactor()
	for range 4 {
		good := true
		for i := range s.m {
			k := s.n + i
			if s.place[k] >= 0 || s.up[k] == 0 || s.d[k] >= -feasible {
				continue
			}
			good = false
			s.enterColumn(k)
			at, most := -1, small
			for p, v := range s.column {
				if v = math.Abs(v); v > most && int(s.head[p]) < s.n {
					at, most = p, v
				}
			}
			if at >= 0 {
				s.lu.update(s.column, at)
				s.place[s.head[at]], s.head[at], s.place[k] = -1, int32(k), int32(at)
			}
		}
		if good {
			return
		}
		s.refactor()
	}
	for i := range s.m {
		if j := s.head[i]; int(j) < s.n {
			s.place[j] = -1
		}
		s.head[i], s.place[s.n+i] = int32(s.n+i), int32(i)
	}
	s.refactor()
}

// computeWeights computes the weights of places from the first one on.
func (s *Solver) computeWeights(first int) {
	if s.lu == nil {
		return
	}
	for r := first; r < s.m; r++ {
		s.lu.byPlace[r] = 1
		s.lu.solveRow(s.lu.byPlace, s.unit)
		length := 0.0
		for _, v := range s.unit {
			length += v * v
		}
		s.weight[r] = length
	}
}

// Lines are rows with their columns that are free.
type lines struct {
	start, column []int32
	value         []float64 // of each entry of column; nil: all are 1
	count         int       // columns
	has           []bool
	stale         bool
	stamp         []uint32 // by column and slack, of the last row that touched it
	now           uint32
}

// update makes the lines those of the solver's free columns, or of some more.
func (l *lines) update(s *Solver) {
	if len(l.stamp) < s.n+s.m {
		l.stamp, l.now = make([]uint32, s.n+s.m+s.m/4), 0
	}
	same := !l.stale && 4*l.count <= 5*len(s.free)
	for k := 0; same && k < len(s.free); k++ {
		same = l.has[s.free[k]]
	}
	if same {
		return
	}
	l.stale, l.count = false, len(s.free)
	if l.has == nil {
		l.has = make([]bool, s.n)
	}
	clear(l.has)
	l.start = resized(l.start, s.m+1)
	clear(l.start)
	for _, j := range s.free {
		l.has[j] = true
		for _, i := range s.Columns[j] {
			l.start[i+1]++
		}
	}
	for i := range s.m {
		l.start[i+1] += l.start[i]
	}
	l.column = resized(l.column, int(l.start[s.m]))
	if s.Entries != nil {
		l.value = resizedNumbers(l.value, len(l.column))
	}
	for _, j := range s.free {
		for k, i := range s.Columns[j] {
			if s.Entries != nil {
				l.value[l.start[i]] = s.Entries[j][k]
			}
			l.column[l.start[i]] = j
			l.start[i]++
		}
	}
	copy(l.start[1:], l.start[:s.m])
	l.start[0] = 0
}

// sparseRow computes the tableau's row r from the factors, and lists its columns outside the basis.
func (s *Solver) sparseRow(r int) {
	s.lu.byPlace[r] = 1
	s.lu.solveRow(s.lu.byPlace, s.unit)
	l := &s.lines
	if l.now++; l.now == 0 {
		clear(l.stamp)
		l.now = 1
	}
	now, list := l.now, s.touched[:0]
	for i, v := range s.unit {
		if v < 1e-14 && v > -1e-14 {
			s.unit[i] = 0
			continue
		}
		if k := s.n + i; s.place[k] < 0 {
			s.row[k] = v
			list = append(list, int32(k))
		}
		line := l.column[l.start[i]:l.start[i+1]]
		if l.value != nil {
			for at, e := range l.value[l.start[i]:l.start[i+1]] {
				if j := line[at]; l.stamp[j] == now {
					s.row[j] += v * e
				} else {
					l.stamp[j], s.row[j] = now, v*e
					list = append(list, j)
				}
			}
			continue
		}
		for _, j := range line {
			if l.stamp[j] == now {
				s.row[j] += v
			} else {
				l.stamp[j], s.row[j] = now, v
				list = append(list, j)
			}
		}
	}
	kept := list[:0]
	for _, j := range list {
		if v := s.row[j]; s.place[j] < 0 && (v > 1e-13 || v < -1e-13) {
			kept = append(kept, j)
		}
	}
	s.touched = kept
}

// updateFactors adds the pivot in place r of s.column to the factors, and keeps the weights of steepest edge (Forrest and
// Goldfarb, Mathematical Programming 57, 1992).
func (s *Solver) updateFactors(r int) {
	length := 0.0
	load := s.lu.byRow
	for i, v := range s.unit {
		length += v * v
		load[i] = v
	}
	s.lu.solve(load, s.edge)
	turn := 1 / s.column[r]
	for k, v := range s.column {
		if v != 0 && k != r {
			by := v * turn
			s.weight[k] = max(s.weight[k]+by*(by*length-2*s.edge[k]), 1e-4)
		}
	}
	s.weight[r] = max(length*turn*turn, 1e-4)
	s.lu.update(s.column, r)
}
