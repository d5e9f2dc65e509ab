package problem

import "errors"

// ErrCoefficient is wrapped by errors of coefficients that cannot be solved with.
var ErrCoefficient = errors.New("coefficient")

// ErrCheck is wrapped by errors of answers that a check refuted.
var ErrCheck = errors.New("a wrong answer")
