// Package checkpoint keeps what a long dynamic program over coalitions has finished in
// a file: tiles of its table, level by level, each written once.
//
// A file is a head, which names the instance, and records, which are appended. A record
// has its kind and extent, a payload, and a digest of the head, the extent, the payload and the
// record's number. A process may be killed while it appends: when the file is opened again, the
// incomplete last record and the records of an incomplete last level are cut off. Any other
// damage is refused.
//
// A table holds 2^Agents values by coalition number. Tiles of t bits are the coalitions
// that differ in their t lowest agents alone; level p is the tiles of p higher agents.
// All numbers are little-endian.
package checkpoint

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"coalesce/runtime/disk"
	"coalesce/solvers/csg/problem"
)

// ErrRefused is wrapped by the errors of files from which a solve cannot continue: files that
// are no checkpoints, damaged checkpoints, and checkpoints of other instances.
var ErrRefused = errors.New("not a checkpoint to go on with")

// An Identity names the table that a checkpoint belongs to.
type Identity struct {
	Agents int // of the table
	Type   problem.Value
	Values [32]byte // Digest of the instance's values
}

const (
	magic      = "coalesce csg checkpoint 1\n\x00\x00\x00\x00\x00\x00" // 32 bytes
	headSize   = 32 + 8 + 8 + 32 + 32
	extentSize = 40
	digestSize = sha256.Size
)

// A Record is a run of a level's tiles that follow one another in the order of their numbers.
type Record struct {
	Bits  int // of a tile
	Level int // agents of a tile's number; Best: the payload is no tile
	First int64
	Count int64
}

// Best is the level of the record of the best structure so far.
const Best = 255

// A File is a checkpoint that is open for appending. One goroutine at a time uses it.
type File struct {
	f       *os.File
	head    []byte
	next    uint64 // records so far
	settled int64  // bytes known to be on the disk
}

func (id *Identity) head() []byte {
	head := []byte(magic)
	head = binary.LittleEndian.AppendUint64(head, uint64(id.Agents))
	var name [8]byte
	copy(name[:], id.Type)
	head = append(append(head, name[:]...), id.Values[:]...)
	digest := sha256.Sum256(head)
	return append(head, digest[:]...)
}

// Create begins a checkpoint in a new file. It is an error if the file exists, or if the system
// reports less free space on the disk than the table takes.
func Create(path string, id Identity) (*File, error) {
	need := problem.Footprint(id.Agents, id.Type)
	if free, ok := freeSpace(filepath.Dir(path)); ok && free < need {
		return nil, fmt.Errorf("checkpoint %s: found room for %d bytes on the disk, expected %d", path, free, need)
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
	if errors.Is(err, os.ErrExist) {
		return nil, fmt.Errorf("checkpoint %s: there is such a file; --resume goes on with it", path)
	} else if err != nil {
		return nil, fmt.Errorf("checkpoint: %w", err)
	}
	c := &File{f: f, head: id.head()}
	if _, err := f.Write(c.head); err != nil {
		return nil, errors.Join(fmt.Errorf("checkpoint: %w", err), f.Close())
	}
	return c, f.Sync()
}

// Open opens a checkpoint of an instance. It calls put with each record in their order, also
// with those of an incomplete last level, whose tiles are finished; the payload is valid until
// put returns. Errors wrap ErrRefused, or are put's.
func Open(path string, id Identity, put func(r Record, payload []byte) error) (_ *File, err error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, fmt.Errorf("checkpoint: %w", err)
	}
	c := &File{f: f, head: id.head()}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("checkpoint %s: %w", path, err), f.Close())
		}
	}()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	size := info.Size()
	if info.Mode().IsRegular() && size < headSize {
		if size, err = c.begin(size); err != nil {
			return nil, err
		}
	}
	if err := c.checkHead(&id); err != nil {
		return nil, err
	}
	end, err := c.scan(size, id.Type.Size(), put)
	if err != nil {
		return nil, err
	}
	if need := problem.Footprint(id.Agents, id.Type) - end; need > 0 {
		if free, ok := freeSpace(filepath.Dir(path)); ok && free+size-end < need {
			return nil, fmt.Errorf("found room for %d bytes on the disk, expected %d", free+size-end, need)
		}
	}
	if err := f.Truncate(end); err != nil {
		return nil, err
	}
	_, err = f.Seek(end, io.SeekStart)
	return c, err
}

func refuse(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrRefused, fmt.Errorf(format, args...))
}

// begin completes the head of a file of so many bytes where the process ended while it wrote the head, and returns
// the file's new size.
func (c *File) begin(size int64) (int64, error) {
	found := make([]byte, size)
	if _, err := c.f.ReadAt(found, 0); err != nil {
		return 0, err
	}
	if !bytes.HasPrefix(c.head, found) {
		return size, nil // which checkHead refuses
	}
	if _, err := c.f.WriteAt(c.head, 0); err != nil {
		return 0, err
	}
	return headSize, c.f.Sync()
}

// checkHead says how a file's head differs from that of an identity.
func (c *File) checkHead(id *Identity) error {
	found := make([]byte, headSize)
	if _, err := io.ReadFull(c.f, found); err != nil || !bytes.HasPrefix(found, []byte(magic)) {
		return refuse("byte 0: found no head of a checkpoint")
	}
	if digest := sha256.Sum256(found[:headSize-digestSize]); !bytes.Equal(digest[:], found[headSize-digestSize:]) {
		return refuse("byte 0: the head is damaged")
	}
	n, t := binary.LittleEndian.Uint64(found[32:]), string(bytes.TrimRight(found[40:48], "\x00"))
	switch {
	case n != uint64(id.Agents) || t != string(id.Type):
		return refuse("found %d agents of type %s, expected %d of type %s", n+1, t, id.Agents+1, id.Type)
	case !bytes.Equal(found, c.head):
		return refuse("found the values of another instance")
	}
	return nil
}

// scan reads records from the head's end on, and returns where the last whole level ends.
func (c *File) scan(size int64, width int, put func(Record, []byte) error) (end int64, err error) {
	end = headSize
	at, whole := end, c.next
	var extent [extentSize]byte
	var payload []byte
	var digest [digestSize]byte
	for ; ; c.next++ {
		if at+extentSize+digestSize > size {
			break // the process ended while it appended this record
		}
		if _, err := io.ReadFull(c.f, extent[:]); err != nil {
			return 0, err
		}
		r, bytesOf := decodeExtent(extent[:])
		if r.Level != Best && (r.Bits > 40 || r.Level > 40 || r.Count < 0 || bytesOf != r.Count*int64(width)<<r.Bits) || bytesOf < 0 || bytesOf > maxPayload {
			return 0, refuse("byte %d: the record is damaged", at)
		}
		if at+extentSize+bytesOf+digestSize > size {
			break
		}
		if int64(cap(payload)) < bytesOf {
			payload = make([]byte, bytesOf)
		}
		payload = payload[:bytesOf]
		for _, part := range [][]byte{payload, digest[:]} {
			if _, err := io.ReadFull(c.f, part); err != nil {
				return 0, err
			}
		}
		if want := c.digest(extent[:], payload); want != digest {
			return 0, refuse("byte %d: the record is damaged", at)
		}
		if err := put(r, payload); err != nil {
			return 0, err
		}
		at += extentSize + bytesOf + digestSize
		if r.Level == Best || extent[39] == lastOfLevel {
			end, whole = at, c.next+1
		}
	}
	c.next = whole
	return end, nil
}

// maxPayload is more than the payload of any record.
const maxPayload = 1 << 40

const lastOfLevel = 1 // in an extent's last byte

func (r *Record) encodeExtent(payload []byte, last bool) []byte {
	e := make([]byte, extentSize)
	binary.LittleEndian.PutUint32(e, uint32(r.Bits))
	binary.LittleEndian.PutUint32(e[4:], uint32(r.Level))
	binary.LittleEndian.PutUint64(e[8:], uint64(r.First))
	binary.LittleEndian.PutUint64(e[16:], uint64(r.Count))
	binary.LittleEndian.PutUint64(e[24:], uint64(len(payload)))
	if last {
		e[39] = lastOfLevel
	}
	return e
}

func decodeExtent(e []byte) (Record, int64) {
	return Record{int(binary.LittleEndian.Uint32(e)), int(binary.LittleEndian.Uint32(e[4:])),
		int64(binary.LittleEndian.Uint64(e[8:])), int64(binary.LittleEndian.Uint64(e[16:]))}, int64(binary.LittleEndian.Uint64(e[24:]))
}

// digest is the digest of the next record.
func (c *File) digest(extent, payload []byte) (sum [digestSize]byte) {
	h := sha256.New()
	h.Write(c.head)
	h.Write(binary.LittleEndian.AppendUint64(nil, c.next))
	h.Write(extent)
	inner := Digest(payload)
	h.Write(inner[:])
	h.Sum(sum[:0])
	return sum
}

// Append writes a record. If last is set, the record ends its level, and the whole level is on
// the disk when Append returns.
func (c *File) Append(r Record, payload []byte, last bool) error {
	extent := r.encodeExtent(payload, last)
	digest := c.digest(extent, payload)
	for _, part := range [][]byte{extent, payload, digest[:]} {
		if _, err := c.f.Write(part); err != nil {
			return fmt.Errorf("checkpoint: %w", err)
		}
	}
	c.next++
	if !last {
		return nil
	}
	at, err := c.f.Seek(0, io.SeekCurrent)
	if err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	if err := disk.WaitWritten(context.Background(), c.f, c.settled); err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	c.settled = at
	return nil
}

// Close ends the file; nil is none.
func (c *File) Close() error {
	if c == nil {
		return nil
	}
	return c.f.Close()
}
