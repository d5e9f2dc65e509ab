package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"coalesce/internal/cli/effect"
	"coalesce/solvers/assignment"
	"coalesce/solvers/auction"
	"coalesce/solvers/csg"
	"coalesce/solvers/formats"
	"coalesce/solvers/qubo"
	"coalesce/solvers/solve"
)

// verifyFlags are the flags of `verify`: those of the problems that say how an
// instance is read.
type verifyFlags struct {
	csg        csgFlags
	qubo       quboFlags
	assignment assignmentFlags
	format     string
	duals      string
	json       bool
	given      *pflag.FlagSet
}

func (a *app) verifyCommand() *cobra.Command {
	var s verifyFlags
	cmd := &cobra.Command{
		Use:   "verify RESULT INSTANCE | verify RESULT --points ROWS,COLUMNS",
		Short: "Check a written answer against its instance",
		Long: `Verify recomputes an answer from its instance. RESULT is the object that "coalesce
solve PROBLEM INSTANCE --json" printed, for any problem, and INSTANCE the file that
was solved. Either may be - for standard input. Repeat the flags that told solve how
to read the instance.

The solution has to be feasible, and its value the stated one: exactly, or for floats
their exact sum rounded once. A proven answer needs a bound, and its gap has to be the
difference of the two. Verify checks the bound if the answer carries its proof, such
as the duals of an assignment ("solve assignment --duals"; --duals FILE reads them
from another answer), or rows that have too few columns. It says what it cannot check.

The exit code is 0 if everything that can be checked holds, 3 if a check fails, and 1
if a file cannot be read.`,
		Args: cobra.MaximumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error { return a.verify(cmd.Context(), &s, args) },
	}
	f := cmd.Flags()
	s.given = f
	f.SortFlags = false
	f.BoolVar(&s.json, "json", false, "print one JSON object")
	f.StringVar(&s.duals, "duals", "", "assignment: the JSON file of the duals, where RESULT lacks them")
	f.StringVar(&s.format, "format", "", "assignment, qubo, graphs of csg: read INSTANCE as this format (default: told by name and content)")
	f.BoolVar(&s.assignment.maximize, "maximize", false, "assignment: the matching that is worth the most was asked for")
	f.StringVar(&s.assignment.limit, "limit", "", "assignment: rows were left unmatched rather than match pairs dearer than this")
	f.StringVar(&s.assignment.header, "header", "", "assignment, qubo: whether the first line of a CSV file is names: yes or no")
	f.StringVar(&s.assignment.index, "index", "", "assignment, qubo: whether the first column of a CSV file is names: yes or no")
	f.StringSliceVar(&s.assignment.points, "points", nil, "assignment: two files of points, for rows and columns, instead of INSTANCE")
	f.StringVar(&s.assignment.metric, "metric", string(assignment.Euclidean), "assignment: distance of points")
	f.BoolVar(&s.assignment.floor, "floor", false, "assignment: distances are cut to integers")
	f.StringVar(&s.csg.missing, "missing", "", "csg: value of coalitions that a CSV or JSON file lacks")
	f.StringSliceVar(&s.csg.names, "names", nil, "csg: the agents' names in order")
	f.StringVar(&s.qubo.form, "form", "", "qubo: coefficients are those of a qubo, ising or maxcut")
	f.StringVar(&s.qubo.sense, "sense", "", "qubo: maximize or minimize")
	f.IntVar(&s.qubo.problem, "problem", 0, "qubo: which problem of a file of several, from 1")
	f.StringSliceVar(&s.qubo.fix, "fix", nil, "qubo: variables that have to be fixed in the result, such as 0=1,7=0 or north=0")
	return cmd
}

// maxResult is the largest RESULT in bytes.
const maxResult = 1 << 30

func (a *app) verify(ctx context.Context, s *verifyFlags, args []string) error {
	switch {
	case len(args) == 0:
		return usagef("expected a RESULT and an INSTANCE")
	case s.assignment.points == nil && len(args) == 1:
		return usagef("expected an INSTANCE after the RESULT %s", args[0])
	case len(args) == 2 && args[0] == dash && args[1] == dash:
		return usagef("RESULT and INSTANCE are both %s: standard input can be read once", dash)
	}
	p := a.progress()
	defer p.Close()
	p.Set("reading %s", called(args[0]))
	result, err := await(ctx, func() ([]byte, error) { return a.readWhole(args[0], maxResult) })
	if err != nil {
		return err
	}
	problem, err := problemOf(result)
	if err != nil {
		return fmt.Errorf("%s: %w", called(args[0]), err)
	}
	s.csg.search.Format = s.format
	if err := effect.Mistake(s.given, s.effects(problem, args[1:])); err != nil {
		return usageError{err}
	}
	p.Set("checking an answer of the problem %s", problem)
	v, err := await(ctx, func() (*solve.Verdict, error) { return a.verdict(s, problem, result, args[1:]) })
	if err != nil {
		return err
	}
	p.Close()
	failed := v.Err()
	if failed != nil {
		failed = checkError{fmt.Errorf("%s: %w", called(args[0]), failed)}
	}
	if s.json {
		return errors.Join(failed, printJSON(a.out, v))
	}
	for _, text := range v.Messages {
		fmt.Fprintln(a.out, text)
	}
	if failed == nil {
		proven := "holds"
		if v.Proven && v.BoundChecked {
			proven = "holds, and is proven"
		}
		fmt.Fprintf(a.out, "the answer of %s %s\n", called(args[0]), proven)
	}
	return failed
}

// readWhole reads a file, or standard input, of at most so many bytes. The text and the values decoded from the text take
// about eight times its bytes, which have to fit into the free memory; where that is small, a file of 1 MiB is read.
func (a *app) readWhole(path string, most int64) (text []byte, err error) {
	const times, least = 8, 1 << 20
	limit, free := most, a.free()
	if free.Bytes > 0 {
		limit = min(limit, max(least, free.Bytes/times))
	}
	if path == dash {
		text, err = formats.ReadAll(a.in, standardInput, limit)
	} else {
		text, err = formats.ReadFile(path, limit)
	}
	if errors.Is(err, formats.ErrLong) && limit < most {
		err = fmt.Errorf("%w: reading takes %d times as much, and %s", err, times, free)
	}
	return text, err
}

// problemOf is the problem of a result. It returns an error unless the text is one JSON object with the
// keys that state an answer's claims. A key with capital letters is an error, because Go reads it as
// the key in small letters and other programs do not.
func problemOf(result []byte) (problem string, err error) {
	d := json.NewDecoder(bytes.NewReader(result))
	var head map[string]json.RawMessage
	if err := d.Decode(&head); err != nil {
		return "", fmt.Errorf("expected the JSON object of an answer: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return "", errors.New("found more than one JSON object, expected the answer of one instance")
	}
	for _, key := range []string{"problem", "size", "value", "bound", "gap", "proven", "solution", "certificate"} {
		if _, ok := head[key]; !ok {
			return "", fmt.Errorf("found no %s in the JSON object, expected the answer of coalesce solve --json", key)
		}
	}
	for key := range head {
		if key != strings.ToLower(key) {
			return "", fmt.Errorf("found the key %.40q in the JSON object, expected small letters", key)
		}
	}
	if err := json.Unmarshal(head["problem"], &problem); err != nil {
		return "", fmt.Errorf("found the problem %.40s, expected a string", head["problem"])
	}
	return problem, nil
}

// verdict reads the instance and checks the result against it.
func (a *app) verdict(s *verifyFlags, problem string, result []byte, args []string) (*solve.Verdict, error) {
	if s.assignment.points != nil && (problem != "assignment" || len(args) > 0) {
		return nil, usagef("--points is for answers of assignment, instead of an INSTANCE")
	}
	switch problem {
	case "csg":
		if s.csg.search.Graph(args[0]) {
			return a.verdictOfGraph(&s.csg.search, result, args[0])
		}
		inst, err := a.readCSG(args[0], csg.ReadOptions{Missing: s.csg.missing, Names: s.csg.names, Limit: a.free().Bytes})
		if err != nil {
			return nil, err
		}
		return csg.Verify(inst, result)
	case "auction":
		auc, err := a.readAuction(args[0])
		if err != nil {
			return nil, err
		}
		return auction.Verify(auc, result)
	case "qubo":
		s.qubo.readFlags.format, s.qubo.readFlags.header, s.qubo.readFlags.index = s.format, s.assignment.header, s.assignment.index
		if err := s.qubo.readFlags.check(); err != nil {
			return nil, err
		}
		inst, err := s.qubo.instance(a, args[0])
		if err != nil {
			return nil, err
		}
		return qubo.Verify(inst, result)
	case "assignment":
		return a.verdictOfAssignment(s, result, args)
	}
	return nil, fmt.Errorf("found an answer of the problem %.20q, expected csg, auction, qubo or assignment", problem)
}

func (a *app) verdictOfAssignment(s *verifyFlags, result []byte, args []string) (*solve.Verdict, error) {
	s.assignment.format = s.format
	if err := s.assignment.source(args); err != nil {
		return nil, err
	}
	inst, err := s.assignment.instance(a, args)
	if err != nil {
		return nil, err
	}
	defer inst.Close()
	var duals []byte
	if s.duals != "" {
		if duals, err = a.readWhole(s.duals, min(maxResult, assignment.MaxDuals(inst))); err != nil {
			return nil, err
		}
	}
	return assignment.Verify(inst, result, duals)
}
