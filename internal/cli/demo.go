package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"coalesce/autotune/tuned"
	assignmentcli "coalesce/internal/cli/assignment"
	auctioncli "coalesce/internal/cli/auction"
	csgcli "coalesce/internal/cli/csg"
	qubocli "coalesce/internal/cli/qubo"
	"coalesce/internal/cli/run"
	"coalesce/internal/picture"
	"coalesce/internal/ui"
	"coalesce/runtime/device"
	"coalesce/solvers/assignment"
	assignmentproblem "coalesce/solvers/assignment/problem"
	"coalesce/solvers/auction"
	"coalesce/solvers/csg"
	csgproblem "coalesce/solvers/csg/problem"
	"coalesce/solvers/model"
	modelproblem "coalesce/solvers/model/problem"
	"coalesce/solvers/qubo"
	quboproblem "coalesce/solvers/qubo/problem"
	"coalesce/solvers/solve"
)

// An example is a small instance of a problem: what it is, its answer, and how a plain method solves it on one core.
type example struct {
	problem string
	about   string
	plain   string // the plain method
	next    string // the command for an instance of the user's own
	solve   func(context.Context, solve.Settings) (*solve.Report, *picture.Drawing, error)
	compare func(context.Context, solve.Settings) (value solve.Number, err error)
}

func demoCommand(a *run.App) *cobra.Command {
	s := run.SolveFlags{Several: true}
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Solve one small instance of each problem, and draw it",
		Long: `Solve one small instance of each problem on the device, draw the answer as text, and
time a plain method for the same instance on one core of this machine: a dynamic
program, shortest augmenting paths, an enumeration, tabu search by single flips, a
visit of all solutions. Times are the best of three solves.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if a.Team != nil {
				return a.OnRankZero("a demo is one process's", func() error { return demo(cmd.Context(), a, &s) })
			}
			return demo(cmd.Context(), a, &s)
		},
	}
	run.AddPlacement(cmd.Flags(), &s.Placement, "device")
	return cmd
}

// demo solves, draws and times each example.
func demo(ctx context.Context, a *run.App, s *run.SolveFlags) error {
	return a.OpenToSolve(ctx, s, func(db *tuned.Database, devices []device.Device) error {
		settings := solve.Settings{Devices: devices, Tuning: db}
		p := a.Progress()
		defer p.Close()
		for k, t := range examples() {
			p.Set("demo %d: %s", k+1, t.problem)
			if err := t.show(ctx, a, settings); err != nil {
				return fmt.Errorf("demo of %s: %w", t.problem, err)
			}
			if err := cmp.Or(a.Out.Flush(), ctx.Err()); err != nil {
				return err
			}
		}
		fmt.Fprintf(a.Out, "next: coalesce solve --help\n")
		return nil
	})
}

// show solves a example, and prints the answer with the times.
func (t example) show(ctx context.Context, a *run.App, s solve.Settings) error {
	const times = 3
	var (
		r     *solve.Report
		drawn *picture.Drawing
		took  = [2]time.Duration{1 << 62, 1 << 62} // of the solver, and of the plain method
		value solve.Number
	)
	for range times {
		var err error
		if r, drawn, err = t.solve(ctx, s); err != nil {
			return err
		}
		took[0] = min(took[0], time.Duration(r.Seconds.Solve*1e9))
		began := time.Now()
		if value, err = t.compare(ctx, s); err != nil {
			return err
		}
		took[1] = min(took[1], time.Since(began))
	}
	if value != r.Value && value.Float() != r.Value.Float() {
		return run.AsCheck(fmt.Errorf("the answer is worth %s, by %s %s", r.Value, t.plain, value))
	}
	fmt.Fprintf(a.Out, "%s: %s\n\n", strings.ToUpper(t.problem), t.about)
	const columns = 76
	if err := drawn.WriteText(a.Out, columns); err != nil {
		return err
	}
	proven := "the best found"
	if r.Proven {
		proven = "proven optimal"
	}
	fmt.Fprintf(a.Out, "\n%s, %s, in %s on %s. By %s on one core: %s, %s times as long.\nYours: %s\n\n", r.Value, proven, ui.Seconds(took[0].Seconds()), r.Device,
		t.plain, ui.Seconds(took[1].Seconds()), timesText(took[1].Seconds()/took[0].Seconds()), t.next)
	return nil
}

// timesText is a ratio with its first two digits, or all before the point.
func timesText(ratio float64) string {
	if ratio < 10 {
		return fmt.Sprintf("%.1f", ratio)
	}
	return fmt.Sprintf("%.0f", ratio)
}

// examples are the instances of the demo. They are the same on every machine.
func examples() []example {
	return []example{structureExample(), matchingExample(), winnersExample(), cutExample(), queensExample()}
}

func structureExample() example {
	const agents = 16
	instance := func() (*csgproblem.Instance, error) {
		inst, err := csg.Generate("ndcs", agents, 7)
		if err == nil {
			inst.Source = "16 agents"
		}
		return inst, err
	}
	return example{
		problem: "csg", about: "sixteen agents, a value for each of their 65,536 coalitions; the blocks of the best partition",
		plain: "a dynamic program, one splitting after another,", next: "coalesce solve csg values.csv",
		solve: func(ctx context.Context, s solve.Settings) (*solve.Report, *picture.Drawing, error) {
			inst, err := instance()
			if err != nil {
				return nil, nil, err
			}
			r, err := csg.Solve(ctx, inst, csg.Options{Settings: s})
			if err != nil {
				return nil, nil, err
			}
			for k := range r.Certificate.Blocks {
				b := &r.Certificate.Blocks[k]
				b.Value = fmt.Sprintf("%.2f", solve.Number(b.Value).Float())
			}
			d, err := csgcli.Picture(&r.Report, r.Certificate.Blocks)
			return &r.Report, d, err
		},
		compare: func(context.Context, solve.Settings) (solve.Number, error) {
			inst, err := instance()
			if err != nil {
				return "", err
			}
			r, err := csg.Reference(inst, csg.DP)
			if err != nil {
				return "", err
			}
			return r.Value, nil
		},
	}
}

func matchingExample() example {
	const riders, taxis = 40, 45
	random := rand.New(rand.NewPCG(3, 5))
	points := assignmentproblem.Points{Dim: 2, Metric: assignmentproblem.Euclidean}
	for range riders {
		points.Row = append(points.Row, random.Float64()*10, random.Float64()*5)
	}
	for range taxis {
		points.Col = append(points.Col, random.Float64()*10, random.Float64()*5)
	}
	solution := func(ctx context.Context, o assignment.Options) (*assignmentproblem.Instance, *assignment.Result, error) {
		inst, err := assignmentproblem.NewPoints(points, "40 riders, 45 taxis")
		if err != nil {
			return nil, nil, err
		}
		r, err := assignment.Solve(ctx, inst, o)
		return inst, r, err
	}
	return example{
		problem: "assignment", about: "forty riders ● and forty-five taxis ○ in a town; the least total distance",
		plain: "shortest augmenting paths, one row after another,", next: "coalesce solve assignment costs.csv",
		solve: func(ctx context.Context, s solve.Settings) (*solve.Report, *picture.Drawing, error) {
			inst, r, err := solution(ctx, assignment.Options{Settings: s})
			if err != nil {
				return nil, nil, err
			}
			d, err := assignmentcli.Picture(inst, r)
			return &r.Report, d, err
		},
		compare: func(ctx context.Context, s solve.Settings) (solve.Number, error) {
			s.Algorithm = "reference"
			_, r, err := solution(ctx, assignment.Options{Settings: s})
			if err != nil {
				return "", err
			}
			return r.Value, nil
		},
	}
}

func winnersExample() example {
	return example{
		problem: "auction", about: "twenty-two bids for bundles of twelve goods; the winners █ sell no good twice",
		plain: "an enumeration of the sets of unsold goods", next: "coalesce solve auction bids.csv",
		solve: func(ctx context.Context, s solve.Settings) (*solve.Report, *picture.Drawing, error) {
			a, err := auction.Generate("arbitrary", 12, 22, 4)
			if err != nil {
				return nil, nil, err
			}
			r, err := auction.Solve(ctx, a, auction.Options{Settings: s})
			if err != nil {
				return nil, nil, err
			}
			r.Instance = "22 bids"
			d, err := auctioncli.Picture(r)
			return &r.Report, d, err
		},
		compare: func(context.Context, solve.Settings) (solve.Number, error) {
			a, err := auction.Generate("arbitrary", 12, 22, 4)
			if err != nil {
				return "", err
			}
			r, err := auction.Reference(a)
			if err != nil {
				return "", err
			}
			return r.Value, nil
		},
	}
}

func cutExample() example {
	const nodes = 12
	random := rand.New(rand.NewPCG(1, 2))
	edges := map[[2]int]bool{}
	for i := range nodes {
		edges[[2]int{i, (i + 1) % nodes}] = true
		if j := random.IntN(nodes); j > i+1 {
			edges[[2]int{i, j}] = true
		}
	}
	instance := func() (*quboproblem.Instance, error) {
		var text strings.Builder
		fmt.Fprintf(&text, "%d %d\n", nodes, len(edges))
		for i := range nodes {
			for j := range nodes {
				if edges[[2]int{i, j}] {
					fmt.Fprintf(&text, "%d %d 1\n", i+1, j+1)
				}
			}
		}
		return qubo.ReadFrom(strings.NewReader(text.String()), "12 nodes", qubo.ReadOptions{Format: "rudy"})
	}
	var best float64
	return example{
		problem: "qubo", about: "a graph of twelve nodes; the two sides that cut the most edges",
		plain: "tabu search by single flips, to the same value,", next: "coalesce solve qubo graph.rud",
		solve: func(ctx context.Context, s solve.Settings) (*solve.Report, *picture.Drawing, error) {
			inst, err := instance()
			if err != nil {
				return nil, nil, err
			}
			r, err := qubo.Solve(ctx, inst, qubo.Options{Settings: s})
			if err != nil {
				return nil, nil, err
			}
			best = r.Value.Float()
			d, err := qubocli.Picture(inst, r)
			return &r.Report, d, err
		},
		compare: func(ctx context.Context, s solve.Settings) (solve.Number, error) {
			inst, err := instance()
			if err != nil {
				return "", err
			}
			s.Algorithm, s.Target, s.TimeLimit = "reference", &best, 2*time.Second
			r, err := qubo.Solve(ctx, inst, qubo.Options{Settings: s, Unreduced: true})
			if err != nil {
				return "", err
			}
			return solve.Number(r.Value.String()), nil
		},
	}
}

func queensExample() example {
	const side = 4
	board := modelproblem.New(modelproblem.Maximize)
	board.Source = "4 queens"
	for square := range side * side {
		board.AddBinary(fmt.Sprintf("%c%d", 'a'+square%side, square/side+1))
		board.AddTerm(modelproblem.DecimalOfInteger(1), int32(square))
	}
	one := modelproblem.DecimalOfInteger(1)
	line := func(holds func(row, column int) bool) {
		var terms []modelproblem.Linear
		for square := range side * side {
			if holds(square/side, square%side) {
				terms = append(terms, modelproblem.Linear{Coefficient: one, Variable: int32(square)})
			}
		}
		if len(terms) > 1 {
			board.AddConstraint(modelproblem.Constraint{Name: fmt.Sprintf("line%d", len(board.Constraints)+1), Terms: terms, High: &one})
		}
	}
	for k := range 2 * side {
		line(func(row, _ int) bool { return row == k })
		line(func(_, column int) bool { return column == k })
		line(func(row, column int) bool { return row+column == k })
		line(func(row, column int) bool { return row-column+side == k })
	}
	return example{
		problem: "model", about: "the most queens on a board of four by four that do not attack one another",
		plain: "a visit of all 65,536 solutions", next: "coalesce solve model model.lp",
		solve: func(ctx context.Context, s solve.Settings) (*solve.Report, *picture.Drawing, error) {
			r, err := model.Solve(ctx, board, model.Options{Settings: s})
			if err != nil {
				return nil, nil, err
			}
			var cells []picture.Cell
			for square, x := range r.Solution {
				cells = append(cells, picture.Cell{Row: square / side, Column: square % side, Words: []string{" · ", " Q "}[x], Chosen: x == 1})
			}
			d, err := picture.Grid(r.Instance, []string{"1", "2", "3", "4"}, []string{"a", "b", "c", "d"}, cells)
			return &r.Report, d, err
		},
		compare: func(context.Context, solve.Settings) (solve.Number, error) {
			value, err := model.Reference(board)
			switch {
			case err != nil:
				return "", err
			case value == nil:
				return "", errors.New("no solution keeps the constraints")
			}
			return solve.Number(modelproblem.RatText(value)), nil
		},
	}
}
