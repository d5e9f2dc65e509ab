package matching

// An event is due at a time: a half-edge is looked at, or a node, ^id, has shrunk.
type event struct {
	at int64
	id int32
}

// events are a heap, the first due at the top.
type events []event

func (h *events) push(e event) {
	list := append(*h, e)
	k := len(list) - 1
	for k > 0 {
		up := (k - 1) / 2
		if list[up].at <= e.at {
			break
		}
		list[k] = list[up]
		k = up
	}
	list[k] = e
	*h = list
}

func (h *events) pop() event {
	list := *h
	first, last := list[0], list[len(list)-1]
	list = list[:len(list)-1]
	k := 0
	for 2*k+1 < len(list) {
		c := 2*k + 1
		if c+1 < len(list) && list[c+1].at < list[c].at {
			c++
		}
		if list[c].at >= last.at {
			break
		}
		list[k] = list[c]
		k = c
	}
	if len(list) > 0 {
		list[k] = last
	}
	*h = list
	return first
}
