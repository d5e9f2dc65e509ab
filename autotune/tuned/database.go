// Package tuned has the results of tuning and their use: the database of winners (tuned.json) and the
// choice of a variant for a workload. A choice is a pure function of the database, the family in the
// binary, the device's facts and the workload: it reads no file, measures nothing, and gives its
// reason.
//
// A result is used only if the binary has a variant of that label with that hash. Other results are
// stale: they are ignored one by one, and the rest of the file stays in use.
package tuned

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"coalesce/runtime/device"
)

// Schema is the major version of tuned.json that this package writes and
// reads. A document says "tuned/1", or "tuned/1.2" where a later minor version
// added fields; fields that are not known are ignored.
const Schema = 1

// Protocol is the measuring protocol whose times Choose compares (see
// autotune/measure).
const Protocol = "mp1"

// A Hash is a variant's content hash; 16 hexadecimal digits in JSON.
type Hash uint64

// MarshalText writes 16 hexadecimal digits.
func (h Hash) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// String writes 16 hexadecimal digits.
func (h Hash) String() string { return fmt.Sprintf("%016x", uint64(h)) }

// UnmarshalText reads 16 hexadecimal digits.
func (h *Hash) UnmarshalText(b []byte) error {
	x, err := strconv.ParseUint(string(b), 16, 64)
	if err != nil || len(b) != 16 {
		return fmt.Errorf("hash %q: expected 16 hexadecimal digits", b)
	}
	*h = Hash(x)
	return nil
}

// A Database holds at most one entry for each family, device class, fixed
// workload, size and protocol. The zero value is empty and ready to use.
//
// A database may lie over another (Over): Choose asks both. It may have a policy (By).
type Database struct {
	entries []Entry                // in key order, each normal
	text    func() ([]byte, error) // of Shipped, in place of entries: the document, decoded family by family when asked for
	under   *Database              // asked where this database's entries are stale or missing
	known   knowledgeCache         // the entries in the form that Choose searches
	policy  *Policy                // the user's rules for Choose; nil: none
}

// Over returns a database that chooses from the entries of db and, where these are stale
// or missing, from those of under: the user's own results lie over those that the binary
// carries. Neither may be changed afterwards.
func (db *Database) Over(under *Database) *Database {
	return &Database{entries: db.entries, text: db.text, under: under, policy: db.policy}
}

// Kept is the least number of results that the tuner keeps of a size where it measured as many: runners-up
// for where the winner is not feasible, and results to interpolate with.
const Kept = 8

// An Entry is the outcome of tuning a family at one size in one session. Its
// times may be compared with each other, and not with another entry's.
type Entry struct {
	Family   string            `json:"family"`
	Class    string            `json:"class"` // device.Facts.Class
	Fixed    map[string]string `json:"fixed"` // compile-time workload: {"value": "int32"}
	Size     int               `json:"size"`
	Protocol string            `json:"protocol"`
	Time     time.Time         `json:"time"`               // when it was committed, whole seconds UTC
	Driver   string            `json:"driver,omitempty"`   // of the session, provenance
	Compiler string            `json:"compiler,omitempty"` // device.Facts.Compiler of the session; empty: not known
	Winner   string            `json:"winner"`             // label of one of Results
	Results  []Result          `json:"results"`            // winner, runners-up and the safe point, fastest first
}

// A Result is one verified and measured variant.
type Result struct {
	Variant string  `json:"variant"` // label
	Hash    Hash    `json:"hash"`
	Nanos   int64   `json:"ns"` // median of the whole launch sequence; of a host's kernels the first quartile
	Q1      int64   `json:"q1_ns,omitempty"`
	Q3      int64   `json:"q3_ns,omitempty"`
	Samples int     `json:"samples,omitempty"`
	Work    float64 `json:"work,omitempty"` // basic operations a run does
}

// Key identifies the entry's family, class of device, workload, size and protocol. Two entries with
// one key are rivals, of which Merge keeps the later one.
func (e *Entry) Key() string {
	return strings.Join([]string{e.Family, e.Class, fixedString(e.Fixed), fmt.Sprintf("%012d", e.Size), e.Protocol}, "\x00")
}

// describe names the entry in an error.
func (e *Entry) describe() string {
	return fmt.Sprintf("%.80s, %.80s, size %d on %.80s", e.Family, fixedString(e.Fixed), e.Size, e.Class)
}

// Result finds a variant's result; nil when there is none.
func (e *Entry) Result(label string) *Result {
	for i := range e.Results {
		if e.Results[i].Variant == label {
			return &e.Results[i]
		}
	}
	return nil
}

// check returns an error if an entry is not valid.
func (e *Entry) check() error {
	switch {
	case e.Family == "":
		return fmt.Errorf("family is missing")
	case e.Class == "":
		return fmt.Errorf("class (of device) is missing")
	case e.Protocol == "":
		return fmt.Errorf("protocol is missing")
	case e.Size < 0:
		return fmt.Errorf("size is %d, expected 0 or more", e.Size)
	case len(e.Results) == 0:
		return fmt.Errorf("no results")
	}
	seen := map[string]bool{}
	for _, r := range e.Results {
		if r.Variant == "" {
			return fmt.Errorf("a result without a variant")
		}
		if r.Nanos <= 0 {
			return fmt.Errorf("variant %.80s took %d ns, expected more than 0", r.Variant, r.Nanos)
		}
		if seen[r.Variant] {
			return fmt.Errorf("variant %.80s has two results", r.Variant)
		}
		seen[r.Variant] = true
	}
	if !seen[e.Winner] {
		return fmt.Errorf("winner %.80q is not among the results", e.Winner)
	}
	return nil
}

// normalised returns the entry in its one written form, sharing nothing.
func (e Entry) normalised() Entry {
	e.Fixed = maps.Clone(e.Fixed)
	if e.Fixed == nil {
		e.Fixed = map[string]string{}
	}
	e.Time = e.Time.UTC().Truncate(time.Second)
	e.Results = slices.Clone(e.Results)
	slices.SortFunc(e.Results, func(a, b Result) int {
		return cmp.Or(cmp.Compare(a.Nanos, b.Nanos), cmp.Compare(a.Variant, b.Variant))
	})
	return e
}

// fixedString writes a compile-time workload in a stable order.
func fixedString(fixed map[string]string) string {
	var b strings.Builder
	for i, k := range slices.Sorted(maps.Keys(fixed)) {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(k + "=" + fixed[k])
	}
	return b.String()
}

// New returns a database of entries; rivals are settled as by Merge.
func New(entries ...Entry) (*Database, error) {
	db := &Database{}
	for i := range entries {
		if err := db.Put(entries[i]); err != nil {
			return nil, err
		}
	}
	return db, nil
}

// Put adds an entry; where there is a rival with the same key, the later wins.
func (db *Database) Put(e Entry) error {
	if err := e.check(); err != nil {
		return fmt.Errorf("entry %s: %w", e.describe(), err)
	}
	e = e.normalised()
	i, found := slices.BinarySearchFunc(db.entries, e.Key(), func(a Entry, k string) int {
		return cmp.Compare(a.Key(), k)
	})
	db.known.invalidate()
	if !found {
		db.entries = slices.Insert(db.entries, i, e)
	} else if later(&db.entries[i], &e) {
		db.entries[i] = e
	}
	return nil
}

// later reports whether b replaces its rival a: a total order, by time and
// then by text, so that merging does not depend on who is merged into whom.
func later(a, b *Entry) bool {
	if c := b.Time.Compare(a.Time); c != 0 {
		return c > 0
	}
	return string(encodeEntry(b)) > string(encodeEntry(a))
}

// Merge returns the union of two databases; the later entry wins where both
// have one for a key. Merging is commutative, associative and idempotent.
// Entries are taken whole, because times of different sessions may not be
// compared.
func Merge(a, b *Database) *Database {
	out := &Database{}
	for _, db := range []*Database{a, b} {
		if db == nil {
			continue
		}
		for _, e := range db.entries {
			if err := out.Put(e); err != nil {
				panic(err) // every entry of a database was checked when it came in
			}
		}
	}
	return out
}

// Drop removes a variant that was found to answer wrongly from every entry of its family and class of
// device, and returns the number of entries that had it. If it was the winner, the fastest of the other
// results becomes the winner; an entry without other results is removed. Changed entries count as later
// than before, so that a merge with an older copy does not bring the variant back.
func (db *Database) Drop(family, class, label string) int {
	n := 0
	kept := db.entries[:0:0]
	for _, e := range db.entries {
		if e.Family != family || e.Class != class || e.Result(label) == nil {
			kept = append(kept, e)
			continue
		}
		n++
		e = e.normalised()
		e.Results = slices.DeleteFunc(e.Results, func(r Result) bool { return r.Variant == label })
		if len(e.Results) == 0 {
			continue
		}
		if e.Winner == label {
			e.Winner = e.Results[0].Variant
		}
		e.Time = e.Time.Add(time.Second)
		kept = append(kept, e)
	}
	db.entries = kept
	db.known.invalidate()
	return n
}

// Len is the number of entries.
func (db *Database) Len() int { return len(db.entries) }

// Entries returns copies of all entries, in key order.
func (db *Database) Entries() []Entry {
	out := make([]Entry, len(db.entries))
	for i, e := range db.entries {
		out[i] = e.normalised()
	}
	return out
}

// WithoutClass is the database and those under it without entries whose class contains a text, as if such devices
// had never been tuned; the database itself where the text is empty. Entries are to be decoded, as Embedded's
// are and Shipped's are not.
func (db *Database) WithoutClass(text string) *Database {
	if db == nil || text == "" {
		return db
	}
	gone := func(e Entry) bool { return strings.Contains(e.Class, text) }
	return &Database{entries: slices.DeleteFunc(slices.Clone(db.entries), gone), under: db.under.WithoutClass(text), policy: db.policy}
}

// Lookup finds the entry for a family, device class, fixed workload and size
// measured by Protocol; false when there is none.
func (db *Database) Lookup(family, class string, w Workload) (Entry, bool) {
	if db == nil {
		return Entry{}, false
	}
	key := (&Entry{Family: family, Class: class, Fixed: w.Fixed, Size: w.Size, Protocol: Protocol}).Key()
	for _, e := range db.entries {
		if e.Key() == key {
			return e.normalised(), true
		}
	}
	return Entry{}, false
}

// Valid reports whether the family in this binary still has the variant that a
// result was measured with.
func (r *Result) Valid(f *device.Family) (*device.Variant, bool) {
	v := f.Variant(r.Variant)
	if v == nil || Hash(v.Hash) != r.Hash {
		return nil, false
	}
	return v, true
}
