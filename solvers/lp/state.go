package lp

// A State is a basis with its inverse, or the number of its factors' updates, bounds left out.
type State struct {
	head, place []int32
	upper       []bool
	cost        []float64
	noise       float64
	inverse     []float64
	generation  int
	updates     int
	x, d        []float64
	weight      []float64
	age         int
}

// Save copies the basis into a state, whose memory is used again.
func (s *Solver) Save(t *State) {
	if s.lu != nil {
		if s.stale || len(s.lu.etaPlace) > updates/2 { // more updates follow
			s.refactor()
		}
		t.generation, t.updates = s.lu.generation, len(s.lu.etaPlace)
	}
	t.head = append(t.head[:0], s.head...)
	t.place = append(t.place[:0], s.place...)
	t.upper = append(t.upper[:0], s.upper...)
	t.cost, t.noise = append(t.cost[:0], s.cost...), s.noise
	t.inverse = append(t.inverse[:0], s.inverse...)
	t.x = append(t.x[:0], s.x...)
	t.d = append(t.d[:0], s.d...)
	t.weight = append(t.weight[:0], s.weight...)
	t.age = s.age
}

// Load copies a saved basis back.
func (s *Solver) Load(t *State) {
	copy(s.head, t.head)
	copy(s.place, t.place)
	copy(s.upper, t.upper)
	copy(s.cost, t.cost)
	s.noise = t.noise
	copy(s.inverse, t.inverse)
	copy(s.x, t.x)
	copy(s.d, t.d)
	copy(s.weight, t.weight)
	s.age, s.changed = t.age, true
	if s.lu == nil {
		return
	}
	if s.stale = s.lu.generation != t.generation || len(s.lu.etaPlace) < t.updates; !s.stale {
		s.lu.dropUpdates(t.updates)
	}
}

// WarmStart begins near the basis of another solver: columns lists the old numbers of the columns
// (nil: they are the same), kept the rows that the two share, as pairs of the old and the new
// number. The slacks of other rows are in the basis, and of rows that would have prices below 0.
func (s *Solver) WarmStart(old *Solver, kept [][2]int, columns []int32) {
	tight := make([]bool, s.m)
	for _, pair := range kept {
		tight[pair[1]] = old.place[old.n+pair[0]] < 0
	}
	at := 0
	put := func(j int32) {
		if at < s.m {
			s.head[at], s.place[j] = j, int32(at)
			at++
		}
	}
	for i := range s.m {
		s.place[s.n+i] = -1
		if !tight[i] {
			put(int32(s.n + i))
		}
	}
	for j := range s.n {
		s.place[j] = -1
		before := j
		if columns != nil {
			before = int(columns[j])
		}
		if old.place[before] >= 0 {
			put(int32(j))
		}
	}
	if s.lu != nil {
		for i := range s.m {
			if s.place[s.n+i] < 0 {
				put(int32(s.n + i))
			}
		}
		s.enterNegative()
		s.computeWeights(0)
		return
	}
	for tries := 0; ; tries++ {
		s.refactor()
		good := true
		for i := range s.m {
			if k := s.n + i; s.up[k] > 0 && s.place[k] < 0 && (s.d[k] < -feasible || tries > 3) {
				s.place[k], good = 0, false
			}
		}
		if good {
			return
		}
	}
}
