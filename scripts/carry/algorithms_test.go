package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// A result of an algorithm goes to the new texts of its kernels' safe points, unless the machine code of
// one is another; a result of other texts stays as it is.
func TestAlgorithms(t *testing.T) {
	root := t.TempDir()
	folder := filepath.Join(root, "generated", "toy")
	if err := os.MkdirAll(folder, 0o777); err != nil {
		t.Fatal(err)
	}
	table := "var Scale = device.Family{\n\tName:    \"toy/scale\",\n\tVariants: []device.Variant{\n" +
		"\t\t{Label: \"factor=2,value=int32\", Symbol: \"a\", Hash: 0x1, Safe: true, Pack: 0},\n" +
		"\t\t{Label: \"factor=3,value=int32\", Symbol: \"b\", Hash: 0x2, Pack: 0},\n" +
		"\t\t{Label: \"factor=2,value=int64\", Symbol: \"c\", Hash: 0x4, Safe: true, Pack: 0},\n"
	host := "var Scan = device.Family{\n\tName:    \"toy/scan\",\n\tVariants: []device.Variant{\n" +
		"\t\t{Label: \"room=4\", Symbol: \"d\", Hash: 0x8, Safe: true, Kernels: nil},\n"
	for name, text := range map[string]string{"scale.go": table, "scan.go": host} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	rename, err := parseRenaming("")
	if err != nil {
		t.Fatal(err)
	}
	points, err := safePoints(root, rename)
	if err != nil || len(points) != 2 || len(points["toy/scale"]) != 2 {
		t.Fatalf("found %v, %v", points, err)
	}
	names := points["toy/scale"]
	olds := map[string]variantText{names[0]: {hash: "0000000000000010"}, names[1]: {hash: "0000000000000300"}}
	news := map[string]variantText{names[0]: {hash: "0000000000005000"}, names[1]: {hash: "0000000000000300"}}
	const name = "toy/algorithm algorithm=scale,bound=1"
	data := fmt.Appendf(nil, `{"entries":[{"family":"toy/algorithm","results":[{"variant":"algorithm=scale,bound=1","hash":"%016x"},{"variant":"algorithm=host,bound=1","hash":"%016x"}]}]}`,
		labelHash(name)^0x310, labelHash("toy/algorithm algorithm=host,bound=1")) // the latter runs no kernel of CUDA
	ways, err := algorithmResults(data, olds, [2]map[string][]string{points, points})
	if err != nil || len(ways) != 1 || ways[0].name != name {
		t.Fatalf("found %v, %v", ways, err)
	}
	if hash, changed := ways[0].hashWithNewTexts(news, nil); changed != "" || hash != fmt.Sprintf("%016x", labelHash(name)^0x5300) {
		t.Errorf("carried to %s, %q", hash, changed)
	}
	if hash, changed := ways[0].hashWithNewTexts(news, map[string]bool{names[1]: true}); hash != "" || changed != names[1] {
		t.Errorf("carried to %s, %q, expected that %s differs", hash, changed, names[1])
	}
	if _, err := algorithmResults([]byte("{"), olds, [2]map[string][]string{points, points}); err == nil {
		t.Error("half an object is tuning data")
	}
}
