package problem

import (
	"errors"
	"fmt"

	"coalesce/solvers/solve"
)

// Blocks are a coalition structure of any number of agents: disjoint lists of agents, numbers from 1, that hold each agent once. A solve may begin
// with them (solve.Settings.Start).
type Blocks [][]int

// StartOf implements solve.Start.
func (Blocks) StartOf() string { return "csg" }

// Labels returns the block of each of n agents, from 0. The error says which agent is in no block, or in several.
func (b Blocks) Labels(n int) ([]int32, error) {
	label := make([]int32, n)
	for k, block := range b {
		if len(block) == 0 {
			return nil, errors.New("found an empty block")
		}
		for _, agent := range block {
			if agent < 1 || agent > n || label[agent-1] > 0 {
				return nil, fmt.Errorf("found agent %d in block %d, expected each of 1 to %d once", agent, k+1, n)
			}
			label[agent-1] = int32(k + 1)
		}
	}
	for i := range label {
		if label[i]--; label[i] < 0 {
			return nil, fmt.Errorf("found agent %d in no block, expected each of 1 to %d once", i+1, n)
		}
	}
	return label, nil
}

// Structure is the blocks as coalitions of at most 64 agents.
func (b Blocks) Structure() Structure {
	s := make(Structure, len(b))
	for k, block := range b {
		for _, agent := range block {
			s[k] |= 1 << (agent - 1)
		}
	}
	return s
}

// TakeStart returns the blocks that settings begin with, and the block of each of n agents; nil where there are none.
func TakeStart(s *solve.Settings, n int) (Blocks, []int32, error) {
	blocks, err := solve.StartAs[Blocks](s)
	if err != nil || s.Start == nil {
		return nil, nil, err
	}
	label, err := blocks.Labels(n)
	if err != nil {
		return nil, nil, solve.InvalidInput("Start", "%w", err)
	}
	return blocks, label, nil
}
