package csg

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"coalesce/internal/cli/run"
	"coalesce/internal/picture"
	"coalesce/internal/ui"
	"coalesce/solvers/csg"
	"coalesce/solvers/csg/anytime"
	"coalesce/solvers/csg/problem"
	"coalesce/solvers/solve"
)

// describeProgress returns a function that describes the progress of a solve: the share of the work done, the
// time left at the pace since its first call, and the best so far.
func describeProgress() func(now solve.Incumbent) string {
	began, first := 0.0, -1.0
	return func(now solve.Incumbent) string {
		var parts []string
		if now.Share > 0 {
			parts = append(parts, fmt.Sprintf("%.0f %% done", 100*now.Share))
		}
		if first < 0 {
			began, first = now.Seconds, now.Share
		}
		if done := now.Share - first; done > 0 {
			left := (now.Seconds - began) / done * (1 - now.Share)
			parts = append(parts, fmt.Sprintf("about %s left", time.Duration(left)*time.Second))
		}
		if now.Value != "" {
			parts = append(parts, now.String())
		}
		return strings.Join(parts, ", ")
	}
}

func foundBlocks(r *anytime.Result) []problem.Block {
	blocks := make([]problem.Block, len(r.Certificate.Blocks))
	for k, b := range r.Certificate.Blocks {
		blocks[k] = problem.Block{Agents: b.Agents, Value: b.Value}
	}
	return blocks
}

// draw draws the blocks of a structure where --plot asks for it.
func (s *solveFlags) draw(ctx context.Context, a *run.App, r *solve.Report, blocks []problem.Block) error {
	return s.Draw(ctx, a, func() (*picture.Drawing, error) { return Picture(r, blocks) })
}

// Picture draws the blocks of a structure.
func Picture(r *solve.Report, blocks []problem.Block) (*picture.Drawing, error) {
	if len(blocks) == 0 {
		return nil, errors.New("there is no structure to draw")
	}
	groups := make([]picture.Group, len(blocks))
	for k, b := range blocks {
		groups[k] = picture.Group{Members: b.Agents, Words: b.Value}
	}
	return picture.Structure(fmt.Sprintf("%s: %s, worth %s", r.Instance, ui.Count(len(blocks), "block"), r.Value), groups)
}

// writeFound writes the answer of a search for people; device is the device's name.
func writeFound(out io.Writer, r *anytime.Result, device string) error {
	n := r.Size["agents"]
	if err := cmp.Or(writeBlocks(out, foundBlocks(r), r.Value, n), writePayoff(out, r.Payoff, r.Names)); err != nil {
		return err
	}
	last := r.History[len(r.History)-1]
	what, did := "", ui.Count(int(r.Work.Parts), "part")+" solved"
	if edges, ok := r.Size["edges"]; ok {
		what = ui.Count(edges, "edge") + ", "
		did = ui.Count(int(r.Work.Runs), "annealing") + " and " + ui.Count(int(r.Work.Coalitions), "extracted coalition")
	}
	r.Notes = append(slices.Clip(r.Notes), fmt.Sprintf("the best after %s, of %s, seed %d", ui.Seconds(last.Seconds), did, r.Seed))
	return run.Answer{
		Report:   &r.Report,
		Instance: fmt.Sprintf("%s (%s, %s%s)", r.Instance, ui.Count(n, "agent"), what, r.Type),
		Checked:  fmt.Sprintf("the blocks are a partition and their values add up to %s", r.Certificate.Sum),
		Name:     device,
	}.Write(out)
}

// writeResult writes the answer of a table for people; verified is the text about the reference's
// answer, empty without --verify.
func writeResult(out io.Writer, r *csg.Result, device, verified string) error {
	n := r.Size["agents"]
	if err := cmp.Or(writeBlocks(out, r.Certificate.Blocks, r.Value, n), writePayoff(out, r.Payoff, r.Names)); err != nil {
		return err
	}
	return run.Answer{
		Report:   &r.Report,
		Instance: fmt.Sprintf("%s (%s, %s)", r.Instance, ui.Count(n, "agent"), r.Type),
		Checked:  fmt.Sprintf("the blocks are a partition and their values add up to %s", r.Certificate.Sum),
		Verified: verified, Splittings: r.Splittings, Name: device,
	}.Write(out)
}

// writePayoff writes what each agent receives, or the coalitions that prove the core empty.
func writePayoff(out io.Writer, p *csg.Payoff, agents []string) error {
	if p == nil {
		return nil
	}
	names := &problem.Instance{Names: agents}
	var table ui.Table
	table.AlignRight(0)
	if p.Exact == nil {
		table.Row("weight", "coalition (the core is empty: these are worth more)")
		for _, c := range p.Balanced {
			if c.Agents != nil {
				table.Row(c.Weight, (&problem.Listing{Names: agents}).CoalitionText(c.Agents))
				continue
			}
			table.Row(c.Weight, names.Coalition(c.Coalition))
		}
	} else {
		table.Row(p.Concept, "agent")
		for i, exact := range p.Exact {
			table.Row(exact, names.Name(i+1))
		}
	}
	if err := table.Write(out); err != nil {
		return err
	}
	_, err := fmt.Fprintln(out)
	return err
}

func writeBlocks(out io.Writer, list []problem.Block, total solve.Number, agents int) error {
	var blocks ui.Table
	blocks.AlignRight(0)
	blocks.Row("value", "block")
	for _, b := range list {
		blocks.Row(b.Value, "{"+strings.Join(b.Agents, ", ")+"}")
	}
	blocks.Row(total.String(), fmt.Sprintf("total, %s of %s", ui.Count(len(list), "block"), ui.Count(agents, "agent")))
	if err := blocks.Write(out); err != nil {
		return err
	}
	_, err := fmt.Fprintln(out)
	return err
}
