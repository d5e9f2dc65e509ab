package assignment

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"time"

	"coalesce/runtime/collective"
	"coalesce/runtime/device"
	"coalesce/solvers/assignment/internal/engine"
	"coalesce/solvers/assignment/internal/families"
	"coalesce/solvers/assignment/internal/verify"
	"coalesce/solvers/assignment/problem"
	"coalesce/solvers/cores"
)

// OwnRows are the rows of one rank of an instance whose rows ranks share: low to high-1.
func OwnRows(rows int, ranks collective.Ranks) (low, high int) {
	first := collective.SplitRows(rows, ranks.Size())
	return first[ranks.Rank()], first[ranks.Rank()+1]
}

// rank is this process's number among ranks.
func (o *Options) rank() int {
	if o.Ranks == nil {
		return 0
	}
	return o.Ranks.Rank()
}

// ownRows returns the normal problem of ranks, which has this rank's rows only, and the whole
// instance without its costs.
func (o *Options) ownRows(inst *problem.Instance) (whole *problem.Instance, p *problem.Normal, err error) {
	if err := inst.Check(); err != nil {
		return nil, nil, err
	}
	if inst.Sparse != nil || o.Start != nil {
		return nil, nil, errors.New("ranks take dense costs and points only, and no duals to begin from")
	}
	whole = inst.RowRange(0, 0)
	whole.Rows, whole.Points = max(inst.Rows, o.Rows), nil
	rows, cols := whole.Rows, whole.Cols
	transposed := rows > cols
	if transposed {
		rows, cols = cols, rows
	}
	low, high := OwnRows(rows, o.Ranks)
	own := inst
	switch {
	case inst.Points != nil:
		p, err = problem.Normalise(inst)
		if err == nil {
			p.Instance, err = distances(p.Instance, low, high)
		}
		return whole, p, err
	case o.Rows > 0:
		if transposed || inst.Rows != high-low {
			err = fmt.Errorf("%d rows of %d x %d: expected rows %d to %d of at most as many as columns", inst.Rows, whole.Rows, whole.Cols, low, high)
			return nil, nil, err
		}
	case transposed:
		own = inst.ColumnRange(low, high)
	default:
		own = inst.RowRange(low, high)
	}
	p, err = problem.NormalisePart(own, rows, func(words []uint64) ([][]uint64, error) { return collective.GatherLists(o.Ranks, words) })
	var entry *problem.EntryError
	if errors.As(err, &entry) {
		if entry.Row += low; transposed {
			entry.Row, entry.Col = entry.Col, entry.Row
		}
	}
	if err != nil {
		return nil, nil, err
	}
	p.Transposed = transposed
	return whole, p, nil
}

// distances are the costs of some rows of points, dense.
func distances(inst *problem.Instance, low, high int) (*problem.Instance, error) {
	q, out := inst.Points, *inst
	out.Rows, out.Points = high-low, nil
	size := out.Rows * out.Cols
	set := func(k int, c float64) { out.F64[k] = c }
	if q.Floor {
		out.I64 = make([]int64, size)
		set = func(k int, c float64) { out.I64[k] = int64(c) }
	} else {
		out.F64 = make([]float64, size)
	}
	cores.Split(out.Rows, max(1, 1<<12/max(1, out.Cols)), func(from, to int) {
		for k := from * out.Cols; k < to*out.Cols; k++ {
			set(k, q.Cost(low+k/out.Cols, k%out.Cols))
		}
	})
	return &out, out.Check()
}

// checkParts checks the rows of this rank and joins the findings of all ranks.
func (j *job) checkParts(ctx context.Context, sol *engine.Solution) (problem.Certificate, []problem.Pair, error) {
	cert, near, err := verify.CheckParts(ctx, j.p, j.spread.checks, sol, func(own verify.Findings) (verify.Findings, error) {
		total, rows := verify.NewFindings(), uint64(0)
		all, err := collective.GatherLists(j.options.Ranks, append(own[:], uint64(j.p.Instance.Rows)))
		for _, words := range all {
			total.Merge(verify.Findings(words[:len(own)]))
			rows += words[len(own)]
		}
		if err == nil && rows != uint64(j.p.Rows) {
			err = fmt.Errorf("%d of %d rows", rows, j.p.Rows)
		}
		return total, err
	})
	cert.By = cmp.Or(cert.By, "other ranks")
	return cert, near, err
}

// matchedInstance returns an instance that has the costs of the matched pairs only, which all ranks gather.
func (s *Session) matchedInstance(sol *engine.Solution) (*problem.Instance, error) {
	p, ranks := s.p, s.Ranks
	low, high := OwnRows(p.Rows, ranks)
	size, first := p.Instance.Type.Size(), collective.SplitRows(p.Rows, ranks.Size())
	bounds, costs := make([]int64, len(first)), make([]byte, size*p.Rows)
	for k, row := range first {
		bounds[k] = int64(size * row)
	}
	own := p.Instance.Bytes()
	for i := low; i < high; i++ {
		if j := sol.Column[i]; j >= 0 && int(j) < p.Cols {
			copy(costs[size*i:size*(i+1)], own[size*((i-low)*p.Cols+int(j)):])
		}
	}
	if err := ranks.AllGather(costs, bounds); err != nil {
		return nil, err
	}
	m := s.inst.RowRange(0, 0)
	m.Rows, m.Cols, m.Sparse = p.Rows, p.Cols, &problem.Sparse{Start: make([]int64, 1+p.Rows)}
	var held []byte
	for i, j := range sol.Column {
		if j >= 0 && int(j) < p.Cols {
			m.Sparse.Col = append(m.Sparse.Col, j)
			held = append(held, costs[size*i:size*(i+1)]...)
		}
		m.Sparse.Start[i+1] = int64(len(m.Sparse.Col))
	}
	makeCosts(m, len(m.Sparse.Col))
	copy(m.Bytes(), held)
	if p.Transposed {
		m = m.Transpose()
	}
	return m, nil
}

// refuteParts is refute for ranks that have some rows each: they gather the partners of all rows.
func (s *Session) refuteParts(r *Result, e *engine.Infeasible) error {
	p := s.p
	low, high := OwnRows(p.Rows, s.Ranks)
	partner := make([]int64, p.Cols) // 1 of the columns that a member allows
	for _, i := range e.Rows {
		if int(i) < low || int(i) >= high {
			continue
		}
		for j := range partner {
			if partner[j] == 0 && p.Instance.Allowed(int(i)-low, j) {
				partner[j] = 1
			}
		}
	}
	if err := s.Ranks.AllReduce(device.Bytes(partner), collective.Int64, collective.Max); err != nil {
		return err
	}
	h, err := problem.CheckPartners(s.inst, e.Rows, func(i, j int) bool {
		if p.Transposed {
			j = i
		}
		return partner[j] > 0
	})
	if err != nil {
		return fmt.Errorf("%s: %w", r.Variant, err)
	}
	return r.setInfeasible(h)
}

// interruptedTogether is interrupted where each rank has some rows. In its turn each gives its rows
// the cheapest columns that those before it have left.
func (r *Result) interruptedTogether(s *Session) (answer string, err error) {
	ranks, p := s.Ranks, s.p
	low, high := OwnRows(p.Rows, ranks)
	own := *p
	own.Rows = high - low
	c := newCompletion(&own, nil, nil)
	least, known := c.bound(time.Now().Add(grace))
	text := least.String() // the bound, or "unknown" or "incomplete"
	if !known {
		text = "unknown"
	}
	for turn := range ranks.Size() {
		if turn == ranks.Rank() {
			if !c.complete(time.Now().Add(grace / time.Duration(ranks.Size()))) {
				text = "incomplete"
			}
			for j, i := range c.row {
				if i >= 0 {
					c.taken[j] = 1
				}
			}
		}
		if err := ranks.Broadcast(c.taken, turn); err != nil {
			return "", err
		}
	}
	sol := &engine.Solution{Prices: problem.Prices{U: make([]int64, p.Rows), V: c.v}}
	columns, err := collective.GatherTexts(ranks, device.Bytes(c.column))
	if err != nil {
		return "", err
	}
	sol.Column = make([]int32, p.Rows)
	copy(device.Bytes(sol.Column), slices.Concat(columns...))
	sums, err := collective.GatherTexts(ranks, []byte(text))
	if err != nil {
		return "", err
	}
	bound, known := new(big.Int), true
	for _, sum := range sums {
		if string(sum) == "incomplete" {
			return "", nil
		}
		part, ok := new(big.Int).SetString(string(sum), 10)
		if known = known && ok; known {
			bound.Add(bound, part)
		}
	}
	if r.inst, err = s.matchedInstance(sol); err != nil {
		return "", err
	}
	if _, err := r.setSolution(r.inst, p, sol); err != nil {
		return "", err
	}
	r.boundedBy(p, bound, known)
	return greedily, nil
}

// makeCosts gives an instance room for n costs in the place of its own.
func makeCosts(m *problem.Instance, n int) {
	m.I32, m.I64, m.F32, m.F64 = nil, nil, nil, nil
	switch m.Type {
	case problem.Int32:
		m.I32 = make([]int32, n)
	case problem.Int64:
		m.I64 = make([]int64, n)
	case problem.Float32:
		m.F32 = make([]float32, n)
	default:
		m.F64 = make([]float64, n)
	}
}

// A message is the result of a solve by rank 0 alone, which it sends to the others.
type message struct {
	Column []int32
	U, V   []int64
	Failed string // the reason, where no matching was found
	Ended  bool   // rank 0's context has ended
}

// onFirst has rank 0 solve by the host's first method, where all algorithms of ranks gave up: under
// a limit, so that there is a matching.
func (j *job) onFirst(ctx context.Context) (*engine.Solution, error) {
	whole, err := j.gathered()
	if err != nil {
		return nil, err
	}
	var f message
	if whole != nil {
		f = j.alone(ctx, whole)
	}
	text, err := json.Marshal(f)
	if err != nil {
		return nil, err
	}
	texts, err := collective.GatherTexts(j.options.Ranks, text)
	if err != nil {
		return nil, err
	}
	f = message{}
	switch err := json.Unmarshal(texts[0], &f); {
	case err != nil:
		return nil, err
	case f.Ended:
		return nil, fmt.Errorf("%w: %s", collective.ErrEnded, f.Failed)
	case f.Failed != "":
		return nil, fmt.Errorf("rank 0: %s", f.Failed)
	}
	return &engine.Solution{Column: f.Column, Prices: problem.Prices{U: f.U, V: f.V}}, nil
}

// alone is the host's solve of the whole instance, in the units of the ranks' one.
func (j *job) alone(ctx context.Context, whole *problem.Instance) message {
	p, err := problem.Normalise(whole)
	if err == nil && p.Scale != j.p.Scale {
		err = fmt.Errorf("found a scale of %v, expected %v", p.Scale, j.p.Scale)
	}
	if err == nil {
		err = ctx.Err()
	}
	var sol *engine.Solution
	if err == nil {
		sol, err = families.HostMethods()[0].Solve(ctx, p, nil, engine.Host{Tuning: j.options.Tuning, Telling: j.reporter()})
	}
	if err != nil {
		return message{Failed: err.Error(), Ended: ctx.Err() != nil}
	}
	return message{Column: sol.Column, U: sol.U, V: sol.V}
}

// mostGathered is the most costs, in bytes, that rank 0 takes over from the others.
const mostGathered = 4 << 30

// gathered is the instance with the rows of all ranks, on rank 0; nil on the others.
func (j *job) gathered() (*problem.Instance, error) {
	const piece = 64 << 20
	ranks, p, whole := j.options.Ranks, j.p, *j.p.Instance
	row := p.Cols * p.Instance.Type.Size()
	room := make([]byte, min(piece, p.Rows*row))
	if whole.Rows = p.Rows; ranks.Rank() == 0 {
		makeCosts(&whole, p.Rows*p.Cols)
	}
	first := collective.SplitRows(p.Rows, ranks.Size())
	for k := range ranks.Size() {
		for from, end := first[k]*row, first[k+1]*row; from < end; from += piece {
			n := min(piece, end-from)
			part := room[:n]
			if ranks.Rank() == 0 {
				part = whole.Bytes()[from : from+n]
			}
			if ranks.Rank() == k {
				copy(part, p.Instance.Bytes()[from-first[k]*row:])
			}
			if err := ranks.Broadcast(part, k); err != nil {
				return nil, err
			}
		}
	}
	if ranks.Rank() > 0 {
		return nil, nil
	}
	return &whole, nil
}
