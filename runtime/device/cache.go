package device

import (
	"errors"
	"fmt"
	"sync"
)

// A Cached device loads each variant once: its kernels stay loaded for those that load the
// variant again.
type Cached struct {
	Device
	mu      sync.Mutex
	modules map[string]Module // by the variant's symbol
}

// Cache is d with modules that stay loaded until Close, which leaves d open.
func Cache(d Device) *Cached { return &Cached{Device: d, modules: map[string]Module{}} }

// Load returns the variant's module, whose Close does nothing.
func (c *Cached) Load(f *Family, v *Variant) (Module, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	m, ok := c.modules[v.Symbol]
	if !ok {
		var err error
		if m, err = c.Device.Load(f, v); err != nil {
			return nil, err
		}
		c.modules[v.Symbol] = m
	}
	return stayingModule{m}, nil
}

// Close unloads all modules. The device stays open, and the cache of use.
func (c *Cached) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var errs []error
	for _, m := range c.modules {
		errs = append(errs, m.Close())
	}
	clear(c.modules)
	return errors.Join(errs...)
}

// A stayingModule is lent by a cache.
type stayingModule struct{ Module }

func (stayingModule) Close() error { return nil }

// Lend is Lend of the device below, an error where that is no Lender.
func (c *Cached) Lend(address uintptr, n int64) (Buffer, error) {
	l, err := c.lender()
	if err != nil {
		return nil, err
	}
	return l.Lend(address, n)
}

// LendStream is LendStream of the device below, an error where that is no Lender.
func (c *Cached) LendStream(handle uintptr) (Stream, error) {
	l, err := c.lender()
	if err != nil {
		return nil, err
	}
	return l.LendStream(handle)
}

func (c *Cached) lender() (Lender, error) {
	l, ok := WithoutCache(c).(Lender)
	if !ok {
		return nil, fmt.Errorf("%s works on no memory of others", c.Facts())
	}
	return l, nil
}

// WithoutCache returns the device below caches, which has the optional interfaces of its kind, such as
// PeerAccessor.
func WithoutCache(d Device) Device {
	for {
		c, ok := d.(*Cached)
		if !ok {
			return d
		}
		d = c.Device
	}
}
