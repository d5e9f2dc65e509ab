package main

import (
	"cmp"
	"compress/gzip"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"coalesce/autotune/t4"
	"coalesce/bench/result"
)

// exportT4 writes the records as T4 results, a file FAMILY/DEVICE-VALUE_T4.json.gz for each family and type of values.
func exportT4(dir string, list []*record) error {
	files := map[string]*t4.Results{}
	for _, r := range list {
		name := filepath.Join(strings.ReplaceAll(r.family.Name, "/", "-"), strings.ReplaceAll(r.device, " ", "-")+"-"+r.value+"_T4.json.gz")
		f := files[name]
		if f == nil {
			f = &t4.Results{Version: t4.Version, Metadata: map[string]string{"timeunit": "milliseconds", "kernel": r.family.Name, "device": r.device, "workload": "value=" + r.value}}
			files[name] = f
		}
		for i := range r.family.Variants {
			v := &r.family.Variants[i]
			one := t4.Result{Configuration: map[string]any{t4.Size: json.Number(strconv.Itoa(r.size))}, Invalidity: t4.Correct, Correctness: 1, Objectives: []string{"time"}}
			for k, param := range r.family.Params {
				one.Configuration[param] = v.Values[k]
				if _, err := strconv.Atoi(v.Values[k]); err == nil {
					one.Configuration[param] = json.Number(v.Values[k])
				}
			}
			for _, s := range r.seconds[v.Label] {
				one.Times.Runs = append(one.Times.Runs, 1e3*s)
			}
			median := json.Number(strconv.FormatFloat(1e3*result.Median(r.seconds[v.Label]), 'g', -1, 64))
			one.Measurements = []t4.Measurement{{Name: "time", Value: median, Unit: "ms"}}
			f.Results = append(f.Results, one)
		}
	}
	for name, f := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return err
		}
		file, err := os.Create(path)
		if err != nil {
			return err
		}
		z := gzip.NewWriter(file)
		if err := cmp.Or(f.Write(z), z.Close(), file.Close()); err != nil {
			return err
		}
	}
	return nil
}
