package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// The committed tables are up to date.
func TestTables(t *testing.T) {
	for _, x := range tables {
		want, err := x.text()
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join("..", "..", folder, x.file))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is stale (%v): go run ./gen/slots", x.file, err)
		}
	}
}
