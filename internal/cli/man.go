package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"coalesce/internal/cli/manual"

	"github.com/spf13/cobra"
)

func (a *app) manCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "man DIR",
		Short: "Write manual pages",
		Long: `Write a manual page for every command into the folder DIR, which is made where it
is not there: coalesce.1, coalesce-solve.1, coalesce-solve-csg.1 and so on. Where
DIR is a folder man1 of $MANPATH, "man coalesce-solve-csg" shows the last.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("expected a folder, DIR")
			}
			return writeManual(cmd.Context(), cmd.Root(), args[0])
		},
	}
}

// writeManual writes the pages of a command and of all that it holds.
func writeManual(ctx context.Context, root *cobra.Command, dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("make a folder for manual pages: %w", err)
	}
	var pages func(c *cobra.Command) error
	pages = func(c *cobra.Command) error {
		err := writeFile(ctx, filepath.Join(dir, manual.Name(c)+".1"), func(w io.Writer) error {
			_, err := io.WriteString(w, manual.Page(c))
			return err
		})
		if err != nil {
			return err
		}
		for _, sub := range manual.Shown(c) {
			if err := pages(sub); err != nil {
				return err
			}
		}
		return nil
	}
	return pages(root)
}
