package checkpoint

import "coalesce/runtime/collective"

// OpenOn is Open on ranks: rank 0 alone opens the file and sends its records, put is called with
// each record on every rank, and the other ranks get no file.
func OpenOn(ranks collective.Ranks, path string, id Identity, put func(r Record, payload []byte) error) (*File, error) {
	if ranks == nil || ranks.Size() == 1 {
		return Open(path, id, put)
	}
	if ranks.Rank() > 0 {
		return nil, receiveRecords(ranks, put)
	}
	c, err := Open(path, id, func(r Record, payload []byte) error {
		if err := put(r, payload); err != nil {
			return err
		}
		extent := r.encodeExtent(payload, false)
		extent[follows] = 1
		if err := ranks.Broadcast(extent, 0); err != nil {
			return err
		}
		return ranks.Broadcast(payload, 0)
	})
	if err != nil {
		return nil, err
	}
	return c, ranks.Broadcast(make([]byte, extentSize), 0)
}

// follows is the byte of an extent that tells ranks that a record follows; in files it is 0.
const follows = 38

// receiveRecords puts the records that rank 0 reads.
func receiveRecords(ranks collective.Ranks, put func(r Record, payload []byte) error) error {
	for extent := make([]byte, extentSize); ; {
		if err := ranks.Broadcast(extent, 0); err != nil || extent[follows] == 0 {
			return err
		}
		r, size := decodeExtent(extent)
		payload := make([]byte, size)
		if err := ranks.Broadcast(payload, 0); err != nil {
			return err
		}
		if err := put(r, payload); err != nil {
			return err
		}
	}
}
