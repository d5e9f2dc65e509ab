package cuda

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io/fs"
	"regexp"
	"strings"

	"coalesce/gen/space"
)

// Digest is the hash of everything generated: the first 8 bytes of the SHA-256 of the parts, each preceded by
// its length so that no two lists run together.
func Digest(parts ...string) uint64 {
	h := sha256.New()
	for _, p := range parts {
		var n [8]byte
		binary.BigEndian.PutUint64(n[:], uint64(len(p)))
		h.Write(n[:])
		h.Write([]byte(p))
	}
	return binary.BigEndian.Uint64(h.Sum(nil))
}

// familyHash covers all texts of the family's folder, every shared header and Version, all
// without comments and spacing.
func familyHash(fsys fs.FS, s *space.Space) (uint64, error) {
	parts := []string{Version, s.Family}
	for _, pattern := range []string{s.Family + "/*.cuh", "*/*.cuh"} {
		names, err := fs.Glob(fsys, pattern)
		if err != nil {
			return 0, fmt.Errorf("hash %s: %w", s.Family, err)
		}
		for _, name := range names {
			text, err := fs.ReadFile(fsys, name)
			if err != nil {
				return 0, fmt.Errorf("hash %s: %w", s.Family, err)
			}
			parts = append(parts, name, canonicalText(string(text)))
		}
	}
	return Digest(parts...), nil
}

var include = regexp.MustCompile(`^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"`)

// includedNames lists the names in quotes that a text includes.
func includedNames(text string) (names []string) {
	for line := range strings.Lines(text) {
		if !strings.Contains(line, "#") {
			continue // most lines: the expression takes longer
		}
		if m := include.FindStringSubmatch(line); m != nil {
			names = append(names, m[1])
		}
	}
	return names
}
