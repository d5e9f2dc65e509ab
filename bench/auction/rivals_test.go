package main

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"coalesce/bench/experiment"
	"coalesce/bench/result"
)

// Branch and cut alone, on two auctions of which one's value is known, and too high in the end.
func TestRivals(t *testing.T) {
	folder := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("a.txt", "goods 3\nbids 3\ndummy 0\n0\t2.5\t0\t1\t#\n1\t2\t1\t2\t#\n2\t1\t2\t#\n")
	write("b.txt", "goods 1\nbids 1\ndummy 0\n0\t7\t0\t#\n")
	write("optima.csv", "file,value\na.txt,3.5\n")
	s := settings{data: folder, limit: 10 * time.Second, threads: 2}
	s.Settings = experiment.Settings{Device: "host", Out: t.TempDir(), Budget: time.Hour}
	if !run(context.Background(), s, []string{"rivals"}) {
		t.Fatal("the experiment failed")
	}
	f, err := result.Load[result.Auction](filepath.Join(s.Out, "auction-rivals.json"))
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Rows) != 2 || f.Rows[0].Value != "3.5" || f.Rows[0].Known != "3.5" || f.Rows[1].Value != "7" || f.Rows[1].Known != "" || !f.Rows[0].Proven || f.Rows[0].Took <= 0 {
		t.Errorf("%+v", f.Rows)
	}
	s.Out, s.solvers = t.TempDir(), []string{"HiGHS", "CBC"}
	if !run(context.Background(), s, []string{"rivals"}) {
		t.Fatal("the experiment failed")
	}
	if f, err = result.Load[result.Auction](filepath.Join(s.Out, "auction-rivals.json")); err != nil || len(f.Rows) > 0 {
		t.Errorf("rows of solvers that were not asked for: %+v, %v", f.Rows, err)
	}
	s.solvers = nil
	write("optima.csv", "file,value\na.txt,3.6\n")
	s.Out = t.TempDir()
	if run(context.Background(), s, []string{"rivals"}) {
		t.Error("a proven value below the known one is not noticed")
	}
}

// Branch and cut alone, on two drawn auctions.
func TestRaceDrawn(t *testing.T) {
	s := settings{goods: experiment.List{"12"}, bids: 30, limit: 10 * time.Second, threads: 2, instances: []string{"paths", "regions_"}}
	s.Settings = experiment.Settings{Device: "host", Out: t.TempDir(), Budget: time.Hour}
	if !run(context.Background(), s, []string{"drawn"}) {
		t.Fatal("the experiment failed")
	}
	f, err := result.Load[result.Auction](filepath.Join(s.Out, "auction-drawn.json"))
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Rows) != 2 || !f.Rows[0].Proven || !f.Rows[1].Proven || f.Rows[0].Value == "" || f.Rows[0].Goods < 10 {
		t.Errorf("%+v", f.Rows)
	}
}

// Branch and cut with and without a device, which easy auctions end before.
func TestBeside(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "a.txt"), []byte("goods 3\nbids 3\ndummy 0\n0\t2.5\t0\t1\t#\n1\t2\t1\t2\t#\n2\t1\t2\t#\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	s := settings{data: folder, limit: 10 * time.Second, threads: 2}
	s.Settings = experiment.Settings{Device: "host", Out: t.TempDir(), Budget: time.Hour}
	if !run(context.Background(), s, []string{"beside"}) {
		t.Fatal("the experiment failed")
	}
	f, err := result.Load[result.Auction](filepath.Join(s.Out, "auction-beside.json"))
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Rows) != 2 || f.Rows[0].Name != "Coalesce" || f.Rows[1].Name != "Coalesce and host" || f.Rows[0].Value != "3.5" || f.Rows[1].Value != "3.5" || !f.Rows[1].Proven || f.Rows[1].Reached <= 0 {
		t.Errorf("%+v", f.Rows)
	}
}

func TestPrimal(t *testing.T) {
	for _, c := range []struct {
		history [][2]float64
		row     result.Auction
		want    float64
	}{
		{nil, result.Auction{Value: "10", Proof: result.Proof{Took: 4}}, 4},
		{[][2]float64{{1, 5}, {3, 10}}, result.Auction{Value: "10", Proof: result.Proof{Took: 4}}, 1 + 2*0.5},
		{[][2]float64{{1, 5}, {3, 8}}, result.Auction{Value: "8", Proof: result.Proof{Known: "10", Took: 4}}, 1 + 2*0.5 + 0.2},
		{[][2]float64{{1, 10}, {2, 8}, {9, 10}}, result.Auction{Value: "10", Proof: result.Proof{Took: 4}}, 1},
	} {
		if got := primalIntegral(c.history, &c.row); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%v: found %v, expected %v", c.history, got, c.want)
		}
	}
}
