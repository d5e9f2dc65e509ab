package checkpoint

import (
	"crypto/sha256"

	"coalesce/solvers/cores"
)

// piece is the bytes of which one digest is made at a time.
const piece = 1 << 20

// Digest is the SHA-256 of the SHA-256 of all pieces of 2^20 bytes, which all cores make.
func Digest(b []byte) [32]byte {
	sums := make([][sha256.Size]byte, (len(b)+piece-1)/piece)
	cores.Pieces(len(sums), func(k int) {
		sums[k] = sha256.Sum256(b[k*piece : min(len(b), (k+1)*piece)])
	})
	h := sha256.New()
	for _, s := range sums {
		h.Write(s[:])
	}
	var sum [32]byte
	h.Sum(sum[:0])
	return sum
}
