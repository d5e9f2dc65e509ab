package manifest

import "fmt"

// Nearest returns the candidate closest to name by edit distance, the first of equals; "" where
// none is close enough to be meant.
func Nearest(name string, candidates []string) string {
	best, least := "", len(name)/2+2
	for _, c := range candidates {
		if d := editDistance(name, c); d < least {
			best, least = c, d
		}
	}
	return best
}

// didYouMean is the end of an error message, empty when nothing is near.
func didYouMean(name string, candidates []string) string {
	if n := Nearest(name, candidates); n != "" && n != name {
		return fmt.Sprintf("; did you mean %q?", n)
	}
	return ""
}

// editDistance is the optimal string alignment distance, in bytes: insertions, deletions, substitutions, and swaps of
// neighbours count 1 each.
func editDistance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before, last, row = last, row, before
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(last[j+1]+1, row[j]+1, last[j]+cost)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
	}
	return row[len(b)]
}
