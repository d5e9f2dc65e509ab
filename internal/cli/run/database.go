package run

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"coalesce/autotune/tuned"
	"coalesce/runtime/bundle"
)

// UserDatabase is the file, below the user's configuration folder, where
// tuning leaves its winners unless told otherwise, and where solving looks.
func (a *App) UserDatabase() string { return filepath.Join(a.Name(), "tuned.json") }

// DatabasePath is the path of UserDatabase.
func (a *App) DatabasePath() (string, error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("find the user's %s: %w (--output or --tuned names a file)", a.UserDatabase(), err)
	}
	return filepath.Join(dir, a.UserDatabase()), nil
}

// Database returns the tuning data that variants are chosen from: the winners in the binary, those of
// its bundle, and those of a file, by default the user's own. A missing or broken file is an error
// only if the user named it.
func (a *App) Database(named string) (*tuned.Database, error) {
	db, err := a.WithBundledTuning(tuned.Shipped())
	if err != nil {
		return nil, err
	}
	path := named
	if path == "" {
		if path, err = a.DatabasePath(); err != nil {
			return db, nil
		}
	}
	own, err := tuned.Load(path)
	switch {
	case err == nil:
		return own.Over(db), nil
	case named != "":
		return nil, err
	case !errors.Is(err, os.ErrNotExist):
		a.PrintNotice(fmt.Sprintf("going on without the user's tuning: %v", err))
	}
	return db, nil
}

// WithBundledTuning puts the tuning data of a bundle over db, so that its entries go before those of db.
func (a *App) WithBundledTuning(db *tuned.Database) (*tuned.Database, error) {
	b, err := bundle.Open()
	if errors.Is(err, bundle.ErrNone) {
		return db, nil
	}
	if err != nil {
		a.PrintNotice(fmt.Sprintf("going on without the bundle's tuning: %v", err))
		return db, nil
	}
	text, err := b.TuningData()
	if err != nil || text == nil {
		return db, err
	}
	own, err := tuned.Decode(b.Name, text)
	if err != nil {
		return nil, err
	}
	return own.Over(db), nil
}
