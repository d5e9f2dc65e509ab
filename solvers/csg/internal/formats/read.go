// Package formats reads and writes characteristic functions: .npy arrays, and tables of
// coalitions and values as CSV or JSON.
package formats

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"coalesce/solvers/csg/problem"
	"coalesce/solvers/formats"
	"coalesce/solvers/formats/foreign"
	"coalesce/solvers/formats/npy"
	"coalesce/solvers/formats/packed"
)

// DefaultLimit is the most bytes of values that Read holds when ReadOptions.Limit is 0 and the
// file's size does not prove that the file has so many: compressed files, pipes, and tables
// whose missing coalitions are filled in.
const DefaultLimit = 1 << 34

// CheckMissing returns an error if a text is no value for ReadOptions.Missing.
func CheckMissing(value string) error {
	_, err := parseValue(value)
	return err
}

// A Form says how a file is read: as the table of all coalitions, or as a list of the allowed ones.
type Form int

// The forms. Of Either the file decides: see table.isListing.
const (
	Full Form = iota
	Either
	Listed
	Few // as Either, and a list of up to FewAgents, whose proof is short
)

// FewAgents is the most agents of Few: branch and cut proves the best of all their coalitions.
const FewAgents = 12

// listingOf is a table that was read as the form says: itself, or its coalitions.
func listingOf(inst *problem.Instance, form Form, name string) (*problem.Instance, *problem.Listing, error) {
	if form != Listed && (form != Few || inst.N > FewAgents) {
		return inst, nil, nil
	}
	inst.Source = name
	list, err := inst.Listing()
	if err != nil && form == Few {
		return inst, nil, nil
	}
	return nil, list, err
}

// ReadOptions say how to read a characteristic function.
type ReadOptions struct {
	// value of coalitions that a CSV or JSON file lacks, a number or -inf
	Missing string `option:"missing" default:"an error"`
	// names of the agents in order, such as ann,bob,cleo
	Names []string `option:"names" default:"the file's own"`
	// order of a file of values alone: number, by coalition number, or size, by the number of agents and then by these, {1}, {2}, {1, 2} of two agents, with or without the empty coalition
	Order string `option:"order" words:"Orders()" default:"number"`
	Limit int64  // most bytes of values to hold; 0: DefaultLimit where the file does not prove its size
	Form  Form   // table, listing, or either by size
	// CoverOf, where it is set, is the instance whose table of best partitions is read, from .npy
	// alone. Values keep their type. The sizes of blocks that the file names restrict the instance
	// too, where no others do; those of another restriction are an error.
	CoverOf *problem.Instance
}

// Orders are the orders of values alone.
func Orders() []string { return []string{"number", "size"} }

// Read reads a characteristic function from a file:
//
//   - .npy, one dimension of exactly 2^n values of any integer or floating type;
//   - CSV, rows of a coalition and its value, under a header that tells, of a coalition number
//     (mask) or of 1 and 0 for each agent; or all 2^n values, one a line, by coalition number, or by size (ReadOptions.Order);
//   - rules of a marginal contribution net, such as "ann & !bob -> 2.5", a line each;
//   - JSON, an object of coalitions and values, {"agents": […], "values": {…}}, or a list of
//     {"coalition": […], "value": …};
//
// each plain, compressed with gzip, xz or zstd, or the one file of a zip archive. The name of the file, or for
// other names the content, decides the format. Tables write a coalition as agents separated by
// spaces, commas, semicolons, bars or plus signs, in braces or not; agents are
// numbers 1..n or names, which are numbered in order of appearance.
//
// Integers become int32 when sums of n of them fit, else int64. Errors say
// where in the file, what was found and what was expected; a value that cannot
// be added up unwraps to ErrValue.
func Read(path string, opts ReadOptions) (*problem.Instance, error) {
	opts.Form = Full
	inst, _, err := ReadGame(path, opts)
	return inst, err
}

// ReadFrom is Read on an open stream of size bytes, or of unknown size when
// that is negative; name is what errors call it.
func ReadFrom(r io.Reader, size int64, name string, opts ReadOptions) (*problem.Instance, error) {
	opts.Form = Full
	inst, _, err := ReadGameFrom(r, size, name, opts)
	return inst, err
}

// ReadGame is Read of a file that is an instance or a listing, as Options.Form says; the other one is nil.
func ReadGame(path string, opts ReadOptions) (*problem.Instance, *problem.Listing, error) {
	plain, err := packed.OpenFile(path, opts.unpacked())
	if err != nil {
		return nil, nil, err
	}
	return readPlain(plain, path, opts)
}

// ReadGameFrom is ReadGame on an open stream, as ReadFrom.
func ReadGameFrom(r io.Reader, size int64, name string, opts ReadOptions) (*problem.Instance, *problem.Listing, error) {
	plain, err := packed.OpenLimited(r, size, name, opts.unpacked())
	if err != nil {
		return nil, nil, err
	}
	return readPlain(plain, name, opts)
}

// readPlain reads what was unpacked, and closes it.
func readPlain(plain *packed.Stream, name string, opts ReadOptions) (inst *problem.Instance, list *problem.Listing, err error) {
	defer plain.Close()
	head, _ := plain.Peek(foreign.Head)
	if err := foreign.Check(name, head, "a characteristic function, as .npy, CSV or JSON", foreign.NPY, foreign.JSON); err != nil {
		return nil, nil, err
	}
	switch found := format(plain.Name, head); {
	case found != "csv" && opts.Order == "size":
		return nil, nil, &formats.OptionError{File: name, Option: "--order size", Format: "the format " + found, Expected: "values alone, one a line"}
	case opts.CoverOf != nil && found != "npy":
		return nil, nil, fmt.Errorf("%s: expected a table of best partitions, a .npy file", name)
	case found == "npy":
		if opts.Missing != "" {
			return nil, nil, &formats.OptionError{File: name, Option: "--missing", Format: "the format npy, of all coalitions", Expected: "csv and json"}
		}
		if inst, err = readNPY(plain.Reader, plain.Size, name, opts); err == nil {
			inst, list, err = listingOf(inst, opts.Form, name)
		}
	case found == "net":
		if opts.Missing != "" {
			return nil, nil, &formats.OptionError{File: name, Option: "--missing", Format: "marginal contribution nets, whose rules are all", Expected: "csv and json"}
		}
		inst, list, err = readNet(plain.Reader, name, opts)
	case found == "json":
		inst, list, err = readJSON(plain.Reader, name, opts)
	default:
		inst, list, err = readCSV(plain.Reader, name, opts)
	}
	switch {
	case err != nil:
		return nil, nil, err
	case list != nil:
		list.Source = name
	default:
		inst.Source = name
	}
	return inst, list, nil
}

// ParseCoalition reads agents of an instance, by number or by name, as tables write
// them: "1 3", "{ann, bob}".
func ParseCoalition(inst *problem.Instance, text string) (uint64, error) {
	t := newTable("coalition", ReadOptions{})
	err := t.numberAgents(inst.N, 0)
	if inst.Names != nil {
		err = t.declare(inst.Names, 0)
	}
	if err != nil {
		return 0, err
	}
	c, err := t.coalition(text, 0)
	return c.mask, err
}

// format tells the format by the name without the compression's ending, then
// by the first bytes.
func format(bare string, head []byte) string {
	if bytes.HasPrefix(head, []byte(npy.Magic)) {
		return "npy"
	}
	switch ext := strings.ToLower(filepath.Ext(bare)); ext {
	case ".npy", ".json", ".csv":
		return ext[1:]
	}
	text := bytes.TrimLeft(head, " \t\r\n")
	if len(text) > 0 && text[0] == '[' && bytes.HasPrefix(bytes.TrimLeft(text[1:], " \t\r\n"), []byte("{")) {
		return "json"
	}
	if len(text) > 0 && text[0] == '{' {
		rest := bytes.TrimLeft(text[1:], " \t\r\n")
		if len(rest) == 0 || rest[0] == '"' || rest[0] == '}' && !bytes.Contains(rest, []byte(",")) {
			return "json"
		}
	}
	if isNet(head) {
		return "net"
	}
	return "csv"
}

// limit is the most bytes of values that may be held.
func (o ReadOptions) limit() int64 {
	if o.Limit > 0 {
		return o.Limit
	}
	return DefaultLimit
}

// unpacked is the most bytes that are read of a decompressed file, or of a stream of unknown
// length. It exceeds the limit of the values, as text takes more bytes than the values in it.
func (o ReadOptions) unpacked() int64 { return 4*min(o.limit(), 1<<60) + 1<<20 }

// setNames gives an instance the agents' names of the options.
func (o ReadOptions) setNames(inst *problem.Instance, name string) error {
	if o.Names == nil {
		return nil
	}
	if len(o.Names) != inst.N {
		return fmt.Errorf("%s: found %s, expected %d, as many as there are names", name, formats.Count(inst.N, "agent"), len(o.Names))
	}
	inst.Names = o.Names
	return nil
}

// setIntegers stores integers in the narrowest type that holds their sums.
func setIntegers(inst *problem.Instance, values []int64) {
	largest, _ := problem.LargestInt(values)
	if sum, ok := problem.MultiplyWithin64(largest, max(1, inst.N)); ok && sum <= 1<<31-1 {
		problem.SetValues(inst, problem.Convert[int64, int32](values))
		return
	}
	problem.SetValues(inst, values)
}
