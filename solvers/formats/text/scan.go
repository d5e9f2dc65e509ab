package text

import (
	"encoding/binary"
	"math/bits"
)

// Text is scanned 8 bytes at a time, as a number of 64 bits whose lowest byte is the first of the text.
const (
	ones = 0x0101010101010101 // times a byte: 8 such bytes
	tops = 0x80 * ones        // the highest bit of each byte
)

// loadWord is the 8 bytes of a text that begin at a place.
func loadWord(text []byte, at int) uint64 { return binary.LittleEndian.Uint64(text[at:]) }

// leadingDigits is how many of 8 bytes are digits before the first other byte, and the number that these digits write.
func leadingDigits(x uint64) (count int, value uint64) {
	x ^= '0' * ones
	count = bits.TrailingZeros64(markNonDigits(x)) >> 3
	return count, joinDigits(x << (64 - 8*uint(count)))
}

// markNonDigits marks bytes above 9 with their highest bit. The lowest mark is that of the first such byte; bytes behind
// the first may be marked too.
func markNonDigits(x uint64) uint64 { return (x + 0x76*ones | x) & tops }

// joinDigits is the number that 8 digits write, each a byte from 0 to 9: pairs of digits are joined, then pairs of those, then
// both halves.
func joinDigits(x uint64) uint64 {
	x = x * (10<<8 + 1) >> 8 & 0x00ff00ff00ff00ff
	x = x * (100<<16 + 1) >> 16 & 0x0000ffff0000ffff
	return x * (10000<<32 + 1) >> 32
}

// parseShort reads a word of 1 to 7 digits; false where another byte is among them. The word's memory goes on for 8 bytes.
func parseShort(word []byte) (uint64, bool) {
	x := (loadWord(word[:8], 0) ^ '0'*ones) << (64 - 8*uint(len(word)))
	return joinDigits(x), markNonDigits(x) == 0
}

// markBlanks marks bytes below '!', which blanks are, with their highest bit. The lowest mark is that of the first such byte;
// bytes behind the first may be marked too.
func markBlanks(x uint64) uint64 { return (x - '!'*ones) &^ x & tops }

// WordEnd is where the word ends that begins at a place: at the first blank, or at the end of the text.
func WordEnd(text []byte, at int) int {
	for at+8 <= len(text) {
		low := markBlanks(loadWord(text, at))
		if low == 0 {
			at += 8
			continue
		}
		at += bits.TrailingZeros64(low) >> 3
		if isBlank(text[at]) {
			return at
		}
		at++ // a control character, which belongs to the word
	}
	for at < len(text) && !isBlank(text[at]) {
		at++
	}
	return at
}

// isBlank reports whether a byte separates words.
func isBlank(c byte) bool { return c == ' ' || c-'\t' < 5 }

// SplitWords appends the words of a line.
func SplitWords(words [][]byte, line []byte) [][]byte {
	for at := 0; at < len(line); {
		if isBlank(line[at]) {
			at++
			continue
		}
		from := at
		at = WordEnd(line, at)
		words = append(words, line[from:at])
	}
	return words
}
