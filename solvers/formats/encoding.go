package formats

import (
	"bytes"
	"fmt"
)

// mark is the byte order mark of UTF-8, which Windows programs write.
const mark = "\ufeff"

// Encoded counts the first bytes of a file that are the byte order mark of UTF-8. Its error says that the file is text
// of another encoding, which has another mark, or a 0 in every other byte of its first two characters.
func Encoded(head []byte) (skip int, err error) {
	other := ""
	switch {
	case bytes.HasPrefix(head, []byte(mark)):
		return len(mark), nil
	case bytes.HasPrefix(head, []byte("\xff\xfe\x00\x00")) || bytes.HasPrefix(head, []byte("\x00\x00\xfe\xff")):
		other = "UTF-32"
	case bytes.HasPrefix(head, []byte("\xff\xfe")) || bytes.HasPrefix(head, []byte("\xfe\xff")):
		other = "UTF-16"
	case len(head) >= 4 && (head[0] == 0) != (head[1] == 0) && (head[0] == 0) == (head[2] == 0) && (head[1] == 0) == (head[3] == 0) && printed(head[0]|head[1]) && printed(head[2]|head[3]):
		other = "UTF-16"
	default:
		return 0, nil
	}
	return 0, fmt.Errorf("found %s, expected UTF-8: save the file as UTF-8 (iconv -f %s -t UTF-8)", other, other)
}

// printed reports whether a byte is a character of text, not one that controls.
func printed(c byte) bool { return c >= ' ' || c >= '\t' && c <= '\r' }
