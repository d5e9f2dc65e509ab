package anytime

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"coalesce/solvers/formats"
	"coalesce/solvers/formats/packed"
	"coalesce/solvers/qubo"
	quboproblem "coalesce/solvers/qubo/problem"
)

// formatCFSS is the name of the format of CFSS's graphs (Bistaffa, Farinelli, Cerquides, Rodríguez-Aguilar and Ramchurn, 2014): what each agent is worth alone, a line each,
// then lines of the two agents of an edge, from 0, and what it adds to a coalition of both.
const formatCFSS = "cfss"

// readCFSS reads what was unpacked, as coefficients of a program that qubo's reader makes.
func readCFSS(plain *packed.Stream, name string) (*quboproblem.Instance, error) {
	var program bytes.Buffer
	agents, edges := 0, map[[2]int]int{}
	for line := 1; ; line++ {
		text, err := plain.ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
		words := strings.Fields(text)
		fail := func(found, expected string) error {
			return formats.Errorf(name, line, "found %s, expected %s", found, expected)
		}
		switch {
		case len(words) == 1 && len(edges) == 0:
			if !isDecimal(words[0]) {
				return nil, fail(formats.Quote(words[0]), "what an agent is worth alone, a number")
			}
			fmt.Fprintf(&program, "%d %d %s\n", agents, agents, words[0])
			agents++
		case len(words) == 1:
			return nil, fail(formats.Quote(words[0])+" below edges", "two agents and a value")
		case len(words) == 3:
			var pair [2]int
			for k := range pair {
				i, err := strconv.Atoi(words[k])
				if err != nil || i < 0 || i >= agents {
					return nil, fail("agent "+formats.Quote(words[k]), fmt.Sprintf("one of the %d from 0 that have a line above", agents))
				}
				pair[k] = i
			}
			if pair[0] == pair[1] {
				return nil, fail("an edge from an agent to itself", "two agents")
			}
			pair = [2]int{min(pair[0], pair[1]), max(pair[0], pair[1])}
			if other := edges[pair]; other > 0 {
				return nil, fail(fmt.Sprintf("the edge of agents %d and %d again", pair[0], pair[1]), fmt.Sprintf("each once: it is on line %d", other))
			}
			if !isDecimal(words[2]) {
				return nil, fail(formats.Quote(words[2]), "what the edge adds, a number")
			}
			edges[pair] = line
			fmt.Fprintf(&program, "%d %d %s\n", pair[0], pair[1], words[2])
		case len(words) > 0:
			return nil, fail(formats.Count(len(words), "word"), "what an agent is worth alone, or two agents and a value")
		}
		if err != nil {
			break
		}
	}
	if agents == 0 {
		return nil, fmt.Errorf("%s: found no agents, expected what each is worth alone, a line each", name)
	}
	return qubo.ReadFrom(&program, name, qubo.ReadOptions{Format: "coo", Form: quboproblem.QUBO, Sense: quboproblem.Maximize})
}

// isDecimal reports whether a word is a finite number in decimals.
func isDecimal(word string) bool {
	x, err := strconv.ParseFloat(word, 64)
	return err == nil && !math.IsInf(x, 0) && !math.IsNaN(x) && !strings.ContainsAny(word, "xX_")
}

// openCFSS reads a file, or an open stream if in is not nil.
func openCFSS(in io.Reader, path string, memory int64) (*quboproblem.Instance, error) {
	limit := int64(qubo.DefaultMemory)
	if memory > 0 {
		limit = memory
	}
	var plain *packed.Stream
	var err error
	if in == nil {
		plain, err = packed.OpenFile(path, limit)
	} else {
		plain, err = packed.OpenLimited(in, -1, path, limit)
	}
	if err != nil {
		return nil, err
	}
	defer plain.Close()
	return readCFSS(plain, path)
}
