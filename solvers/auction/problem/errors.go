package problem

import "errors"

// ErrSize is wrapped by errors of auctions of too many bids, or of prices that need too many bits.
var ErrSize = errors.New("too large for branch and bound")

// ErrItems is wrapped by errors of auctions of too many goods.
var ErrItems = errors.New("too many goods")
