package cuda

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
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

// familyHash covers the family's templates, every shared header and Version, all
// without comments and spacing.
func familyHash(fsys fs.FS, s *space.Space) (uint64, error) {
	parts := []string{Version, s.Family}
	names, err := sources(fsys, s)
	if err != nil {
		return 0, err
	}
	headers, err := fs.Glob(fsys, "*/*.cuh")
	if err != nil {
		return 0, fmt.Errorf("hash %s: %w", s.Family, err)
	}
	for _, name := range slices.Concat(names, headers) {
		text, err := fs.ReadFile(fsys, name)
		if err != nil {
			return 0, fmt.Errorf("hash %s: %w", s.Family, err)
		}
		parts = append(parts, name, canonical(string(text)))
	}
	return Digest(parts...), nil
}

var include = regexp.MustCompile(`^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"`)

// included lists the names in quotes that a text includes.
func included(text string) (names []string) {
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

// headers reads shared headers once each.
type headers struct {
	fsys fs.FS
	text map[string]string
}

func newHeaders(fsys fs.FS) *headers { return &headers{fsys, map[string]string{}} }

// hash covers a text and every header that it includes, directly or through another,
// without comments and spacing: a better comment makes no tuned winner stale. It returns these
// headers too.
func (h *headers) hash(text string) (uint64, []Include, error) {
	var found []Include
	parts := []string{Version, canonical(text)}
	seen := map[string]bool{}
	var follow func(text, from string) error
	follow = func(text, from string) error {
		for _, inc := range included(text) {
			name, body, err := h.find(inc, from)
			if err != nil {
				return err
			}
			if seen[name] {
				continue
			}
			seen[name] = true
			parts = append(parts, name, canonical(body))
			if err := follow(body, path.Dir(name)); err != nil {
				return err
			}
			found = append(found, Include{name, body})
		}
		return nil
	}
	if err := follow(text, ""); err != nil {
		return 0, nil, err
	}
	return Digest(parts...), found, nil
}

// find looks beside the including header, then from the include root.
func (h *headers) find(name, from string) (string, string, error) {
	for _, at := range []string{path.Join(from, name), path.Clean(name)} {
		if text, ok := h.text[at]; ok {
			return at, text, nil
		}
		if text, err := fs.ReadFile(h.fsys, at); err == nil {
			h.text[at] = string(text)
			return at, h.text[at], nil
		}
	}
	return "", "", fmt.Errorf("includes %q, which is not below templates/", name)
}
