package formats

import (
	"bytes"
	"strconv"
	"strings"

	"coalesce/solvers/csg/problem"
	"coalesce/solvers/formats"
	"coalesce/solvers/formats/names"
)

// ParseBlocks reads blocks of n agents, whose names may be nil: the agents of a block a line, by number from 1 or by name; a JSON list of
// lists of numbers; or the JSON object of a result. file is what errors call the text.
func ParseBlocks(text []byte, file string, n int, agents []string) (problem.Blocks, error) {
	var result struct {
		Solution problem.Blocks `json:"solution"`
	}
	head := bytes.Join(bytes.Fields(text[:min(len(text), 64)]), nil)
	switch {
	case bytes.HasPrefix(head, []byte("[[")):
		err := unmarshalBlocks(text, file, n, &result.Solution, &result.Solution)
		return result.Solution, err
	case bytes.HasPrefix(head, []byte(`{"`)) && bytes.Contains(text, []byte(`"solution"`)):
		err := unmarshalBlocks(text, file, n, &result.Solution, &result)
		return result.Solution, err
	}
	return parseBlockLines(text, file, n, agents)
}

// unmarshalBlocks decodes JSON into a value that holds blocks, and checks these.
func unmarshalBlocks(text []byte, file string, n int, blocks *problem.Blocks, to any) error {
	if err := formats.UnmarshalJSON(text, file, to); err != nil {
		return err
	}
	if _, err := blocks.Labels(n); err != nil {
		return formats.Errorf(file, 0, "%w", err)
	}
	return nil
}

func parseBlockLines(text []byte, file string, n int, agents []string) (problem.Blocks, error) {
	number := make(map[string]int, len(agents))
	for i, name := range agents {
		number[name] = i + 1
	}
	known := func(word string) bool { return number[word] > 0 }
	if agents == nil {
		known = nil
	}
	line, seen := 0, make([]int, n) // the line of each agent
	var blocks problem.Blocks
	for row := range strings.Lines(string(text)) {
		line++
		words, err := names.ParseList(row, known)
		if err != nil {
			return nil, formats.Errorf(file, line, "%w", err)
		}
		if len(words) == 0 {
			continue
		}
		block := make([]int, len(words))
		for k, word := range words {
			agent := number[word]
			if agent == 0 {
				agent, err = strconv.Atoi(word)
			}
			switch {
			case err != nil || agent < 1 || agent > n:
				return nil, formats.Errorf(file, line, "found agent %s, expected a number from 1 to %d, or a name where agents have names", formats.Quote(word), n)
			case seen[agent-1] > 0:
				return nil, formats.Errorf(file, line, "found agent %s again, after line %d, expected each agent once", formats.Quote(word), seen[agent-1])
			}
			block[k], seen[agent-1] = agent, line
		}
		blocks = append(blocks, block)
	}
	if _, err := blocks.Labels(n); err != nil {
		return nil, formats.Errorf(file, line, "%w", err)
	}
	return blocks, nil
}
