package foreign

import (
	"strings"
	"testing"
)

func TestOf(t *testing.T) {
	for _, c := range []struct {
		head string
		want Kind
	}{
		{"", ""},
		{"1,2\n3,4\n", ""},
		{"\x93NUMPY\x01\x00v\x00{'descr'", NPY},
		{"DIMODBQM\x02\x00", BQM},
		{"%PDF-1.7\n", "a PDF document"},
		{"PK\x03\x04\x14\x00", "a zip archive"},
		{"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\x00", "a document of an old Microsoft Office (.xls, .doc)"},
		{"\x89HDF\r\n\x1a\n", "an HDF5 file"},
		{"SQLite format 3\x00", "an SQLite database"},
		{"\x80\x04\x95\x10\x00", "a Python pickle"},
		{strings.Repeat("\x00", 257) + "ustar\x0000", "a tar archive"},
		{"\x01\x02\x00\x00\x05", "a binary file"},
		{"\x03\x11\x7f\x9c\xfe\x02\x1b\xf0\x88\x04", "a binary file"},
		{"\xf1\xe9\xfd\x81\xd0", "a binary file"},
		{"na\xefve;caf\xe9\n1;2\n", ""}, // Latin-1
		{"1,2\n3,4\n\x1a", ""},
		{"1\x002\x003\x00", ""}, // UTF-16: another error says so
		{"%%MatrixMarket matrix array real general\n", Market},
		{"% a comment of CATS\ngoods 3\n", ""},
		{"version https://git-lfs.github.com/spec/v1\noid sha256:1\n", "a pointer of Git LFS, without the file that it stands for (git lfs pull fetches it)"},
		{"[[0, 4], [4, 0]]", JSON},
		{"\n { \"a\": 1}", JSON},
		{"{1,2},5\n", ""},
		{"{ann, bob},5\n", ""},
		{"<!DOCTYPE html>\n<html>", "an HTML page"},
		{"<?xml version=\"1.0\"?>", "an XML file"},
		{"graph G {\n a -- b\n}", "a graph in DOT (Graphviz)"},
		{"graph [\n node [", "a graph in GML"},
		{"\\ Model m\nMinimize\n x\nEnd\n", LP},
		{"Minimize\n obj: - x - y\nEnd\n", LP},
		{"minimise obj: 3 x\n", LP},
		{"MAX\n 3 x + 2 y\nst\n", LP},
		{"max\n3\n4\n", ""},
		{"min,max\n3,4\n", ""},
		{"min max\n3 4\n", ""},
		{"NAME          test\nROWS\n N  obj\n", "a model in MPS format"},
		{"* a comment\nNAME\nROWS\n", "a model in MPS format"},
		{"name,cost\nann,3\n", ""},
		{"NAME : a280\nTYPE : TSP\nDIMENSION : 280\n", "a problem in TSPLIB's format"},
		{"p min 4 4\nn 1 1\n", "a DIMACS min-cost flow problem"},
		{"c flow\nc\np max 4 5\n", "a DIMACS maximum-flow problem"},
		{"c a triangle\np edge 3 3\n", Edges},
		{"p col 3 3\n", Edges},
		{"p asn 4 4\n", Asn},
		{"p cnf 3 2\n", "a DIMACS formula (CNF)"},
		{"c\np qubo 0 2 2 1\n", QUBO},
		{"p q r\n1 2 3\n", ""},
		{"c d\n1 2\n", ""},
		{"QPLIB_3506\nQBN\nminimize\n496\n", "a model in QPLIB's format"},
	} {
		if got := KindOf([]byte(c.head)); got != c.want {
			t.Errorf("%q: found %q, expected %q", c.head, got, c.want)
		}
	}
	if err := Check("a", []byte("%PDF-1"), "costs", NPY); err == nil || err.Error() != "a: found a PDF document, expected costs" {
		t.Error(err)
	}
	if err := Check("a", []byte("\x93NUMPY"), "costs", NPY); err != nil {
		t.Error(err)
	}
}
