package draw

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"math"
	"testing"
	"unsafe"

	"coalesce/solvers/qubo/internal/formats"
)

func hash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// The hashes are of the upper triangles, a signed byte an entry, of instances
// whose edge counts are MQLib's and whose published values were reached.
func TestPalubeckisHashes(t *testing.T) {
	for _, c := range []struct {
		n, density int
		seed       int64
		want       string
	}{
		{3000, 50, 31000, "0ceef1dc5e1e5b9d8ae764ba2dc0bd90b9dc1029fad39a0c5d7fb2343530bab1"},
		{3000, 80, 32000, "14c281319ae7b8e7d45009cef17ec22d8f644c00191ad5b606c6afbf7c16d465"}, // differs in double precision
		{3000, 80, 33000, "4e53c8a020d4a54252c540fe9eef1b8f97335cc7a6418ff3e51ef9e7ec062d6e"}, // so does this
		{4000, 100, 45000, "1548b39f9c562f5d0a49cfe0d0ae25b7a8f82bb794dfa5bd50a697e47f61db40"},
		{5000, 80, 52000, "be103b06f6d3e6606f1f6144167e41cb587db9bce83bffaa8646564f34834006"}, // and this
		{6000, 50, 61000, "a2c80e7ac422274dfe7a9883fc72402b1a2851618feeeab80ee05f1539d3378b"},
		{7000, 80, 72000, "2776a2c915f307d11c01e2641b435fa46fbab928d0711e9b7000635ce2c2b394"}, // and this
	} {
		q := upperTriangle(c.n, c.density, c.seed)
		if got := hash(unsafe.Slice((*byte)(unsafe.Pointer(&q[0])), len(q))); got != c.want {
			t.Errorf("p%d, density %d, seed %d: %s, want %s", c.n, c.density, c.seed, got, c.want)
		}
	}
}

// The hash is of p3000.1 in OR-Library's layout, without the line of the number of problems.
func TestPalubeckisText(t *testing.T) {
	inst, err := Palubeckis(3000, 50, 31000)
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if _, err := formats.Write(&text, inst, "orlib"); err != nil {
		t.Fatal(err)
	}
	if got := hash(bytes.TrimPrefix(text.Bytes(), []byte("1\n"))); got != "83bf2c3308632a9f43b49fea374fa8f9327944a748c6d455ff73ee74562e4bd1" {
		t.Errorf("hash %s", got)
	}
	for _, c := range [][3]int64{{-1, 50, 1}, {10, 101, 1}, {10, 50, 0}, {10, 50, math.MaxInt32}} {
		if _, err := Palubeckis(int(c[0]), int(c[1]), c[2]); err == nil {
			t.Errorf("%v: no error", c)
		}
	}
}
