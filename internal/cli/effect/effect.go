// Package effect refuses flags that would have no effect. A command lists in one table where each of its flags applies; a
// given flag that does not apply is a mistake on the command line, and not ignored.
package effect

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"
)

// A Rule says where some flags apply.
type Rule struct {
	Flags string // their names, separated by blanks
	For   string // what they have an effect on, as in "--points" or "searches"
	Found string // what was asked for instead; empty: what they are for
}

// CheckFlags returns an error for the first given flag without effect: its name, its use, and the request that excludes it;
// nil where all flags have an effect. The table has no flags but those of the set.
func CheckFlags(set *pflag.FlagSet, table []Rule) error {
	for _, r := range table {
		if r.Found == "" {
			continue
		}
		for name := range strings.FieldsSeq(r.Flags) {
			if set.Changed(name) {
				return fmt.Errorf("--%s is for %s, found %s: it would have no effect", name, r.For, r.Found)
			}
		}
	}
	return nil
}

// UnlessRequested is found where what the flags are for was not asked for.
func UnlessRequested(asked bool, found string) string {
	if asked {
		return ""
	}
	return found
}
