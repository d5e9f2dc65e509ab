package packed

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"
)

// pack compresses text in every way.
func pack(t testing.TB, text string) map[string][]byte {
	t.Helper()
	out := map[string][]byte{"": []byte(text)}
	for ext, writer := range map[string]func(io.Writer) (io.WriteCloser, error){
		".gz":  func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil },
		".xz":  func(w io.Writer) (io.WriteCloser, error) { return xz.NewWriter(w) },
		".zst": func(w io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(w) },
	} {
		var b bytes.Buffer
		w, err := writer(&b)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, text); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		out[ext] = b.Bytes()
	}
	return out
}

func readAll(data []byte, name string) (string, *Stream, error) {
	s, err := OpenLimited(bytes.NewReader(data), int64(len(data)), name, 0)
	if err != nil {
		return "", nil, err
	}
	defer s.Close()
	text, err := io.ReadAll(io.LimitReader(s, 1<<20))
	return string(text), s, err
}

func TestOpen(t *testing.T) {
	text := strings.Repeat("a coalition and its value\n", 999)
	for ext, data := range pack(t, text) {
		for _, name := range []string{"file.csv" + ext, "file.csv" + strings.ToUpper(ext), "file.csv"} {
			got, s, err := readAll(data, name)
			if err != nil || got != text {
				t.Errorf("%s: %d bytes, want %d: %v", name, len(got), len(text), err)
				continue
			}
			if s.Name != "file.csv" || (s.Size < 0) != (ext != "") {
				t.Errorf("%s: called %q, size %d", name, s.Name, s.Size)
			}
		}
		if ext == "" {
			continue
		}
		for cut := 0; cut < len(data); cut++ {
			if got, _, err := readAll(data[:cut], "file"+ext); err == nil {
				t.Errorf("%s cut to %d of %d bytes: %d bytes and no error", ext, cut, len(data), len(got))
			}
		}
	}
}

func TestPromisesNotKept(t *testing.T) {
	for _, name := range []string{"a.gz", "a.xz", "a.zst", "a.csv.GZ"} {
		if _, _, err := readAll([]byte("1,5\n"), name); err == nil || !strings.HasPrefix(err.Error(), name+": found no compressed data") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Dictionaries above the limit are refused before memory is taken.
func TestDictionaryIsBounded(t *testing.T) {
	data := pack(t, "1,5\n")[".xz"]
	for code, fits := range map[byte]bool{18: true, 28: true, 29: true, 30: true, 31: false, 40: false} {
		data[16] = code
		header := data[12:24] // the first block's, which ends with its checksum
		binary.LittleEndian.PutUint32(header[8:], crc32.ChecksumIEEE(header[:8]))
		_, _, err := readAll(data, "a.xz")
		if fits && err != nil || !fits && (err == nil || err.Error() != "a.xz: found an xz dictionary of more than 134217728 bytes") {
			t.Errorf("dictionary code %d: %v", code, err)
		}
	}
}

// A file of thousands of streams takes the memory of one.
func TestManyStreams(t *testing.T) {
	one := pack(t, "1,5\n")[".xz"]
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got, _, err := readAll(bytes.Repeat(one, 3000), "a.xz")
	runtime.ReadMemStats(&after)
	if want := strings.Repeat("1,5\n", 3000); err != nil || got != want {
		t.Fatalf("%d bytes, want %d: %v", len(got), len(want), err)
	}
	if took := after.TotalAlloc - before.TotalAlloc; took > 64<<20 {
		t.Errorf("3,000 streams took %d bytes", took)
	}
}

func FuzzOpen(f *testing.F) {
	for _, data := range pack(f, "1,5\n2,6\n1 2,12\n") {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) { readAll(data, "a") })
}

// A fixed number of random edits, in every run of the tests: errors, never a
// panic.
func TestOpenEdited(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, good := range pack(t, "1,5\n2,6\n1 2,12\n") {
		for range 300 {
			data := bytes.Clone(good)
			for range 1 + rng.IntN(3) {
				data[rng.IntN(len(data))] ^= 1 << rng.IntN(8)
			}
			readAll(data, "a")
		}
	}
}

// A byte order mark of UTF-8 is passed over within each compression; other encodings are named.
func TestEncodings(t *testing.T) {
	const text = `{"ann": 1}`
	wide := func(mark string, size, at int) string {
		b := []byte(mark)
		for k := range len(text) {
			unit := make([]byte, size)
			unit[at] = text[k]
			b = append(b, unit...)
		}
		return string(b)
	}
	for _, c := range []struct{ text, want string }{
		{text, ""}, {"\ufeff" + text, ""},
		{wide("\xff\xfe", 2, 0), "UTF-16"}, {wide("\xfe\xff", 2, 1), "UTF-16"}, {wide("", 2, 0), "UTF-16"}, {wide("", 2, 1), "UTF-16"},
		{wide("\xff\xfe\x00\x00", 4, 0), "UTF-32"}, {wide("\x00\x00\xfe\xff", 4, 3), "UTF-32"},
	} {
		for ext, data := range pack(t, c.text) {
			got, s, err := readAll(data, "a.json"+ext)
			if c.want != "" {
				if err == nil || !strings.HasPrefix(err.Error(), "a.json"+ext+":1: found "+c.want+", expected UTF-8") {
					t.Errorf("%q%s: %v, expected that it is %s", c.text, ext, err, c.want)
				}
				continue
			}
			if err != nil || got != text || ext == "" && s.Size != int64(len(text)) {
				t.Errorf("%q%s: found %q, %v, expected %q", c.text, ext, got, err, text)
			}
		}
	}
}
