package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"coalesce/internal/cli"
	"coalesce/internal/placement"
)

// The doors that lack options.
const (
	byCommand = "the command"
	byArrays  = "functions of arrays in Python and C"
	byGo      = "options of Go"
)

// A lack is why a door lacks options that another one has.
type lack struct {
	door     string
	problems string // whose options they are
	options  string
	why      string
	instead  string
}

const allProblems = "qubo model csg auction assignment"

var lacks = []lack{
	{byCommand, "qubo", "variables maximize ising", "a file has its variables, form and sense", "`--form`, `--sense`"},
	{byArrays, "qubo csg assignment", "format", "arrays have no file format", "`commands.solve_…`"},
	{byArrays, "qubo assignment", "header index", "arrays have no names of rows and columns", "`commands.solve_…`"},
	{byArrays, "qubo", "form sense problem", "arrays are one program, whose form and sense are arguments", "`ising`, `maximize`"},
	{byArrays, "csg", "names", "arrays have agents by number", "`commands.solve_csg`"},
	{byArrays, "csg", "order", "arrays are by coalition number", "`commands.solve_csg`"},
	{byArrays, "csg", "connected", "graphs are files", "`edges`, `commands.solve_csg`"},
	{byArrays, "assignment", "maximize limit start points metric floor", "they are arguments of the function, in C members of the struct", "`maximize`, `limit`, `start`, `Points`"},
	{byArrays, "assignment", "supply capacity", "they are arguments of the function, in C arrays of the job transport", "`supply`, `capacity`"},
	{byArrays, "csg", "distribution agents seed type", "a drawn table is the command's, which draws it on the device", "`commands.solve_csg`"},
	{byArrays, "assignment", "kind rows cols range seed type rank permuted shift jitter density keep_points", "drawn costs are the command's", "`commands.generate_assignment`"},
	{byArrays, "csg", "values", "the table of all coalitions is a file", "`commands.solve_csg`, `commands.query_csg`"},
	{byArrays, allProblems, "plot", "a result draws its search itself, the command its answer", "`result.plot()`, `commands.solve_…`"},
	{byArrays, allProblems, "json output", "a result is an object", "`result.report`"},
	{byArrays, allProblems, "verify", "the sequential reference is slow, and a result has its certificate", "`commands.solve_…`, `commands.verify`"},
	{byArrays, allProblems, "record_untuned", "tuning by records is the command's", "`commands.solve_…`, `tune`"},
	{byGo, allProblems, "device threads", "a program opens its devices", "`Settings.Devices`, `host.Open`"},
	{byGo, allProblems, "tuned pin frozen", "a program opens its tuning data", "`Settings.Tuning`, `tuned.Policy`"},
}

// lackTable is a table of lacks in Markdown. Its error names options that a door lacks for no reason in lacks, and reasons for
// options that no door lacks.
func lackTable() (string, error) {
	var b strings.Builder
	b.WriteString("| option | of | not in | because | instead |\n|---|---|---|---|---|\n")
	open, err := lacking()
	if err != nil {
		return "", err
	}
	for _, l := range lacks {
		for problem := range strings.FieldsSeq(l.problems) {
			for name := range strings.FieldsSeq(l.options) {
				key := strings.Join([]string{l.door, problem, name}, " ")
				if !open[key] {
					err = errors.Join(err, fmt.Errorf("%s: found a reason, and the door has the option, or another reason stands before", key))
				}
				delete(open, key)
			}
		}
		of := strings.ReplaceAll(l.problems, " ", ", ")
		if l.problems == allProblems {
			of = "all"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", strings.ReplaceAll(l.options, " ", "`, `"), of, l.door, l.why, l.instead)
	}
	for key := range open {
		err = errors.Join(err, fmt.Errorf("%s: found no reason why the option is lacking", key))
	}
	return b.String(), err
}

// lacking are the doors, problems and options that a door lacks.
func lacking() (map[string]bool, error) {
	found := map[string]bool{}
	for _, d := range problemDoors {
		command, _, err := cli.Commands().Find([]string{"solve", d.problem})
		if err != nil {
			return nil, err
		}
		options, err := d.options()
		if err != nil {
			return nil, err
		}
		for k := range options {
			if command.Flags().Lookup(options[k].FlagName()) == nil {
				found[byCommand+" "+d.problem+" "+options[k].Name] = true
			}
		}
		command.LocalFlags().VisitAll(func(f *pflag.Flag) {
			same := func(name string) bool { return options.Find(name).FlagName() == f.Name }
			if !f.Hidden && f.Name != "help" && !slices.ContainsFunc(options.Names(), same) {
				found[byArrays+" "+d.problem+" "+strings.ReplaceAll(f.Name, "-", "_")] = true
			}
		})
		for _, name := range new(placement.Placement).Fields().Names() { // other options are fields of the problem's Options
			found[byGo+" "+d.problem+" "+name] = true
		}
	}
	return found, nil
}
