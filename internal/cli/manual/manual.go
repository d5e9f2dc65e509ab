// Package manual makes manual pages of commands, in the language of man(7), and writes them.
package manual

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A Page is a manual page: its name, without the section, and its text.
type Page struct{ Name, Text string }

// pages are the pages of a command and of all commands that its help lists.
func pages(c *cobra.Command) []Page {
	list := []Page{{name(c), page(c)}}
	for _, sub := range shown(c) {
		list = append(list, pages(sub)...)
	}
	return list
}

// name is "coalesce-solve-csg" for "coalesce solve csg".
func name(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") }

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
	fmt.Fprintf(&b, ".TH %q 1 \"\" \"Coalesce\" \"Coalesce\"\n", strings.ToUpper(name(c)))
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", roff(name(c)), roff(c.Short))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n.B %s\n", roff(c.UseLine()))
	text := cmp.Or(c.Long, c.Short)
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
		see = append(see, name(c.Parent()))
	}
	for _, sub := range shown(c) {
		see = append(see, name(sub))
	}
	for i, name := range see {
		see[i] = fmt.Sprintf(".BR %s (1)", roff(name))
	}
	if len(see) > 0 {
		fmt.Fprintf(&b, ".SH SEE ALSO\n%s\n", strings.Join(see, " ,\n"))
	}
	return b.String()
}

// option is a flag with its description, and its default unless that is empty, 0, false or [].
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
