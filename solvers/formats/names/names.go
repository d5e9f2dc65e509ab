// Package names reads names, and lists of names in one cell or key, as programs and people write them: goods, groups of
// alternatives, members of coalitions, rows and columns.
package names

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"coalesce/solvers/formats"
)

// Clean is a name as it is compared and shown: without blanks round it, and valid UTF-8. A whole number that a table of
// floats holds, such as 3.0, is the number.
func Clean(word string) string {
	word = strings.ToValidUTF8(strings.TrimSpace(word), "�")
	if whole, zeros, ok := strings.Cut(word, "."); ok && digits(strings.TrimPrefix(whole, "-")) && len(zeros) > 0 && strings.Trim(zeros, "0") == "" {
		return whole
	}
	return word
}

func digits(word string) bool { return word != "" && strings.Trim(word, "0123456789") == "" }

// IsMissing reports words that programs write where there is nothing, without the blanks round them: nothing at all, NA,
// null, and the error values of spreadsheets.
func IsMissing(word string) bool {
	switch word {
	case "", "NA", "na", "Na", "N/A", "n/a", "<NA>", "NaN", "nan", "NAN", "NaT", "NULL", "Null", "null", "NONE", "None", "none", "-", "?":
		return true
	}
	return ErrorValue(word)
}

// ErrorValue reports the error values of spreadsheets, in any language: #DIV/0!, #NAME?, #N/A, #NV, Err:502.
func ErrorValue(word string) bool {
	if code, ok := strings.CutPrefix(word, "Err:"); ok {
		return digits(code)
	}
	code, ok := strings.CutPrefix(word, "#")
	if !ok || len(code) < 2 || code[0] < 'A' {
		return false
	}
	if code == "NV" || code == "GETTING_DATA" {
		return true
	}
	letters := strings.TrimRight(code, "!?")
	return (len(letters) < len(code) || strings.Contains(code, "/")) &&
		!strings.ContainsFunc(letters, func(r rune) bool {
			return !unicode.IsUpper(r) && !unicode.IsDigit(r) && r != '/' && r != '_'
		})
}

// separators stand between names, as blanks do.
const separators = ",;|+/"

// brackets stand round lists, in pairs; those of tags round none.
const brackets = "{}[]()<>"

var pairs = []string{"{}", "[]", "()"}

// marks alone are no name without quotes.
const marks = "&-*.:!?=~_^%$@#\\"

// conjunctions between names are none themselves.
var conjunctions = []string{"and", "or", "und", "et"}

// ParseList reads a list of names: between blanks, commas, semicolons, |, + or /, of which a list has one kind; in brackets
// or braces or in none, names in quotes or in none, as Python, NumPy and JSON write them. Quotes hold names with blanks
// and separators. known, unless it is nil, reports names that may have these without quotes. A list that could be read
// in two ways is an error, and so are empty names and words that stand for none.
func ParseList(list string, known func(name string) bool) ([]string, error) {
	text := strings.TrimSpace(list)
	if text == "" {
		return nil, nil
	}
	if known != nil && known(text) {
		return []string{text}, nil
	}
	if IsMissing(text) {
		return nil, fmt.Errorf("found %s, which is no name, expected a list of names", formats.Quote(list))
	}
	inner, bracketed := unwrap(text)
	if known != nil {
		if items := knownPieces(inner, known); items != nil {
			return items, nil
		}
	}
	items, err := scan(inner, bracketed)
	if err != nil {
		return nil, fmt.Errorf("found %s, expected a list of names: %w", formats.Quote(list), err)
	}
	return items, nil
}

// unwrap takes brackets off a list, and the names that Python gives to kinds of lists.
func unwrap(text string) (inner string, bracketed bool) {
	for _, call := range []string{"frozenset", "set", "tuple", "list", "array", "dict_keys"} {
		if rest, ok := strings.CutPrefix(text, call+"("); ok && strings.HasSuffix(rest, ")") {
			text, bracketed = strings.TrimSpace(strings.TrimSuffix(rest, ")")), true
			break
		}
	}
	for _, pair := range pairs {
		if len(text) >= 2 && text[0] == pair[0] && text[len(text)-1] == pair[1] {
			return strings.TrimSpace(text[1 : len(text)-1]), true
		}
	}
	return text, bracketed
}

// knownPieces are the pieces between one kind of separators, where all of them are known names; nil where they are not.
func knownPieces(list string, known func(name string) bool) []string {
	for _, separator := range separators {
		if !strings.ContainsRune(list, separator) {
			continue
		}
		pieces := strings.Split(list, string(separator))
		all := true
		for k, piece := range pieces {
			pieces[k] = strings.TrimSpace(piece)
			all = all && known(pieces[k])
		}
		if all {
			return pieces
		}
	}
	return nil
}

// scan reads the names of a list without its brackets.
func scan(list string, bracketed bool) ([]string, error) {
	var items []string
	between, blank := rune(0), false // the separator of the list; two names with blanks alone between them
	rest := strings.TrimSpace(list)
	for rest != "" {
		item, behind, err := one(rest, bracketed)
		if err != nil {
			return nil, err
		}
		items = append(items, item)
		rest = strings.TrimSpace(behind)
		if rest == "" {
			break
		}
		separator := rune(rest[0])
		if !strings.ContainsRune(separators, separator) {
			blank = true
			continue
		}
		if between != 0 && between != separator {
			return nil, fmt.Errorf("%q and %q are between names, which could be a part of them: names with a separator stand in quotes", between, separator)
		}
		between = separator
		if rest = strings.TrimSpace(rest[1:]); rest == "" && separator != ',' && separator != ';' {
			return nil, fmt.Errorf("no name follows the last %q", separator)
		}
	}
	for k := 1; blank && k < len(items)-1; k++ {
		if slices.Contains(conjunctions, items[k]) {
			return nil, fmt.Errorf("%q is between names: blanks or one kind of separators stand there", items[k])
		}
	}
	if blank && between != 0 {
		return nil, fmt.Errorf("both blanks and %q are between names: names with blanks stand in quotes", between)
	}
	return items, nil
}

// one reads the first name of a list, and returns it with what follows it.
func one(rest string, bracketed bool) (item, behind string, err error) {
	if bracketed && strings.HasPrefix(rest, "np.") { // NumPy's numbers and strings: np.str_('a')
		if open := strings.IndexByte(rest, '('); open > 0 && !strings.ContainsAny(rest[:open], " '\","+separators) {
			inner := strings.TrimSpace(rest[open+1:])
			if inner == "" || inner[0] == ')' {
				return "", "", fmt.Errorf("no name stands within %s", rest[:open+1])
			}
			if item, behind, err = plain(inner, true); err != nil {
				return "", "", err
			}
			behind = strings.TrimSpace(behind)
			if !strings.HasPrefix(behind, ")") {
				return "", "", fmt.Errorf("the bracket behind %s has no end", rest[:open])
			}
			return item, behind[1:], nil
		}
	}
	return plain(rest, false)
}

// plain reads a name that begins a text, in quotes or in none; a closing bracket may follow it within the text of NumPy.
func plain(rest string, within bool) (item, behind string, err error) {
	if rest[0] == '\'' || rest[0] == '"' {
		if item, behind, err = quoted(rest); err != nil {
			return "", "", err
		}
		if item = strings.ToValidUTF8(strings.TrimSpace(item), "�"); item == "" {
			return "", "", fmt.Errorf("a name is empty")
		}
		return item, behind, nil
	}
	end := strings.IndexFunc(rest, func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune(separators+brackets, r)
	})
	if end < 0 {
		end = len(rest)
	}
	switch item = Clean(rest[:end]); {
	case end == 0 && strings.ContainsRune(separators, rune(rest[0])):
		return "", "", fmt.Errorf("no name stands before a %q", rest[0])
	case end < len(rest) && strings.IndexByte(brackets, rest[end]) >= 0 && !(within && rest[end] == ')' && end > 0):
		return "", "", fmt.Errorf("%q stands among names: names with brackets stand in quotes", rest[end])
	case IsMissing(item) || strings.Trim(item, marks) == "":
		return "", "", fmt.Errorf("%s is no name", formats.Quote(item))
	}
	return item, rest[end:], nil
}

// quoted reads text in quotes, with Python's and JSON's escapes of quotes and backslashes, or with doubled quotes.
func quoted(text string) (item, behind string, err error) {
	mark := text[0]
	var b strings.Builder
	for at := 1; at < len(text); at++ {
		c := text[at]
		switch {
		case c == '\\' && at+1 < len(text) && strings.IndexByte(`\'"`, text[at+1]) >= 0:
			at++
			b.WriteByte(text[at])
		case c == '\\':
			return "", "", fmt.Errorf(`found a backslash before no quote, expected \', \" or \\`)
		case c == mark && at+1 < len(text) && text[at+1] == mark:
			at++
			b.WriteByte(mark)
		case c == mark:
			behind = text[at+1:]
			if next := strings.TrimLeftFunc(behind, unicode.IsSpace); len(next) == len(behind) && next != "" && !strings.ContainsRune(separators+")", rune(next[0])) {
				return "", "", fmt.Errorf("text stands behind the quoted name %s", formats.Quote(b.String()))
			}
			return b.String(), behind, nil
		default:
			b.WriteByte(c)
		}
	}
	return "", "", fmt.Errorf("a quote has no end")
}

// FormatList is a list of names as ParseList reads it: between blanks, or where one of them needs quotes as Python writes lists.
func FormatList(list []string) string {
	for _, name := range list {
		if items, err := ParseList(name, nil); err != nil || len(items) != 1 || items[0] != name || strings.ContainsAny(name, "'\"\\") || strings.HasPrefix(name, "np.") {
			return python(list)
		}
	}
	return strings.Join(list, " ")
}

// python writes a list of quoted names.
func python(list []string) string {
	quotedNames := make([]string, len(list))
	for k, name := range list {
		quotedNames[k] = "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(name) + "'"
	}
	return "[" + strings.Join(quotedNames, ", ") + "]"
}
