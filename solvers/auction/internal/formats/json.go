package formats

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"

	"coalesce/solvers/auction/problem"
	"coalesce/solvers/formats"
	"coalesce/solvers/formats/names"
	"coalesce/solvers/formats/tokens"
)

// A jsonReader reads a JSON file token by token.
type jsonReader struct {
	*builder
	*tokens.Reader
	keys int // of bids in a list, which stand for goods
}

// maxDepth is how many lists and objects may stand in one another; those of an auction are
// seven at most.
const maxDepth = 100

// errListed ends a reading that looks for the list of goods alone.
var errListed = errors.New("the goods are listed")

// readJSON reads JSON, as docs/auction.md describes it. Its text is read twice up to the
// list of goods, which may be behind their bids.
func readJSON(in io.Reader, name string, memory *formats.Budget) (*problem.Auction, error) {
	most := min(int64(maxObject), memory.Remaining())
	text, err := formats.ReadAll(in, name, most)
	if errors.Is(err, formats.ErrLong) && most < maxObject {
		err = formats.Errorf(name, 0, "the text takes %w", memory.Reserve(most+1))
	}
	if err != nil {
		return nil, err
	}
	memory.Reserve(int64(len(text))) // which is left
	o := &jsonReader{builder: newBuilder(name, memory), Reader: tokens.New(bytes.NewReader(text), name)}
	if bytes.HasPrefix(bytes.TrimLeft(bytes.TrimPrefix(text, []byte("\ufeff")), " \t\r\n"), []byte("[")) {
		o.a.Notes = append(o.a.Notes, "a list of bids")
		if err := cmp.Or(o.list("a list of bids", o.readListed), o.checkMembers(), o.ExpectEnd()); err != nil {
			return nil, err
		}
		return o.auction()
	}
	if isLines(text) {
		o.a.Notes = append(o.a.Notes, "a bid a line")
		for o.More() {
			if err := o.readListed(); err != nil {
				return nil, err
			}
		}
		if err := cmp.Or(o.checkMembers(), o.ExpectEnd()); err != nil {
			return nil, err
		}
		return o.auction()
	}
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
	o.Reader = tokens.New(bytes.NewReader(text), name)
	if err := o.fields("an object", o.readField); err != nil {
		return nil, err
	}
	if err := o.ExpectEnd(); err != nil {
		return nil, err
	}
	return o.auction()
}

// isLines reports whether a text is a JSON object a line, each a bid or a bidder's bids.
func isLines(text []byte) bool {
	first, rest, _ := bytes.Cut(bytes.TrimSpace(bytes.TrimPrefix(text, []byte("\ufeff"))), []byte("\n"))
	rest = bytes.TrimSpace(rest)
	var keys map[string]json.RawMessage
	if len(rest) > 0 && rest[0] != '{' || json.Unmarshal(first, &keys) != nil {
		return false
	}
	return keys["price"] != nil || len(rest) > 0 && (keys["value"] != nil || keys["bidder"] != nil)
}

// fields reads an object and calls field with each key, which comes once.
func (o *jsonReader) fields(want string, field func(key string) error) error {
	if err := o.ExpectOpen('{', want); err != nil {
		return err
	}
	seen := map[string]bool{}
	return o.Fields(want, func(key string) error {
		if seen[key] {
			return o.Errorf("found the key %s again, expected each once", formats.Quote(key))
		}
		seen[key] = true
		return field(key)
	})
}

// list reads a list and calls item before each of its items.
func (o *jsonReader) list(want string, item func() error) error {
	if err := o.ExpectOpen('[', want); err != nil {
		return err
	}
	return o.Items(want, item)
}

// skip passes over a value.
func (o *jsonReader) skip() error {
	for depth := 0; ; {
		token, err := o.Token("a value")
		if err != nil {
			return err
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			if depth++; depth > maxDepth {
				return o.Errorf("found more than %d lists and objects in one another, expected an auction", maxDepth)
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
	token, err := o.Token(want)
	if err != nil {
		return "", err
	}
	switch token := token.(type) {
	case string:
		return token, nil
	case json.Number:
		return names.Clean(token.String()), nil
	}
	return "", o.TokenError(token, want)
}

// readNumber reads a number.
func (o *jsonReader) readNumber(want string) (string, error) {
	token, err := o.Token(want)
	if err != nil {
		return "", err
	}
	if n, ok := token.(json.Number); ok {
		return n.String(), nil
	}
	return "", o.TokenError(token, want)
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
			return o.Errorf("a list takes %w", err)
		}
		return nil
	})
	return list, err
}

// goodsList reads the names of the goods, or how many there are.
func (o *jsonReader) goodsList() error {
	const want = "a list of goods, or their number"
	token, err := o.Token(want)
	if err != nil {
		return err
	}
	if n, ok := token.(json.Number); ok {
		return o.setGoodsCount(n.String(), o.Line())
	}
	if token != json.Delim('[') {
		return o.TokenError(token, want)
	}
	o.listed = true
	return o.Items(want, func() error {
		name, err := o.readText("the name of a good")
		if err != nil {
			return err
		}
		return o.addListedGood(name, o.Line())
	})
}

// readField reads what a key of the file's object says, all but the goods.
func (o *jsonReader) readField(key string) error {
	switch key {
	case "goods":
		return o.skip()
	case "units":
		return o.readUnits()
	case "free_disposal", "minimize":
		token, err := o.Token("true or false")
		if err != nil {
			return err
		}
		yes, ok := token.(bool)
		if !ok {
			return o.TokenError(token, "true or false")
		}
		if key == "minimize" {
			o.a.Minimize = yes
		} else {
			o.a.SellAll = !yes
		}
		return nil
	case "reserves":
		return o.list("a list of reserves", o.readReserve)
	case "bidders":
		seen := map[string]bool{}
		return o.list("a list of bidders", func() error { return o.readBidder(seen) })
	case "bids":
		return o.readBids()
	}
	return o.Errorf("found the key %s, expected goods, units, free_disposal, minimize, reserves, bidders or bids", formats.Quote(key))
}

// readUnits reads how many units there are of goods: a list in their order, or an object of names.
func (o *jsonReader) readUnits() error {
	const want = "a list of units of goods, or an object of goods and their units"
	o.unitsLine = o.Line()
	return o.readEither(want, func() error {
		word, err := o.readText("a number of units")
		if err != nil {
			return err
		}
		if o.units, err = formats.Append(o.memory, o.units, word); err != nil {
			return o.Errorf("units take %w", err)
		}
		return nil
	}, o.nameUnits)
}

// readEither reads a list whose items item reads, or an object of goods and units.
func (o *jsonReader) readEither(want string, item func() error, pair func(good, units string, line int) error) error {
	token, err := o.Token(want)
	if err != nil {
		return err
	}
	switch token {
	case json.Delim('['):
		return o.Items(want, item)
	case json.Delim('{'):
		return o.Fields(want, func(good string) error {
			units, err := o.readText("a number of units")
			if err != nil {
				return err
			}
			return pair(good, units, o.Line())
		})
	}
	return o.TokenError(token, want)
}

// readBids reads a list of bids.
func (o *jsonReader) readBids() error {
	return o.list("a list of bids", func() error {
		b, err := o.readBid()
		if err != nil {
			return err
		}
		return o.addBid(b)
	})
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
			err = o.Errorf("found the key %s of a reserve, expected price or goods", formats.Quote(key))
		}
		return err
	})
	if err != nil {
		return err
	}
	return o.addReserve(price, goods, o.Line())
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
						err = o.Errorf("%d bids and more take %w", len(bids), err)
					}
				}
				return err
			})
		default:
			err = o.Errorf("found the key %s of a bidder, expected name, most or bids", formats.Quote(key))
		}
		return err
	})
	if err != nil {
		return err
	}
	line := o.Line()
	name = strings.TrimSpace(name)
	if err := o.checkName("bidder", name, line); err != nil {
		return err
	}
	if seen[name] {
		return o.Errorf("found bidder %s again, expected each once", formats.Quote(name))
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

func (o *jsonReader) readBid() (b namedBid, err error) {
	err = o.fields("a bid", func(key string) error { return o.readBidField(&b, key) })
	b.line = o.Line()
	return b, err
}

// readBidField reads what a key of a bid says.
func (o *jsonReader) readBidField(b *namedBid, key string) (err error) {
	if (key == "price" || key == "value") && b.price != "" || (key == "goods" || key == "licenses") && b.goods != nil {
		return o.Errorf("found the key %s of a bid that has another of the same meaning, expected one", formats.Quote(key))
	}
	switch key {
	case "bid":
		b.number, err = o.readNumber("the number of a bid")
	case "price", "value":
		b.price, err = o.readText("a price")
	case "goods":
		var list []string
		err = o.readEither("a list of goods", func() error {
			word, err := o.readText("a list of goods")
			if err != nil {
				return err
			}
			if list, err = formats.Append(o.memory, list, word); err != nil {
				return o.Errorf("a list takes %w", err)
			}
			return nil
		}, func(good, units string, line int) error { return o.addUnits(b, good, units) })
		if list != nil {
			b.goods = list
		}
	case "licenses": // as SATS writes them
		b.goods, err = o.readTexts("a list of goods")
		b.xor = []string{alternatives}
	case "quantities":
		err = o.readQuantities(b)
	case "bidder":
		if b.bidder, err = o.readText("the name of a bidder"); err == nil {
			b.bidder = strings.TrimSpace(b.bidder)
			err = o.checkName("bidder", b.bidder, o.Line())
		}
	case "xor":
		var token json.Token
		if token, err = o.Token("the name of a group"); err != nil {
			return err
		}
		switch token := token.(type) {
		case string:
			b.xor = []string{token}
		case json.Number:
			b.xor = []string{names.Clean(token.String())}
		default:
			if token != json.Delim('[') {
				return o.TokenError(token, "the name of a group, or a list of them")
			}
			err = o.Items("a list of groups", func() error {
				label, err := o.readText("the name of a group")
				b.xor = append(b.xor, label)
				return err
			})
		}
	default:
		err = o.Errorf("found the key %s of a bid, expected bid, bidder, price, goods, quantities or xor", formats.Quote(key))
	}
	return err
}

// addUnits adds units of a good to a bid.
func (o *jsonReader) addUnits(b *namedBid, good, units string) error {
	if err := o.memory.Reserve(64 + int64(len(good)+len(units))); err != nil {
		return o.Errorf("goods take %w", err)
	}
	b.goods, b.units = append(b.goods, good), append(b.units, units)
	return nil
}

// readQuantities reads the units of each of a bid's goods, or goods and their units as SATS writes them: objects of a definition and a quantity. The bids
// of a bidder are alternatives then.
func (o *jsonReader) readQuantities(b *namedBid) error {
	const want = "a list of quantities"
	if b.units != nil {
		return o.Errorf("found quantities beside those of goods, expected them once")
	}
	plain, pairs := []string(nil), 0
	err := o.list(want, func() error {
		token, err := o.Token("a quantity")
		if err != nil {
			return err
		}
		switch token := token.(type) {
		case json.Number:
			if plain, err = formats.Append(o.memory, plain, token.String()); err != nil {
				return o.Errorf("quantities take %w", err)
			}
			return nil
		case string:
			plain = append(plain, token)
			return nil
		}
		if token != json.Delim('{') {
			return o.TokenError(token, "a quantity, or an object of a good and its quantity")
		}
		pairs++
		good, units := "", ""
		if err := o.Fields("a quantity", func(key string) (err error) {
			switch key {
			case "generic definition", "good":
				good, err = o.readDefinition(0)
			case "quantity":
				units, err = o.readText("a number of units")
			default:
				err = o.Errorf("found the key %s of a quantity, expected generic definition and quantity", formats.Quote(key))
			}
			return err
		}); err != nil {
			return err
		}
		return o.addUnits(b, good, units)
	})
	switch {
	case err != nil:
		return err
	case pairs > 0 && (plain != nil || len(b.goods) > pairs):
		return o.Errorf("found goods beside quantities that name theirs, expected one of them")
	case pairs > 0:
		b.xor = []string{alternatives}
	case plain == nil && b.goods == nil: // of a bid for nothing, as SATS may write it
		b.goods, b.xor = []string{}, []string{alternatives}
	default:
		b.units = plain
	}
	return nil
}

// readDefinition reads what SATS says of a good, as a name: a word, or an object's keys and words.
func (o *jsonReader) readDefinition(depth int) (string, error) {
	const want = "the definition of a good"
	token, err := o.Token(want)
	if err != nil {
		return "", err
	}
	var parts []string
	switch token := token.(type) {
	case string:
		return token, nil
	case json.Number:
		return names.Clean(token.String()), nil
	case bool:
		return strconv.FormatBool(token), nil
	case nil:
		return "null", nil
	}
	if depth > maxDepth || token != json.Delim('{') && token != json.Delim('[') {
		return "", o.TokenError(token, want)
	}
	if token == json.Delim('[') {
		err = o.Items(want, func() error {
			part, err := o.readDefinition(depth + 1)
			parts = append(parts, part)
			return err
		})
		return strings.Join(parts, "+"), err
	}
	err = o.Fields(want, func(key string) error {
		part, err := o.readDefinition(depth + 1)
		parts = append(parts, key+"="+part)
		return err
	})
	return strings.Join(parts, ";"), err
}

// alternatives is the name of the group that SATS's bids of a bidder are.
const alternatives = "XOR"

// bidKeys are the keys of a bid.
var bidKeys = []string{"bid", "price", "value", "goods", "licenses", "quantities", "bidder", "xor"}

// readMember reads the value of a key that stands for a good: whether a bid of a list has it, or how many units.
func (o *jsonReader) readMember(b *namedBid, key string) error {
	token, err := o.Token("0 or 1")
	if err != nil {
		return err
	}
	good := names.Clean(key)
	if _, known := o.ids[good]; !known {
		if _, err := o.goodID(good, o.Line()); err != nil {
			return err
		}
		o.keys++
	}
	units := ""
	switch token := token.(type) {
	case bool:
		if token {
			units = "1"
		}
	case json.Number:
		switch units = token.String(); units {
		case "0", "0.0":
			units = ""
		case "1.0":
			units = "1"
		}
	default:
		return o.TokenError(token, "0 or 1: the key "+formats.Quote(key)+" of a bid in a list stands for a good")
	}
	if units == "" {
		return nil
	}
	if _, err := o.parseUnits(units, 0, o.Line()); err != nil {
		return err
	}
	return o.addUnits(b, good, units)
}

// checkMembers returns an error if keys stand for goods and there is only one of them, which may be an error in writing.
func (o *jsonReader) checkMembers() error {
	if o.keys == 1 {
		return o.Errorf("found one key of bids beside bid, bidder, price, goods, quantities and xor, expected none, or several that stand for goods")
	}
	if o.keys > 0 {
		o.a.Notes = append(o.a.Notes, "goods are keys of 0 and 1")
	}
	return nil
}

// readListed reads an item of a file that is a list: a bid, or a bidder and its bids, as SATS writes them.
func (o *jsonReader) readListed() error {
	var b namedBid
	var bids []namedBid
	holds, member, named := false, "", false
	if err := o.fields("a bid", func(key string) error {
		switch {
		case slices.Contains(bidKeys, key):
			named = named || key == "goods" || key == "licenses" || key == "quantities"
			if named && member != "" {
				return o.Errorf("found the key %s beside the key %s, which stands for a good, expected a list of goods or a key for each", formats.Quote(key), formats.Quote(member))
			}
			return o.readBidField(&b, key)
		case key != "bids" && !named:
			member = key
			return o.readMember(&b, key)
		case key != "bids":
			return o.readBidField(&b, key) // an error
		}
		holds = true
		return o.list("a list of bids", func() error {
			one, err := o.readBid()
			if err == nil {
				if bids, err = formats.Append(o.memory, bids, one); err != nil {
					err = o.Errorf("%d bids and more take %w", len(bids), err)
				}
			}
			return err
		})
	}); err != nil {
		return err
	}
	b.line = o.Line()
	if member != "" && b.price == "" {
		return o.Errorf("found the key %s of a bid without a price, expected bid, bidder, price, goods, quantities or xor", formats.Quote(member))
	}
	if member != "" && b.goods == nil {
		b.goods = []string{}
	}
	if !holds {
		bids = []namedBid{b}
	} else if b.bidder == "" || b.price != "" || b.goods != nil || b.number != "" {
		return o.Errorf("found a list of bids, expected beside it the bidder alone")
	}
	for _, one := range bids {
		if holds && one.bidder != "" && one.bidder != b.bidder {
			return o.errorf(one.line, "found a bid of bidder %s among those of %s, expected its bids alone", formats.Quote(one.bidder), formats.Quote(b.bidder))
		}
		if holds {
			one.bidder = b.bidder
		}
		if one.bidder == "" && slices.Equal(one.xor, []string{alternatives}) {
			one.bidder = "0" // a file of one bidder does not name it
		}
		if err := o.addBid(one); err != nil {
			return err
		}
	}
	return nil
}
