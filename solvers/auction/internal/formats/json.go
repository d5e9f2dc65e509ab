package formats

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"coalesce/solvers/auction/problem"
	"coalesce/solvers/formats"
	"coalesce/solvers/formats/names"
)

// A jsonReader reads a JSON file token by token.
type jsonReader struct {
	*builder
	text []byte
	dec  *json.Decoder
	at   int // bytes whose lines are counted
	line int
}

// maxDepth is how many lists and objects may stand in one another; those of an auction are
// seven at most.
const maxDepth = 100

// errListed ends a reading that looks for the list of goods alone.
var errListed = errors.New("the goods are listed")

// readJSON reads JSON, as docs/auction.md describes it. Its text is read twice up to the
// list of goods, which may be behind their bids.
func readJSON(in io.Reader, name string, memory *formats.Budget) (*problem.Auction, error) {
	most := min(int64(maxObject), memory.Left())
	text, err := formats.ReadAll(formats.Literals(in), name, most)
	if errors.Is(err, formats.ErrLong) && most < maxObject {
		err = formats.Errorf(name, 0, "the text takes %w", memory.Take(most+1))
	}
	if err != nil {
		return nil, err
	}
	memory.Take(int64(len(text))) // which is left
	o := &jsonReader{builder: newBuilder(name, memory), text: text}
	o.rewind()
	if err := o.fields("an object", func(key string) error {
		if key != "goods" {
			return o.skip()
		}
		if err := o.goodsList(); err != nil {
			return err
		}
		return errListed
	}); err != nil && !errors.Is(err, errListed) {
		return nil, err
	}
	o.rewind()
	if err := o.fields("an object", o.readField); err != nil {
		return nil, err
	}
	if _, err := o.dec.Token(); !errors.Is(err, io.EOF) {
		return nil, o.errorHere("found more after the object, expected the end of the file")
	}
	return o.auction()
}

func (o *jsonReader) rewind() {
	o.dec, o.at, o.line = json.NewDecoder(bytes.NewReader(o.text)), 0, 1
	o.dec.UseNumber()
}

// lineHere is the line of the last token.
func (o *jsonReader) lineHere() int {
	to := int(o.dec.InputOffset())
	o.line += bytes.Count(o.text[o.at:to], []byte("\n"))
	o.at = to
	return o.line
}

func (o *jsonReader) errorHere(format string, args ...any) error {
	return o.errorf(o.lineHere(), format, args...)
}

func (o *jsonReader) token(want string) (json.Token, error) {
	token, err := o.dec.Token()
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		line := o.lineHere()
		var syntax *json.SyntaxError
		if at := 0; errors.As(err, &syntax) {
			if at = min(int(syntax.Offset), len(o.text)); at > o.at {
				line += bytes.Count(o.text[o.at:at-1], []byte("\n"))
			}
		}
		return nil, o.errorf(line, "found broken JSON, expected %s: %w", want, err)
	}
	return token, nil
}

// tokenText is the text for a token in errors.
func tokenText(token json.Token) string {
	switch token := token.(type) {
	case string:
		return formats.Quote(token)
	case nil:
		return "null"
	}
	return fmt.Sprint(token)
}

// fields reads an object and calls field with each key.
func (o *jsonReader) fields(want string, field func(key string) error) error {
	token, err := o.token(want)
	if err != nil {
		return err
	}
	if token != json.Delim('{') {
		return o.errorHere("found %s, expected %s", tokenText(token), want)
	}
	seen := map[string]bool{}
	for o.dec.More() {
		if token, err = o.token("a key"); err != nil {
			return err
		}
		key, _ := token.(string)
		if seen[key] {
			return o.errorHere("found the key %s again, expected each once", formats.Quote(key))
		}
		seen[key] = true
		if err := field(key); err != nil {
			return err
		}
	}
	_, err = o.token("the end of " + want)
	return err
}

// list reads a list and calls item before each of its items.
func (o *jsonReader) list(want string, item func() error) error {
	token, err := o.token(want)
	if err != nil {
		return err
	}
	if token != json.Delim('[') {
		return o.errorHere("found %s, expected %s", tokenText(token), want)
	}
	return o.restOfList(want, item)
}

// restOfList is list after the bracket.
func (o *jsonReader) restOfList(want string, item func() error) error {
	for o.dec.More() {
		if err := item(); err != nil {
			return err
		}
	}
	_, err := o.token("the end of " + want)
	return err
}

// skip passes over a value.
func (o *jsonReader) skip() error {
	for depth := 0; ; {
		token, err := o.token("a value")
		if err != nil {
			return err
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			if depth++; depth > maxDepth {
				return o.errorHere("found more than %d lists and objects in one another, expected an auction", maxDepth)
			}
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth == 0 {
			return nil
		}
	}
}

// readText reads a string or a number, as it is written.
func (o *jsonReader) readText(want string) (string, error) {
	token, err := o.token(want)
	if err != nil {
		return "", err
	}
	switch token := token.(type) {
	case string:
		return token, nil
	case json.Number:
		return names.Name(token.String()), nil
	}
	return "", o.errorHere("found %s, expected %s", tokenText(token), want)
}

// readNumber reads a number.
func (o *jsonReader) readNumber(want string) (string, error) {
	token, err := o.token(want)
	if err != nil {
		return "", err
	}
	if n, ok := token.(json.Number); ok {
		return n.String(), nil
	}
	return "", o.errorHere("found %s, expected %s", tokenText(token), want)
}

// readTexts reads a list of strings and numbers, within the memory for them.
func (o *jsonReader) readTexts(want string) ([]string, error) {
	var list []string
	err := o.list(want, func() error {
		word, err := o.readText(want)
		if err != nil {
			return err
		}
		if list, err = formats.Append(o.memory, list, word); err != nil {
			return o.errorHere("a list takes %w", err)
		}
		return nil
	})
	return list, err
}

// goodsList reads the names of the goods, or how many there are.
func (o *jsonReader) goodsList() error {
	const want = "a list of goods, or their number"
	token, err := o.token(want)
	if err != nil {
		return err
	}
	if n, ok := token.(json.Number); ok {
		return o.setGoodsCount(n.String(), o.lineHere())
	}
	if token != json.Delim('[') {
		return o.errorHere("found %s, expected %s", tokenText(token), want)
	}
	o.listed = true
	return o.restOfList(want, func() error {
		name, err := o.readText("the name of a good")
		if err != nil {
			return err
		}
		return o.addListedGood(name, o.lineHere())
	})
}

// readField reads what a key of the file's object says, all but the goods.
func (o *jsonReader) readField(key string) error {
	switch key {
	case "goods":
		return o.skip()
	case "free_disposal":
		token, err := o.token("true or false")
		if err != nil {
			return err
		}
		yes, ok := token.(bool)
		if !ok {
			return o.errorHere("found %s, expected true or false", tokenText(token))
		}
		o.a.SellAll = !yes
		return nil
	case "reserves":
		return o.list("a list of reserves", o.readReserve)
	case "bidders":
		seen := map[string]bool{}
		return o.list("a list of bidders", func() error { return o.readBidder(seen) })
	case "bids":
		return o.list("a list of bids", func() error {
			b, err := o.readBid()
			if err != nil {
				return err
			}
			return o.addBid(b)
		})
	}
	return o.errorHere("found the key %s, expected goods, free_disposal, reserves, bidders or bids", formats.Quote(key))
}

func (o *jsonReader) readReserve() error {
	price := ""
	var goods []string
	err := o.fields("a reserve", func(key string) (err error) {
		switch key {
		case "price":
			price, err = o.readText("a price")
		case "goods":
			goods, err = o.readTexts("a list of goods")
		default:
			err = o.errorHere("found the key %s of a reserve, expected price or goods", formats.Quote(key))
		}
		return err
	})
	if err != nil {
		return err
	}
	return o.addReserve(price, goods, o.lineHere())
}

// readBidder reads a bidder and its bids; seen are the names before.
func (o *jsonReader) readBidder(seen map[string]bool) error {
	name, most := "", ""
	var bids []namedBid
	err := o.fields("a bidder", func(key string) (err error) {
		switch key {
		case "name":
			name, err = o.readText("a name")
		case "most":
			most, err = o.readNumber("how many bids can win at most")
		case "bids":
			err = o.list("a list of bids", func() error {
				b, err := o.readBid()
				if err == nil {
					if bids, err = formats.Append(o.memory, bids, b); err != nil {
						err = o.errorHere("%d bids and more take %w", len(bids), err)
					}
				}
				return err
			})
		default:
			err = o.errorHere("found the key %s of a bidder, expected name, most or bids", formats.Quote(key))
		}
		return err
	})
	if err != nil {
		return err
	}
	line := o.lineHere()
	name = strings.TrimSpace(name)
	if err := o.checkName("bidder", name, line); err != nil {
		return err
	}
	if seen[name] {
		return o.errorHere("found bidder %s again, expected each once", formats.Quote(name))
	}
	seen[name] = true
	for _, b := range bids {
		if b.bidder != "" && b.bidder != name {
			return o.errorf(b.line, "found a bid of bidder %s among those of %s, expected its bids alone", formats.Quote(b.bidder), formats.Quote(name))
		}
		b.bidder = name
		if err := o.addBid(b); err != nil {
			return err
		}
	}
	if most != "" && len(bids) > 0 {
		return o.setLimit(name, most, line)
	}
	return nil
}

func (o *jsonReader) readBid() (namedBid, error) {
	var b namedBid
	err := o.fields("a bid", func(key string) (err error) {
		switch key {
		case "bid":
			b.number, err = o.readNumber("the number of a bid")
		case "price":
			b.price, err = o.readText("a price")
		case "goods":
			b.goods, err = o.readTexts("a list of goods")
		case "bidder":
			if b.bidder, err = o.readText("the name of a bidder"); err == nil {
				b.bidder = strings.TrimSpace(b.bidder)
				err = o.checkName("bidder", b.bidder, o.lineHere())
			}
		case "xor":
			var token json.Token
			if token, err = o.token("the name of a group"); err != nil {
				return err
			}
			switch token := token.(type) {
			case string:
				b.xor = []string{token}
			case json.Number:
				b.xor = []string{names.Name(token.String())}
			default:
				if token != json.Delim('[') {
					return o.errorHere("found %s, expected the name of a group, or a list of them", tokenText(token))
				}
				err = o.restOfList("a list of groups", func() error {
					label, err := o.readText("the name of a group")
					b.xor = append(b.xor, label)
					return err
				})
			}
		default:
			err = o.errorHere("found the key %s of a bid, expected bid, bidder, price, goods or xor", formats.Quote(key))
		}
		return err
	})
	b.line = o.lineHere()
	return b, err
}
