package run

import (
	"fmt"

	"github.com/spf13/cobra"
)

// GroupAction is the action of a command that only holds others.
func GroupAction(expected string) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return Usagef("%q needs a command: expected %s", cmd.CommandPath(), expected)
		}
		hint := ""
		cmd.SuggestionsMinimumDistance = 2
		if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
			hint = fmt.Sprintf(" (did you mean %q?)", near[0])
		}
		return Usagef("unknown command %q for %q: expected %s%s", args[0], cmd.CommandPath(), expected, hint)
	}
}
