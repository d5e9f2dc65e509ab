package run

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"coalesce/internal/cli/effect"
	"coalesce/runtime/device"
	"coalesce/runtime/devices"
	"coalesce/solvers/option"
)

// Words is the annotation of a flag that lists the words it takes.
const Words = "words"

// AddOptions adds a flag for each option of a list.
func AddOptions(f *pflag.FlagSet, options option.List) {
	for k := range options {
		o := &options[k]
		flag := f.VarPF(o, o.FlagName(), "", options.Describe(o, func(d *option.Declaration) string { return "--" + d.FlagName() }))
		if o.Kind() == option.Boolean {
			flag.NoOptDefVal = "true"
		}
		if o.Default != "" { // the description has it
			flag.DefValue = ""
		}
		if o.Words != nil {
			_ = f.SetAnnotation(flag.Name, Words, o.Words)
		}
	}
}

// formerName annotates a flag with its name of today.
const formerName = "former name"

// AddFormerName adds a hidden flag under the name that an option's flag had before.
func AddFormerName(f *pflag.FlagSet, name string, o *option.Option) {
	f.Var(o, name, "the former name of --"+o.FlagName())
	hideFormerName(f, name, o.FlagName())
}

// hideFormerName hides a flag that has another name today.
func hideFormerName(f *pflag.FlagSet, name, today string) {
	_ = f.MarkHidden(name)
	_ = f.SetAnnotation(name, formerName, []string{today})
}

// warnOfFormerNames says which flags were given under former names.
func warnOfFormerNames(w io.Writer, given *pflag.FlagSet) {
	given.Visit(func(f *pflag.Flag) {
		for _, today := range f.Annotations[formerName] {
			fmt.Fprintf(w, "coalesce: --%s is now called --%s; the next release knows that name alone\n", f.Name, today)
		}
	})
}

// AlgorithmRules are the rules of the options that single algorithms have.
func AlgorithmRules(options option.List, algorithm string) (rules []effect.Rule) {
	for _, o := range options {
		if o.Only != "" {
			rules = append(rules, effect.Rule{Flags: o.FlagName(), For: "--algorithm " + o.Only, Found: effect.UnlessRequested(algorithm == o.Only, cmp.Or(algorithm, "none"))})
		}
	}
	return rules
}

// CheckOptions checks options that no flag has set.
func CheckOptions(options option.List) error { return valueError(options.Check()) }

// valueError makes the error of an option's value one of the command line.
func valueError(err error) error {
	value := new(option.ValueError)
	if !errors.As(err, &value) {
		return err
	}
	return Usagef("--%s is %s, expected %s", value.FlagName(), value.Found, value.Expected)
}

// FlagError makes an error of pflag one that says which value a flag expects.
func FlagError(_ *cobra.Command, err error) error {
	var wrong *pflag.InvalidValueError
	if !errors.As(err, &wrong) {
		return AsUsage(err)
	}
	f, expected := wrong.GetFlag(), ""
	if errors.As(wrong, new(*option.ValueError)) {
		return valueError(wrong)
	} else if _, declared := f.Value.(*option.Option); declared {
		return Usagef("--%s: %v", f.Name, errors.Unwrap(err))
	}
	switch kind := f.Value.Type(); {
	case strings.HasPrefix(kind, "uint"):
		expected = "a whole number from 0 on"
	case strings.HasPrefix(kind, "int"):
		expected = "a whole number"
	case strings.HasPrefix(kind, "float"):
		expected = "a number"
	case kind == "bool":
		expected = "true or false"
	case kind == "duration":
		expected = "a time with its unit, such as 30s or 5m"
	default:
		return AsUsage(err)
	}
	if errors.Is(err, strconv.ErrRange) {
		expected += " that fits in 64 bits"
	}
	return Usagef("--%s is %q, expected %s", f.Name, wrong.GetValue(), expected)
}

// A command lists in one table of rules what its flags have an effect on. What depends on the content of a file is said by
// its reader (formats.OptionError), and what depends on the algorithm that runs by the solver (solve.VariantError).

// ThreadsRule is the rule of --threads, which only a host has.
func ThreadsRule(name string) effect.Rule {
	n, err := devices.Parse(name)
	host := err != nil || n.Kind == devices.Auto || n.Kind == device.Host
	return effect.Rule{Flags: "threads", For: "--device host", Found: effect.UnlessRequested(host, "--device "+name)}
}
