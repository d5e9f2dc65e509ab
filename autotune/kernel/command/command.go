// Package command is the command of a program about its own kernels: it tunes families of any module, explains the
// choice among their variants, verifies them and bundles their images, as the coalesce command does with its own.
//
//	func main() { command.Main(reduce.Families()...) }
//
// The program takes tune, explain, verify, report, merge, compare, doctor, devices and bundle, with the flags, workers and
// exit codes of coalesce. Its winners are kept in the user's configuration folder, in a folder of the program's name.
package command

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"coalesce/autotune/subject"
	"coalesce/internal/cli/kernels"
	"coalesce/internal/cli/run"
)

// Main runs the program's command line and ends the process with its exit code: 0 ok, 1 failed, 2 the command line was
// wrong, 3 a check failed.
func Main(families ...subject.Subject) {
	name := strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe")
	os.Exit(Run(name, families, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// Run is Main of a program of a name, with its arguments and streams, and returns the exit code.
func Run(name string, families []subject.Subject, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if err := subject.Check(families); err != nil {
		fmt.Fprintf(stderr, "%s: %v\n", name, err)
		return 1
	}
	return run.Main(name, func(a *run.App) *cobra.Command { return root(a, name, subject.ByName(families)) }, args, stdin, stdout, stderr)
}

func root(a *run.App, name string, all subject.Problems) *cobra.Command {
	root := a.PrepareRoot(&cobra.Command{
		Use:   name,
		Short: "Tune, verify and explain kernels",
		RunE:  run.GroupAction("tune, explain, verify, report or devices"),
		Args:  cobra.ArbitraryArgs,
	})
	root.AddCommand(kernels.TuneCommands(a, all)...)
	root.AddCommand(run.EndWithContext(append(kernels.OtherCommands(a, all), kernels.VerifyCommand(a, all))...)...)
	kernels.BundleHelp(a, root)
	return root
}
