package problem

import (
	"errors"

	csgproblem "coalesce/solvers/csg/problem"
)

// ErrCheck is wrapped by errors of answers that a check refuted. It is that of coalition structures, which
// solve auctions of few goods.
var ErrCheck = csgproblem.ErrCheck

// ErrSize is wrapped by errors of auctions of too many bids, or of prices that need too many bits.
var ErrSize = errors.New("too large for branch and bound")

// ErrItems is wrapped by errors of auctions of too many goods.
var ErrItems = errors.New("too many goods")

// ErrUnits is wrapped by errors of auctions with several units of a good, and of those that buy with free disposal, where set packing is
// asked for.
var ErrUnits = errors.New("the auction has several units of a good, or buys with free disposal, which tables, coalition structures and the reference do not take")
