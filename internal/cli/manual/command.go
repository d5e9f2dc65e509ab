package manual

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"coalesce/internal/cli/atomicfile"
)

// Command is the command that writes the manual pages of its program; missing is its error if no
// folder is named.
func Command(missing error) *cobra.Command {
	return &cobra.Command{
		Use:   "man DIR",
		Short: "Write manual pages",
		Long: `Write a manual page for every command into the folder DIR: coalesce.1,
coalesce-solve.1, coalesce-solve-csg.1 and so on. The command makes DIR if it is
missing. If DIR is a folder man1 of $MANPATH, "man coalesce-solve-csg" shows the last.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return missing
			}
			return write(cmd.Context(), cmd.Root(), args[0])
		},
	}
}

// write writes the pages of a command and of all commands below it.
func write(ctx context.Context, root *cobra.Command, dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("make a folder for manual pages: %w", err)
	}
	for _, p := range pages(root) {
		err := atomicfile.Write(ctx, filepath.Join(dir, p.Name+".1"), func(w io.Writer) error {
			_, err := io.WriteString(w, p.Text)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}
