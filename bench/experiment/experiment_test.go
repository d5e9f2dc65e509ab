package experiment

import (
	"context"
	"errors"
	"flag"
	"slices"
	"strings"
	"testing"
	"time"

	"coalesce/bench/result"
	"coalesce/runtime/device"
	"coalesce/runtime/emulated"
)

func TestCommandRepeatsWhatIsUnusual(t *testing.T) {
	flags := flag.NewFlagSet("bench", flag.PanicOnError)
	for name, usual := range map[string]string{"agents": "26", "seeds": "3", "instances": "", "data": "", "python": "python3", "rival": "", "device": "host", "out": "results"} {
		flags.String(name, usual, "")
	}
	flags.Bool("sample", false, "")
	if got := changedFlags(flags); got != "" {
		t.Errorf("flags %s of an empty command line", got)
	}
	err := flags.Parse([]string{"-agents=24", "-seeds=3", "-instances=G5*,a b", "-sample", "-data=/tmp/here", "-rival=x=/tmp/x", "-device=cuda:0", "-out=there"})
	b := &Bench[result.Row]{Program: "csg", Facts: device.Facts{Kind: device.CUDA}, Settings: Settings{Device: "cuda:0", given: changedFlags(flags)}}
	if got, want := b.commandLine("sweep"), "go run -tags cuda ./bench/csg -device cuda:0 -experiment sweep -agents 24 -data DIR -instances 'G5*,a b' -sample"; got != want || err != nil {
		t.Errorf("command %s\nwant    %s, %v", got, want, err)
	}
	b = &Bench[result.Row]{Program: "qubo", Facts: device.Facts{Kind: device.Host}, Settings: Settings{Device: "host"}}
	if got, want := b.commandLine("target"), "go run ./bench/qubo -device host -experiment target"; got != want {
		t.Errorf("command %s, want %s", got, want)
	}
}

func TestOpenRefuses(t *testing.T) {
	if _, err := New[result.Row](t.Context(), "x", Settings{Device: "gpu"}); err == nil || !strings.Contains(err.Error(), `device "gpu"`) {
		t.Errorf("error %v", err)
	}
}

// Experiments run in the order asked for and write a file each; a failure and an unknown
// name show in the end.
func TestRunWritesFiles(t *testing.T) {
	s := Settings{Device: "emulated:0,1", Out: t.TempDir(), Commit: "c", Budget: time.Hour}
	b, err := New[result.Row](t.Context(), "x", s)
	if errors.Is(err, emulated.ErrNoCompiler) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	var ran []string
	all := []Experiment[string]{{Name: "one"}, {Name: "two"}}
	do := func(e Experiment[string]) {
		ran = append(ran, e.Name)
		b.RunExperiment(e.Name, "-x2", func() error {
			b.AddRow(result.Row{Name: e.Name})
			return nil
		})
	}
	if !Run(b, []string{"two", "one"}, all, do) || !slices.Equal(ran, []string{"two", "one"}) {
		t.Errorf("ran %v, failed %v", ran, b.Failed)
	}
	f, err := result.Load[result.Row](s.Out + "/x-two-x2.json")
	if err != nil || f.Experiment != "two" || len(f.Rows) != 1 || f.Commit != "c" || !strings.HasPrefix(f.Device, "2 x ") {
		t.Errorf("file %+v, %v", f, err)
	}
	if Run(b, []string{"three"}, all, do) {
		t.Error("an unknown experiment went well")
	}
}

func TestLate(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	b := &Bench[result.Row]{Ctx: ctx, Settings: Settings{Budget: time.Hour}, Start: time.Now()}
	if b.OutOfTime() {
		t.Error("late at the start")
	}
	if stop(); !b.OutOfTime() {
		t.Error("an interrupted program goes on")
	}
	b.Ctx, b.Start = t.Context(), time.Now().Add(-2*time.Hour)
	if !b.OutOfTime() {
		t.Error("the budget is spent, and it goes on")
	}
}

// What a run did not get to, or got wrong, a later one of the same commit measures; one of
// another commit begins anew.
func TestResume(t *testing.T) {
	at := func(commit string, resume bool) *Bench[result.Row] {
		return &Bench[result.Row]{Ctx: t.Context(), Program: "x", Start: time.Now(), Facts: device.Facts{Name: "d"},
			Settings: Settings{Out: t.TempDir(), Commit: commit, Budget: time.Hour, Resume: resume}}
	}
	first := at("c", false)
	first.RunExperiment("e", "-host", func() error {
		first.AddRow(result.Row{Name: "right"})
		first.AddRow(result.Row{Name: "wrong", Failed: "why"})
		if first.LacksTimeFor(2 * time.Hour); !first.File.Unfinished {
			t.Error("an experiment that runs is finished")
		}
		return nil
	})
	if !first.File.Unfinished || !first.Failed {
		t.Error("a wrong row, and the experiment is finished")
	}
	for _, c := range []struct {
		commit string
		resume bool
		kept   int
	}{{"c", true, 1}, {"c", false, 0}, {"other", true, 0}} {
		b := at(c.commit, c.resume)
		if err := first.File.Write(b.Settings.Out, "x-e-host"); err != nil {
			t.Fatal(err)
		}
		b.RunExperiment("e", "-host", func() error {
			b.ResumeRows()
			if len(b.Kept) != c.kept || len(b.File.Rows) != c.kept {
				t.Errorf("%+v: kept %+v of rows %+v", c, b.Kept, b.File.Rows)
			}
			b.AddRow(result.Row{Name: "more"})
			return nil
		})
		f, err := result.Load[result.Row](b.Settings.Out + "/x-e-host.json")
		if err != nil || len(f.Rows) != c.kept+1 || f.Unfinished {
			t.Errorf("%+v: file %+v, %v", c, f, err)
		}
	}
}

// A sample has the variants that show some value of a parameter first.
func TestSample(t *testing.T) {
	f := &device.Family{Params: []string{"a", "b"}}
	for _, values := range [][]string{{"1", "1"}, {"1", "2"}, {"1", "1"}, {"2", "1"}, {"2", "2"}} {
		f.Variants = append(f.Variants, device.Variant{Label: strings.Join(values, ","), Values: values})
	}
	var labels []string
	for _, v := range (Verification{Sample: true}).Variants(f) {
		labels = append(labels, v.Label)
	}
	if got := strings.Join(labels, " "); got != "1,1 1,2 2,1" {
		t.Errorf("found %s", got)
	}
}
