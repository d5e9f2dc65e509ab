package main

import (
	"fmt"
	"slices"

	"coalesce/bench/result"
)

// valueTypes in the order of the tables.
var valueTypes = []string{"int16", "int32", "float32", "int64", "float64"}

// ofType is a file with those of its rows whose variants are of a value type; nil for nil.
func ofType(f *result.File, value string) *result.File {
	if f == nil {
		return nil
	}
	own := *f
	own.Rows = slices.DeleteFunc(slices.Clone(f.Rows), func(r result.Row) bool { return labelParams(r.Variant)["value"] != value })
	return &own
}

// ceilings are the add-max a second of registers alone, by "VALUE adder".
func ceilings(f *result.File) map[string]float64 {
	m := map[string]float64{}
	for _, r := range f.Rows {
		if r.Name == "ceiling" && r.Failed == "" {
			p := labelParams(r.Variant)
			m[p["value"]+" "+p["adder"]] = r.Rate()
		}
	}
	return m
}

// tilesTable has the best variant of csg/tiles of each value type at each size, beside
// the ceiling of fused add-max in the same run.
func tilesTable(f *result.File) string {
	ceiling := ceilings(f)
	out := "| value | agents | time | fastest, slowest run | splittings/s | of the ceiling | variant |\n|---|---:|---:|---:|---:|---:|---|\n"
	for _, value := range valueTypes {
		for _, n := range []int{22, 26, 28, 29, 30} {
			for _, r := range fastestRows(f, n) {
				if labelParams(r.Variant)["value"] != value {
					continue
				}
				out += fmt.Sprintf("| %s | %d | %s | %s, %s | %s | %.2f | %s |\n", value, n, formatSeconds(r.Median()), formatSeconds(slices.Min(r.Runs)), formatSeconds(slices.Max(r.Runs)), formatRate(r.Rate()), r.Rate()/ceiling[value+" fused"], tilesLabel(r.Variant))
				break
			}
		}
	}
	return out
}

// ceilingTable has the ceilings.
func ceilingTable(f *result.File) string {
	out := "| value | adder | add-max a second |\n|---|---|---:|\n"
	for _, r := range f.Rows {
		if r.Name == "ceiling" {
			p := labelParams(r.Variant)
			out += fmt.Sprintf("| %s | %s | %s |\n", p["value"], p["adder"], formatRate(r.Rate()))
		}
	}
	return out
}

// tilesEffects has every int32 variant at 26 agents, the fastest first.
func tilesEffects(f *result.File) string {
	out := "| chunk | slot | each | block | stages | pairs | adder | least | time | splittings/s |\n|---:|---:|---:|---:|---:|---:|---|---:|---:|---:|\n"
	for _, r := range fastestRows(f, 26) {
		p := labelParams(r.Variant)
		if p["value"] == "int32" {
			out += fmt.Sprintf("| %s | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", p["chunk"], p["slot"], p["each"], p["block"], p["stages"], p["pairs"], p["adder"], p["least"], formatSeconds(r.Median()), formatRate(r.Rate()))
		}
	}
	return out
}

// tilesLabel is a variant without its value type and what has one value for all.
func tilesLabel(label string) string {
	p := labelParams(label)
	s := fmt.Sprintf("%s+%s bits, %s × %s", p["chunk"], p["slot"], p["block"], p["each"])
	if p["adder"] == "mixed" {
		s += ", mixed"
	}
	return s
}
