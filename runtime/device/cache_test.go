package device

import (
	"errors"
	"testing"
)

// A shelf notes what is loaded, by symbol.
type shelf struct {
	Device
	loads  int
	loaded map[string]bool
}

func (s *shelf) Facts() Facts { return Facts{Kind: Host} }

type book struct {
	Module
	of     *shelf
	symbol string
}

func (b book) Close() error {
	if !b.of.loaded[b.symbol] {
		return errors.New("unloaded twice")
	}
	delete(b.of.loaded, b.symbol)
	return nil
}

func (s *shelf) Load(_ *Family, v *Variant) (Module, error) {
	if v.Symbol == "" {
		return nil, errNoMore
	}
	s.loads++
	s.loaded[v.Symbol] = true
	return book{of: s, symbol: v.Symbol}, nil
}

// A cache loads each variant once, unloads them together, and is of use after that.
func TestCache(t *testing.T) {
	s := &shelf{loaded: map[string]bool{}}
	c := Cache(s)
	for range 2 {
		for _, symbol := range []string{"a", "b", "a"} {
			m, err := c.Load(nil, &Variant{Symbol: symbol})
			if err != nil {
				t.Fatal(err)
			}
			if err := m.Close(); err != nil || !s.loaded[symbol] {
				t.Errorf("%s was unloaded by one of its users, %v", symbol, err)
			}
		}
		if _, err := c.Load(nil, &Variant{}); !errors.Is(err, errNoMore) {
			t.Errorf("found %v", err)
		}
		if err := c.Close(); err != nil || len(s.loaded) > 0 {
			t.Errorf("%d stay loaded, %v", len(s.loaded), err)
		}
	}
	if s.loads != 4 {
		t.Errorf("loaded %d times, expected 4", s.loads)
	}
	if _, err := c.Lend(64, 1); err == nil {
		t.Error("memory is lent to a device that takes none")
	}
	if WithoutCache(Cache(c)) != Device(s) || WithoutCache(s) != Device(s) {
		t.Error("Plain is not the device below caches")
	}
}
