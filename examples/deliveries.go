//go:build ignore

// This program writes deliveries.npy.gz: `go run deliveries.go`.
//
// Sixteen shops, a depot in the middle, minutes of driving between any two.
// Alone, each shop sends a van of its own. A coalition shares one van on the
// shortest tour: its value is the minutes saved, less the minutes that goods
// wait in a shared van, four times the square of the number of other shops.
package main

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"log"
	"math"
	"math/bits"
	"os"
)

const shops = 16

func main() {
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

func run() error {
	x, y := [shops + 1]float64{50}, [shops + 1]float64{50}
	state := uint64(2026)
	draw := func() float64 { // splitmix64
		state += 0x9e3779b97f4a7c15
		z := state
		z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		return float64((z^z>>31)>>11) / (1 << 53) * 100
	}
	for i := 1; i <= shops; i++ {
		x[i], y[i] = draw(), draw()
	}
	drive := func(i, j int) int {
		return int(math.Round(math.Sqrt((x[i]-x[j])*(x[i]-x[j]) + (y[i]-y[j])*(y[i]-y[j]))))
	}

	// Held and Karp: the shortest way from the depot through the shops of a
	// set that ends at one of them.
	way := make([][shops]int, 1<<shops)
	values := make([]int16, 1<<shops)
	for set := 1; set < 1<<shops; set++ {
		alone, tour := 0, math.MaxInt
		for last := range shops {
			if set>>last&1 == 0 {
				continue
			}
			alone += 2 * drive(0, last+1)
			rest := set &^ (1 << last)
			best := drive(0, last+1)
			if rest != 0 {
				best = math.MaxInt
				for before := range shops {
					if rest>>before&1 != 0 {
						best = min(best, way[rest][before]+drive(before+1, last+1))
					}
				}
			}
			way[set][last] = best
			tour = min(tour, best+drive(last+1, 0))
		}
		others := bits.OnesCount(uint(set)) - 1
		values[set] = int16(alone - tour - 4*others*others)
	}

	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return err
	}
	head := fmt.Sprintf("{'descr': '<i2', 'fortran_order': False, 'shape': (%d,), }", len(values))
	head = fmt.Sprintf("%-117s\n", head)
	z.Write([]byte("\x93NUMPY\x01\x00"))
	binary.Write(z, binary.LittleEndian, uint16(len(head)))
	z.Write([]byte(head))
	binary.Write(z, binary.LittleEndian, values)
	if err := z.Close(); err != nil {
		return err
	}
	return os.WriteFile("deliveries.npy.gz", b.Bytes(), 0o644)
}
