package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strings"
)

// A parser is a kind of file that the command reads: how the command is called with
// one, FILE standing for its path, and files that it takes.
type parser struct {
	name  string
	file  string // its name
	args  []string
	seeds [][]byte
	aside []byte // a second file, which stays whole: ASIDE among the arguments
}

func texts(list ...string) (seeds [][]byte) {
	for _, s := range list {
		seeds = append(seeds, []byte(s))
	}
	return seeds
}

// npyArray is a .npy file of a shape such as "(2, 2)".
func npyArray(descr, shape string, values any) []byte {
	header := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': %s, }", descr, shape)
	header += strings.Repeat(" ", 63-(10+len(header))%64) + "\n"
	var b bytes.Buffer
	b.WriteString("\x93NUMPY\x01\x00")
	binary.Write(&b, binary.LittleEndian, uint16(len(header)))
	b.WriteString(header)
	binary.Write(&b, binary.LittleEndian, values)
	return b.Bytes()
}

// many is a text of a head and so many lines: readers take long files in pieces.
func many(head string, count int, line func(k int) string) string {
	var b strings.Builder
	b.WriteString(head)
	for k := range count {
		b.WriteString(line(k))
	}
	return b.String()
}

// parsers are all kinds of files, with seeds that are small, and one long text for
// those that are read in pieces by several cores.
func parsers() []parser {
	csg := []string{"solve", "csg", "FILE", "--missing", "0"}
	assignment := func(more ...string) []string { return append([]string{"solve", "assignment", "FILE"}, more...) }
	qubo := func(more ...string) []string {
		return append([]string{"solve", "qubo", "FILE", "--work", "300", "--time-limit", "300ms"}, more...)
	}
	model := []string{"solve", "model", "FILE", "--time-limit", "100ms"}
	r := rand.New(rand.NewPCG(1, 1))
	edges := func(from int) string {
		return many("200 9000\n", 9000, func(k int) string {
			return fmt.Sprintf("%d %d %d\n", k%200+from, (k/200+k%200+1)%200+from, r.IntN(9)-4)
		})
	}
	square := npyArray("<f8", "(3, 3)", []float64{1, -2, 3, 4, 5.5, 6, -7, 8, 9})
	matrix := texts("%%MatrixMarket matrix coordinate real general\n3 3 4\n1 1 3\n2 1 2\n1 2 0.5\n3 3 -1\n",
		"%%MatrixMarket matrix coordinate integer symmetric\n3 3 3\n2 1 4\n3 2 -5\n3 3 1\n", "%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n4\n")
	quboOrlib := texts("2 3\n1 1 5\n2 2 4\n1 2 -6\n", "1\n2 3\n 1 1 5 \n 1 2 -3 \n2 2 1\n", "2\n2 1\n1 2 3\n2 1\n1 1 0.5\n", edges(1))
	quboCOO := texts("# vartype=SPIN\n# offset=2.5\n0 1 1.5\n1 1 -2\n", "# vartype=BINARY\n0 0 1\n0 2 -3\n0 2 1\n")
	bqpjson := `{"version": "1.0.0", "id": 1, "variable_domain": "spin", "variable_ids": [3, 8], "scale": 2.0, "offset": 1.5,
"linear_terms": [{"id": 3, "coeff": 0.5}], "quadratic_terms": [{"id_tail": 3, "id_head": 8, "coeff": 1.0}], "metadata": {}}`
	bqm := `{"type": "BinaryQuadraticModel", "version": {"bqm_schema": "3.0.0"}, "num_variables": 2, "num_interactions": 1,
"variable_labels": ["a", 7], "variable_type": "SPIN", "offset": 1.5, "linear_biases": [1.0, 0.0], "quadratic_biases": [-1.0],
"quadratic_head": [0], "quadratic_tail": [1]}`
	dense := func(separator string) string {
		return many("", 120, func(int) string {
			return many("", 119, func(int) string { return fmt.Sprint(r.IntN(1000), separator) }) + "7\n"
		})
	}
	return []parser{
		{name: "csg CSV", file: "a.csv", args: csg, seeds: texts("coalition,value\n1,5\n2,6\n1 2,12\n", "ann,5\nbob,6\n{ann|bob},-inf\n", "# x\n\"{1,2}\",1e3\n1;5\n",
			"sep=;\nmask;value\n1;5\n#2;6\n3;12\n", "ann,bob,value\n1,0,5\n0,1,6\n1,1,7\n", "0\n3e1\n40\n75\n", "\"['a', 'b']\",3\na,#N/A\n")},
		{name: "csg JSON", file: "a.json", args: csg, seeds: texts(`{"1": 5, "2": 6.5, "1,2": "-Infinity"}`,
			`{"agents": ["ann", "bob"], "values": {"bob": 6, "ann": null}}`, `{"n": 2, "values": {"[1, 2]": 6}}`,
			`[{"coalition": ["ann"], "value": 3}, {"coalition": "bob", "value": -Infinity}, {"coalition": ["ann", "bob"], "value": 4}]`)},
		{name: "csg npy", file: "a.npy", args: csg[:3], seeds: [][]byte{npyArray("<i4", "(8,)", []int32{0, 1, 2, 3, 4, 9, 6, 7}), npyArray("<f8", "(4,)", []float64{0, 1, 2.5, 3}),
			npyArray("|u1", "(4,)", []uint8{0, 1, 2, 4}), npyArray("<f4", "(2,)", []float32{0, 1})}},
		{name: "auction CATS", file: "a.txt", args: []string{"solve", "auction", "FILE"}, seeds: texts("% x\ngoods 3\nbids 4\ndummy 1\n0 4.5 0 #\n1 5 1 3 #\n2 8 0 1 #\n3 2 2 3 #\n",
			"goods 2\nbids 1\ndummy 0\n\n0\t1e3\t0\t1\t#\n")},
		{name: "auction CSV", file: "a.csv", args: []string{"solve", "auction", "FILE", "--payments", "vcg"}, seeds: texts(
			"goods:,barn field mill well\nreserve:,10.50,barn\nmost:,\"Anna, widow\",1\n\nbid,bidder,price,goods,xor\n1,\"Anna, widow\",11,barn,\n2,\"Anna, widow\",7.25,well,\n3,Bob,14.40,field mill,a\n4,Bob,9,well,a b\n",
			"count:,3\ndisposal:,no\nprice;goods\n3;0 1\n1e2;2\n", "# x\nprice\tgoods\n-2.5\ta b\n3\tb\n",
			"sep=,\nbid,bidder,price,goods,xor\n#1,Ida,14,\"['mill', 'barn']\",\"x,y\"\n#2,Olaf,9,barn/mill,x\n")},
		{name: "auction JSON", file: "a.json", args: []string{"solve", "auction", "FILE", "--payments", "core"}, seeds: texts(
			`{"goods": ["a", "b"], "free_disposal": true, "reserves": [{"price": "4.50", "goods": ["a"]}], "bidders": [{"name": "Anna", "most": 1, "bids": [
{"bid": 7, "price": 5, "goods": ["a", "b"], "xor": "x"}, {"price": 2, "goods": ["b"], "xor": ["x", "y"]}]}], "bids": [{"price": 3, "goods": ["b"]}]}`,
			`{"goods": 3, "free_disposal": false, "bids": [{"price": 1e1, "goods": [0, 1]}, {"price": "2", "goods": [2]}]}`)},
		{name: "assignment CSV", file: "a.csv", args: assignment(), seeds: texts("4,1,9\n2,inf,3\n", ",a,b\nx,1,2.5\ny,3,4\n", "\"id\";\"a\"\n1;2\n", "sep=;\n7;2\n#N/A;3\n", ",2,9\n6,3,1\n", "NA,2\nNA,3\n", dense(","))},
		{name: "assignment triples", file: "a.txt", args: assignment("--format", "triples"), seeds: texts("0,0,5\n0,1,2\n1,0,7\n", "row column cost\n0 0 1.5\n1 1 2\n", "worker,task,cost\nida,mow,4\nolaf,rake,2\n", "1.0e+00 1.0e+00 4\n2.0e+00 2.0e+00 3\n", many("", 20000, func(k int) string {
			return fmt.Sprintf("%d,%d,%d\n", k/100, k%100*2+k/100%2, k%997)
		}))},
		{name: "assignment orlib", file: "a.txt", args: assignment("--format", "orlib"), seeds: texts("2\n1 2\n3 4\n", "1\n1.5", "120\n"+dense(" "))},
		{name: "assignment assignp", file: "assignp.txt", args: assignment(), seeds: texts("2\n1 1 5\n2 2 -3.5\n", "# none\n0\n")},
		{name: "assignment Matrix Market", file: "a.mtx", args: assignment(), seeds: matrix},
		{name: "assignment DIMACS", file: "a.asn", args: assignment(), seeds: texts("c x\np asn 4 4\nn 1\nn 2\na 1 3 5\na 1 4 2\na 2 3 7\na 2 4 1\n")},
		{name: "assignment npy", file: "a.npy", args: assignment(), seeds: [][]byte{square, npyArray("<i4", "(2, 3)", []int32{4, 1, 9, 2, 2147483647, 3}), npyArray("<i8", "(1, 2)", []int64{1, 2})}},
		{name: "assignment points", file: "a.csv", args: []string{"solve", "assignment", "--points", "FILE,FILE"}, seeds: texts("0.5,1\n2,3.25\n4,4\n", "x,y\n1,2\n3,4\n")},
		{name: "assignment duals", file: "a.json", args: []string{"solve", "assignment", "ASIDE", "--start", "FILE"}, aside: []byte("4,1,9\n2,7,3\n"), seeds: texts(`{"u": [1, 2], "v": [0, 0, 0]}`,
			`{"duals": {"u": [1.5, 2], "v": [0, -1, 0]}}`)},
		{name: "qubo orlib", file: "a.txt", args: qubo("--format", "orlib"), seeds: quboOrlib},
		{name: "qubo sparse", file: "a.sparse", args: qubo(), seeds: texts("2 2\n1 1 5\n1 2 -3\n", "# hi\n1 0\n")},
		{name: "qubo rudy", file: "a.rud", args: qubo(), seeds: texts("3 2 J\n1 2 1\n2 3 -1\n", "0 0", edges(1))},
		{name: "qubo qbsolv", file: "a.qubo", args: qubo(), seeds: texts("c x\np qubo 0 2 2 1\n0 0 5\n1 1 -2\n0 1 3\n")},
		{name: "qubo COO", file: "a.coo", args: qubo(), seeds: quboCOO},
		{name: "qubo BQM", file: "a.json", args: qubo(), seeds: texts(bqm)},
		{name: "qubo bqpjson", file: "a.json", args: qubo(), seeds: texts(bqpjson)},
		{name: "qubo QOBLIB", file: "a.qs", args: qubo(), seeds: texts("# ObjectiveOffset 25\n# Vars Non-zeros\n2 3\n1 1 -9\n1 2 2\n2 2 -16\n")},
		{name: "qubo Qubist", file: "a.qh", args: qubo(), seeds: texts("4 4\n1 1 1.5\n3 3 -0.5\n1 2 -1\n2 3 2\n")},
		{name: "qubo DIMACS", file: "a.col", args: qubo(), seeds: texts("c a triangle\np edge 3 3\ne 1 2\ne 2 3\ne 1 3\n")},
		{name: "qubo LP", file: "a.lp", args: qubo(), seeds: texts("Minimize\n obj: - x - 2.5 y + 3 + [ 6 x * y + x ^ 2 ] / 2\nBounds\n 0 <= x <= 1\nBinaries\n x y\nEnd\n")},
		{name: "qubo MPS", file: "a.mps", args: qubo(), seeds: texts("NAME\nROWS\n N o\nCOLUMNS\n M 'MARKER' 'INTORG'\n x o -1\n y o 2.5\nRHS\n R o 3\nBOUNDS\n BV B x\nQUADOBJ\n x x -4\n x y 3\nENDATA\n")},
		{name: "qubo QPLIB", file: "a.qplib", args: qubo(), seeds: texts("EXAMPLE # name\nQBN\nmaximize\n2\n2\n1 1 -4\n2 1 3\n0\n2\n1 -1\n2 2.5\n7\n1e30\n0\n0\n0\n0\n0\n")},
		{name: "qubo table", file: "a.csv", args: qubo(), seeds: texts("-1,3\n0,-1\n", ",a,b\na,-2,3\nb,0,-1.5\n")},
		{name: "qubo MQLib", file: "a.txt", args: qubo("--format", "mqlib"), seeds: texts("# a comment\n2 2\n1 1 3\n1 2 2\n", edges(1))},
		{name: "qubo Matrix Market", file: "a.mtx", args: qubo(), seeds: matrix},
		{name: "qubo npy", file: "a.npy", args: qubo(), seeds: [][]byte{square, npyArray("<i8", "(2, 2)", []int64{4, 1, 9, 2}), npyArray("<f4", "(1, 1)", []float32{1})}},
		{name: "qubo start", file: "a.txt", args: []string{"solve", "qubo", "ASIDE", "--work", "300", "--start", "FILE"}, aside: []byte("1\n3 3\n1 1 5\n2 2 4\n1 2 -6\n"),
			seeds: texts("010\n", "+-+", `{"solution": "011", "value": 4}`)},
		{name: "model LP", file: "a.lp", args: model, seeds: texts("Maximize\n obj: 3 x + 2 y - n + [ 4 x * y ] / 2\nSubject To\n one: x + y <= 1\n w: 2 x + 3 n >= -2\nBounds\n -1 <= n <= 4\nBinaries\n x y\nGenerals\n n\nEnd\n")},
		{name: "model MPS", file: "a.mps", args: model, seeds: texts("NAME\nROWS\n N o\n L c\nCOLUMNS\n M 'MARKER' 'INTORG'\n x o -1 c 1\n y o 2.5 c 1\nRHS\n R c 1\nBOUNDS\n BV B x\n UP B y 3\nQUADOBJ\n x y 3\nENDATA\n")},
		{name: "model QPLIB", file: "a.qplib", args: model, seeds: texts("EXAMPLE # name\nQBL\nmaximize\n2\n1\n2\n1 1 -4\n2 1 3\n0\n2\n1 -1\n2 2.5\n7\n2\n1 1 1\n1 2 1\n1e30\n-1e30\n0\n1\n0\n0\n0\n0\n0\n0\n0\n0\n0\n")},
		{name: "model JSON", file: "a.json", args: model, seeds: texts(`{"sense": "maximize", "variables": [{"name": "a"}, {"name": "s", "kind": "spin"}, {"name": "n", "kind": "integer", "low": 0, "high": 7}],
"objective": [[3, "a"], ["0.5", "a", "s", "n"], [2]], "constraints": [{"name": "w", "terms": [[2, "a"], [1, 2]], "low": null, "high": 6}]}`)},
		{name: "model start", file: "a.txt", args: []string{"solve", "model", "ASIDE", "--work", "300", "--start", "FILE"}, seeds: texts("x=1 y=0\n", `{"assignment": {"x": 1, "y": 0}}`),
			aside: []byte(`{"variables": [{"name": "x"}, {"name": "y"}], "objective": [[-1, 0]], "constraints": [{"terms": [[1, 0], [1, 1]], "high": 1}]}`)},
		{name: "convert", file: "a.coo", args: []string{"convert", "FILE", "--to", "bqm", "--output", "OUTPUT"}, seeds: quboCOO},
		{name: "tuned database", file: "a.json", args: []string{"solve", "qubo", "ASIDE", "--work", "300", "--tuned", "FILE"}, aside: []byte("1\n2 2\n1 1 5\n1 2 -6\n"), seeds: databases},
	}
}

// databases are winners as the tuner saves them.
var databases = texts(`{"schema":"tuned/1","entries":[{"family": "assignment/core", "class": "cuda|NVIDIA H200|9.0|132sm|smem232448",
"fixed": {"range": "medium", "value": "float64"}, "size": 5000, "protocol": "mp1", "time": "2026-11-23T07:55:35Z", "driver": "580.159.04 (CUDA 13.0)",
"winner": "block=512,k=16,group=1,depth=4,divide=4,half=1,resident=1024,cluster=1,value=float64", "results": [
{"variant": "block=512,k=16,group=1,depth=4,divide=4,half=1,resident=1024,cluster=1,value=float64", "hash": "0db363d322580896",
"ns": 1910912, "q1_ns": 1807999, "q3_ns": 2154272, "samples": 5, "work": 25000000}]}]}
`, `{"schema":"tuned/1","entries":[]}`)
