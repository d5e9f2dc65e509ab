package structures

import (
	"fmt"
	"strings"

	"coalesce/internal/ui"
	"coalesce/solvers/csg"
	"coalesce/solvers/csg/anytime"
)

// AboutSolve is the text of `solve csg --help`.
func AboutSolve() string {
	return fmt.Sprintf(`Coalition structure generation: given a value for every coalition of n agents,
find the partition of the agents whose blocks' values add up to the most.

FILE is a characteristic function, plain or compressed with gzip, xz or zstd; -
is standard input:

  .npy   2^n values of any integer or floating type, by coalition number:
         agent i is bit i-1, so that entry 5 = 101b is the coalition {1, 3}
  CSV    rows of a coalition and its value: "1 3",12.5 (agents by number or name)
  JSON   {"1,3": 12.5} or {"agents": ["ann", "bob"], "values": {"ann bob": 7}}
  graph  rudy and G-set (.rud, G1), Matrix Market (.mtx), .coo and other formats of
         "solve qubo"; --format tells where the name does not. Agents are nodes, and
         a coalition is worth what the edges among its members weigh

A graph of up to %d agents becomes a table. In a larger one, or with --algorithm
%s, the host's cores search for better and better structures until --time-limit,
--target, ctrl-C, or one that meets the bound.

A CSV or JSON file must have every coalition but the empty one, unless --missing
gives the others a value. --missing=-inf forbids them. --names says what agents
1, 2, 3 and so on are called: all that a table may name, in the bits' order. Of
several files each is solved, and --json prints a line for each.

--device cuda:all, or cuda:0,1 and so on, solves on several GPUs together: each
holds the table of all coalitions without the last agent, or a part of it where it
does not fit, and makes its share.

Instead of a file, --distribution draws the values from a distribution of the
literature, each a function of the seed and the coalition alone; of more than %d
agents, up to %d, a search asks for those that it needs:

  %s`, TableAgents, anytime.Algorithm, csg.MaxAgents, anytime.MostDrawn, ui.Wrap(strings.Join(csg.Distributions(), ", "), 76, "\n  "))
}

// AboutQuery is the text of `query csg --help`.
const AboutQuery = `Query reads the values of all coalitions' best partitions, which "coalesce solve csg
INSTANCE --values VALUES.npy" has written, and answers from them: the best structure of
the agents of --coalition, by number or name, or with --best the K best, each once, the
best first. Structures with a forbidden block are left out. Flags that say how INSTANCE
is read are those of solve, and have to be given again; the sizes that --sizes allowed
blocks stand in VALUES.npy.

The exit code is 3 where VALUES.npy is not the table of INSTANCE, as far as the answer
shows.`
