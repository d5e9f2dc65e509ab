package main

import (
	"fmt"
	"math"
	"math/bits"
	"strings"

	"coalesce/bench/result"
)

const (
	idpShared  = "IDP, shared by batch"
	idpOneCore = "sequential IDP, one core"
	splitsBest = "csg/splits, the best"
	tilesCurve = "csg/tiles"
)

// sequentialFile is where the sequential programs were measured: by themselves, or with the
// figures of an earlier commit.
func sequentialFile(all results) *result.File {
	if f := all["sequential"]; f != nil {
		return f
	}
	return all["figures"]
}

// growthCell says by how much a curve grows an agent in its last measured pair.
func growthCell(f *result.File, name string) string {
	if r, ok := lastOf(f, name); ok && len(measuredRows(f, name)) > 1 {
		measured, _ := growthPerAgent(f, name)
		return fmt.Sprintf("%.2f at %d agents", measured, r.Agents)
	}
	return "not measured here"
}

// timeAt is a curve's time at a size, measured or carried on, and which of them it is; 0 where the
// curve was not measured.
func timeAt(f *result.File, name string, agents int) (t float64, carried bool) {
	for _, p := range timeCurve(f, name, agents).points {
		if int(p.x) == agents {
			return p.y, p.extrapolated
		}
	}
	return 0, false
}

// timeCell is timeAt in words.
func timeCell(f *result.File, name string, agents int) string {
	t, carried := timeAt(f, name, agents)
	switch last, ok := lastOf(f, name); {
	case t == 0:
		return "not measured here"
	case carried && ok:
		return fmt.Sprintf("%s at %d agents; at %d *%s extrapolated*", formatSeconds(last.Median()), last.Agents, agents, formatSeconds(t))
	}
	return formatSeconds(t)
}

// effect is the time of a variant that departs from the safe point in one parameter, relative to it.
func effect(f *result.File, parameter, value string, agents int) string {
	if f == nil {
		return ""
	}
	base := ""
	for _, r := range f.Rows {
		if len(changedParams(r.Variant)) == 0 {
			base = r.Variant
		}
	}
	for _, r := range f.Rows {
		if d := changedParams(r.Variant); len(d) == 1 && d[0] == parameter && labelParams(r.Variant)[parameter] == value && r.Agents == agents {
			if s, ok := findRow(f, base, agents); ok && r.Median() > 0 {
				return fmt.Sprintf("%.2f", r.Median()/s.Median())
			}
		}
	}
	return ""
}

// effectsCell lists values of a parameter with their times.
func effectsCell(f *result.File, parameter string, values ...string) string {
	var list []string
	for _, v := range values {
		if e := effect(f, parameter, v, 20); e != "" {
			list = append(list, v+" "+e)
		}
	}
	return strings.Join(list, ", ")
}

// checkpointShare is a checkpoint's share of the cycles at 22 agents.
func checkpointShare(f *result.File, name string, numbers ...int) string {
	cycles, sum, _ := cyclesOf(f, name)
	if sum == 0 {
		return ""
	}
	part := 0.0
	for _, k := range numbers {
		part += float64(cycles[k-1])
	}
	return fmt.Sprintf("%.0f %%", 100*part/sum)
}

// fetchingShare is the share of the checkpoints of fetching: 4, in which initialSplit is as
// printed, or 3 and 4 together in files of commits that parted them within initialSplit.
func fetchingShare(f *result.File, name string) string {
	numbers, note := []int{4}, ""
	if r, ok := lastOf(f, name+profiled); ok && r.Bounds == "" {
		numbers, note = []int{3, 4}, " for checkpoints 3 and 4, which initialSplit parts in files of earlier commits; now 3 ends before it, as printed"
	}
	return orWhy(checkpointShare(f, name, numbers...), "not measured here") + note
}

func reportItems(m paperResults) []paperRow {
	f, seq := m.csg["figures"], sequentialFile(m.csg)
	again := reproduceCommand("report")
	const kernel = "templates/csg/splits, `construct=integer`"
	fewer, more := missing(10, 1), missing(10, 0)
	return []paperRow{
		{"tables 1 and 2, three assets", "13 = {♥} + {♣, ♦}; the others 9, 7, 6 and 11", "the same five structures and sums", "solvers/csg/internal/splits/papers_test.go", goTestCommand("solvers/csg/internal/splits", "TestReportExample")},
		{"algorithm 1, DP", "every splitting of every set, O(3ⁿ)", fmt.Sprintf("the same; (3ⁿ+1)/2 − 2ⁿ splittings, counted; one core: %s", timeCell(seq, sequential, 25)), "solvers/csg/reference.go", goTestCommand("solvers/csg", "TestSplittings")},
		{"algorithm 1, line 5: ties in O", "a set that is worth as much split is split", "rebuilt from f the same, of all four value types; with the table kept (`table=keep`, int32) it stays whole; values are the same", "templates/csg/splits/table.cuh", goTestCommand("solvers/csg/internal/splits", "TestTies")},
		{"0.4.1, the GPU kernel", "listing of 35 lines", "the listing, mended where the notes say; " + timeCell(f, integer, 25), kernel, again},
		{"the kernel, line 4: (¬C + ψ) ∩ C", "ψ below the number of splittings", fmt.Sprintf("ψ up to C: below 2^(\\|C\\|-1), %d of the 1,013 sets of two of 10 assets or more miss a splitting, below 2^\\|C\\| %d", fewer, more), kernel, goTestCommand("solvers/csg/internal/splits", "TestIntegerConstruction")},
		{"the kernel, lines 16–25: reduction", "a tree in shared memory", "`reduce=shared`; time ÷ that of the warp's instruction at 20 agents: " + orWhy(effectsCell(m.csg["effects"], "reduce", "shared"), "not measured here"), "templates/csg/splits/reduce.cuh", "`go run -tags cuda ./bench/csg -device cuda -experiment effects`"},
		{"the kernel, lines 29–32: O and f", "an atomic maximum, then two plain stores", "one 64-bit atomic maximum of value and splitting: the stores race between blocks", "templates/csg/splits/table.cuh", goTestCommand("solvers/csg", "TestEmulatedVariants")},
		{"figure 1: growth with an asset more, CPU", "3", growthCell(seq, sequential), "bench/csg/figures.go", again},
		{"figure 1: growth, GPU", "2, rising to 2.42 at 25", growthCell(f, integer) + "; launches double with an asset, and do not fill this chip", "bench/csg/figures.go", again},
		{"figure 1: times", "a picture without numbers", "[a picture](../figures/report-1.svg) and [a table](../results/csg.md#gpu-csg-figure-5-time-against-agents)", "docs/figures/report-1.svg", again},
		{"figure 2: subsets of wrong cardinality", "18 % to 8 %", fmt.Sprintf("%.0f %% to %.0f %% for 6 to 14 assets with ψ as printed; %.0f %% with ψ up to C", wrongCardinality(6, true), wrongCardinality(14, true), wrongCardinality(14, false)), "bench/report/subsets.go", "`go run ./bench/report`"},
		{"figures 3 to 5", "a timetable of two semesters, and risks", "none: they show no result", "none", "none: there is nothing to repeat"},
		{"further work: IDP", "to be translated", "on the GPU and on one core: see [GPU-CSG](gpu-csg.md)", "templates/csg/splits/sizes.cuh", reproduceCommand("gpu-csg")},
		{"further work: auctions over many goods (CABOB)", "to be implemented, branches being independent", "branch and cut on the host's cores; not on the GPU", "solvers/auction/internal/packing", "`go test ./solvers/auction/...`"},
		{"further work: robust testing", "to be programmed", "every variant against a reference on cases of ties, negative values and extremes", "solvers/csg/variants_test.go", "`COALESCE_VARIANTS=every go test ./solvers/csg`"},
	}
}

// missing counts the sets of n assets of which the report's construction does not reach every
// splitting with ψ below 2^(|C| - less).
func missing(n, less int) (count int) {
	for c := uint(1); c < 1<<n; c++ {
		size := bits.OnesCount(c)
		seen := map[uint]bool{}
		for psi := range uint(1) << (size - less) {
			if s := (^c + psi) & c; s != 0 && s != c {
				seen[min(s, c^s)] = true
			}
		}
		if len(seen) < 1<<(size-1)-1 {
			count++
		}
	}
	return count
}

func gpuCSGItems(m paperResults) []paperRow {
	f, seq, tiles := m.csg["figures"], sequentialFile(m.csg), ofType(m.csg["tiles"], "int32")
	again := reproduceCommand("gpu-csg")
	const splits = "templates/csg/splits"
	const header = "templates/csg/coalitions.cuh"
	walk := goTestCommand("solvers/csg/internal/splits", "TestWalkThrough")
	members := 29 * math.Pow(2, 28)
	fast := ""
	if r := fastestRows(orEmpty(tiles), 29); len(r) > 0 {
		one, _ := timeAt(seq, sequential, 29)
		fast = fmt.Sprintf("`csg/tiles` %s: 5,400 s are %s times that, one core here %s times (*extrapolated*)", formatSeconds(r[0].Median()), formatThousands(5400/r[0].Median()), formatThousands(one/r[0].Median()))
	}
	gain := ""
	if a, ok := lastOf(f, plain); ok {
		if b, carried := timeAt(f, shared, a.Agents); b > 0 && !carried {
			gain = fmt.Sprintf("%.2f times at %d agents: launches bound the kernel on this chip, not fetching", a.Median()/b, a.Agents)
		}
	}
	idp := ""
	if r, ok := lastOf(f, idpShared); ok {
		one, carried := timeAt(seq, sequential, r.Agents)
		note := ""
		if carried {
			note = " (*extrapolated*)"
		}
		idp = fmt.Sprintf("%s at %d agents, one core by DP %s%s: %.1f times", formatSeconds(r.Median()), r.Agents, formatSeconds(one), note, one/r.Median())
	}
	same := ""
	if a, b := atAgents(f, idpShared, 20), atAgents(f, plain, 20); a != "" && b != "" {
		same = fmt.Sprintf("%s; DP %s. IDP leaves splittings out within a launch, and few launches: each still takes as long as its slowest block", strings.Split(a, ",")[0], strings.Split(b, ",")[0])
	}
	return []paperRow{
		{"algorithm 1, DP", "every splitting, O(3ⁿ)", "the same, " + timeCell(seq, sequential, 29) + " on one core", "solvers/csg/reference.go", goTestCommand("solvers/csg", "TestReference")},
		{"algorithm 1, line 5: ties in O", "a coalition that is worth as much split is split", "rebuilt on a device the same, of all four value types; the reference, which has v, leaves it whole; values are the same", "templates/csg/splits/attain.cuh", goTestCommand("solvers/csg/internal/splits", "TestTies")},
		{"algorithm 2, O rebuilt from f", "at most n − 1 coalitions looked at", "the same, on the device, counted", "templates/csg/splits/attain.cuh", goTestCommand("solvers/csg/internal/splits", "TestRebuilding")},
		{"3.1, coalitions as integers", "2ⁿ − 1 entries in place of Σ i·C(n, i)", fmt.Sprintf("2ⁿ values by coalition's number: at 29 agents 5.4e8, in place of %s members", formatRate(members)), "solvers/csg/problem/instance.go", goTestCommand("solvers/csg/internal/splits", "TestPaperCoalition")},
		{"3.1, {f0, f2, f3} = 1101", "13", "13", "solvers/csg/internal/splits/papers_test.go", goTestCommand("solvers/csg/internal/splits", "TestPaperCoalition")},
		{"table 1, memories", "registers, shared, global: fastest to slow", "no experiment: a description of CUDA; best splittings are kept in registers, a warp's in shared memory, f in global memory", splits + "/splits.cuh", "none: there is nothing to measure"},
		{"table 2, splittings of 1101", "0001 1100, 0100 1001, 1000 0101", "the same three", "solvers/csg/internal/splits/papers_test.go", walk},
		{"algorithm 3, initShift", "1101 gives 0, 2, 3", "the same, by the kernel's own text", header, walk},
		{"algorithm 4, nextSplit", "(S − C) ∩ C", "the same", header, walk},
		{"algorithm 5, initialSplit", "ψ = 0011 gives 0101", "the same", header, walk},
		{"3.1, how many splittings collide", "2ⁿ − 1 of n common members", "counted for every two coalitions of 7 agents: the same parts", "solvers/csg/internal/splits/papers_test.go", goTestCommand("solvers/csg/internal/splits", "TestCollisions")},
		{"algorithm 6, sharing by two coalitions", "fewer fetches", "`collision=pair`, `batch`, `warp`; time ÷ that without at 20 agents: " + orWhy(effectsCell(m.csg["effects"], "collision", "pair", "batch", "warp"), "not measured here"), splits + "/fetch.cuh", "`go run -tags cuda ./bench/csg -device cuda -experiment effects`"},
		{"algorithm 7, GPU-CSG", "256 threads, λ = 2, α = 32, β = 8", "the same point, mended where [the notes](../notes/csg.md#where-the-papers-were-mended) say: " + timeCell(f, plain, 29), splits + "/level.cuh", again},
		{"figure 1, reduction in four scopes", "a picture: thread, warp, block, kernel", "a best splitting is found in each; by shuffles, the warp's instruction, shared memory, atomics: time ÷ the instruction's " + orWhy(effectsCell(m.csg["effects"], "reduce", "shuffle", "shared", "atomic"), "not measured here"), splits + "/reduce.cuh", goTestCommand("solvers/csg/internal/splits", "TestReductionScopes")},
		{"figure 2, initShift and initialSplit", "a picture of 1101 and ψ = 0011", "each of its steps", "solvers/csg/internal/splits/papers_test.go", walk},
		{"figure 3, checkpoint 4, no sharing", "almost 60 %, initialSplit in it", fetchingShare(f, plain), splits + "/clock.cuh", again},
		{"figure 3, checkpoint 1", "around 20 %", orWhy(checkpointShare(f, plain, 1), "not measured here"), splits + "/clock.cuh", again},
		{"figure 4, checkpoint 4, sharing", "slightly under 50 %", fetchingShare(f, shared), splits + "/clock.cuh", again},
		{"figure 5, sharing at 29 agents", "twice as fast as without", orWhy(gain, "not measured here"), splits + "/fetch.cuh", again},
		{"figure 5, GPU at 29 agents", "5,400 s", timeCell(f, shared, 29) + "; " + orWhy(fast, "the best not measured here"), "solvers/csg/internal/splits, internal/tiles", again + "; `go run -tags cuda ./bench/csg -device cuda -experiment tiles -agents 30`"},
		{"figure 5, CPU at 29 agents", "83 hours, extrapolated there", timeCell(seq, sequential, 29), "solvers/csg/reference.go", "`go run ./bench/csg -experiment sequential -agents 24`"},
		{"figure 5, CPU by IDP", "not in the figure", timeCell(seq, idpOneCore, 29), "solvers/csg/reference.go", "`go run ./bench/csg -experiment sequential -agents 24`"},
		{"figure 5, integer construction", "a curve without numbers", timeCell(f, integer, 29), splits, again},
		{"5.2, speedup at 29 agents", "55", orWhy(fast, "not measured here"), "solvers/csg/internal/tiles/tiles.go", "`go run -tags cuda ./bench/csg -device cuda -experiment tiles -agents 30`"},
		{"5.2, growth with an agent more", "the GPU's smaller than the CPU's", fmt.Sprintf("printed kernel %s; one core %s", growthCell(f, shared), growthCell(seq, sequential)), "bench/report/figures.go", again},
		{"5, ten samples a point", "an average of ten", "medians of ten where a point takes less than 1 s, else of one; files of commits before that have three", "bench/csg/figures.go", again},
		{"further work: IDP with extensive sharing", "314 times at 28 agents", orWhy(idp, "not measured here"), splits + ", `method=idp,collision=batch`", again},
		{"the same at 20 agents", "not printed", orWhy(same, "not measured here"), splits + "/sizes.cuh", again},
		{"further work: other optimisation problems", "aimed at", "[auctions](../auction.md), [assignment](../assignment.md), [binary quadratic programs](../qubo.md)", "solvers/", "`go test ./solvers/...`"},
	}
}

// orEmpty is a file, or one without rows.
func orEmpty(f *result.File) *result.File {
	if f == nil {
		return &result.File{}
	}
	return f
}

// formatThousands writes a number with commas between them, and no digits after the point.
func formatThousands(x float64) string {
	text := fmt.Sprintf("%.0f", x)
	for k := len(text) - 3; k > 0; k -= 3 {
		text = text[:k] + "," + text[k:]
	}
	return text
}
