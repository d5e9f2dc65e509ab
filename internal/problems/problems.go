// Package problems lists the problems that Coalesce solves, with their families of kernels and algorithms: the one place
// where a family of this module is registered.
package problems

import (
	"coalesce/autotune/subject"
	genassignment "coalesce/generated/assignment"
	genauction "coalesce/generated/auction"
	gencsg "coalesce/generated/csg"
	genmodel "coalesce/generated/model"
	genqubo "coalesce/generated/qubo"
	"coalesce/solvers/assignment"
	assignmentproblem "coalesce/solvers/assignment/problem"
	"coalesce/solvers/auction"
	"coalesce/solvers/csg"
	csgproblem "coalesce/solvers/csg/problem"
	"coalesce/solvers/model"
	"coalesce/solvers/qubo"
)

// List are the problems, with the families that the tuner, the command, the library and the tests of all families take.
func List() subject.Problems {
	return subject.Problems{
		{Name: "csg", Title: "coalition structure generation", Unit: subject.Unit{Name: "agents", Most: csgproblem.MaxAgents}, Subjects: csg.Subjects(), Params: []string{"value", "method"}, Families: gencsg.Families()},
		{Name: "auction", Title: "combinatorial auctions", Unit: subject.Unit{Name: "contested goods", Most: auction.MaxContested}, Subjects: auction.Subjects(), Params: []string{"value"}, Families: genauction.Families()},
		{Name: "assignment", Title: "linear assignment", Unit: subject.Unit{Name: "rows and columns", Most: assignmentproblem.MaxSide}, Subjects: assignment.Subjects(), Params: []string{"value", "range", "metric"}, Families: genassignment.Families()},
		{Name: "qubo", Title: "binary quadratic programs", Unit: subject.Unit{Name: "variables", Most: 1 << 16}, Subjects: qubo.Subjects(), Params: []string{"row", "weight"}, Families: genqubo.Families()},
		{Name: "model", Title: "binary models", Unit: subject.Unit{Name: "variables", Most: 1 << 16}, Subjects: model.Subjects(), Params: []string{"value"}, Families: genmodel.Families()},
	}
}
