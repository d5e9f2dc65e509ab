package lapjv

import "math"

// portable are the kernels in Go.
func portable[T Cost]() Kernels {
	return Kernels{"go", minima[T], transfer[T], bid[T], path[T], nearest[T], below[T], check[T], closePairs[T], least, nil, nil, 0, nil, nil, nil, nil, nil, false, nil, nil}
}

func minima[T Cost](s *Search) int {
	v := s.Prices()
	for j, c := range costsOf[T](s, 0) {
		v[j] = float64(c)
	}
	for i := 1; i < s.rows; i++ {
		for j, c := range costsOf[T](s, i)[:len(v)] {
			if x := float64(c); x < v[j] {
				v[j] = x
			}
		}
	}
	for _, x := range v {
		if !(x < math.Inf(1)) {
			return 1
		}
	}
	return 0
}

func transfer[T Cost](s *Search) int {
	v, column, owner, free := s.Prices(), s.Columns(), s.Owners(), s.Free(s.rows)
	left := 0
	for i := range s.rows {
		row := costsOf[T](s, i)[:len(v)]
		at := -1
		for j, c := range row {
			if float64(c) == v[j] && owner[j] < 0 {
				at = j
				break
			}
		}
		if at < 0 {
			free[left] = int32(i)
			left++
			continue
		}
		column[i], owner[at] = int32(at), int32(i)
		before := v[at]
		v[at] = math.Inf(-1)
		second := math.Inf(1)
		for j, c := range row {
			if h := float64(c) - v[j]; h < second {
				second = h
			}
		}
		if v[at] = before; second < math.Inf(1) {
			v[at] -= second * s.share
		}
	}
	return left
}

func bid[T Cost](s *Search, n int) int {
	v, column, owner, free := s.Prices(), s.Columns(), s.Owners(), s.Free(s.rows)
	kept, bids := 0, 0
	for k := 0; k < n; {
		i := free[k]
		k++
		bids++
		row := costsOf[T](s, int(i))[:len(v)]
		first, second, at := math.Inf(1), math.Inf(1), -1
		for j, c := range row {
			if h := float64(c) - v[j]; h < second {
				if h < first {
					first, second, at = h, first, j
				} else {
					second = h
				}
			}
		}
		if at < 0 {
			return -1
		}
		if first == second {
			for j, c := range row {
				if owner[j] < 0 && float64(c)-v[j] == first {
					at = j
					break
				}
			}
		}
		fallen := v[at] - (second-first)*s.share
		falls := bids < s.turns*k && second < math.Inf(1) && fallen < v[at]
		if falls {
			v[at] = fallen
		}
		out := owner[at]
		column[i], owner[at] = int32(at), i
		if out < 0 {
			continue
		}
		column[out] = -1
		if falls {
			k--
			free[k] = out
		} else {
			free[kept] = out
			kept++
		}
	}
	return kept
}

func path[T Cost](s *Search, root int) int {
	v, d, column, owner := s.Prices(), list[float64](s.distance, s.cols), s.Columns(), s.Owners()
	shut, from, left, reach := list[float64](s.shut, s.cols), list[int64](s.from, s.cols), list[int32](s.left, s.cols), list[float64](s.reach, s.cols)
	copy(shut, v)
	best, at := math.Inf(1), -1
	for j, c := range costsOf[T](s, root)[:len(v)] {
		h := float64(c) - v[j]
		d[j], from[j] = h, int64(root)
		if h < best || h == best && at >= 0 && owner[j] < 0 {
			best, at = h, j
		}
	}
	n := 0
	for {
		if at < 0 {
			return 1
		}
		if owner[at] < 0 {
			break
		}
		left[n], reach[n] = int32(at), best
		n++
		d[at], shut[at] = math.Inf(1), math.Inf(-1)
		i := owner[at]
		row := costsOf[T](s, int(i))[:len(v)]
		h := float64(row[at]) - v[at] - best
		best, at = math.Inf(1), -1
		for j, c := range row {
			x := d[j]
			if y := float64(c) - shut[j] - h; y < x {
				x = y
				d[j], from[j] = x, int64(i)
			}
			if x < best || x == best && at >= 0 && owner[j] < 0 {
				best, at = x, j
			}
		}
	}
	s.scans += n
	for k, j := range left[:n] {
		v[j] += reach[k] - best
	}
	for j := int32(at); ; {
		i := from[j]
		before := column[i]
		column[i], owner[j] = j, int32(i)
		if int(i) == root {
			return 0
		}
		j = before
	}
}

func nearest[T Cost](s *Search) int {
	column, owner, free, least := s.Columns(), s.Owners(), s.Free(s.rows), s.Least()
	n := 0
	for i := range s.rows {
		first, at := math.Inf(1), -1
		for j, c := range costsOf[T](s, i) {
			if x := float64(c); x < first {
				first, at = x, j
			} else if x != x {
				return -1
			}
		}
		least[i] = first
		switch {
		case at < 0:
			return -1
		case owner[at] < 0:
			column[i], owner[at] = int32(at), int32(i)
		default:
			free[n] = int32(i)
			n++
		}
	}
	return n
}

func below[T Cost](s *Search, i int, bar float64, columns []int32, costs []float64) int {
	v, n := s.Prices(), 0
	for j, c := range costsOf[T](s, i)[:len(v)] {
		if x := float64(c); !(x-v[j] >= bar) {
			columns[n], costs[n] = int32(j), x
			n++
		}
	}
	return n
}

// far is more units than any cost of a matched pair has.
const far = 1 << 61

// Units are x in units of 1/scale: the nearest integer, ties to even, at most 2^61 in magnitude, and whether that loses bits of x. What
// is no number becomes -2^61.
func Units(x, scale float64) (whole int64, lost bool) {
	x *= scale
	switch {
	case x >= far:
		return far, false
	case !(x > -far):
		return -far, false
	}
	y := math.RoundToEven(x)
	return int64(y), y != x
}

func check[T Cost](s *Search, raise int) int {
	u, v := s.Duals()
	if raise == 0 {
		for j, x := range s.Prices() {
			v[j], _ = Units(x, s.scale)
		}
	}
	s.rounded, s.slack = 0, 0
	for i, j := range s.Columns() {
		row := costsOf[T](s, i)[:len(v)]
		least := u[i]
		if least == unset {
			least = far
			for k, c := range row {
				x, lost := Units(float64(c), s.scale)
				if lost {
					s.rounded = 1
				}
				least = min(least, x-v[k])
			}
			u[i] = least
		}
		own, _ := Units(float64(row[j]), s.scale)
		more := own - v[j] - least
		if s.slack += int(more); uint64(more) > 1<<55 || s.slack > 1<<55 {
			return 1
		}
		if raise > 0 {
			v[j] += more
		}
	}
	return 0
}

func closePairs[T Cost](s *Search, i, width, lost int) int {
	u, v := s.Duals()
	near := list[int32](s.near, s.cols)
	n := 0
	for j, c := range costsOf[T](s, i)[:len(v)] {
		if x, cut := Units(float64(c), s.scale); x-v[j] <= u[i]+int64(width) && (cut || lost == 0) {
			near[n] = int32(j)
			n++
		}
	}
	return n
}

func least(list []float64) int {
	best, at := math.Inf(1), len(list)
	for k, x := range list {
		if x < best {
			best, at = x, k
		}
	}
	return at
}
