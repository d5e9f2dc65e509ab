package program

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"coalesce/solvers/formats"
	"coalesce/solvers/formats/text"
)

type reader func(*text.File, *formats.Budget) (*Program, error)

func parse(t *testing.T, read reader, content string) (*Program, error) {
	t.Helper()
	f, err := text.New(strings.NewReader(content), "a", text.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return read(f, formats.NewBudget(1<<20))
}

// texts is a program as sorted lines: no order of terms and no spelling of numbers counts.
func texts(p *Program) string {
	var b strings.Builder
	number := func(d Decimal) string {
		if d == "" {
			return "infinite"
		}
		r, ok := new(big.Rat).SetString(string(d))
		if !ok {
			return "wrong: " + string(d)
		}
		return r.RatString()
	}
	name := func(i int) string {
		if i < 0 {
			return "1"
		}
		return p.Variables[i].Name
	}
	list := func(terms []Term) {
		sums := map[string]*big.Rat{}
		var keys []string
		for _, t := range terms {
			a, c := name(t.I), name(t.J)
			key := min(a, c) + "*" + max(a, c)
			r, _ := new(big.Rat).SetString(string(t.Coefficient))
			if sums[key] == nil {
				sums[key] = new(big.Rat)
				keys = append(keys, key)
			}
			sums[key].Add(sums[key], r)
		}
		for _, key := range sorted(keys) {
			if sums[key].Sign() != 0 {
				fmt.Fprintf(&b, " %s %s", sums[key].RatString(), key)
			}
		}
	}
	fmt.Fprintf(&b, "maximize %v:", p.Maximize)
	list(p.Objective)
	for _, c := range p.Constraints {
		fmt.Fprintf(&b, "\n%s: %s <=", c.Name, number(c.Low))
		list(c.Terms)
		fmt.Fprintf(&b, " <= %s", number(c.High))
	}
	var variables []string
	for _, v := range p.Variables {
		kind := v.Kind
		if v.IsBinary() {
			kind = Binary
		}
		variables = append(variables, fmt.Sprintf("\n%s: kind %d, %s to %s", v.Name, kind, number(v.Low), number(v.High)))
	}
	return b.String() + strings.Join(sorted(variables), "")
}

func sorted(list []string) []string {
	for i := range list {
		for j := i; j > 0 && list[j] < list[j-1]; j-- {
			list[j], list[j-1] = list[j-1], list[j]
		}
	}
	return list
}

// One program in three formats.
func TestSameProgram(t *testing.T) {
	const want = `maximize true: 7 1*1 -1 1*x 5/2 1*y 1/10 1*z -2 x*x 3 x*y
c1: infinite <= 1 1*x 2 1*y <= 3
c2: -1 <= 1 1*y -1 1*z <= 4
c3: 2 <= 1 1*x 1 1*z 4 x*z <= 2
x: kind 2, 0 to 1
y: kind 1, -5 to infinite
z: kind 0, infinite to 8`
	const lp = `\ a comment
Maximize
 obj: - x + 2.5 y + 0.1 z
  + [ - 4 x ^ 2 + 6 x * y ] / 2 + 7
Subject To
 c1: x + 2 y <= 3
 c2: -1 <= y - z <= 4
 c3: x + z + [ 4 x * z ] = 2
Bounds
 -inf <= z <= 8
 y >= -5
Generals
 y
Binaries
 x
End
`
	const mps = `* a comment
NAME          example
OBJSENSE
    MAX
ROWS
 N  obj
 N  other
 L  c1
 G  c2
 E  c3
COLUMNS
    M1        'MARKER'                 'INTORG'
    x         obj                -1.   c1                  1
    x         c3                  1
    y         obj               2.5    c1                2e0
    y         c2                  1    other               5
    M2        'MARKER'                 'INTEND'
    z         obj               0.1    c2                 -1
    z         c3                  1
RHS
    RHS       obj                -7    c1                  3
    RHS       c2                 -1    c3                  2
RANGES
    RNG       c2                  5
BOUNDS
 LO BND       y                  -5
 PL BND       y
 MI BND       z
 UP BND       z                   8
QUADOBJ
    x         x                  -4
    x         y                   3
QCMATRIX c3
    x         z                   2
    z         x                   2
ENDATA
`
	const qplib = `EXAMPLE # name
QMQ
maximize # sense
3
3 # constraints
2 # quadratic terms
1 1 -4
2 1 3
0.1 # default
2
1 -1
2 2.5
7
1 # quadratic terms of constraints
3 3 1 4
6
1 1 1
1 2 2
2 2 1
2 3 -1
3 1 1
3 3 1
1e30
-1e31 # left sides
2
2 -1
3 2
4 # right sides
2
1 3
3 2
0 # lower bounds
2
2 -5
3 -1e30
1e30 # upper bounds
2
1 1
3 8
0 # kinds
2
1 2
2 1
0
0
0
0
0
0
3 # names
1 x
2 y
3 z
0
`
	for _, c := range []struct {
		name string
		read reader
		text string
	}{{"lp", ReadLP, lp}, {"mps", ReadMPS, mps}, {"qplib", ReadQPLIB, qplib}} {
		p, err := parse(t, c.read, c.text)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if got := texts(p); got != want {
			t.Errorf("%s:\n%s\nexpected\n%s", c.name, got, want)
		}
	}
}

func TestErrors(t *testing.T) {
	lp := "Minimize\n x\nSubject To\n %s\nEnd\n"
	mps := "NAME\nROWS\n N o\n L c\nCOLUMNS\n x o 1 c 1\n%sENDATA\n"
	for _, c := range []struct {
		read       reader
		text, want string
	}{
		{ReadLP, fmt.Sprintf(lp, "c: x + 2"), "a:4: found the number 2 among the terms of a constraint"},
		{ReadLP, fmt.Sprintf(lp, "c: x"), "a:4: found a constraint without a relation"},
		{ReadLP, fmt.Sprintf(lp, "c: x <= y"), `a:4: found "y", expected a number behind <=`},
		{ReadLP, fmt.Sprintf(lp, "c: 1 <= x >= 2"), `a:4: found ">=", expected the other bound`},
		{ReadLP, fmt.Sprintf(lp, "c: 1 <= x = 2"), `a:4: found "=", expected the other bound`},
		{ReadLP, fmt.Sprintf(lp, "c: x <= -inf"), `a:4: found the bound "-inf", which nothing attains`},
		{ReadLP, fmt.Sprintf(lp, "c: y = 1 -> x <= 2"), `a:4: found ">", expected`},
		{ReadLP, "Minimize\n x <= 3\nEnd\n", `a:2: found "<=", expected no relation in the objective`},
		{ReadLP, "Minimize\n x\nBounds\n x\nEnd\n", `a:4: found "x", expected a bound of a variable`},
		{ReadLP, "", "a:1: found no objective"},
		{ReadMPS, "NAME\nROWS\n N o\n", "the file is truncated"},
		{ReadMPS, fmt.Sprintf(mps, "RHS\n R d 1\n"), `a:8: found the row "d", expected one of the section ROWS`},
		{ReadMPS, fmt.Sprintf(mps, "RANGES\n R o 1\n"), "a:8: found the range of a free row"},
		{ReadMPS, fmt.Sprintf(mps, "RANGES\n R c 1e-999999999\n"), "a:8: found the range 1e-999999999"},
		{ReadMPS, strings.Replace(fmt.Sprintf(mps, ""), "c 1", "c 1\n x c 2", 1), `a:7: found the row "c" again in the column "x"`},
		{ReadMPS, fmt.Sprintf(mps, "BOUNDS\n ZZ B x 1\n"), `a:8: found the bound "ZZ"`},
		{ReadMPS, fmt.Sprintf(mps, "BOUNDS\n UP B y 1\n"), `a:8: found the column "y"`},
		{ReadMPS, fmt.Sprintf(mps, "SOS\n"), `a:7: found the section "SOS"`},
		{ReadMPS, fmt.Sprintf(mps, "QUADOBJ\n x y 1\n"), `a:8: found the columns "x" and "y"`},
		{ReadMPS, fmt.Sprintf(mps, "RHS\n R c 1\nRHS\n"), "a:9: found the section RHS again"},
		{ReadMPS, strings.Replace(fmt.Sprintf(mps, ""), "L c", "L o", 1), `a:4: found the row "o" again`},
		{ReadQPLIB, "p\nXBN\n", `a:2: found the type "XBN"`},
		{ReadQPLIB, "p\nQBN\nminimize\n2 3\n", "a:4: found 2 words, expected the number of variables"},
		{ReadQPLIB, "p\nQBN\nminimize\n2000000000\n", "a:4: 2000000000 variables take"},
	} {
		if _, err := parse(t, c.read, c.text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, expected %s", c.text, err, c.want)
		}
	}
}

// A pair that a triangle names twice is refused: the file lists the whole matrix.
func TestWholeMatrixAsTriangle(t *testing.T) {
	const text = "NAME\nROWS\n N o\nCOLUMNS\n x o 1\n y o 1\nQUADOBJ\n x y 1\n y x 1\nENDATA\n"
	if _, err := parse(t, ReadMPS, text); err == nil || !strings.Contains(err.Error(), "a:9: found the columns of line 8 again") {
		t.Error(err)
	}
}

// Names with blanks are read by the columns of the fixed form, and ranges count from right sides that come later.
func TestFixedForm(t *testing.T) {
	const text = `NAME          test
ROWS
 N  cost
 L  row one
 E  two
COLUMNS
    MARKER                 'MARKER'                 'INTORG'
    col a     cost      -1.0           row one   1.0
    col b     cost      -2.0           row one   1.5
    col b     two       1
    MARKER                 'MARKER'                 'INTEND'
RANGES
    R         row one   2              two       -3
RHS
    B         row one   7              two       4
BOUNDS
 UP B         col a     3
 UP B         col b     4
ENDATA
`
	p, err := parse(t, ReadMPS, text)
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprint(p.Variables[0].Name, p.Variables[1].Name, p.Variables[1].High, len(p.Objective), p.Constraints[0].Name, p.Constraints[0].Low, p.Constraints[0].High, p.Constraints[1].Low, p.Constraints[1].High,
		p.Constraints[0].Terms[1].Coefficient)
	if want := fmt.Sprint("col a", "col b", "4", 2, "row one", "5", "7", "1", "4", "1.5"); got != want {
		t.Errorf("found %s, expected %s", got, want)
	}
}

// A semicontinuous variable that is whole too stays one, but where 0 is between its bounds.
func TestWholeSemicontinuous(t *testing.T) {
	for bounds, want := range map[string]Kind{"x <= 4": Integer, "2 <= x <= 4": SemiContinuous} {
		p, err := parse(t, ReadLP, "Minimize\n x\nBounds\n "+bounds+"\nSemi-continuous\n x\nGenerals\n x\nEnd\n")
		if err != nil || p.Variables[0].Kind != want {
			t.Errorf("%s: found %+v, %v, expected the kind %d", bounds, p, err, want)
		}
	}
}

func TestHalf(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for range 1000 {
		d := fmt.Sprint(random.IntN(2000) - 1000)
		if random.IntN(2) > 0 {
			d = fmt.Sprintf("%d.%03d", random.IntN(20)-10, random.IntN(1000))
		}
		if random.IntN(3) == 0 {
			d += fmt.Sprintf("e%d", random.IntN(9)-4)
		}
		whole, _ := new(big.Rat).SetString(d)
		half, ok := new(big.Rat).SetString(string(Decimal(d).Half()))
		if !ok || half.Add(half, half).Cmp(whole) != 0 {
			t.Fatalf("half of %s is %s", d, Decimal(d).Half())
		}
	}
}
