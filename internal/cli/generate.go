package cli

import (
	"bufio"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"coalesce/solvers/assignment"
)

func (a *app) generateCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "generate",
		Short: "Write a drawn instance to a file",
		RunE:  a.group("qubo or assignment"),
		Args:  cobra.ArbitraryArgs,
	}
	cmd.AddCommand(a.generateQUBOCommand(), a.generateAssignmentCommand())
	return cmd
}

func (a *app) generateAssignmentCommand() *cobra.Command {
	var w drawFlags
	var output string
	cmd := &cobra.Command{
		Use:   "assignment --kind NAME --rows N [--cols M] --output FILE.npy",
		Short: "Write the costs of an assignment problem",
		Long: `Draws an assignment problem and writes its costs: as .npy, or with --density as
Matrix Market coordinates. The kinds are:

` + kinds(),
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if output == "" {
				return usagef("expected --output FILE")
			}
			if err := w.check(); err != nil {
				return err
			}
			p := a.progress()
			defer p.Close()
			p.Set("drawing %d x %d", w.Rows, w.Cols)
			inst, err := await(cmd.Context(), func() (*assignment.Instance, error) { return w.draw(a.free()) })
			if err != nil {
				return err
			}
			_, err = await(cmd.Context(), func() (struct{}, error) { return struct{}{}, writeInstance(output, inst) })
			return err
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVarP(&output, "output", "o", "", "the file to write")
	w.register(f)
	return cmd
}

// writeInstance writes a file; what could not be written whole is removed.
func writeInstance(path string, inst *assignment.Instance) error {
	f, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	out := bufio.NewWriter(f)
	if inst.Sparse != nil {
		err = assignment.WriteMarket(out, inst)
	} else {
		err = assignment.WriteNPY(out, inst)
	}
	if err = errors.Join(err, out.Flush(), f.Close()); err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", path, err), os.Remove(path))
	}
	return nil
}
