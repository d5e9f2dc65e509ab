package page

import (
	"bytes"
	"context"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"coalesce/runtime/device"
)

// browser runs a headless Chromium on a page and returns what it printed and said.
func browser(t *testing.T, page string, flags ...string) (out, said string) {
	t.Helper()
	if testing.Short() {
		t.Skip("-short: starting a browser for each view takes long")
	}
	name := ""
	for _, n := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(n); err == nil {
			name = path
			break
		}
	}
	if name == "" {
		t.Skip("there is no chromium on this machine to show the page")
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	args := append([]string{"--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--enable-logging=stderr", "--window-size=1200,1600",
		"--user-data-dir=" + t.TempDir()}, flags...)
	cmd := exec.CommandContext(ctx, name, append(args, "file://"+page)...)
	var o, e bytes.Buffer
	cmd.Stdout, cmd.Stderr = &o, &e
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, &e)
	}
	return o.String(), e.String()
}

// complaint finds what pages write to the console, errors of scripts and refused loads
// among it.
var complaint = regexp.MustCompile(`CONSOLE.*`)

// saved writes the page of record, with a script appended.
func saved(t *testing.T, more string) string {
	t.Helper()
	var b bytes.Buffer
	if err := HTML(&b, Studies(append(record(), other()...), []*device.Family{toy()})); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "page.html")
	text := strings.Replace(b.String(), "</body>", more+"</body>", 1)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// visible lists the headings that the page shows.
func visible(dom string) string {
	heading := regexp.MustCompile(`<(section|div|h2|h3)( [^>]*)?>([^<]*)|</(section|div)>`)
	var hidden []bool // of the elements that are open
	var shown []string
	for _, m := range heading.FindAllStringSubmatch(dom, -1) {
		switch {
		case m[4] != "":
			hidden = hidden[:len(hidden)-1]
		case m[1] == "section" || m[1] == "div":
			above := len(hidden) > 0 && hidden[len(hidden)-1]
			hidden = append(hidden, above || strings.Contains(m[2], `hidden=""`))
		case len(hidden) == 0 || !hidden[len(hidden)-1]:
			if m[1] == "h2" || strings.HasPrefix(m[3], "Size") {
				shown = append(shown, strings.TrimSuffix(m[3], ": what each parameter is worth"))
			}
		}
	}
	return strings.Join(shown, "; ")
}

func TestFilters(t *testing.T) {
	page := saved(t, "")
	choose := func(name, value string) string {
		return `<script>for (const l of document.querySelectorAll("select")) if (l.name === "` + name + `") { l.value = "` + value + `"; l.dispatchEvent(new Event("change")); }</script>`
	}
	for _, tc := range []struct{ page, hash, want string }{
		{page, "", "toy/k, value=int32; Size 8; Size 24; toy/other, value=int32; Size 8"},
		{page, "#family=toy/k", "toy/k, value=int32; Size 8; Size 24"},
		{page, "#size=8", "toy/k, value=int32; Size 8; toy/other, value=int32; Size 8"},
		{page, "#size=24", "toy/k, value=int32; Size 24"},
		{page, "#family=toy/other&size=24", ""},
		{page, "#size=7&family=none", "toy/k, value=int32; Size 8; Size 24; toy/other, value=int32; Size 8"},
		{saved(t, choose("size", "24")), "", "toy/k, value=int32; Size 24"},
		{saved(t, choose("size", "24")+choose("size", "")+choose("family", "toy/other")), "", "toy/other, value=int32; Size 8"},
	} {
		dom, said := browser(t, tc.page+tc.hash, "--dump-dom")
		if got := visible(dom); got != tc.want {
			t.Errorf("%s shows %q, want %q", tc.hash, got, tc.want)
		}
		if m := complaint.FindString(said); m != "" {
			t.Errorf("%s: the console has %s", tc.hash, m)
		}
	}
}

// What the other tests take for silence is heard where there is something to hear: an
// error of a script, and a load from elsewhere, which the page forbids.
func TestComplaintsAreHeard(t *testing.T) {
	for _, more := range []string{`<script>nothing.here()</script>`, `<img src="https://127.0.0.1/x.png">`} {
		if _, said := browser(t, saved(t, more), "--dump-dom"); complaint.FindString(said) == "" {
			t.Errorf("%s: nothing was heard in\n%s", more, said)
		}
	}
}

// The page is drawn, in colours of day and night, and prints.
func TestDrawnAndPrinted(t *testing.T) {
	page := saved(t, "")
	bright := map[bool]uint32{}
	for _, dark := range []bool{false, true} {
		file := filepath.Join(t.TempDir(), "page.png")
		scheme := map[bool]string{false: "1", true: "0"}[dark]
		browser(t, page, "--screenshot="+file, "--blink-settings=preferredColorScheme="+scheme)
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		img, err := png.Decode(f)
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		colors := map[[3]uint32]int{}
		for y := range img.Bounds().Dy() {
			for x := range img.Bounds().Dx() {
				r, g, b, _ := img.At(x, y).RGBA()
				colors[[3]uint32{r, g, b}]++
			}
		}
		if len(colors) < 100 {
			t.Errorf("dark %v: %d colours: nothing is drawn", dark, len(colors))
		}
		_, g, _, _ := img.At(2, 2).RGBA()
		bright[dark] = g >> 8
	}
	if bright[false] < 200 || bright[true] > 60 {
		t.Errorf("the paper is %d of 255 by day and %d by night", bright[false], bright[true])
	}
	file := filepath.Join(t.TempDir(), "page.pdf")
	browser(t, page, "--print-to-pdf="+file)
	text, err := os.ReadFile(file)
	if err != nil || !bytes.HasPrefix(text, []byte("%PDF")) || len(text) < 20000 {
		t.Errorf("printed %d bytes, %v", len(text), err)
	}
}
