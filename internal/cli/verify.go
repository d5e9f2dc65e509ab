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

	assignmentcli "coalesce/internal/cli/assignment"
	auctioncli "coalesce/internal/cli/auction"
	csgcli "coalesce/internal/cli/csg"
	"coalesce/internal/cli/effect"
	modelcli "coalesce/internal/cli/model"
	qubocli "coalesce/internal/cli/qubo"
	"coalesce/internal/cli/run"
	"coalesce/solvers/solve"
)

// verifyFlags are the flags of `verify`: those of the problems that say how an
// instance is read.
type verifyFlags struct {
	csg        csgcli.Verification
	qubo       qubocli.Verification
	assignment assignmentcli.Verification
	// assignment, qubo, graphs of csg: read INSTANCE as this format
	format string `option:"format" default:"told by name and content"`
	// print one JSON object
	json  bool `option:"json"`
	given *pflag.FlagSet
}

func verifyCommand(a *run.App) *cobra.Command {
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
		RunE: func(cmd *cobra.Command, args []string) error { return verifyAnswer(cmd.Context(), a, &s, args) },
	}
	f := cmd.Flags()
	s.given = f
	f.SortFlags = false
	run.AddOptions(f, s.Fields())
	s.assignment.Register(f)
	s.csg.Register(f)
	s.qubo.Register(f)
	return cmd
}

func verifyAnswer(ctx context.Context, a *run.App, s *verifyFlags, args []string) error {
	switch {
	case len(args) == 0:
		return run.Usagef("expected a RESULT and an INSTANCE")
	case !s.assignment.ByPoints() && len(args) == 1:
		return run.Usagef("expected an INSTANCE after the RESULT %s", args[0])
	case len(args) == 2 && args[0] == run.Dash && args[1] == run.Dash:
		return run.Usagef("RESULT and INSTANCE are both %s: standard input can be read once", run.Dash)
	}
	p := a.Progress()
	defer p.Close()
	p.Set("reading %s", run.NameOf(args[0]))
	result, err := run.Await(ctx, func() ([]byte, error) { return a.ReadWhole(args[0], run.MaxAnswer) })
	if err != nil {
		return err
	}
	problem, err := problemOf(result)
	if err != nil {
		return fmt.Errorf("%s: %w", run.NameOf(args[0]), err)
	}
	s.csg.Format = s.format
	if err := effect.CheckFlags(s.given, s.effects(problem, args[1:])); err != nil {
		return run.AsUsage(err)
	}
	p.Set("checking an answer of the problem %s", problem)
	v, err := run.Await(ctx, func() (*solve.Verdict, error) { return verdict(a, s, problem, result, args[1:]) })
	if err != nil {
		return err
	}
	p.Close()
	failed := v.Err()
	if failed != nil {
		failed = run.AsCheck(fmt.Errorf("%s: %w", run.NameOf(args[0]), failed))
	}
	if s.json {
		return errors.Join(failed, run.PrintJSON(a.Out, v))
	}
	for _, text := range v.Messages {
		fmt.Fprintln(a.Out, text)
	}
	if failed == nil {
		proven := "holds"
		if v.Proven && v.BoundChecked {
			proven = "holds, and is proven"
		}
		fmt.Fprintf(a.Out, "the answer of %s %s\n", run.NameOf(args[0]), proven)
	}
	return failed
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
func verdict(a *run.App, s *verifyFlags, problem string, result []byte, args []string) (*solve.Verdict, error) {
	if s.assignment.ByPoints() && (problem != "assignment" || len(args) > 0) {
		return nil, run.Usagef("--points is for answers of assignment, instead of an INSTANCE")
	}
	switch problem {
	case "csg":
		return s.csg.Verdict(a, result, args[0])
	case "auction":
		return auctioncli.Verdict(a, result, args[0])
	case "qubo":
		s.qubo.Format = s.format
		s.qubo.Header, s.qubo.Index = s.assignment.Tables()
		return s.qubo.Verdict(a, result, args[0])
	case "model":
		return modelcli.Verdict(a, result, args[0])
	case "assignment":
		s.assignment.Format = s.format
		return s.assignment.Verdict(a, result, args)
	}
	return nil, fmt.Errorf("found an answer of the problem %.20q, expected csg, auction, qubo, model or assignment", problem)
}

// effects is the table of `verify` for an answer of a problem.
func (s *verifyFlags) effects(problem string, args []string) []effect.Rule {
	other := func(name string) string { return effect.UnlessRequested(problem == name, "an answer of "+problem) }
	table := []effect.Rule{
		{Flags: "duals maximize limit header index points metric floor", For: "answers of assignment", Found: other("assignment")},
		{Flags: "missing names", For: "answers of csg", Found: other("csg")},
		{Flags: "form sense problem fix", For: "answers of qubo", Found: other("qubo")},
		{Flags: "format", For: "answers of assignment, qubo and csg", Found: effect.UnlessRequested(problem != "auction" && problem != "model", "an answer of "+problem)},
	}
	switch problem {
	case "assignment":
		table = append(table, s.assignment.EffectRules(args)...)
	case "csg":
		table = append(table, s.csg.EffectRules(args[0])...)
	}
	return table
}
