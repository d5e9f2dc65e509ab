package cli

import (
	"github.com/spf13/cobra"

	assignmentcli "coalesce/internal/cli/assignment"
	auctioncli "coalesce/internal/cli/auction"
	csgcli "coalesce/internal/cli/csg"
	modelcli "coalesce/internal/cli/model"
	qubocli "coalesce/internal/cli/qubo"
	"coalesce/internal/cli/run"
)

func solveCommand(a *run.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "solve",
		Short: "Solve an instance",
		Long: `Solve an instance of one of these problems:

  a matrix of costs, or points     coalesce solve assignment costs.csv
  a graph, a QUBO, an Ising model  coalesce solve qubo graph.rud
  bids for bundles of goods        coalesce solve auction bids.csv
  values of coalitions             coalesce solve csg values.csv
  a model with constraints         coalesce solve model model.lp`,
		RunE: run.GroupAction("csg, auction, qubo, model or assignment"),
		Args: cobra.ArbitraryArgs,
	}
	for _, problem := range []*cobra.Command{csgcli.SolveCommand(a), auctioncli.SolveCommand(a), qubocli.SolveCommand(a), modelcli.SolveCommand(a), assignmentcli.SolveCommand(a)} {
		cmd.AddCommand(a.WithOutput(problem))
	}
	return cmd
}

func generateCommand(a *run.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "generate",
		Short: "Write a drawn instance to a file",
		RunE:  run.GroupAction("csg, qubo, assignment or auction"),
		Args:  cobra.ArbitraryArgs,
	}
	cmd.AddCommand(csgcli.GenerateCommand(a), qubocli.GenerateCommand(a), assignmentcli.GenerateCommand(a), auctioncli.GenerateCommand(a))
	return cmd
}

func queryCommand(a *run.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "query",
		Short: "Ask a table that a solve has kept",
		RunE:  run.GroupAction("csg"),
		Args:  cobra.ArbitraryArgs,
	}
	cmd.AddCommand(csgcli.QueryCommand(a))
	return cmd
}
