//go:build unix

package formats_test

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"coalesce/solvers/assignment/internal/formats"
	"coalesce/solvers/formats/csv"
)

// BenchmarkRead reads 4,900 x 4,900 costs, 24 million, from text of each format: whole numbers below
// 10^6, fractions of 6 digits, or as many digits as a float64 has. cpu-s/op is the processor time of
// all cores together in seconds, the system's included:
//
//	go test ./solvers/assignment/internal/formats -run none -bench Read -benchtime 3x -cpu 1,2,16
func BenchmarkRead(b *testing.B) {
	const n = 4900
	whole := func(to []byte, rng *rand.Rand) []byte { return strconv.AppendInt(to, rng.Int64N(1000000), 10) }
	fraction := func(to []byte, rng *rand.Rand) []byte { return strconv.AppendFloat(to, rng.Float64(), 'f', 6, 64) }
	full := func(to []byte, rng *rand.Rand) []byte { return strconv.AppendFloat(to, rng.Float64(), 'g', -1, 64) }
	// The first words of a line of coordinates, which are numbered from the two numbers on.
	pair := func(before string, row, col int) func(to []byte, i, j int) []byte {
		return func(to []byte, i, j int) []byte {
			to = strconv.AppendInt(append(to, before...), int64(row+i), 10)
			return append(strconv.AppendInt(append(to, ' '), int64(col+j), 10), ' ')
		}
	}
	nodes := []byte(fmt.Sprintf("p asn %d %d\n", 2*n, n*n))
	for i := range n {
		nodes = fmt.Appendf(nodes, "n %d\n", i+1)
	}
	for _, c := range []struct {
		name    string // the format's, and what is special
		head    string
		pair    func(to []byte, i, j int) []byte // nil: costs alone
		line    int                              // costs in a line
		between byte
		cost    func(to []byte, rng *rand.Rand) []byte
	}{
		{"orlib/1 a line", "4900\n", nil, 1, ' ', whole},
		{"orlib/12 a line", "4900\n", nil, 12, ' ', whole},
		{"orlib/row a line", "4900\n", nil, n, ' ', whole},
		{"orlib/fractions", "4900\n", nil, 12, ' ', fraction},
		{"csv/whole", "", nil, n, ',', whole},
		{"csv/fractions", "", nil, n, ',', fraction},
		{"csv/17 digits", "", nil, n, ',', full},
		{"mtx/array", fmt.Sprintf("%%%%MatrixMarket matrix array integer general\n%d %d\n", n, n), nil, 1, ' ', whole},
		{"mtx/coordinates", fmt.Sprintf("%%%%MatrixMarket matrix coordinate integer general\n%d %d %d\n", n, n, n*n), pair("", 1, 1), 1, ' ', whole},
		{"asn/arcs", string(nodes), pair("a ", 1, n+1), 1, ' ', whole},
		{"triples/lines", "", pair("", 0, 0), 1, ' ', whole},
	} {
		b.Run(c.name, func(b *testing.B) {
			path := b.TempDir() + "/costs"
			file, err := os.Create(path)
			if err != nil {
				b.Fatal(err)
			}
			out, rng := bufio.NewWriter(file), rand.New(rand.NewPCG(1, 2))
			out.WriteString(c.head)
			size, lines := len(c.head), strings.Count(c.head, "\n")
			var text []byte
			for k := range n * n {
				text = text[:0]
				if c.pair != nil {
					text = c.pair(text, k/n, k%n)
				}
				text = append(c.cost(text, rng), c.between)
				if k%c.line == c.line-1 {
					text[len(text)-1] = '\n'
					lines++
				}
				out.Write(text)
				size += len(text)
			}
			if err := out.Flush(); err != nil {
				b.Fatal(err)
			}
			file.Close()
			format, _, _ := strings.Cut(c.name, "/")
			b.SetBytes(int64(size))
			o := formats.ReadOptions{Format: format}
			if format == "csv" || format == "triples" {
				o.Header, o.Index = csv.No, csv.No
			}
			start := processorTime(b)
			for b.Loop() {
				inst, err := formats.Read(path, o)
				if err != nil || inst.Len() != n*n {
					b.Fatal(inst, err)
				}
			}
			b.ReportMetric((processorTime(b)-start).Seconds()/float64(b.N), "cpu-s/op")
			b.ReportMetric(float64(lines)*float64(b.N)/b.Elapsed().Seconds(), "lines/s")
		})
	}
}

// processorTime is the processor time that this process has taken.
func processorTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
