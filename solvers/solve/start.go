package solve

// A Start is a solution to begin a solve with, in the type of its problem. It has to be one of the instance that is solved, and
// need not be good.
type Start interface {
	// StartOf is the name of the problem.
	StartOf() string
}

// StartAs returns the start of settings in the type of a problem, the zero value where there is none. The error, which wraps
// ErrInput, is that of a start of another problem.
func StartAs[T Start](s *Settings) (start T, err error) {
	if s.Start == nil {
		return start, nil
	}
	given, ok := s.Start.(T)
	if !ok {
		return start, InvalidInput("Start", "found one of problem %s, expected one of %s", s.Start.StartOf(), start.StartOf())
	}
	return given, nil
}

// RefuseStart returns an error, which wraps ErrInput, where settings have a start: a solver without a use for one says why.
func (s *Settings) RefuseStart(why string) error {
	if s.Start == nil {
		return nil
	}
	return InvalidInput("Start", "found a value, expected none: %s", why)
}
