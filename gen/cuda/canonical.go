package cuda

import "strings"

// canonicalText is the part of a text on which the compiler's output depends: the text without
// comments, and without white space except between two words or like signs. Preprocessor lines
// stay lines. A hash of it stays the same when comments change.
func canonicalText(text string) string {
	text = comment.ReplaceAllString(text, " ")
	var b strings.Builder
	b.Grow(len(text))
	last := byte('\n')
	directive := false
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		if words[0][0] == '#' || directive {
			if last != '\n' {
				b.WriteByte('\n')
			}
			line = strings.Join(words, " ") + "\n"
			directive = strings.HasSuffix(line, "\\\n")
			b.WriteString(line)
			last = '\n'
			continue
		}
		for _, w := range words {
			if wordByte(last) && wordByte(w[0]) || last == w[0] {
				b.WriteByte(' ')
			}
			b.WriteString(w)
			last = w[len(w)-1]
		}
	}
	return b.String()
}

// wordByte reports whether a byte may be part of a name, a number or a string.
func wordByte(c byte) bool {
	return c == '_' || c == '"' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
