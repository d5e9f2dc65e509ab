package packing

import (
	"bytes"
	"container/heap"
	"encoding/gob"
	"fmt"
	"slices"
	"time"

	"coalesce/runtime/collective"
)

// Several ranks search one tree. Rank 0 solves the root and sends it to the others. From then on each
// rank explores open nodes of its own. A goroutine of each rank meets those of the others now and
// then: they exchange the best packing and the bound, and ranks without nodes get some from those with
// the most. Each rank records the proof of the nodes that it explores; rank 0 joins these proofs at
// the end.

// meetEvery is the time between two meetings, after the first few.
const meetEvery = 20 * time.Millisecond

// A team is one rank's state of the search that it shares with the other ranks.
type team struct {
	collective.Ranks
	given    int64           // nodes that this rank gave away
	received map[int64]*Step // proofs of nodes that others gave, by their numbers
}

// teamOf is nil where one process searches.
func teamOf(set Settings) *team {
	if set.Ranks == nil || set.Ranks.Size() == 1 {
		return nil
	}
	return &team{Ranks: set.Ranks, received: map[int64]*Step{}}
}

// A rootState is the state of a component that rank 0 sends before its tree is searched.
type rootState struct {
	Result *Result // without its proof
	Rows   []row
	Best   int64
	Chosen []int32
	Live   set
	Bound  int64
	Taken  []int32
	Fixed  int64
	Search bool // the tree is to be searched
}

// shareRoot brings rank 0's root to all: t and n take it over.
func (t *tree) shareRoot(n *node, res *Result, search bool) (bool, error) {
	x := rootState{res, t.rows, t.best, t.chosen, n.live, n.bound, n.taken, n.fixed, search}
	var text []byte
	if t.team.Rank() == 0 {
		var err error
		if text, err = encode(x); err != nil {
			return false, err
		}
	}
	all, err := collective.Lists(t.team, []uint64{uint64(len(text)), uint64(t.g.n)})
	if err != nil {
		return false, err
	}
	if k := slices.IndexFunc(all, func(w []uint64) bool { return w[1] != uint64(t.g.n) }); k >= 0 {
		return false, fmt.Errorf("rank %d has %d bids where rank 0 has %d", k, all[k][1], all[0][1])
	}
	text = append(text, make([]byte, int(all[0][0])-len(text))...)
	if err := t.team.Broadcast(text, 0); err != nil || t.team.Rank() == 0 {
		return search, err
	}
	if err := decode(text, &x); err != nil {
		return false, err
	}
	*res = *x.Result
	t.rows, t.best, t.chosen = x.Rows, x.Best, x.Chosen
	n.live, n.bound, n.taken, n.fixed = append(t.g.empty()[:0], x.Live...), x.Bound, x.Taken, x.Fixed
	return x.Search, nil
}

func encode(x any) ([]byte, error) {
	var text bytes.Buffer
	err := gob.NewEncoder(&text).Encode(x)
	return text.Bytes(), err
}

func decode(text []byte, x any) error { return gob.NewDecoder(bytes.NewReader(text)).Decode(x) }

// The words that a rank sends at a meeting.
const (
	wordBest    = iota
	wordBound   // bound of all of its nodes
	wordOpen    // number of open nodes that no worker explores
	wordIdle    // 1: some of its workers wait for nodes
	wordBusy    // 1: some of its workers explore nodes
	wordStopped // 1: its search was ended
	wordNodes
	words
)

// meetRanks has ranks meet until none has a node left or one was ended, and stops the search.
func (t *tree) meetRanks() error {
	for nap := meetEvery / 16; ; nap = min(2*nap, meetEvery) {
		time.Sleep(nap)
		all, err := collective.Lists(t.team, t.meetingWords())
		if err == nil {
			err = t.spreadIncumbent(all)
		}
		over := true
		for _, w := range all {
			over = over && w[wordBusy] == 0 && w[wordOpen] == 0
		}
		for _, w := range all {
			over = over || w[wordStopped] != 0
		}
		if err == nil && !over {
			err = t.dealNodes(all)
		}
		if err != nil || over {
			t.mu.Lock()
			t.stop = true
			t.wake.Broadcast()
			t.mu.Unlock()
			return err
		}
	}
}

// meetingWords are the words that this rank sends.
func (t *tree) meetingWords() []uint64 {
	w := make([]uint64, words)
	w[wordBound] = uint64(t.ownBound())
	t.mu.Lock()
	defer t.mu.Unlock()
	w[wordBest], w[wordOpen], w[wordNodes] = uint64(t.best), uint64(len(t.open)), uint64(t.nodes.Load())
	flag := func(word int, on bool) {
		if on {
			w[word] = 1
		}
	}
	flag(wordIdle, t.idle.Load() > 0)
	flag(wordBusy, slices.Max(t.work) >= 0)
	flag(wordStopped, t.stop)
	return w
}

// spreadIncumbent brings the best packing and the bound of all to each.
func (t *tree) spreadIncumbent(all [][]uint64) error {
	first, most, hungry := 0, uint64(0), int64(0)
	for k, w := range all {
		if int64(w[wordBest]) > int64(all[first][wordBest]) {
			first = k
		}
		most = max(most, w[wordBound])
		if k != t.team.Rank() && w[wordOpen] == 0 && w[wordIdle] != 0 {
			hungry++
		}
	}
	t.elsewhere.Store(int64(most))
	t.wanted.Store(hungry)
	if !slices.ContainsFunc(all, func(w []uint64) bool { return w[wordBest] != all[first][wordBest] }) {
		return nil
	}
	list := make([]uint64, 1+len(t.g.empty())) // the value, then a bit a bid
	if t.team.Rank() == first {
		t.mu.Lock()
		list[0] = uint64(t.best)
		for _, j := range t.chosen {
			set(list[1:]).add(int(j))
		}
		t.mu.Unlock()
	}
	lists, err := collective.Lists(t.team, list)
	if err == nil {
		t.offer(set(lists[first][1:]).members(), int64(lists[first][0]))
	}
	return err
}

// A nodeGift is a node on its way to another rank.
type nodeGift struct {
	To     int
	Number int64 // of its step
	Live   set
	Taken  []int32
	Fixed  int64
	Bound  int64
}

// dealNodes gives nodes to ranks that have none: each gets every second open node of the rank with the most
// open nodes, as counted after earlier gifts. All ranks compute the same list of givers and takers.
func (t *tree) dealNodes(all [][]uint64) error {
	left := make([]uint64, len(all))
	for k, w := range all {
		left[k] = w[wordOpen]
	}
	var to []int // the ranks to which this rank gives nodes
	some := false
	for k, w := range all {
		if w[wordOpen] > 0 || w[wordIdle] == 0 {
			continue
		}
		from := slices.Index(left, slices.Max(left))
		if left[from] == 0 {
			break
		}
		left[from] /= 2
		if some = true; from == t.team.Rank() {
			to = append(to, k)
		}
	}
	if !some {
		return nil
	}
	var gifts []nodeGift
	for _, k := range to {
		gifts = append(gifts, t.giveNodes(k)...)
	}
	text, err := encode(gifts)
	if err != nil {
		return err
	}
	came, err := collective.Texts(t.team, text)
	if err != nil {
		return err
	}
	for _, text := range came {
		var gifts []nodeGift
		if err := decode(text, &gifts); err != nil {
			return err
		}
		for _, x := range gifts {
			if x.To == t.team.Rank() {
				t.takeGift(x)
			}
		}
	}
	return nil
}

// atOnce is the most nodes that one rank gives another at a meeting.
const atOnce = 256

// giveNodes takes every second open node, the best first, out of the tree.
func (t *tree) giveNodes(to int) (gifts []nodeGift) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var kept openNodes
	for k := 0; len(t.open) > 0 && len(gifts) < atOnce; k++ {
		n := heap.Pop(&t.open).(*node)
		if k%2 == 1 && len(t.open) > 0 {
			kept = append(kept, n)
			continue
		}
		x := nodeGift{To: to, Live: n.live, Taken: n.taken, Fixed: n.fixed, Bound: n.bound}
		if n.step != nil {
			t.team.given++
			x.Number = t.team.given*int64(t.team.Size()) + int64(t.team.Rank())
			n.step.Given = x.Number
		}
		gifts = append(gifts, x)
	}
	for _, n := range kept {
		heap.Push(&t.open, n)
	}
	return gifts
}

// takeGift opens a node that another rank gave.
func (t *tree) takeGift(x nodeGift) {
	n := &node{live: x.Live, taken: x.Taken, fixed: x.Fixed, bound: x.Bound}
	if t.log != nil {
		n.step = &Step{}
		t.team.received[x.Number] = n.step
	}
	t.pushNode(n)
}

// gatherResults returns, after the search, the bound and the number of nodes of all ranks. Every rank then
// has the best packing, and rank 0 the proof.
func (t *tree) gatherResults(bound int64) (int64, error) {
	w := t.meetingWords()
	w[wordBound] = uint64(bound)
	all, err := collective.Lists(t.team, w)
	if err != nil {
		return 0, err
	}
	nodes := uint64(0)
	for _, w := range all {
		bound = max(bound, int64(w[wordBound]))
		nodes += w[wordNodes]
	}
	t.nodes.Store(int64(nodes))
	if err := t.spreadIncumbent(all); err != nil || t.log == nil {
		return max(bound, t.incumbent()), err
	}
	return max(bound, t.incumbent()), t.joinProof()
}

// A rankProof proof is a rank's part of the proof: of the nodes that other ranks gave it.
type rankProof struct {
	Cliques [][]int32
	Odd     [][]int32 // as in a Part
	Steps   map[int64]*Step
}

// joinProof puts the proof together on rank 0.
func (t *tree) joinProof() error {
	var text []byte
	if t.team.Rank() > 0 {
		var err error
		if text, err = encode(rankProof{t.log.cliques, t.log.odd, t.team.received}); err != nil {
			return err
		}
	}
	came, err := collective.Texts(t.team, text)
	if err != nil || t.team.Rank() > 0 {
		return err
	}
	for _, text := range came[1:] {
		var x rankProof
		if err := decode(text, &x); err != nil {
			return err
		}
		rows := make([]row, 0, len(x.Cliques)+len(x.Odd))
		for _, c := range x.Cliques {
			rows = append(rows, row{Bids: c})
		}
		for _, odd := range x.Odd {
			r := row{}
			for _, k := range odd {
				r.Odd = append(r.Odd, x.Cliques[k])
			}
			rows = append(rows, r)
		}
		names := t.log.numberRows(rows)
		for number, step := range x.Steps {
			step.renumberRows(names, len(x.Cliques))
			t.team.received[number] = step
		}
	}
	return nil
}

// renumberRows renumbers the rows of a proof: names has the new numbers, first of so many cliques, then of
// the odd sets.
func (s *Step) renumberRows(names []int32, cliques int) {
	for _, stage := range s.Stages {
		for i, pay := range stage.Prices {
			k := int(pay.Clique)
			if k < 0 {
				k = cliques - 1 - k
			}
			stage.Prices[i].Clique = names[k]
		}
	}
	for _, kid := range s.Kids {
		kid.renumberRows(names, cliques)
	}
}

// graftSubtrees puts the proofs of nodes that were given away in their places.
func (s *Step) graftSubtrees(received map[int64]*Step) {
	for s.Given != 0 {
		x := received[s.Given]
		s.Stages = append(s.Stages, x.Stages...)
		s.Branch, s.Kids, s.Given = x.Branch, x.Kids, x.Given
	}
	for _, kid := range s.Kids {
		kid.graftSubtrees(received)
	}
}
