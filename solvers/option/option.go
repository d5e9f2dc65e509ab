// Package option binds the options of a problem to the struct that holds them. An option is declared once, by a field of
// that struct, its comment and its tags; package gen/options writes the declarations of a struct as a Table. Flags, JSON
// objects, checks, Python's keywords, the JSON Schema and the tables of the documentation all read that Table.
package option

import (
	"bytes"
	"encoding"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Declaration is what the source says of an option.
type Declaration struct {
	Name    string   // in JSON and in Python; a flag has - for _
	Field   string   // of the Go struct
	Flag    string   // the flag's name, where it is another; "-": the command has no flag of it
	About   string   // the field's comment; {name} stands for another option
	Default string   // what the zero value stands for; empty: for itself
	Min     string   // the least value, besides a zero that stands for the default
	Max     string   // the largest value; empty: that of the type
	Words   []string // the texts that it takes; nil: any text
	Whole   bool     // a flag gives one text of a list, commas and all
	Only    string   // the algorithm that has it; empty: all algorithms
	Negated bool     // the field, a bool, says the opposite of the option, which is true by default
	Refused string   // why no value is taken, of an option of an embedded struct; empty: values are
}

// A Table has the declarations of all options of a struct.
type Table []Declaration

// An Option is a Declaration and the struct's field that holds its value.
type Option struct {
	*Declaration
	at    any // pointer to an int, int64, uint64, float64, bool, string, []string, *float64, time.Duration, or a type that reads its own text
	given bool
}

// A List has all options of one struct.
type List []Option

// A ValueError is the error of an option's value.
type ValueError struct {
	*Declaration
	Found, Expected string
}

// Error begins with the option's name.
func (e *ValueError) Error() string {
	return e.Name + ": found " + e.Found + ", expected " + e.Expected
}

// Bind binds the options to pointers, one an option. A refused option is none, unless a program has given its field a
// value, which Check refuses.
func (t Table) Bind(pointers []any) List {
	l := make(List, 0, len(t))
	for k := range t {
		if t[k].Refused == "" || !reflect.ValueOf(pointers[k]).Elem().IsZero() {
			l = append(l, Option{Declaration: &t[k], at: pointers[k]})
		}
	}
	return l
}

// WithDefault says what the zero value of an option of an embedded struct stands for.
func (t Table) WithDefault(name, what string) Table {
	return t.with(name, func(d *Declaration) { d.Default = what })
}

// WithWords lists the texts that an option of an embedded struct takes.
func (t Table) WithWords(name string, words []string) Table {
	return t.with(name, func(d *Declaration) { d.Words = words })
}

// WithAbout describes an option of an embedded struct in other words.
func (t Table) WithAbout(name, about string) Table {
	return t.with(name, func(d *Declaration) { d.About = about })
}

// WithRefused says why the problem takes no value of an option of an embedded struct.
func (t Table) WithRefused(name, why string) Table {
	return t.with(name, func(d *Declaration) { d.Refused = why })
}

func (t Table) with(name string, set func(*Declaration)) Table {
	t = slices.Clone(t)
	for k := range t {
		if t[k].Name == name {
			set(&t[k])
		}
	}
	return t
}

// FlagName is the name of the option's flag, without dashes; empty where the command has none.
func (d *Declaration) FlagName() string {
	if d.Flag == "-" {
		return ""
	}
	if d.Flag != "" {
		return d.Flag
	}
	return strings.ReplaceAll(d.Name, "_", "-")
}

// A Kind is the type of an option's values, in the words of JSON Schema; times are Seconds.
type Kind string

// The kinds of options.
const (
	Integer Kind = "integer"
	Number  Kind = "number"
	Boolean Kind = "boolean"
	Text    Kind = "string"
	Texts   Kind = "array"
	Seconds Kind = "seconds"
)

// Extend lets an option of one list take another word, whose meaning its description adds. Other lists of the table stay.
func (o *Option) Extend(word, about string) {
	d := *o.Declaration
	d.Words = append(slices.Clip(d.Words), word)
	d.About += "; " + about
	o.Declaration = &d
}

// Kind is the type of the option's values.
func (o *Option) Kind() Kind {
	switch o.at.(type) {
	case *int, *int64, *uint64:
		return Integer
	case *float64, **float64:
		return Number
	case *bool:
		return Boolean
	case *[]string:
		return Texts
	case *time.Duration:
		return Seconds
	}
	return Text
}

// Largest is the largest integer of the option's type.
func (o *Option) Largest() string {
	if _, unsigned := o.at.(*uint64); unsigned {
		return strconv.FormatUint(math.MaxUint64, 10)
	}
	return strconv.FormatInt(math.MaxInt64, 10)
}

// Set reads a value from the text of a flag. Its errors are ValueErrors, or those of a type that reads its own text.
func (o *Option) Set(text string) (err error) {
	repeated := o.given
	o.given = true
	switch at := o.at.(type) {
	case *int:
		*at, err = strconv.Atoi(text)
	case *int64:
		*at, err = strconv.ParseInt(text, 10, 64)
	case *uint64:
		*at, err = strconv.ParseUint(text, 10, 64)
	case *bool:
		var yes bool
		if yes, err = strconv.ParseBool(text); err == nil {
			*at = yes != o.Negated
		}
	case *string:
		*at = text
	case *[]string:
		if !repeated {
			*at = nil
		}
		list := []string{text}
		if !o.Whole && text != "" { // a part in quotes may have commas
			list, err = csv.NewReader(strings.NewReader(text)).Read()
		}
		*at = append(*at, list...)
	case *float64:
		*at, err = strconv.ParseFloat(text, 64)
	case **float64:
		var x float64
		x, err = strconv.ParseFloat(text, 64)
		*at = &x
	case *time.Duration:
		*at, err = parseTime(text)
	case encoding.TextUnmarshaler:
		return at.UnmarshalText([]byte(text))
	}
	if o.Kind() == Integer && errors.Is(err, strconv.ErrRange) {
		return o.wrong(strconv.Quote(text), o.expected()+" that fits in 64 bits")
	}
	if err != nil {
		return o.wrong(strconv.Quote(text), o.expected())
	}
	return o.Check()
}

// parseTime reads a time with a unit, or a number of seconds.
func parseTime(text string) (time.Duration, error) {
	if x, err := strconv.ParseFloat(text, 64); err == nil {
		return ofSeconds(x)
	}
	return time.ParseDuration(text)
}

// ofSeconds is a time of at least a nanosecond, unless x is 0.
func ofSeconds(x float64) (time.Duration, error) {
	const most = 1e9 // 30 years
	if !(x >= 0 && x < most) {
		return 0, strconv.ErrRange
	}
	d := time.Duration(x * float64(time.Second))
	if x > 0 {
		d = max(d, 1)
	}
	return d, nil
}

// decode reads a value of JSON. null leaves the default.
func (o *Option) decode(text json.RawMessage) error {
	if string(text) == "null" {
		return nil
	}
	o.given = true
	var err error
	switch at := o.at.(type) {
	case *time.Duration:
		var x float64
		if err = json.Unmarshal(text, &x); err == nil {
			*at, err = ofSeconds(x)
		}
	case *int: // numbers are read by their digits: a float64 does not hold all integers
		*at, err = strconv.Atoi(string(text))
	case *int64:
		*at, err = strconv.ParseInt(string(text), 10, 64)
	case *uint64:
		*at, err = strconv.ParseUint(string(text), 10, 64)
	case *bool:
		var yes bool
		if err = json.Unmarshal(text, &yes); err == nil {
			*at = yes != o.Negated
		}
	case *string, *[]string, *float64, **float64:
		err = json.Unmarshal(text, at)
	case encoding.TextUnmarshaler:
		var own string
		if err = json.Unmarshal(text, &own); err == nil {
			if err := at.UnmarshalText([]byte(own)); err != nil {
				return fmt.Errorf("%s: %w", o.Name, err)
			}
		}
	}
	if err != nil {
		return o.wrong(fmt.Sprintf("%.40s", text), o.expected())
	}
	return o.Check()
}

func (o *Option) wrong(found, expected string) error {
	return &ValueError{o.Declaration, found, expected}
}

// expected says which values the option's type has.
func (o *Option) expected() string {
	switch o.Kind() {
	case Integer:
		if _, unsigned := o.at.(*uint64); unsigned {
			return "a whole number from 0 on"
		}
		return "a whole number"
	case Number:
		return "a number"
	case Boolean:
		return "true or false"
	case Seconds:
		return "a time such as 500ms, 10s or 2m"
	case Texts:
		return "a list of texts"
	}
	return "a text"
}

// Check compares the value with the declaration. A zero that nobody gave stands for the default. Errors are ValueErrors.
func (o *Option) Check() error {
	if o.Refused != "" {
		return o.wrong("a value", "none: "+o.Refused)
	}
	switch at := o.at.(type) {
	case *string:
		if *at == "" && !o.given {
			return nil
		}
		return o.checkWord(*at)
	case *[]string:
		for _, word := range *at {
			if err := o.checkWord(word); err != nil {
				return err
			}
		}
	case **float64:
		if *at != nil && (math.IsNaN(**at) || math.IsInf(**at, 0)) {
			return o.wrong(fmt.Sprint(**at), "a finite number")
		}
	case *float64:
		if *at != 0 || o.given {
			return o.checkNumber(*at)
		}
	case *int:
		return o.checkRange(int64(*at))
	case *int64:
		return o.checkRange(*at)
	case *time.Duration:
		if *at < 0 || *at == 0 && o.given && o.Min != "" {
			return o.wrong(at.String(), o.expected())
		}
	}
	return nil
}

func (o *Option) checkRange(value int64) error {
	least, most := int64(0), int64(math.MaxInt64)
	if o.Min != "" && (value != 0 || o.given) {
		least, _ = strconv.ParseInt(o.Min, 10, 64)
	}
	if o.Max != "" {
		most, _ = strconv.ParseInt(o.Max, 10, 64)
	}
	switch {
	case least <= value && value <= most:
		return nil
	case o.Max != "":
		return o.wrong(strconv.FormatInt(value, 10), fmt.Sprintf("%d to %d", least, most))
	}
	return o.wrong(strconv.FormatInt(value, 10), fmt.Sprintf("%d or more", least))
}

// checkNumber is an error where a number is not finite or out of range. Without Min and Max any finite number will do.
func (o *Option) checkNumber(x float64) error {
	least, most := math.Inf(-1), math.Inf(1)
	expected := "a finite number"
	if o.Min != "" {
		least, _ = strconv.ParseFloat(o.Min, 64)
		expected = "a number from " + o.Min + " on"
	}
	if o.Max != "" {
		most, _ = strconv.ParseFloat(o.Max, 64)
		expected = "a number up to " + o.Max
	}
	if o.Min != "" && o.Max != "" {
		expected = o.Min + " to " + o.Max
	}
	if math.IsInf(x, 0) || !(least <= x && x <= most) {
		return o.wrong(strconv.FormatFloat(x, 'g', -1, 64), expected)
	}
	return nil
}

// checkWord is an error where a text is none of the words. A text that was given is not empty.
func (o *Option) checkWord(word string) error {
	switch {
	case o.Words != nil && !slices.Contains(o.Words, word):
		return o.wrong(fmt.Sprintf("%.40q", word), "one of "+strings.Join(o.Words, ", "))
	case word == "" || strings.ContainsRune(word, 0):
		return o.wrong(fmt.Sprintf("%.40q", word), "a text that is not empty")
	}
	return nil
}

// Check checks all options.
func (l List) Check() error {
	for k := range l {
		if err := l[k].Check(); err != nil {
			return err
		}
	}
	return nil
}

// Decode reads a JSON object of options, which may be empty. A name that the list does not have is an error.
func (l List) Decode(text []byte) error {
	if len(bytes.TrimSpace(text)) == 0 {
		return nil
	}
	var given map[string]json.RawMessage
	if err := json.Unmarshal(text, &given); err != nil {
		return fmt.Errorf("options: %w", err)
	}
	for k := range l {
		value, ok := given[l[k].Name]
		if !ok {
			continue
		}
		if err := l[k].decode(value); err != nil {
			return err
		}
		delete(given, l[k].Name)
	}
	for name := range given {
		return fmt.Errorf("options: found %.40q, expected some of %s", name, strings.Join(l.Names(), ", "))
	}
	return nil
}

// Names are the names of all options.
func (l List) Names() []string {
	names := make([]string, len(l))
	for k := range l {
		names[k] = l[k].Name
	}
	return names
}

// Select are the options of some names, in the order of the names.
func (l List) Select(names ...string) List {
	some := make(List, 0, len(names))
	for _, name := range names {
		some = append(some, *l.Find(name))
	}
	return some
}

// Except are all options but those of some names.
func (l List) Except(names ...string) List {
	return slices.DeleteFunc(slices.Clone(l), func(o Option) bool { return slices.Contains(names, o.Name) })
}

// ForProblem returns the options as a problem of a name describes them.
func (l List) ForProblem(name string) List {
	l = slices.Clone(l)
	for k := range l {
		d := *l[k].Declaration
		d.Only = name
		l[k].Declaration = &d
	}
	return l
}

// Find is the option of a name, nil where there is none.
func (l List) Find(name string) *Option {
	for k := range l {
		if l[k].Name == name {
			return &l[k]
		}
	}
	return nil
}

// Describe is one sentence on an option, with its words and its default, if there are any. name is how a door calls
// options, such as Declaration.FlagName after two dashes.
func (l List) Describe(o *Option, name func(*Declaration) string) string {
	text := l.ReplaceReferences(o.About, name)
	if o.Only != "" {
		text = o.Only + ": " + text
	}
	if len(o.Words) > 0 {
		text += ": " + strings.Join(o.Words, ", ")
	}
	if o.Default != "" {
		text += " (default: " + l.ReplaceReferences(o.Default, name) + ")"
	}
	return text
}

// ReplaceReferences writes the names of other options into a text.
func (l List) ReplaceReferences(text string, name func(*Declaration) string) string {
	for k := range l {
		text = strings.ReplaceAll(text, "{"+l[k].Name+"}", name(l[k].Declaration))
	}
	return text
}

// String is the option's value as help shows it: empty where the zero value stands for a default. With Set and Type an
// Option is a value of a flag.
func (o *Option) String() string {
	if o == nil || o.at == nil {
		return ""
	}
	switch at := o.at.(type) {
	case *int:
		return nonzero(*at)
	case *int64:
		return nonzero(*at)
	case *uint64:
		return nonzero(*at)
	case *bool:
		return strconv.FormatBool(*at != o.Negated)
	case *float64:
		return nonzero(*at)
	case *string:
		return *at
	case *[]string:
		return strings.Join(*at, ",")
	case **float64:
		if *at != nil {
			return strconv.FormatFloat(**at, 'g', -1, 64)
		}
	case *time.Duration:
		if *at != 0 {
			return at.String()
		}
	}
	return ""
}

func nonzero[T int | int64 | uint64 | float64](x T) string {
	if x == 0 {
		return ""
	}
	return fmt.Sprint(x)
}

// Type is what help shows in place of the value.
func (o *Option) Type() string {
	switch k := o.Kind(); k {
	case Seconds:
		return "time"
	case Boolean:
		return "bool"
	case Integer:
		return "int"
	case Texts:
		return "strings"
	default:
		return string(k)
	}
}
