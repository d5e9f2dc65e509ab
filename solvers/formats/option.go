package formats

import "fmt"

// An OptionError names an option of reading that has no effect on a file.
type OptionError struct {
	File     string
	Option   string // as the command calls it: "--header"
	Format   string // that was found
	Expected string // formats that the option is for
}

func (e *OptionError) Error() string {
	return fmt.Sprintf("%s: %s is for %s, found %s: it would have no effect", e.File, e.Option, e.Expected, e.Format)
}
