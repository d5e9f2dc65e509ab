// Package plan decides which algorithms solve an instance, and in which order they are tried, before
// anything is loaded: the one that was asked for, else the one that measurements favour.
package plan

import (
	"fmt"

	gencsg "coalesce/generated/csg"
	"coalesce/runtime/device"
	"coalesce/solvers/csg/internal/checkpoint"
	"coalesce/solvers/csg/internal/hostdp"
	"coalesce/solvers/csg/internal/price"
	"coalesce/solvers/csg/internal/reference"
	"coalesce/solvers/csg/internal/variants"
	"coalesce/solvers/csg/problem"
	"coalesce/solvers/solve"
)

// ByPrices is the algorithm that evaluates no splittings: prices of a linear program
// leave few coalitions, among which it searches (package price).
const ByPrices reference.Method = "price"

// A Plan says which algorithms solve an instance: prices first, if they are tried, then a method.
type Plan struct {
	Facts   device.Facts     // of the weakest device
	First   Choice           // the tuned algorithm; none where one was asked for, or with several ranks
	Prices  *price.Settings  // the limits of the prices that come first; nil: prices are not tried
	Family  *device.Family   // has the kernels of Method; nil: the dynamic program on a host's cores
	Method  reference.Method // follows where prices give up
	Asked   bool             // for an algorithm or a variant: nothing follows prices
	refusal error            // of a checkpoint
}

// New makes the plan of a solve, whose levels go to a checkpoint unless that is nil. Errors say which
// setting the devices, the instance or the checkpoint do not go with.
func New(o *solve.Settings, inst *problem.Instance, kept *checkpoint.Spec) (*Plan, error) {
	p := &Plan{Facts: o.WeakestFacts(), Asked: o.Algorithm != "" || o.Variant != ""}
	method := reference.Method(o.Algorithm)
	if counts := inst.Blocks(); counts != (problem.Counts{}) {
		p.Method = reference.DP
		return p, checkLayers(o, inst, kept)
	}
	if !p.Asked && o.RankCount() == 1 {
		var err error
		if p.First, err = chooseAlgorithm(o, p.Facts, inst.N); err != nil {
			return nil, err
		}
		if m := p.First.Method(); kept == nil && len(o.Devices) == 1 && (m == reference.DP || m == reference.IDP) {
			method = m
		}
	}
	prices, err := limitsOfPrices(p.Facts, inst.N, inst.Type, o, p.First)
	if err != nil {
		return nil, solve.AsInputError(err)
	}
	if kept == nil || !kept.Resume {
		p.Prices = prices
	}
	if method == ByPrices {
		method = ""
	}
	if p.Family, p.Method, err = variants.FamilyFor(p.Facts.Kind, method, o.Variant); err != nil {
		return nil, err
	}
	if p.Family == nil {
		if err := checkHostDP(o, inst.N, p.Method, kept); err != nil {
			return nil, solve.AsInputError(err)
		}
	} else if len(o.Devices) > 1 && p.Family != &gencsg.Tiles {
		return nil, solve.InvalidInput("Devices", "found %d: %s runs on one, several GPUs run %s (algorithm %s)", len(o.Devices), p.Family.Name, gencsg.Tiles.Name, reference.Apart)
	}
	if o.RankCount() > 1 && p.Family != nil && p.Family != &gencsg.Tiles && p.Family != &gencsg.Hosttiles {
		return nil, solve.InvalidInput("Ranks", "found %d: %s runs on one, several run %s or %s (algorithm %s)", o.RankCount(), p.Family.Name, gencsg.Tiles.Name, gencsg.Hosttiles.Name, reference.Apart)
	}
	if kept != nil && (o.Algorithm == string(ByPrices) || p.Family == &gencsg.Splits) {
		p.refusal = solve.InvalidInput("Algorithm", "found %s: a checkpoint is kept by %s alone", p.Method, reference.Apart)
	}
	return p, nil
}

// checkLayers returns an error where layers of numbers of blocks, a dynamic program on a host's cores, cannot do a solve.
func checkLayers(o *solve.Settings, inst *problem.Instance, kept *checkpoint.Spec) error {
	switch {
	case o.Algorithm != "" && o.Algorithm != string(reference.DP) && o.Algorithm != string(ByPrices):
		return solve.InvalidInput("Algorithm", "found %.40q, expected %s, %s or none beside a number of blocks: prices of blocks, and layers of a dynamic program, work on the host's cores", o.Algorithm, ByPrices, reference.DP)
	case o.Variant != "":
		return solve.InvalidInput("Variant", "found %.40q, expected none beside a number of blocks: no kernels count them", o.Variant)
	case o.RankCount() > 1:
		return solve.InvalidInput("Ranks", "found %d, expected one beside a number of blocks", o.RankCount())
	case kept != nil:
		return solve.InvalidInput("Checkpoint", "found a file, expected none beside a number of blocks")
	}
	return variants.CheckHostMemory(inst.N, hostdp.LayersMemory(inst.N, inst.Type, inst.Blocks()))
}

// CheckCheckpoint returns an error where the algorithms of the plan keep no checkpoint, and one is asked for.
func (p *Plan) CheckCheckpoint() error { return p.refusal }

// checkHostDP returns an error where the dynamic program on a host's cores cannot do a solve.
func checkHostDP(o *solve.Settings, n int, m reference.Method, kept *checkpoint.Spec) error {
	switch all := len(o.Devices) * o.RankCount(); {
	case all > 1:
		return fmt.Errorf("%d devices or ranks: method %s runs on one host, several run %s", all, m, reference.Apart)
	case kept != nil:
		return fmt.Errorf("a checkpoint is kept by algorithm %s alone", reference.Apart)
	case n > hostdp.MaxAgents:
		return fmt.Errorf("method %s: %d agents, at most %d", m, n, hostdp.MaxAgents)
	}
	return nil
}
