package cli

import (
	"github.com/spf13/cobra"

	genassignment "coalesce/generated/assignment"
	genauction "coalesce/generated/auction"
	gencsg "coalesce/generated/csg"
	genqubo "coalesce/generated/qubo"
	assignmentcli "coalesce/internal/cli/assignment"
	auctioncli "coalesce/internal/cli/auction"
	csgcli "coalesce/internal/cli/csg"
	"coalesce/internal/cli/kernels"
	qubocli "coalesce/internal/cli/qubo"
	"coalesce/internal/cli/run"
	"coalesce/internal/cli/tuning"
	"coalesce/solvers/assignment"
	"coalesce/solvers/auction"
	"coalesce/solvers/csg"
	"coalesce/solvers/qubo"
)

// tunedProblems are the problems whose kernels are tuned.
func tunedProblems() kernels.Problems {
	return kernels.Problems{
		{Name: "csg", Title: "coalition structure generation", Unit: tuning.Unit{Name: "agents", Most: csg.MaxAgents}, Subjects: csg.Subjects(), Params: []string{"value", "method"}, Families: gencsg.Families()},
		{Name: "auction", Title: "combinatorial auctions", Unit: tuning.Unit{Name: "contested goods", Most: auction.MaxContested}, Subjects: auction.Subjects(), Params: []string{"value"}, Families: genauction.Families()},
		{Name: "assignment", Title: "linear assignment", Unit: tuning.Unit{Name: "rows and columns", Most: assignment.MaxSide}, Subjects: assignment.Subjects(), Params: []string{"value", "range", "metric"}, Families: genassignment.Families()},
		{Name: "qubo", Title: "binary quadratic programs", Unit: tuning.Unit{Name: "variables", Most: 1 << 16}, Subjects: qubo.Subjects(), Params: []string{"row", "weight"}, Families: genqubo.Families()},
	}
}

func solveCommand(a *run.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "solve",
		Short: "Solve an instance",
		RunE:  run.Group("csg, auction, qubo or assignment"),
		Args:  cobra.ArbitraryArgs,
	}
	for _, problem := range []*cobra.Command{csgcli.SolveCommand(a), auctioncli.SolveCommand(a), qubocli.SolveCommand(a), assignmentcli.SolveCommand(a)} {
		cmd.AddCommand(a.WithOutput(problem))
	}
	return cmd
}

func generateCommand(a *run.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "generate",
		Short: "Write a drawn instance to a file",
		RunE:  run.Group("csg, qubo, assignment or auction"),
		Args:  cobra.ArbitraryArgs,
	}
	cmd.AddCommand(csgcli.GenerateCommand(a), qubocli.GenerateCommand(a), assignmentcli.GenerateCommand(a), auctioncli.GenerateCommand(a))
	return cmd
}

func queryCommand(a *run.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "query",
		Short: "Ask a table that a solve has kept",
		RunE:  run.Group("csg"),
		Args:  cobra.ArbitraryArgs,
	}
	cmd.AddCommand(csgcli.QueryCommand(a))
	return cmd
}
