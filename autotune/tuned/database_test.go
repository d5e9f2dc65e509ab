package tuned

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"pgregory.net/rapid"
)

func TestEmbedded(t *testing.T) {
	db, err := Embedded()
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(db.Encode(), embedded) {
		t.Errorf("tuned.json is not in canonical form; Encode writes\n%s", db.Encode())
	}
	// Family by family it is the same.
	families := map[string]bool{"none/such": true}
	var parts []Entry
	for _, e := range db.entries {
		families[e.Family] = true
	}
	for name := range families {
		list, err := Shipped().entriesOf(name)
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, list...)
	}
	again, err := New(parts...)
	if err != nil || len(parts) != db.Len() || !bytes.Equal(again.Encode(), embedded) {
		t.Errorf("decoded family by family: %d entries of %d, %v", len(parts), db.Len(), err)
	}
}

// Builds of scripts/build-cuda have the text compressed.
func TestUnpack(t *testing.T) {
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(embedded)
	packed := z.EncodeAll(embedded, slices.Concat(compressed, sum[:]))
	for _, data := range [][]byte{embedded, packed} {
		if got, err := decompress(data); err != nil || !bytes.Equal(got, embedded) {
			t.Errorf("of %d bytes: %d, %v; want %d", len(data), len(got), err, len(embedded))
		}
		if got := fingerprint(data); got != hex.EncodeToString(sum[:]) {
			t.Errorf("of %d bytes: SHA-256 %s, want %x", len(data), got, sum)
		}
	}
	packed[len(packed)/2] ^= 1
	if got, err := decompress(packed); err == nil && bytes.Equal(got, embedded) {
		t.Error("a bit that is flipped is not noticed")
	} else if err == nil {
		t.Error("no error of data whose check sum is wrong")
	}
}

// genDatabase draws from few enough keys and times that rivals are common.
func genDatabase(t *rapid.T) *Database {
	db := &Database{}
	for range rapid.IntRange(0, 6).Draw(t, "entries") {
		e := Entry{
			Family:   rapid.SampledFrom([]string{"csg/splits", "csg/hosttiles"}).Draw(t, "family"),
			Class:    rapid.SampledFrom([]string{"cuda|A", "cuda|<B>"}).Draw(t, "class"),
			Fixed:    map[string]string{"value": rapid.SampledFrom([]string{"int32", "float64"}).Draw(t, "value")},
			Size:     rapid.IntRange(0, 2).Draw(t, "size"),
			Protocol: Protocol,
			Time:     time.Unix(rapid.Int64Range(0, 3).Draw(t, "time"), rapid.Int64Range(0, 1e9).Draw(t, "ns")),
		}
		for _, label := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a=1", "a=2", "a=3"}), 1, 3, rapid.ID).Draw(t, "labels") {
			e.Results = append(e.Results, Result{
				Variant: label,
				Hash:    Hash(rapid.Uint64().Draw(t, "hash")),
				Nanos:   rapid.Int64Range(1, 4).Draw(t, "nanos"),
				Work:    rapid.Float64Range(0, 1e30).Draw(t, "work"),
			})
		}
		e.Winner = e.Results[0].Variant
		if err := db.Put(e); err != nil {
			t.Fatal(err)
		}
	}
	return db
}

func TestMergeIsASemilattice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := genDatabase(t), genDatabase(t), genDatabase(t)
		equal := func(law string, x, y *Database) {
			if !bytes.Equal(x.Encode(), y.Encode()) {
				t.Fatalf("%s:\n%s\n%s", law, x.Encode(), y.Encode())
			}
		}
		equal("commutative", Merge(a, b), Merge(b, a))
		equal("associative", Merge(a, Merge(b, c)), Merge(Merge(a, b), c))
		equal("idempotent", Merge(a, a), a)
		equal("absorbing", Merge(Merge(a, b), b), Merge(a, b))
		equal("neutral", Merge(a, nil), a)
		back, err := Decode("encoded", Merge(a, b).Encode())
		if err != nil {
			t.Fatal(err)
		}
		equal("round trip", back, Merge(a, b))
	})
}

func TestMergeKeepsTheLater(t *testing.T) {
	old := entry(24, "a=1", 1, 100)
	young := entry(24, "a=2", 2, 900)
	young.Time = old.Time.Add(time.Hour)
	for _, pair := range [][2]Entry{{old, young}, {young, old}} {
		db, err := New(pair[0], pair[1])
		if err != nil {
			t.Fatal(err)
		}
		if got := db.Entries(); len(got) != 1 || got[0].Winner != "a=2" {
			t.Errorf("merged %v, want the later entry alone", got)
		}
	}
}

func TestDrop(t *testing.T) {
	two := tunedAt(20, 50, 10, 20)
	db, err := New(entry(24, "a=2,value=int32", 2, 100), two, tunedAt(22, 50, 0, 20))
	if err != nil {
		t.Fatal(err)
	}
	before := Merge(db, nil)
	if n := db.Drop("csg/splits", "another", "a=2,value=int32"); n != 0 {
		t.Errorf("another class of device: dropped from %d entries", n)
	}
	if n := db.Drop("csg/splits", facts.Class(), "a=2,value=int32"); n != 2 || db.Len() != 2 {
		t.Errorf("dropped from %d entries, %d left", n, db.Len())
	}
	e, ok := Merge(before, db).Lookup("csg/splits", facts.Class(), Workload{Fixed: int32s, Size: 20})
	if !ok || e.Winner != "a=3,value=int32" || len(e.Results) != 2 {
		t.Errorf("after merging with the older copy: %+v", e)
	}
}

const wholeEntry = `{"family":"f","class":"c","fixed":{},"size":3,"protocol":"mp1","time":"2026-11-21T00:00:00Z","winner":"a=1","results":[{"variant":"a=1","hash":"00000000000000ff","ns":5,"later":1}],"unknown":[1]}`

func TestDecode(t *testing.T) {
	good := `{"schema":"tuned/1.7","new":{"x":1},"entries":[` + wholeEntry + `]}`
	db, err := Decode("x.json", []byte(good))
	if err != nil {
		t.Fatal(err)
	}
	if e, ok := db.Lookup("f", "c", Workload{Size: 3}); !ok || e.Results[0].Hash != 255 {
		t.Errorf("Lookup = %v, %v", e, ok)
	}
	for name, tc := range map[string]struct{ text, want string }{
		"major":     {`{"schema":"tuned/2","entries":0}`, "x.json: schema 2 of tuned.json is not known: this build reads schema 1"},
		"none":      {`{"entries":[]}`, `x.json: no "schema": expected "tuned/1"`},
		"other":     {`{"schema":"trial/1"}`, `x.json: "schema" is "trial/1", expected "tuned/1"`},
		"number":    {`{"schema":1}`, `x.json: "schema" is 1, expected "tuned/1"`},
		"syntax":    {"{\n\"schema\":\"tuned/1\",\n,}", "x.json:3: invalid character"},
		"truncated": {"{\"schema\":\"tuned/1\",\n\"entries\":[", "x.json:2: unexpected end"},
		"type":      {"{\"schema\":\"tuned/1\",\n\"entries\":[{\"size\":\"3\"}]}", "x.json:2: json: cannot unmarshal string"},
		"hash":      {strings.Replace(good, "00000000000000ff", "ff", 1), "expected 16 hexadecimal digits"},
		"time":      {strings.Replace(good, `"ns":5`, `"ns":0`, 1), "x.json: entry 1 (f, , size 3 on c): variant a=1 took 0 ns"},
		"winner":    {strings.Replace(good, `"winner":"a=1"`, `"winner":"a=2"`, 1), `winner "a=2" is not among the results`},
		"class":     {strings.Replace(good, `"class":"c"`, `"class":""`, 1), "class (of device) is missing"},
	} {
		if _, err := Decode("x.json", []byte(tc.text)); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: error %v, want %q", name, err, tc.want)
		}
	}
}

func TestSaveAndLoad(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "tuned.json")
	if _, err := Load(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Load of nothing: %v", err)
	}
	db, err := New(entry(24, "a=1", 1, 100))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second replaces the first
		if err := db.Save(path); err != nil {
			t.Fatal(err)
		}
	}
	back, err := Load(path)
	if err != nil || !bytes.Equal(back.Encode(), db.Encode()) {
		t.Errorf("Load = %v, %v", back, err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("folder holds %v, want tuned.json alone", left)
	}
	if err := db.Save(filepath.Join(dir, "no", "tuned.json")); err == nil {
		t.Error("Save into a folder that does not exist: no error")
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"schema":"tuned/1","entries":[` + wholeEntry + `,` + wholeEntry + `]}`))
	f.Add([]byte(`{"schema":"tuned/1","entries":[{}]}`))
	f.Add([]byte(`null`))
	shipped, err := Embedded()
	if err != nil {
		f.Fatal(err)
	}
	f.Add((&Database{entries: shipped.entries[:1]}).Encode()) // of all an instrumented binary reads for longer than an input may take
	f.Fuzz(func(t *testing.T, data []byte) {
		db, err := Decode("fuzz", data)
		if err != nil {
			return
		}
		again, err := Decode("again", db.Encode())
		if err != nil || !bytes.Equal(again.Encode(), db.Encode()) {
			t.Fatalf("not stable under encoding: %v\n%s", err, db.Encode())
		}
	})
}

// Entries of a class that is left out are as if it had never been tuned.
func TestWithout(t *testing.T) {
	shipped, err := Embedded()
	if err != nil {
		t.Fatal(err)
	}
	all, some := shipped.WithoutClass("").Entries(), shipped.WithoutClass("H100").Entries()
	if len(all) != len(shipped.Entries()) || len(some) == 0 || len(some) == len(all) {
		t.Errorf("%d of %d entries without those of an H100", len(some), len(all))
	}
	for _, e := range some {
		if strings.Contains(e.Class, "H100") {
			t.Errorf("%s, size %d is of class %s", e.Family, e.Size, e.Class)
		}
	}
	// An entry of a database below goes too.
	over, err := New(entry(30, "a=1,value=int32", 1, 5))
	if err != nil {
		t.Fatal(err)
	}
	under, err := New(tunedAt(20, 50, 10))
	if err != nil {
		t.Fatal(err)
	}
	both := over.Over(under)
	for text, want := range map[string]string{"": Exact, "another": Exact, facts.Name: Safe} {
		if c, err := both.WithoutClass(text).Choose(family(), facts, Workload{Fixed: int32s, Size: 20}, nil); err != nil || c.Level != want {
			t.Errorf("without %q: %s, %v, expected %s", text, c.Level, err, want)
		}
	}
}
