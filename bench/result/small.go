package result

// A Small is the processor time of one call of Python on a small matrix, or on a batch of them, beside the fastest peer's.
type Small struct {
	Kind     string  `json:"kind"`
	Type     string  `json:"type"`
	Batch    int     `json:"batch"` // 0: one matrix
	Rows     int     `json:"rows"`
	Cols     int     `json:"cols"`
	Took     float64 `json:"took"` // seconds
	Peer     string  `json:"peer"` // the fastest
	PeerTook float64 `json:"peer_took"`

	// Share of the time that the check takes; for few columns, where the kernel checks as it goes, the time of the other kernels' check in its.
	Certificate *float64 `json:"certificate,omitempty"`
}

// Succeeded reports that nothing went wrong.
func (r Small) Succeeded() bool { return true }

// Ratio is the peer's time in ours.
func (r Small) Ratio() float64 { return r.PeerTook / r.Took }
