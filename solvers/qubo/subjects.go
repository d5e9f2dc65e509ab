package qubo

import "coalesce/autotune/subject"

// Subjects are the families of this problem that the tuner covers.
func Subjects() []subject.Subject {
	return append([]subject.Subject{tunableBulk{}, tunableTemper{}}, denseSubjects()...)
}
