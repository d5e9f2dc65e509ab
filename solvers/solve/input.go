package solve

import (
	"errors"
	"fmt"

	"coalesce/solvers/option"
)

// ErrInput is wrapped by the errors of instances, settings and arguments that a program filled
// wrongly. No solve has begun then.
var ErrInput = errors.New("wrong input")

// InvalidInput is the error of a field, or of an argument, with an invalid value. The text begins with
// the field's name, such as Bids[2].Goods[0], and says what was found and what was expected.
func InvalidInput(field, format string, args ...any) error {
	return refused{fmt.Errorf("%s: "+format, append([]any{field}, args...)...)}
}

// CheckOptions compares options with their declarations. Its error names the field of the Go struct, and wraps ErrInput.
func CheckOptions(options option.List) error {
	err := options.Check()
	if wrong := new(option.ValueError); errors.As(err, &wrong) {
		return InvalidInput(wrong.Field, "found %s, expected %s", wrong.Found, wrong.Expected)
	}
	return AsInputError(err)
}

// AsInputError makes an error one that wraps ErrInput, with the same text; nil stays nil.
func AsInputError(err error) error {
	if err == nil || errors.Is(err, ErrInput) {
		return err
	}
	return refused{err}
}

// refused is why input is refused, in the words of who says so.
type refused struct{ error }

func (r refused) Unwrap() []error { return []error{r.error, ErrInput} }
