package main

import (
	"bytes"
	"compress/gzip"
	"math/rand/v2"
	"regexp"
	"strings"

	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"
)

// hostile are words that stand where a number was.
var hostile = []string{
	"0", "-1", "1", "-0", "+5", "2147483647", "2147483648", "-2147483649", "4294967296", "9223372036854775807", "9223372036854775808",
	"-9223372036854775808", "18446744073709551616", "99999999999999999999999999", "100000000", "3000000000", "1e9", "1e308", "-1e308", "1e309", "1e400",
	"4.9e-324", "1e-400", "0.1", "1.7976931348623157e308", "nan", "NaN", "inf", "-inf", "Infinity", "0x10", "1_000", "1,5", "1.2.3", "--1", "e", "", " ",
	"١", "\x00", "\x1b[31m", "true", "null", "{}", "[]", "\"", "'", strings.Repeat("9", 400), strings.Repeat("x", 5000), "0." + strings.Repeat("0", 3000) + "1",
}

var numbers = regexp.MustCompile(`[-+]?[0-9][0-9.]*(e[-+]?[0-9]+)?`)

// mutate makes a file of a seed: one edit, or up to four, and now and then a
// compression, which may be edited again. other is what is spliced in.
func mutate(r *rand.Rand, seed, other []byte) []byte {
	data := bytes.Clone(seed)
	for range 1 + r.IntN(2)*r.IntN(4) {
		data = edit(r, data, other)
	}
	if r.IntN(4) == 0 {
		data = compress(r.IntN(3), data)
		if r.IntN(3) == 0 {
			data = edit(r, data, other)
		}
	}
	return data
}

func edit(r *rand.Rand, data, other []byte) []byte {
	at := r.IntN(len(data) + 1)
	to := min(len(data), at+1+r.IntN(16))
	splice := func(at, to int, middle []byte) []byte {
		return append(append(bytes.Clone(data[:at]), middle...), data[to:]...)
	}
	switch r.IntN(13) {
	case 0, 1: // a bit
		if at < len(data) {
			data[at] ^= 1 << r.IntN(8)
		}
		return data
	case 2: // a byte
		if at < len(data) {
			data[at] = byte(r.IntN(256))
		}
		return data
	case 3:
		return data[:at]
	case 4:
		return splice(at, to, nil)
	case 5:
		return splice(at, at, bytes.Repeat(data[at:to], 1+r.IntN(3)))
	case 6: // the end of another file
		return append(data[:at], other[r.IntN(len(other)+1):]...)
	case 7: // part of another file
		from := r.IntN(len(other) + 1)
		return splice(at, at, other[from:min(len(other), from+r.IntN(64))])
	case 8, 9, 10: // another number, and of an array's header as many bytes
		found := numbers.FindAllIndex(data, 500)
		if len(found) == 0 {
			return data
		}
		x, word := found[r.IntN(len(found))], []byte(hostile[r.IntN(len(hostile))])
		if pad := x[1] - x[0] - len(word); bytes.HasPrefix(data, []byte("\x93NUMPY")) && x[0] < 128 && pad < 0 && bytes.Contains(data[:min(128, len(data))], []byte("    ")) {
			data = bytes.Replace(splice(x[0], x[1], word), bytes.Repeat([]byte{' '}, min(-pad, 20)), nil, 1)
			return data
		}
		return splice(x[0], x[1], word)
	case 11: // a line, many times
		lines := bytes.SplitAfter(data, []byte("\n"))
		k := r.IntN(len(lines))
		lines[k] = bytes.Repeat(lines[k], 1+[]int{1, 2, 50, 3000}[r.IntN(4)])
		return bytes.Join(lines, nil)
	default: // what editors and other systems leave
		return [][]byte{
			append([]byte("\xef\xbb\xbf"), data...), append([]byte("\xff\xfe"), data...), append([]byte("\n\n"), data...), append([]byte("# x\n"), data...),
			bytes.ReplaceAll(data, []byte("\n"), []byte("\r\n")), bytes.ReplaceAll(data, []byte("\n"), []byte("\r")),
			bytes.ReplaceAll(data, []byte("\n"), nil), bytes.ReplaceAll(data, []byte(","), []byte(";")), bytes.ReplaceAll(data, []byte(" "), []byte("\t")),
		}[r.IntN(9)]
	}
}

// compress packs data with gzip, xz or zstd.
func compress(kind int, data []byte) []byte {
	var b bytes.Buffer
	switch kind {
	case 0:
		z := gzip.NewWriter(&b)
		z.Write(data)
		z.Close()
	case 1:
		z, err := xz.NewWriter(&b)
		if err != nil {
			panic(err)
		}
		z.Write(data)
		z.Close()
	default:
		z, err := zstd.NewWriter(&b, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<16))
		if err != nil {
			panic(err)
		}
		z.Write(data)
		z.Close()
	}
	return b.Bytes()
}

// decompressionBomb is a small file that unpacks to so many bytes: a line of the seed, or its
// last byte where it has one line, over and over.
func decompressionBomb(r *rand.Rand, seed []byte, bytesOut int) []byte {
	lines := bytes.SplitAfter(seed, []byte("\n"))
	k := r.IntN(len(lines))
	again := lines[k]
	if len(again) == 0 || len(again) == len(seed) {
		again = seed[len(seed)-1:]
	}
	again = bytes.Repeat(again, 1+1<<16/len(again))
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	for _, line := range lines[:k] {
		z.Write(line)
	}
	for n := 0; n < bytesOut; n += len(again) {
		z.Write(again)
	}
	z.Close()
	return b.Bytes()
}
