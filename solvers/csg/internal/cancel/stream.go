package cancel

import (
	"context"

	"coalesce/runtime/device"
)

// A Stream is a device.Stream that launches nothing once its Context has ended.
type Stream struct {
	device.Stream
	Context context.Context
}

func (s Stream) Launch(k device.Kernel, grid device.Grid, args ...device.Arg) error {
	if err := s.Context.Err(); err != nil {
		return err
	}
	return s.Stream.Launch(k, grid, args...)
}

// Upload sends bytes to a buffer, from byte `at` on, in pieces, so that ctx can
// end it.
func Upload(ctx context.Context, s device.Stream, to device.Buffer, at int64, b []byte) error {
	const piece = 64 << 20
	for off := 0; off < len(b); off += piece {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := s.Upload(to, at+int64(off), b[off:min(off+piece, len(b))]); err != nil {
			return err
		}
	}
	return nil
}

// Download fetches bytes from the beginning of a buffer, in pieces, so that ctx
// can end it.
func Download(ctx context.Context, s device.Stream, b []byte, from device.Buffer) error {
	const piece = 64 << 20
	for off := 0; off < len(b); off += piece {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := s.Download(b[off:min(off+piece, len(b))], from, int64(off)); err != nil {
			return err
		}
	}
	return nil
}

// Wait waits for the stream. AtOnce the end of ctx it returns ctx's error, after the kernels that were
// launched.
func Wait(ctx context.Context, s device.Stream) error {
	done := make(chan error, 1)
	go func() { done <- s.Sync() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		<-done
		return ctx.Err()
	}
}
