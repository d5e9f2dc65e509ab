package hungarian

import (
	"bytes"
	"encoding/binary"

	"coalesce/runtime/device"
)

// A memberTable tells the kernels of a solve's members, each on its device, where the
// memory of all is.
type memberTable struct{ bytes.Buffer }

// appendMember appends a member: the addresses that a launch has left at the start of a buffer, of so
// many bytes, its first row and the number of its rows.
func (t *memberTable) appendMember(s device.Stream, at device.Buffer, addresses, first, rows int) error {
	found := make([]byte, addresses)
	if err := s.Download(found, at, 0); err != nil {
		return err
	}
	for _, x := range []int{first, rows} {
		found = binary.LittleEndian.AppendUint64(found, uint64(x))
	}
	_, err := t.Write(found)
	return err
}

// openWays gives member k's device access to the memory of the others: a copy from each opens it.
// Every member has a buffer.
func openWays(devices []device.Device, streams []device.Stream, buffers []device.Buffer, k int) error {
	for other, b := range buffers {
		if devices[other] == devices[k] {
			continue
		}
		if err := streams[k].Copy(buffers[k], 0, b, 0, 8); err != nil {
			return err
		}
	}
	return nil
}

// membersOfLaunch is how many members from number k on are on one device, and share a launch.
func membersOfLaunch(devices []device.Device, k int) int {
	n := 1
	for k+n < len(devices) && devices[k+n] == devices[k] {
		n++
	}
	return n
}
