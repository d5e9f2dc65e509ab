package nvcc

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// A Report is ptxas's output about the kernels of a pack.
type Report struct {
	Pack    string  `json:"pack"` // the pack's hash, 16 hex digits
	File    string  `json:"file"`
	Version string  `json:"version"` // of nvcc
	Seconds float64 `json:"seconds"` // to compile the pack, all architectures
	Kernels []Usage `json:"kernels"`
}

// Usage are the resources of a kernel on one architecture. Sizes are in bytes.
type Usage struct {
	Name        string `json:"name"` // SYMBOL_entry
	Arch        string `json:"arch"` // "sm_90"
	Registers   int    `json:"registers"`
	Shared      int    `json:"shared"`
	Stack       int    `json:"stack"`
	SpillStores int    `json:"spill_stores"`
	SpillLoads  int    `json:"spill_loads"`
	Threads     int    `json:"threads,omitempty"`    // from __launch_bounds__
	Blocks      int    `json:"blocks_sm,omitempty"`  // that fit a multiprocessor
	Occupancy   int    `json:"occupancy,omitempty"`  // per cent of its warps
	Limited     string `json:"limited_by,omitempty"` // "registers", "shared", "warps" or "blocks"
}

func reportPath(cache string, hash uint64) string {
	return filepath.Join(cache, "reports", fmt.Sprintf("%016x.json", hash))
}

// ReadReport reads the report that the last Build wrote about a pack. The error wraps
// fs.ErrNotExist where no Build has compiled the pack here.
func ReadReport(cache string, hash uint64) (*Report, error) {
	r, err := readReport(reportPath(cache, hash))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("pack %016x was not compiled here (go generate ./... with nvcc does): %w", hash, fs.ErrNotExist)
	}
	return r, err
}

func readReport(path string) (*Report, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var r Report
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &r, nil
}

// KernelsOf returns the kernels of a variant: those named SYMBOL_entry.
func (r *Report) KernelsOf(symbol string) []Usage {
	var us []Usage
	for _, u := range r.Kernels {
		if strings.HasPrefix(u.Name, symbol+"_") {
			us = append(us, u)
		}
	}
	return us
}

var (
	entryRE = regexp.MustCompile(`Compiling entry function '([^']+)' for '([^']+)'`)
	stackRE = regexp.MustCompile(`(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads`)
	usedRE  = regexp.MustCompile(`Used (\d+) registers`)
	smemRE  = regexp.MustCompile(`(\d+) bytes smem`)
)

// parseReport reads the output of ptxas -v.
func parseReport(out string) *Report {
	r := &Report{}
	var u *Usage
	for line := range strings.Lines(out) {
		if m := entryRE.FindStringSubmatch(line); m != nil {
			r.Kernels = append(r.Kernels, Usage{Name: m[1], Arch: m[2]})
			u = &r.Kernels[len(r.Kernels)-1]
			continue
		}
		if u == nil {
			continue
		}
		if m := stackRE.FindStringSubmatch(line); m != nil {
			u.Stack, u.SpillStores, u.SpillLoads = atoi(m[1]), atoi(m[2]), atoi(m[3])
		}
		if m := usedRE.FindStringSubmatch(line); m != nil {
			u.Registers = atoi(m[1])
			if m := smemRE.FindStringSubmatch(line); m != nil {
				u.Shared = atoi(m[1])
			}
			u = nil
		}
	}
	return r
}

// setThreads takes the most threads of a block from the variants, and works out occupancy.
func (r *Report) setThreads(vs []Variant) {
	bounds := map[string]int{}
	for _, v := range vs {
		maps.Copy(bounds, v.Threads)
	}
	for i := range r.Kernels {
		u := &r.Kernels[i]
		u.Threads = bounds[u.Name]
		if l, ok := limitsOf(u.Arch); ok && u.Threads > 0 {
			u.Blocks, u.Limited = l.Blocks(u.Registers, u.Shared, u.Threads)
			u.Occupancy = 100 * u.Blocks * ((u.Threads + 31) / 32) / l.Warps
		}
	}
}

func atoi(s string) int {
	n, _ := strconv.Atoi(s)
	return n
}

// archNumber reads the number of "90a".
func archNumber(s string) int { return atoi(strings.TrimRight(s, "abcdefghijklmnopqrstuvwxyz")) }

// Limits of a multiprocessor that decide occupancy (CUDA C++ Programming
// Guide, table of technical specifications per compute capability).
type Limits struct {
	Warps     int // resident
	MaxBlocks int // resident
	Registers int
	Shared    int // bytes, of which each block takes Reserved beside its own
	Reserved  int
}

// limitsOf knows the architectures from sm_75 on.
func limitsOf(arch string) (Limits, bool) {
	l := Limits{Warps: 64, MaxBlocks: 32, Registers: 65536, Shared: 228 << 10, Reserved: 1 << 10}
	switch archNumber(strings.TrimPrefix(arch, "sm_")) {
	case 75:
		l.Warps, l.MaxBlocks, l.Shared, l.Reserved = 32, 16, 64<<10, 0
	case 80:
		l.Shared = 164 << 10
	case 86:
		l.Warps, l.MaxBlocks, l.Shared = 48, 16, 100<<10
	case 89, 120:
		l.Warps, l.MaxBlocks, l.Shared = 48, 24, 100<<10
	case 90, 100, 103:
	default:
		return Limits{}, false
	}
	return l, true
}

// Blocks is the number of blocks of threads threads that fit a multiprocessor, and the resource
// that limits them. Registers are granted to a warp in units of 256, eight a thread at a time;
// shared memory in units of 128 bytes.
func (l Limits) Blocks(registers, shared, threads int) (int, string) {
	warps := (threads + 31) / 32
	n, by := l.Warps/warps, "warps"
	if l.MaxBlocks < n {
		n, by = l.MaxBlocks, "blocks"
	}
	if registers > 0 {
		perWarp := (registers + 7) / 8 * 8 * 32
		// A quarter of the registers belongs to each of four schedulers.
		resident := l.Registers / 4 / perWarp * 4
		if k := resident / warps; k < n {
			n, by = k, "registers"
		}
	}
	if shared > 0 {
		if k := l.Shared / ((shared+127)/128*128 + l.Reserved); k < n {
			n, by = k, "shared"
		}
	}
	return n, by
}
