package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
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
		err := writeFile(ctx, filepath.Join(dir, pageName(c)+".1"), func(w io.Writer) error {
			_, err := io.WriteString(w, page(c))
			return err
		})
		if err != nil {
			return err
		}
		for _, sub := range shown(c) {
			if err := pages(sub); err != nil {
				return err
			}
		}
		return nil
	}
	return pages(root)
}

// pageName is "coalesce-solve-csg" for "coalesce solve csg".
func pageName(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") }

// shown are the commands that a command's help lists.
func shown(c *cobra.Command) []*cobra.Command {
	var list []*cobra.Command
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() && !sub.IsAdditionalHelpTopicCommand() {
			list = append(list, sub)
		}
	}
	return list
}

// page is a command's page in the language of man(7). The description keeps its
// lines, since some of them are tables.
func page(c *cobra.Command) string {
	c.InitDefaultHelpFlag()
	var b strings.Builder
	fmt.Fprintf(&b, ".TH %q 1 \"\" \"Coalesce\" \"Coalesce\"\n", strings.ToUpper(pageName(c)))
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", roff(pageName(c)), roff(c.Short))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n.B %s\n", roff(c.UseLine()))
	text := c.Long
	if text == "" {
		text = c.Short
	}
	fmt.Fprintf(&b, ".SH DESCRIPTION\n.nf\n%s\n.fi\n", roff(strings.TrimSpace(text)))
	options := func(title string, flags *pflag.FlagSet) {
		if !flags.HasAvailableFlags() {
			return
		}
		fmt.Fprintf(&b, ".SH %s\n", title)
		flags.VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				b.WriteString(option(f))
			}
		})
	}
	options("OPTIONS", c.NonInheritedFlags())
	options("OPTIONS OF ALL COMMANDS", c.InheritedFlags())
	var see []string
	if c.HasParent() {
		see = append(see, pageName(c.Parent()))
	}
	for _, sub := range shown(c) {
		see = append(see, pageName(sub))
	}
	for i, name := range see {
		see[i] = fmt.Sprintf(".BR %s (1)", roff(name))
	}
	if len(see) > 0 {
		fmt.Fprintf(&b, ".SH SEE ALSO\n%s\n", strings.Join(see, " ,\n"))
	}
	return b.String()
}

// option is a flag with its use, and its default where that is worth telling.
func option(f *pflag.Flag) string {
	kind, use := pflag.UnquoteUsage(f)
	name := "--" + f.Name
	if f.Shorthand != "" {
		name = "-" + f.Shorthand + ", " + name
	}
	if kind != "" {
		name += " " + kind
	}
	switch f.DefValue {
	case "", "0", "false", "[]":
	default:
		use += fmt.Sprintf(" (default %s)", f.DefValue)
	}
	return fmt.Sprintf(".TP\n.B %s\n%s\n", roff(name), roff(use))
}

// roff writes text so that none of it is read as a request.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
