package payments

import (
	"math/big"
)

// A Point has the amount that each winner pays beyond the Vickrey payment, in the units of the prices: the
// bidder-optimal payments in the core of the added coalitions. They have the least revenue and, among
// equals, the least sum of squared distances from the Vickrey payments (Day and Cramton, Operations
// Research 60, 2012). They are exact.
//
// Least revenue and least squares are one objective, t·(sum of x) + (sum of x²)/2 for a t larger than any
// number: the nearest point to (-t, -t, …). The dual active-set method of Goldfarb and Idnani (Mathematical
// Programming 27, 1983) computes it over numbers base + slope·t with rational parts, and goes on from its
// last point when a coalition is added.
type Point struct {
	upper  []int64 // the most that each winner pays beyond the Vickrey payment
	rows   []row
	x      []number
	held   []int8   // -1: the winner is held at 0, 1: at upper, 0: at neither
	pull   []number // multiplier of a winner that is held
	active []int    // rows that hold with equality and have a positive multiplier
	push   []number // multiplier of each active row
}

// A row is the constraint that its members together pay at least an amount.
type row struct {
	member []bool
	least  int64
}

// NewPoint is the point of the Vickrey payments; upper is the amount by which each winner's bids exceed them.
func NewPoint(upper []int64) *Point {
	p := &Point{upper: upper, held: make([]int8, len(upper))}
	for range upper {
		p.x = append(p.x, zero())
		p.held[len(p.x)-1] = -1
		p.pull = append(p.pull, number{new(big.Rat), big.NewRat(1, 1)})
	}
	return p
}

// Add adds the constraint that members, given by their places in upper, together pay at least an
// amount, and moves the point. It reports whether the constraint can hold: whether the sum of the
// members' upper is as large.
func (p *Point) Add(members []int, least int64) bool {
	r := row{make([]bool, len(p.upper)), least}
	room := new(big.Int)
	for _, i := range members {
		r.member[i] = true
		room.Add(room, big.NewInt(p.upper[i]))
	}
	if room.Cmp(big.NewInt(least)) < 0 {
		return false
	}
	p.rows = append(p.rows, r)
	for {
		k, side := p.violated()
		if k < 0 {
			return true
		}
		p.enter(k, side)
	}
}

// Value is what a winner pays beyond the Vickrey payment.
func (p *Point) Value(i int) *big.Rat { return p.x[i].base }

// Ceil is Value, rounded up to a whole number.
func (p *Point) Ceil(i int) int64 {
	v := p.Value(i)
	up := new(big.Int).Add(v.Num(), v.Denom())
	up.Sub(up, big.NewInt(1))
	return up.Div(up, v.Denom()).Int64()
}

// violated finds a row that the point violates (side 0), or a winner that pays less than
// 0 (side -1) or more than upper (side 1). -1: none.
func (p *Point) violated() (int, int8) {
	for k := range p.rows {
		if p.excess(k, 0).sign() < 0 {
			return k, 0
		}
	}
	for i := range p.upper {
		for _, side := range []int8{-1, 1} {
			if p.excess(i, side).sign() < 0 {
				return i, side
			}
		}
	}
	return -1, 0
}

// excess is the amount by which a constraint holds, negative where it is violated.
func (p *Point) excess(k int, side int8) number {
	s := zero()
	one := big.NewRat(1, 1)
	switch side {
	case -1:
		s.add(one, p.x[k])
	case 1:
		s.base.SetInt64(p.upper[k])
		s.add(big.NewRat(-1, 1), p.x[k])
	default:
		s.base.SetInt64(p.rows[k].least)
		s.base.Neg(s.base)
		for i, in := range p.rows[k].member {
			if in {
				s.add(one, p.x[i])
			}
		}
	}
	return s
}

// enter makes a violated constraint hold with equality, and drops active constraints whose multipliers
// would become negative.
func (p *Point) enter(k int, side int8) {
	normal := make([]*big.Rat, len(p.upper))
	for i := range normal {
		normal[i] = new(big.Rat)
		if side == 0 && p.rows[k].member[i] || side == -1 && i == k {
			normal[i].SetInt64(1)
		} else if side == 1 && i == k {
			normal[i].SetInt64(-1)
		}
	}
	force := zero() // multiplier of the entering constraint
	for {
		share := p.shares(normal)
		move := make([]*big.Rat, len(normal)) // direction of the point, and of the multipliers held
		square := new(big.Rat)
		for i := range normal {
			move[i] = new(big.Rat).Set(normal[i])
			for a, k := range p.active {
				if p.rows[k].member[i] {
					move[i].Sub(move[i], share[a])
				}
			}
			if p.held[i] == 0 {
				square.Add(square, new(big.Rat).Mul(move[i], move[i]))
			} else if p.held[i] > 0 {
				move[i].Neg(move[i])
			}
		}
		// The longest step that keeps all multipliers at 0 or more.
		step, from, winner := number{}, -1, false
		shorter := func(u number, fall *big.Rat, at int, held bool) {
			if fall.Sign() <= 0 {
				return
			}
			t := zero()
			t.add(new(big.Rat).Inv(fall), u)
			if from < 0 || t.less(step) {
				step, from, winner = t, at, held
			}
		}
		for a := range p.active {
			shorter(p.push[a], share[a], a, false)
		}
		for i, h := range p.held {
			if h != 0 {
				shorter(p.pull[i], move[i], i, true)
			}
		}
		full := square.Sign() > 0
		if full {
			t := zero()
			t.add(new(big.Rat).Neg(new(big.Rat).Inv(square)), p.excess(k, side))
			if full = from < 0 || !step.less(t); full {
				step = t
			}
		}
		// The multipliers change in any case, the point only where the direction is not zero.
		for i, h := range p.held {
			if h == 0 {
				p.x[i].addTimes(move[i], step)
			} else {
				p.pull[i].addTimes(new(big.Rat).Neg(move[i]), step)
			}
		}
		for a := range p.active {
			p.push[a].addTimes(new(big.Rat).Neg(share[a]), step)
		}
		force.addTimes(big.NewRat(1, 1), step)
		switch {
		case full && side == 0:
			p.active, p.push = append(p.active, k), append(p.push, force)
			return
		case full:
			p.held[k], p.pull[k] = side, force
			return
		case winner:
			p.held[from] = 0
		default:
			p.active = append(p.active[:from], p.active[from+1:]...)
			p.push = append(p.push[:from], p.push[from+1:]...)
		}
	}
}

// shares are the multiples of the active rows whose sum is nearest to a normal, over the
// winners that are not held: the solution of the normal equations.
func (p *Point) shares(normal []*big.Rat) []*big.Rat {
	n := len(p.active)
	m := make([][]*big.Rat, n)
	for a, k := range p.active {
		m[a] = make([]*big.Rat, n+1)
		for b, l := range p.active {
			both := int64(0)
			for i, h := range p.held {
				if h == 0 && p.rows[k].member[i] && p.rows[l].member[i] {
					both++
				}
			}
			m[a][b] = big.NewRat(both, 1)
		}
		m[a][n] = new(big.Rat)
		for i, h := range p.held {
			if h == 0 && p.rows[k].member[i] {
				m[a][n].Add(m[a][n], normal[i])
			}
		}
	}
	for a := range n { // active normals are independent: there is a pivot
		for b := a; b < n; b++ {
			if m[b][a].Sign() != 0 {
				m[a], m[b] = m[b], m[a]
				break
			}
		}
		inverse := new(big.Rat).Inv(m[a][a])
		for c := a; c <= n; c++ {
			m[a][c].Mul(m[a][c], inverse)
		}
		for b := range n {
			if b == a || m[b][a].Sign() == 0 {
				continue
			}
			by := new(big.Rat).Set(m[b][a])
			for c := a; c <= n; c++ {
				m[b][c].Sub(m[b][c], new(big.Rat).Mul(by, m[a][c]))
			}
		}
	}
	share := make([]*big.Rat, n)
	for a := range share {
		share[a] = m[a][n]
	}
	return share
}

// A number is base + slope·t, where t is larger than any rational.
type number struct{ base, slope *big.Rat }

func zero() number { return number{new(big.Rat), new(big.Rat)} }

// add adds k times y. Most parts of most numbers are 0, and a sum of rationals is reduced by a greatest
// common divisor, so parts of y that are 0 are left out.
func (x number) add(k *big.Rat, y number) {
	if y.base.Sign() != 0 {
		x.base.Add(x.base, new(big.Rat).Mul(k, y.base))
	}
	if y.slope.Sign() != 0 {
		x.slope.Add(x.slope, new(big.Rat).Mul(k, y.slope))
	}
}

// addTimes is add where k is often 0.
func (x number) addTimes(k *big.Rat, y number) {
	if k.Sign() != 0 {
		x.add(k, y)
	}
}

func (x number) sign() int {
	if s := x.slope.Sign(); s != 0 {
		return s
	}
	return x.base.Sign()
}

func (x number) less(y number) bool {
	if c := x.slope.Cmp(y.slope); c != 0 {
		return c < 0
	}
	return x.base.Cmp(y.base) < 0
}
