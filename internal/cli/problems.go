package cli

import (
	"github.com/spf13/cobra"

	"coalesce/internal/cli/run"
)

func solveCommand(a *run.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "solve",
		Short: "Solve an instance",
		RunE:  group("csg, auction, qubo or assignment"),
		Args:  cobra.ArbitraryArgs,
	}
	for _, problem := range []*cobra.Command{solveCSGCommand(a), solveAuctionCommand(a), solveQUBOCommand(a), solveAssignmentCommand(a)} {
		cmd.AddCommand(a.WithOutput(problem))
	}
	return cmd
}

func generateCommand(a *run.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "generate",
		Short: "Write a drawn instance to a file",
		RunE:  group("csg, qubo, assignment or auction"),
		Args:  cobra.ArbitraryArgs,
	}
	cmd.AddCommand(generateCSGCommand(a), generateQUBOCommand(a), generateAssignmentCommand(a), generateAuctionCommand(a))
	return cmd
}

func queryCommand(a *run.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "query",
		Short: "Ask a table that a solve has kept",
		RunE:  group("csg"),
		Args:  cobra.ArbitraryArgs,
	}
	cmd.AddCommand(queryCSGCommand(a))
	return cmd
}
