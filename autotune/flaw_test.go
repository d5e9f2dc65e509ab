package autotune_test

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"coalesce/autotune/subject"
	"coalesce/autotune/trial"
	"coalesce/autotune/worker"
	"coalesce/internal/problems"
	"coalesce/runtime/device"
	"coalesce/runtime/emulated"
	"coalesce/runtime/emulated/emulatedtest"
	"coalesce/templates"
)

// A flaw is a bug put into the text of a family's first safe variant: old, which must be
// there once, becomes new.
type flaw struct{ family, kind, old, new string }

// flaws are such as people make: a write that is left out, threads that go on before the
// others have come, the last element of a block or of a loop. csg/price and the passes of
// assignment/points have no barrier of a block; they lack a reduction of a warp.
var flaws = []flaw{
	{"csg/splits", "skipped write",
		`        v[z] = larger(v[z], best(a[z] + b[z], split[z]));`,
		`        ;`},
	{"csg/splits", "missing barrier",
		`        __syncthreads();  // the only barrier of a batch; line 27 of Algorithm 7, counted by checkpoint 5`,
		``},
	{"csg/splits", "off by one",
		`mine >= (u32)psi) mine = 0;`,
		`mine >= (u32)psi - 1) mine = 0;`},
	{"csg/tiles", "skipped write",
		`            copyWords(to + k * (ROUND / CHUNK) * STRIDE, from + k * ROUND, second + k * ROUND);`,
		`            ;`},
	{"csg/tiles", "missing barrier",
		`        __syncthreads();  // the stage is complete`,
		`        // the stage is complete`},
	{"csg/tiles", "off by one",
		`threadIdx.x + k * BLOCK < UNITS)`,
		`threadIdx.x + k * BLOCK + 1 < UNITS)`},
	{"csg/price", "skipped write",
		`        out[s] = to;`,
		`        ;`},
	{"csg/price", "missing reduction",
		"    x = warpLargest(x);\n",
		``},
	{"csg/price", "off by one",
		"own[i] = low[place(i / EACH, i % EACH)];\n    for (u64 h = blockIdx.x; h < tiles;",
		"own[i] = low[place(i / EACH, i % EACH)];\n    for (u64 h = blockIdx.x; h + 1 < tiles;"},
	{"assignment/core", "skipped write",
		`        key[DEPTH - 1] = k, at[DEPTH - 1] = j;`,
		`        ;`},
	{"assignment/core", "missing barrier",
		"(u64)s.owner[j]);\n    }\n    if (thread() == 0) s.control[QUEUE] = 0;\n    barrier.sync();",
		"(u64)s.owner[j]);\n    }\n    if (thread() == 0) s.control[QUEUE] = 0;"},
	{"assignment/core", "off by one",
		`        for (u32 d = 0; d < DEPTH; d++) key[d] = below, at[d] = -1;`,
		`        for (u32 d = 0; d + 1 < DEPTH; d++) key[d] = below, at[d] = -1;`},
	{"assignment/scaling", "skipped write",
		`            s.v[j] = v, s.u[i] = u;`,
		`            s.v[j] = v;`},
	{"assignment/scaling", "missing barrier",
		"q.sum = sum.wait();\n        __syncthreads();",
		"q.sum = sum.wait();"},
	{"assignment/scaling", "off by one",
		"for (u32 j = thread(); j < s.n; j += threads()) {\n        i64 v = s.price(",
		"for (u32 j = thread(); j + 1 < s.n; j += threads()) {\n        i64 v = s.price("},
	{"assignment/points", "skipped write",
		`        key[DEPTH - 1] = k, at[DEPTH - 1] = j;`,
		`        ;`},
	{"assignment/points", "missing reduction",
		`        i64 least = warpLeast(best[0].key[0]);`,
		`        i64 least = best[0].key[0];`},
	{"assignment/points", "off by one",
		`        for (u32 d = 0; d < DEPTH; d++) key[d] = below, at[d] = -1;`,
		`        for (u32 d = 0; d + 1 < DEPTH; d++) key[d] = below, at[d] = -1;`},
	{"assignment/tree", "skipped write",
		`        w.dist[j] = dist = best.at - v;`,
		`        ;`},
	{"assignment/tree", "missing barrier",
		"    u32 epoch = w.nextEpoch();\n    __syncthreads();\n    for",
		"    u32 epoch = w.nextEpoch();\n    for"},
	{"assignment/tree", "off by one",
		`    for (u32 first = 0; first < n; first += BLOCK) {`,
		`    for (u32 first = 0; first + 1 < n; first += BLOCK) {`},
	{"assignment/classical", "skipped write",
		`            v[k] = (A)(x < INFINITE ? x : 0);`,
		`            ;`},
	{"assignment/classical", "missing barrier",
		"        level(m, s.side, s.head, s.tail, sharedState.count, turn, s.phase, thisBlock());\n        __syncthreads();",
		`        level(m, s.side, s.head, s.tail, sharedState.count, turn, s.phase, thisBlock());`},
	{"assignment/classical", "off by one",
		`    for (u32 chunk = team.warp / span; chunk < chunks; chunk += team.warps / span) {`,
		`    for (u32 chunk = team.warp / span; chunk + 1 < chunks; chunk += team.warps / span) {`},
	{"assignment/batch", "skipped write",
		`        s.v[j] = least == NEVER ? 0 : least;`,
		`        ;`},
	{"assignment/batch", "missing barrier",
		"        if (lane() == 0) s.sharedState->left = kept;\n    }\n    __syncthreads();",
		"        if (lane() == 0) s.sharedState->left = kept;\n    }\n"},
	{"assignment/batch", "off by one",
		"    constexpr u32 TALL = 16;  // costs that a thread loads at once\n    for (u32 j = threadIdx.x; j < s.cols; j += BLOCK) {",
		"    constexpr u32 TALL = 16;  // costs that a thread loads at once\n    for (u32 j = threadIdx.x; j + 1 < s.cols; j += BLOCK) {"},
	{"assignment/fused", "skipped write",
		"                team.via[team.thread + k * TEAM] = (int)from.key;\n",
		""},
	{"assignment/fused", "missing barrier",
		"slots[team.thread / WARP]);\n        __syncthreads();",
		"slots[team.thread / WARP]);"},
	{"assignment/fused", "off by one",
		"    for (u32 i = 0; i < team.rows; i++) {\n        int end;",
		"    for (u32 i = 0; i + 1 < team.rows; i++) {\n        int end;"},
	{"assignment/flow", "skipped write",
		`        if ((turned >> k & 1) != 0) t.flow[z] = flows[k];`, `        ;`},
	{"assignment/flow", "missing barrier",
		"        if (u32 now = pre << 16 | size; now != word) t.spot[z] = now;\n    }\n    __syncthreads();",
		"        if (u32 now = pre << 16 | size; now != word) t.spot[z] = now;\n    }\n"},
	{"assignment/flow", "off by one",
		`    for (u32 j = threadIdx.x; j < p.m; j += TEAM) p.room[j] = p.demand[j];`, `    for (u32 j = threadIdx.x; j + 1 < p.m; j += TEAM) p.room[j] = p.demand[j];`},
	{"assignment/check", "skipped write",
		"        atomicMin(w.words + FIRST_COLUMN, j * COLUMN_FAULTS + reason);\n    }\n    dual.flush(w.words + DUAL);",
		"        atomicMin(w.words + FIRST_COLUMN, j * COLUMN_FAULTS + reason);\n    }"},
	{"assignment/check", "missing barrier",
		"    if (threadIdx.x == 0) total = 0;\n    __syncthreads();",
		`    if (threadIdx.x == 0) total = 0;`},
	{"assignment/check", "off by one",
		"    Sum dual;\n    for (u32 k = 0; k < VEC; k++) {",
		"    Sum dual;\n    for (u32 k = 0; k + 1 < VEC; k++) {"},
	{"assignment/pointcheck", "skipped write",
		`                part[k / n][k % n] = row[r * dim + from + k % n];`,
		`                ;`},
	{"assignment/pointcheck", "missing barrier",
		"            u32 n = dim - from < PART ? (u32)(dim - from) : PART;\n            __syncthreads();",
		"            u32 n = dim - from < PART ? (u32)(dim - from) : PART;\n"},
	{"assignment/pointcheck", "off by one",
		`    if (j < w.cols) {`,
		`    if (j + 1 < w.cols) {`},
	{"assignment/duals", "skipped write",
		`            c[k] = j < p.cols ? row[j] : T(0);`,
		`            ;`},
	{"assignment/duals", "missing barrier",
		"    if (threadIdx.x % WARP == 0) part[threadIdx.x / WARP] = x;\n    __syncthreads();",
		"    if (threadIdx.x % WARP == 0) part[threadIdx.x / WARP] = x;\n"},
	{"assignment/duals", "off by one",
		`for (u64 j = thread(); j < cols; j += threads()) prices[j]`,
		`for (u64 j = thread(); j + 1 < cols; j += threads()) prices[j]`},
	{"qubo/bulk", "skipped write",
		`            key[j] = column(self(), j) < n ? keyed(gain, j) : NOTHING;`,
		`            ;`},
	{"qubo/bulk", "missing barrier",
		`    meet(s, best, place, who);`,
		``},
	{"qubo/bulk", "off by one",
		`        for (u32 w = 0; w < WORDS; w++) x[w] = 0;`,
		`        for (u32 w = 0; w + 1 < WORDS; w++) x[w] = 0;`},
	{"qubo/temper", "skipped write",
		`            turn[k] = high ? 32 - (4 >> k) : 4 >> k, stay[k] = high ? ~low[k] : low[k];`,
		`            ;`},
	{"qubo/temper", "missing barrier",
		"        sharedState.sum[warp()][lane()] = sum, sum = 0;\n        __syncthreads();",
		"        sharedState.sum[warp()][lane()] = sum, sum = 0;\n"},
	{"qubo/temper", "off by one",
		`    for (u32 chunk = p.tasks[task], end = p.tasks[task + 1]; chunk < end; chunk++) {`,
		`    for (u32 chunk = p.tasks[task], end = p.tasks[task + 1]; chunk + 1 < end; chunk++) {`},
	{"qubo/stableset", "skipped write",
		`            if (lane() == 0) ring[t % RING] = (unsigned short)v;`,
		`            ;`},
	{"qubo/stableset", "missing reduction",
		`least == __reduce_min_sync(ALL, least)`,
		`least == least`},
	{"qubo/stableset", "off by one",
		`a.word[e] = w < words ?`,
		`a.word[e] = w + 1 < words ?`},
	{"model/polynomial", "skipped write",
		`        if (threadIdx.x == 0) s.gain[v] = -to.gain, s.until[v] = free;`,
		`        if (threadIdx.x == 0) s.until[v] = free;`},
	{"model/polynomial", "missing reduction",
		`mine.gain == low ? mine.key : ALL`,
		`mine.key`},
	{"model/polynomial", "off by one",
		`for (u32 first = p.from[2 * v]; first < end; first += BLOCK * FLIGHT) {`,
		`for (u32 first = p.from[2 * v]; first + 1 < end; first += BLOCK * FLIGHT) {`},
	{"qubo/evaluate", "skipped write",
		`        word[w] = 0;`,
		`        ;`},
	{"qubo/evaluate", "missing barrier",
		`        __syncthreads();`,
		``},
	{"qubo/evaluate", "off by one",
		"    for (u64 q = 0; q < steps; q++) {\n        awaitCopies",
		"    for (u64 q = 0; q + 1 < steps; q++) {\n        awaitCopies"},
	{"qubo/multistart", "skipped write",
		`        x[k] = (best[w] & coins | x[k] & ~coins) ^ comb((i - 1) / strides % stride, stride, w) & within(n, w);`,
		`        ;`},
	{"auction/bidders", "wrong address",
		"const T* rest = old + ((i64)set - (i64)b);", "const T* rest = old + ((i64)set - (i64)(b & ~1u));"},
	{"auction/bidders", "missing barrier",
		"            __syncthreads();\n            for (u32 k = 0, all = kept;", "            for (u32 k = 0, all = kept;"},
	{"auction/bidders", "off by one",
		"k < count && k < from + BIDS", "k + 1 < count && k < from + BIDS"},
	{"auction/bounds", "skipped write",
		`    if (threadIdx.x == 0) best[m] = least;`, `    ;`},
	{"auction/bounds", "missing barrier",
		`        __syncthreads();  // y is there`, ``},
	{"auction/bounds", "off by one",
		`for (u32 k = threadIdx.x; k < n; k += BLOCK) {`, `for (u32 k = threadIdx.x; k + 1 < n; k += BLOCK) {`},
	{"qubo/multistart", "missing barrier",
		"    for (u32 q = threadIdx.x; q < side / 4; q += BLOCK) value[q] = x[q / 8] >> (q % 8 * 4) & 15;\n    __syncthreads();",
		"    for (u32 q = threadIdx.x; q < side / 4; q += BLOCK) value[q] = x[q / 8] >> (q % 8 * 4) & 15;\n"},
	{"qubo/multistart", "off by one",
		`    for (u32 j = 4 * threadIdx.x; j < n; j += 4 * BLOCK) {`,
		`    for (u32 j = 4 * threadIdx.x; j + 1 < n; j += 4 * BLOCK) {`},
}

// TestFlawsAreFound verifies kernels with a bug, as the tuner does before it times them: a
// wrong answer, or a launch that fails, costs each its one trial. The first flaw of each
// family is tried, all of them where COALESCE_VARIANTS asks for more than the default; texts
// have the lines of all.
func TestFlawsAreFound(t *testing.T) {
	t.Parallel()
	tried := map[string]int{}
	subjects := problems.List().Subjects()
	for _, f := range flaws {
		tried[f.family]++
		t.Run(f.family+", "+f.kind, func(t *testing.T) {
			at := slices.IndexFunc(subjects, func(s subject.Subject) bool { return s.Family().Name == f.family })
			if at < 0 {
				t.Fatal("no such family is tuned")
			}
			family := flawed(t, subjects[at], f)
			if !emulatedtest.Thorough() && tried[f.family] > 1 {
				return
			}
			got := verified(t, subjects[at], family)
			if checked := slices.Contains([]string{"assignment/core", "assignment/tree", "assignment/classical"}, f.family); checked && f.kind == "skipped write" && got.Status != trial.Verify {
				t.Errorf("%s %s, expected that Check finds the answer wrong", got.Status, got.Error) // which no test without kernels shows
			}
			if got.Status != trial.Verify && got.Status != trial.Launch || strings.Contains(got.Error, "prepare: load") {
				t.Errorf("%s %s after %d cases, expected a wrong answer or a launch that fails", got.Status, got.Error, got.Cases)
			}
		})
	}
	for _, s := range subjects {
		if f := s.Family(); f.Target == device.CUDA && tried[f.Name] < 3 {
			t.Errorf("%s has %d flaws, expected three", f.Name, tried[f.Name])
		}
	}
}

// flawed is the family of a subject with its safe variant alone, with a flaw.
func flawed(t *testing.T, sub subject.Subject, x flaw) *device.Family {
	t.Helper()
	f := *sub.Family()
	v := f.Variants[slices.IndexFunc(f.Variants, func(v device.Variant) bool { return v.Safe })]
	file, text := emulatedtest.VariantText(t, &f, &v)
	if n := strings.Count(text, x.old); n != 1 {
		t.Fatalf("%q is %d times in %s, expected once", x.old, n, file)
	}
	v.Pack = 0
	f.Variants, f.Packs = []device.Variant{v}, []device.Pack{{File: file, Hash: v.Hash}}
	f.Source = fstest.MapFS{file: &fstest.MapFile{Data: []byte(strings.Replace(text, x.old, x.new, 1))}}
	return &f
}

// verified is the trial of the one variant of a subject's family, flawed.
func verified(t *testing.T, sub subject.Subject, f *device.Family) (done trial.Trial) {
	t.Helper()
	v := f.Variants[0]
	fixed := map[string]string{}
	for i, name := range f.Params {
		fixed[name] = v.Values[i]
	}
	d := emulatedtest.OpenWith(t, emulated.Options{Sanitize: true, Seed: 1, Files: templates.Files, Timeout: 10 * time.Second})
	defer d.Close()
	b := worker.Bench{Device: flawedDevice{d, f}, Subjects: []subject.Subject{sub}}
	defer func() {
		if reason := recover(); reason != nil { // which ends a worker
			done = trial.Trial{Status: trial.Launch}
		}
	}()
	return b.RunTrial(t.Context(), worker.Request{Family: f.Name, Variant: v.Label, Hash: v.Hash, Fixed: fixed, Action: trial.ActionVerify})
}

// A flawedDevice loads another text of one variant.
type flawedDevice struct {
	device.Device
	family *device.Family
}

func (d flawedDevice) Load(f *device.Family, v *device.Variant) (device.Module, error) {
	if f.Name == d.family.Name && v.Label == d.family.Variants[0].Label {
		f, v = d.family, &d.family.Variants[0]
	}
	return d.Device.Load(f, v)
}
