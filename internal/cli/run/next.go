package run

import (
	"cmp"
	"errors"
	"io/fs"
	"strings"
)

// A nextError is an error, and the command that a user types next.
type nextError struct {
	error
	command string
}

func (e nextError) Unwrap() error { return e.error }

// WithNext adds to an error the command that a user types next. The error nil stays nil.
func WithNext(err error, command string) error {
	if err == nil {
		return nil
	}
	return nextError{err, command}
}

// ReadError is the error of a file that could not be read as an instance: the help of the command lists the formats.
func (a *App) ReadError(err error) error { return WithNext(err, a.helpCommand()) }

// DeviceError is the error of a GPU that is not there, or cannot compute: the same command works on the processor.
func (a *App) DeviceError(err error) error {
	words := []string{a.Name()}
	skip, placed := false, false
	for _, arg := range a.args {
		switch {
		case skip:
			skip = false
			arg = "host"
		case arg == "--device":
			skip, placed = true, true
		case strings.HasPrefix(arg, "--device="):
			arg, placed = "--device=host", true
		}
		words = append(words, quoted(arg))
	}
	if !placed {
		words = append(words, "--device", "host")
	}
	return WithNext(err, strings.Join(words, " "))
}

// quoted is a word of a command line as a shell reads it.
func quoted(word string) string {
	if word != "" && !strings.ContainsFunc(word, func(r rune) bool {
		return !strings.ContainsRune("+-_./,=:@%", r) && (r < '0' || r > '9' && r < 'A' || r > 'Z' && r < 'a' || r > 'z' && r < 128)
	}) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// nextCommand is the command that a user types after an error, empty where none is known.
func (a *App) nextCommand(err error) string {
	var next nextError
	switch {
	case a.Within:
		return ""
	case errors.As(err, &next):
		return next.command
	case errors.Is(err, fs.ErrNotExist):
		return a.helpCommand()
	}
	return ""
}

// helpCommand is the command that shows the help of the one that runs.
func (a *App) helpCommand() string { return cmp.Or(a.command, a.Name()) + " --help" }
