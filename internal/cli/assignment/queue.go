package assignment

import (
	"context"
	"errors"
	"fmt"
	"time"

	"coalesce/internal/cli/run"
	"coalesce/internal/picture"
	"coalesce/solvers/assignment"
	"coalesce/solvers/assignment/problem"
	"coalesce/solvers/solve"
)

// smallSide is the most rows and columns of an instance that is solved in one launch with others,
// each by one block of threads. docs/results/assignment.md compares the times of 132 instances of
// 1,000 rows together and of one alone.
const smallSide = 1024

// A queue has the files of `solve assignment` that are not read yet, and the instances that were read
// ahead to be solved together.
type queue struct {
	a       *run.App
	s       *solveFlags
	options assignment.Options
	left    []string // not read yet
	ahead   []*waiting
}

// A waiting instance was read, or its reading failed; it may be solved already.
type waiting struct {
	inst    *problem.Instance
	start   *problem.Duals
	seconds float64 // of reading
	result  *assignment.Result
	failed  error
}

// solveNext solves the next file and prints its answer.
func (q *queue) solveNext(ctx context.Context) error {
	if len(q.ahead) == 0 {
		q.read(ctx)
	}
	x := q.ahead[0]
	q.ahead = q.ahead[1:]
	if x.failed != nil {
		return q.a.ReadError(x.failed)
	}
	defer x.close(ctx)
	return solveOne(ctx, q.a, q.s, x, q.options)
}

// read reads the next file. If that is a small instance, it reads further files as long as they are
// small too and all fit into a quarter of the free memory, and solves them together. If that fails,
// next solves each of them alone, so that an error names its file.
func (q *queue) read(ctx context.Context) {
	s := q.s
	o := q.options
	together := len(o.Devices) == 1 && o.Algorithm == "" && o.Variant == "" && o.TimeLimit == 0 && o.KBest <= 1 && !o.Bottleneck && s.start == "" && !s.Verify && !s.transports()
	limit, size := q.a.Free().Bytes/4, int64(0)
	var small []*waiting
	for len(q.left) > 0 {
		x := q.readOne(ctx, q.left[0])
		q.left, q.ahead = q.left[1:], append(q.ahead, x)
		if !together || x.failed != nil || !x.inst.Dense() || max(x.inst.Rows, x.inst.Cols) > smallSide {
			break
		}
		small = append(small, x)
		if size += int64(len(x.inst.Bytes())); size > limit {
			break
		}
	}
	if len(small) < 2 {
		return
	}
	list := make([]*problem.Instance, len(small))
	for k, x := range small {
		list[k] = x.inst
	}
	p := q.a.Progress()
	defer p.Close()
	o.Log = func(line string) { p.Set("%s", line) }
	results, err := run.Await(ctx, func() ([]*assignment.Result, error) { return assignment.SolveBatch(ctx, list, o) })
	if err != nil {
		return
	}
	for k, x := range small {
		x.result = results[k]
	}
}

// readOne reads a file, or where path is empty, the instance that the flags give.
func (q *queue) readOne(ctx context.Context, path string) *waiting {
	x := new(waiting)
	p := q.a.Progress()
	defer p.Close()
	var files []string
	if path != "" {
		files = []string{path}
	}
	clock := time.Now()
	if p.Set("reading the costs"); path != "" {
		run.ShowReading(p, path)
	}
	if x.inst, x.failed = run.Await(ctx, func() (*problem.Instance, error) { return q.s.instance(q.a, files) }); x.failed == nil && q.s.start != "" {
		x.start, x.failed = run.Await(ctx, func() (*problem.Duals, error) { return assignment.ReadDuals(q.s.start, x.inst) })
		if x.failed != nil && ctx.Err() == nil {
			x.failed = errors.Join(x.failed, x.inst.Close())
		}
	}
	x.seconds = time.Since(clock).Seconds()
	return x
}

// close frees the instances that were read and not answered.
func (q *queue) close(ctx context.Context) {
	for _, x := range q.ahead {
		x.close(ctx)
	}
}

// close frees the costs, except at the end of an interrupted run: a goroutine that await did not wait
// for may still read them.
func (x *waiting) close(ctx context.Context) {
	if x.failed == nil && ctx.Err() == nil {
		x.inst.Close()
	}
}

// solveOne solves an instance, unless a batch has solved it, and prints the answer.
func solveOne(ctx context.Context, a *run.App, s *solveFlags, x *waiting, o assignment.Options) error {
	if a.HasOneInstance() {
		if x.inst.Sparse != nil {
			return a.OnRankZero("sparse costs are solved by one process", func() error { return answer(ctx, a, s, x, o) })
		}
		if s.Kind != "" && s.rowsByRank(s.ranks) != nil {
			o.Rows = s.Rows
		}
		inst := x.inst
		shape := fmt.Sprint(max(inst.Rows, o.Rows), inst.Cols, inst.Type)
		if inst.Points != nil {
			shape += fmt.Sprint(*inst.Points)
		}
		var err error
		if o.Ranks, err = a.JoinRanks(o.Devices, true, []byte(shape)); err != nil {
			return err
		}
	}
	return answer(ctx, a, s, x, o)
}

// answer is solveOne once it is decided which ranks solve the instance.
func answer(ctx context.Context, a *run.App, s *solveFlags, x *waiting, o assignment.Options) error {
	p := a.Progress()
	defer p.Close()
	inst, d := x.inst, o.Devices[0]
	if o.KBest > 1 {
		if err := a.Free().CheckFits(fmt.Sprintf("the %d best matchings of %d x %d costs", o.KBest, inst.Rows, inst.Cols), assignment.RankingBytes(inst, o.KBest)); err != nil {
			return err
		}
	}
	r, err := x.result, error(nil)
	if r == nil {
		if x.start != nil {
			o.Start = x.start
		}
		o.Log = func(line string) { p.Set("solving %d x %d: %s", inst.Rows, inst.Cols, line) }
		o.Progress = func(now solve.Incumbent) {
			p.SetShare(now.Share, "solving %d x %d: %.1f %% of the rows are matched, %s", inst.Rows, inst.Cols, 100*now.Share, now)
		}
		r, err = run.AwaitBest(ctx, func() (*assignment.Result, error) { return solveOn(ctx, a, s, inst, o) })
	} else if r.Column == nil {
		err = &problem.InfeasibleError{Hall: *r.Certificate.Hall}
	}
	if errors.Is(err, solve.ErrInfeasible) && s.JSON {
		r.Seconds.Read = x.seconds
		p.Close()
		return errors.Join(err, run.PrintJSON(a.Out, r))
	}
	if err != nil {
		return run.SolverError(err, problem.ErrCheck)
	}
	r.Seconds.Read = x.seconds
	verified, err := s.CompareWithReference(a, p, r.Stopped, err, func() (string, error) { return compareWithReference(ctx, d, inst, r) })
	if run.IsRefuted(err) {
		return err
	}
	p.Close()
	err = errors.Join(a.AnswerError(ctx, err), s.Draw(ctx, a, func() (*picture.Drawing, error) { return Picture(inst, r) }))
	if s.JSON {
		return errors.Join(err, run.PrintJSON(a.Out, r))
	}
	return errors.Join(err, writeResult(a.Out, r, d.Facts(), verified))
}
