package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The committed file is what the program writes, and an older one is noticed.
func TestNoticesAreFresh(t *testing.T) {
	root := filepath.Join("..", "..")
	if err := run(root, true); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, target))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"github.com/spf13/cobra v", "gorgonia.org/cu v", "github.com/inconshreveable/mousetrap v", "Redistribution and use"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%s does not have %q", target, want)
		}
	}
}

func TestModuleWithoutLicence(t *testing.T) {
	var b bytes.Buffer
	err := writeSection(&b, module{Path: "example.org/bare", Dir: t.TempDir()})
	if err == nil || !strings.Contains(err.Error(), "example.org/bare has no licence file") {
		t.Errorf("a module without a licence: %v", err)
	}
}
