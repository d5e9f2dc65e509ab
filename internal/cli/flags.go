package cli

import (
	"errors"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// flagError makes an error of pflag one that says which value a flag expects.
func flagError(_ *cobra.Command, err error) error {
	var wrong *pflag.InvalidValueError
	if !errors.As(err, &wrong) {
		return usageError{err}
	}
	f, expected := wrong.GetFlag(), ""
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
		return usageError{err}
	}
	if errors.Is(err, strconv.ErrRange) {
		expected += " that fits in 64 bits"
	}
	return usagef("--%s is %q, expected %s", f.Name, wrong.GetValue(), expected)
}
