package csg

import (
	"fmt"
	"strings"

	"coalesce/internal/ui"
	"coalesce/solvers/csg"
	"coalesce/solvers/csg/anytime"
	"coalesce/solvers/csg/problem"
)

// aboutSolve is the text of `solve csg --help`.
func aboutSolve() string {
	return fmt.Sprintf(`Coalition structure generation: given a value for every coalition of n agents,
find the partition of the agents whose blocks are worth the most together.

FILE is a characteristic function, plain or compressed with gzip, xz or zstd; -
is standard input:

  .npy   2^n values of any integer or floating type, by coalition number:
         agent i is bit i-1, and entry 5 = 101b is the coalition {1, 3}
  CSV    rows of a coalition and its value: "1 3",12.5 (agents by number or name)
  JSON   {"1,3": 12.5} or {"agents": ["ann", "bob"], "values": {"ann bob": 7}}
  graph  rudy and G-set (.rud, G1), Matrix Market (.mtx), .coo and other formats of
         "solve qubo"; --format overrules the name. Agents are nodes, and a
         coalition is worth the weights of the edges among its members

A graph of up to %d agents becomes a table. In a larger one, or with --algorithm
%s, the host's cores search for better and better structures until --time-limit,
--target, ctrl-C, or one that meets the bound.

A CSV or JSON file must have every coalition but the empty one, unless --missing
gives the others a value. --missing=-inf forbids them. --names gives the names of
agents 1, 2, 3 and so on: all names of the table, in the order of the bits. With
several files the command solves each, and --json prints a line for each.

--device cuda:all, or cuda:0,1 and so on, solves on several GPUs together. Each
holds the table of all coalitions without the last agent, or a part of it if it
does not fit, and computes its share.

Instead of a file, --distribution draws the values from a distribution of the
literature, each a function of the seed and the coalition alone. With more than %d
agents, up to %d, a search draws the values that it needs:

  %s`, tableAgents, anytime.Algorithm, problem.MaxAgents, anytime.MostDrawn, ui.Wrap(strings.Join(csg.Distributions(), ", "), 76, "\n  "))
}

// aboutQuery is the text of `query csg --help`.
const aboutQuery = `Query reads the values of all coalitions' best partitions, which "coalesce solve csg
INSTANCE --values VALUES.npy" wrote, and prints the best structure of the agents of
--coalition, by number or name, or with --best the K best, each once, the best first.
It leaves out structures with a forbidden block. Repeat the flags that told solve how
to read INSTANCE; VALUES.npy has the sizes of --sizes.

The exit code is 3 if the answer shows that VALUES.npy is not the table of INSTANCE.`
