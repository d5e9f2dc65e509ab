package subject

import (
	"fmt"
	"slices"
	"strings"
)

// A Unit names the unit of a family's sizes, and the largest size that it takes.
type Unit struct {
	Name string
	Most int
}

// ForSubject is the unit of a family, whose problem counts in u.
func (u Unit) ForSubject(s Subject) Unit {
	if c, ok := s.(UnitCounted); ok {
		if name, most := c.SizeUnit(); name != "" {
			return Unit{name, most}
		}
	}
	return u
}

// Largest is the largest size that any of the families takes.
func (u Unit) Largest(list []Subject) int {
	most := u.Most
	for _, s := range list {
		most = max(most, u.ForSubject(s).Most)
	}
	return most
}

// Names lists what the families' sizes count: the problem's unit, then others with their family.
func (u Unit) Names(list []Subject) string {
	names := []string{u.Name}
	for _, s := range list {
		if own := u.ForSubject(s); own != u {
			names = append(names, fmt.Sprintf("of %s %s", s.Family().Name, own.Name))
		}
	}
	return strings.Join(names, ", ")
}

// SupportedSizes are the sizes, of those asked for, that a family takes.
func (u Unit) SupportedSizes(s Subject, sizes []int) []int {
	most := u.ForSubject(s).Most
	return slices.DeleteFunc(slices.Clone(sizes), func(size int) bool { return size > most })
}
