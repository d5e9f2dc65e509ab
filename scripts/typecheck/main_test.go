package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCheck(t *testing.T) {
	base := map[string]string{
		"go.mod":        "module m\n\ngo 1.26\n",
		"main.go":       "package main\n\nfunc main() { println(word) }\n",
		"word_linux.go": "package main\n\nconst word = 1\n",
	}
	for _, c := range []struct {
		name, platform string
		files          map[string]string
		want           string
	}{
		{"whole", "linux/arm64", nil, ""},
		{"a name that another system lacks", "darwin/arm64", nil, "undefined: word"},
		{"an integer of 32 bits", "linux/386", map[string]string{"word_linux.go": "package main\n\nconst word int = 1 << 40\n"}, "overflows"},
		{"assembler", "linux/amd64", map[string]string{
			"sum.go":      "package main\n\nfunc sum(a, b int)\n",
			"sum_amd64.s": "TEXT ·sum(SB), 4, $0-16\n\tRET\n",
		}, ""},
		{"assembler of another processor", "linux/arm64", map[string]string{
			"sum.go":      "package main\n\nfunc sum(a, b int)\n",
			"sum_amd64.s": "TEXT ·sum(SB), 4, $0-16\n\tRET\n",
		}, "sum has no body"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			for _, files := range []map[string]string{base, c.files} {
				for name, text := range files {
					if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
						t.Fatal(err)
					}
				}
			}
			count, err := checkPackage(dir, ".", c.platform)
			switch {
			case c.want == "" && (err != nil || count < 2):
				t.Errorf("%d packages, %v; expected all, without an error", count, err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("found %v, expected an error with %q", err, c.want)
			}
		})
	}
}
