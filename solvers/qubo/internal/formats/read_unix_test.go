//go:build unix

package formats

import (
	"bufio"
	"bytes"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// BenchmarkRead reads 10 million coefficients of 20,000 variables from text of each format. cpu-s/op is the processor time of
// all cores together in seconds, the system's included:
//
//	go test ./solvers/qubo/internal/formats -run none -bench Read -benchtime 3x -cpu 1,2,16
func BenchmarkRead(b *testing.B) {
	const n, m = 20000, 10_000_000
	for _, c := range []struct {
		format, head, before string
		from                 int
	}{
		{"rudy", fmt.Sprintf("%d %d\n", n, m), "", 1},
		{"qubo", fmt.Sprintf("c made\np qubo 0 %d 0 %d\n", n, m), "", 0},
		{"coo", "# vartype=BINARY\n", "", 0},
		{"dimacs", fmt.Sprintf("p edge %d %d\n", n, m), "e ", 1},
		{"mtx", fmt.Sprintf("%%%%MatrixMarket matrix coordinate integer general\n%d %d %d\n", n, n, m), "", 1},
	} {
		b.Run(c.format, func(b *testing.B) {
			var data bytes.Buffer
			out, rng := bufio.NewWriter(&data), rand.New(rand.NewPCG(1, 2))
			out.WriteString(c.head)
			var line []byte
			i, j := 0, 1
			for range m {
				line = strconv.AppendInt(append(line[:0], c.before...), int64(i+c.from), 10)
				line = strconv.AppendInt(append(line, ' '), int64(j+c.from), 10)
				line = strconv.AppendInt(append(line, ' '), rng.Int64N(201)-100, 10)
				out.Write(append(line, '\n'))
				if j++; j == n {
					i++
					j = i + 1
				}
			}
			out.Flush()
			b.SetBytes(int64(data.Len()))
			start := processorTime(b)
			for b.Loop() {
				inst, err := ReadFrom(bytes.NewReader(data.Bytes()), "a."+c.format, Options{Format: c.format})
				if err != nil || !strings.HasPrefix(inst.Format, c.format) {
					b.Fatal(inst, err)
				}
			}
			b.ReportMetric((processorTime(b)-start).Seconds()/float64(b.N), "cpu-s/op")
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
