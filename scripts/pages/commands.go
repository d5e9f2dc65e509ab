package main

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// commandPages are pages of a command and of all below it that its help lists, by name: "solve-csg" for "coalesce solve csg".
func commandPages(c *cobra.Command) map[string]string {
	pages := map[string]string{pageOf(c): commandPage(c)}
	for _, below := range shown(c) {
		for name, text := range commandPages(below) {
			pages[name] = text
		}
	}
	return pages
}

func pageOf(c *cobra.Command) string {
	_, name, _ := strings.Cut(c.CommandPath(), " ")
	return cmp.Or(strings.ReplaceAll(name, " ", "-"), "index")
}

func shown(c *cobra.Command) (list []*cobra.Command) {
	for _, below := range c.Commands() {
		if below.IsAvailableCommand() {
			list = append(list, below)
		}
	}
	return list
}

func commandPage(c *cobra.Command) string {
	c.InitDefaultHelpFlag()
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n%s.\n\n```text\n%s\n```\n\n", c.CommandPath(), c.Short, c.UseLine())
	if c.Long != "" {
		fmt.Fprintf(&b, "```text\n%s\n```\n\n", strings.TrimSpace(c.Long))
	}
	if below := shown(c); len(below) > 0 {
		b.WriteString("| command | what it does |\n|---|---|\n")
		for _, x := range below {
			fmt.Fprintf(&b, "| [%s](%s.md) | %s |\n", x.Name(), pageOf(x), cell(x.Short))
		}
		b.WriteByte('\n')
	}
	var rows strings.Builder
	c.NonInheritedFlags().VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		name := "`--" + f.Name + "`"
		if f.Shorthand != "" {
			name = "`-" + f.Shorthand + "`, " + name
		}
		value, usage := pflag.UnquoteUsage(f)
		if f.DefValue != "" && f.DefValue != "false" && f.DefValue != "0" && f.DefValue != "[]" {
			usage += " (default " + f.DefValue + ")"
		}
		fmt.Fprintf(&rows, "| %s | %s | %s |\n", name, cell(value), cell(usage))
	})
	if rows.Len() > 0 {
		fmt.Fprintf(&b, "| flag | value | what it does |\n|---|---|---|\n%s", &rows)
	}
	return b.String()
}

// cell is a text in a table of Markdown.
func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ", "<", "&lt;", "*", `\*`, "_", `\_`).Replace(text)
}
