package cuda

import "testing"

func TestCanonical(t *testing.T) {
	for _, c := range []struct{ a, b string }{
		{"int a = 1;  // one\n\n\tint b;", "int a=1;int b;"},
		{"/* a\n comment */ x = a - -b;", "x=a - -b;"},
		{"#define A  1 // one\nint\nf ( ) ;", "#define A 1\nint f();"},
		{"#define A \\\n  1\nx;", "#define A \\\n1\nx ;"},
	} {
		if x, y := canonicalText(c.a), canonicalText(c.b); x != y {
			t.Errorf("%q is %q, %q is %q", c.a, x, c.b, y)
		}
	}
	for _, c := range []struct{ a, b string }{
		{"x = a - -b;", "x = a--b;"},
		{"int a;", "inta;"},
		{"x = 1;", "x = 2;"},
		{"#define A 1\n+ 2", "#define A 1 + 2"},
	} {
		if x := canonicalText(c.a); x == canonicalText(c.b) {
			t.Errorf("%q and %q are both %q", c.a, c.b, x)
		}
	}
}
