// Package ranks is the command under a launcher of MPI: processes join before anything
// else (Enter), rank 0 alone talks, instances go to ranks as they get free (Share), and
// all end together (World.EndProgram).
package ranks

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"coalesce/internal/ui"
	"coalesce/runtime/collective"
	"coalesce/runtime/device"
	"coalesce/runtime/handover"
	"coalesce/runtime/mpi"
)

// JoinWorld joins the other processes if a launcher has started several of a command that ranks do
// together. If this binary has no MPI, coalesce-mpi beside it takes the process over. JoinWorld returns
// nil for a process that works alone. It prints errors itself, and ends the process after an error and
// where processes cannot work together.
func JoinWorld(args []string, stderr io.Writer) (*mpi.World, error) {
	l := mpi.LaunchFromEnv(os.Getenv)
	does := command(args)
	if l.Size < 2 || does != "solve" && does != "tune" {
		return nil, nil
	}
	if !mpi.Built {
		return nil, l.JoinFailure(handOver(l, args))
	}
	w, err := mpi.Join(l)
	if w == nil {
		return nil, l.JoinFailure(err)
	}
	if err == nil {
		err = sameProgram(w, args)
	}
	if err == nil && does == "solve" { // of ranks that tune, one alone uses the host
		err = share(w, stderr)
	}
	if err != nil {
		w.EndProgram(1, func() { fmt.Fprintf(stderr, "coalesce: %v\n", err) })
	}
	return w, nil
}

// command is the first word of a command line. Ranks do solve and tune together; each rank does other
// commands, such as devices and version, alone.
func command(args []string) string {
	for _, arg := range args {
		if !strings.HasPrefix(arg, "-") {
			return arg
		}
	}
	return ""
}

// handOver replaces this process by a binary that has MPI: coalesce-cuda beside it where
// there is a GPU, else coalesce-mpi.
func handOver(l mpi.Launch, args []string) error {
	env := handover.SystemEnv()
	path, _ := handover.TargetBinary(env)
	if path == "" && env.Executable != "" {
		path = filepath.Join(filepath.Dir(env.Executable), "coalesce-mpi")
	}
	if path == env.Executable || !env.Runnable(path) {
		return fmt.Errorf("%s has started %d processes, and this binary has no MPI: run scripts/mpi and put coalesce-mpi and its libraries beside it, or set %s=off so that each works alone; next: scripts/mpi", l.Launcher, l.Size, mpi.LibraryVariable)
	}
	return handover.ReplaceProcess(path, args)
}

// cores are those of a rank: how many the rank may use, how many its host has, and the checksums of the list
// of those that the rank may use and of the host's name.
type cores struct{ own, host, list, name uint64 }

// share divides a host's cores among its ranks, unless the launcher bound each to some. Where these are
// fewer than a rank's part of the host, rank 0 says so.
func share(w *mpi.World, stderr io.Writer) error {
	own := cores{own: uint64(runtime.NumCPU())}
	if text, err := os.ReadFile("/sys/devices/system/cpu/online"); err == nil {
		own.host = uint64(countCores(strings.TrimSpace(string(text))))
	}
	if text, err := os.ReadFile("/proc/self/status"); err == nil {
		_, list, _ := strings.Cut(string(text), "Cpus_allowed_list:")
		list, _, _ = strings.Cut(list, "\n")
		own.list = uint64(crc([]byte(list)))
	}
	if name, err := os.Hostname(); err == nil {
		own.name = uint64(crc([]byte(name)))
	}
	words, err := collective.GatherLists(w, []uint64{own.own, own.host, own.list, own.name})
	if err != nil {
		return err
	}
	all := make([]cores, len(words))
	for k, x := range words {
		all[k] = cores{x[0], x[1], x[2], x[3]}
	}
	if w.Rank() == 0 && boundToCores(all) {
		fmt.Fprintf(stderr, "coalesce: %s bound rank 0 to %d of %d cores: what ranks do on the host takes longer; mpirun --bind-to none (MPICH: -bind-to none) leaves them all\n", w.Launch.Launcher, own.own, own.host)
	}
	if own.own >= own.host && own.host > 0 {
		part := (w.Size() + w.HostCount() - 1) / w.HostCount()
		runtime.GOMAXPROCS(max(1, int(own.own)/part))
	}
	return nil
}

// boundToCores reports whether a launcher bound the ranks of rank 0's host to different cores, and rank 0 to fewer
// than its part of the host. Ranks that may use the same few cores are in a container of so many.
func boundToCores(ranks []cores) bool {
	first, here, different := ranks[0], uint64(0), false
	for _, c := range ranks {
		if c.name == first.name {
			here++
			different = different || c.list != first.list
		}
	}
	return different && first.own*here < first.host
}

// countCores counts the cores of a list such as 0-3,8.
func countCores(list string) (n int) {
	for part := range strings.SplitSeq(list, ",") {
		var low, high int
		if k, _ := fmt.Sscanf(part, "%d-%d", &low, &high); k == 2 {
			n += high - low
		}
		n++
	}
	return n
}

// sameProgram returns an error unless all ranks run the same binary with the same arguments.
func sameProgram(w *mpi.World, args []string) error {
	path, err := os.Executable()
	var binary []byte
	if err == nil {
		binary, err = os.ReadFile(path)
	}
	return errors.Join(err, CheckSame(w, "another binary", crc(binary)), CheckSame(w, "other arguments", crc([]byte(strings.Join(args, "\x00")))))
}

func crc(p []byte) uint32 { return crc32.Checksum(p, crc32.MakeTable(crc32.Castagnoli)) }

// CheckSame returns an error on all ranks if a rank's sum differs from rank 0's; the error names one
// such rank. Nil ranks are one process.
func CheckSame(r collective.Ranks, what string, sum uint32) error {
	if r == nil || r.Size() == 1 {
		return nil
	}
	all, err := collective.GatherLists(r, []uint64{uint64(sum)})
	if err != nil {
		return err
	}
	for k, w := range all {
		if w[0] != all[0][0] {
			return fmt.Errorf("rank %d has %s than rank 0", k, what)
		}
	}
	return nil
}

// CountDevices is the number of devices that solve an instance together: this rank's devices times the
// number of ranks, all of which have equally many.
func CountDevices(w *mpi.World, devices []device.Device) int {
	if w == nil {
		return len(devices)
	}
	return w.Size() * len(devices)
}

// Announce prints a line about the ranks that solve an instance together, each on its own devices. It
// returns an error if a rank has another instance than rank 0. linked says that devices exchange data
// with those of other ranks.
func Announce(w *mpi.World, talk io.Writer, devices []device.Device, linked bool, inst []byte) error {
	line, err := Describe(w, devices, linked)
	if err != nil {
		return err
	}
	fmt.Fprintf(talk, "coalesce: %s\n", line)
	return CheckSame(w, "another instance", crc(inst))
}

// Describe is the first line that rank 0 prints: "4 of 4 ranks on 1 host, Open MPI v5.0.11", or "16 of
// 16 ranks on 4 hosts, 16 GPUs, NCCL 2.28.3" if linked devices exchange data with those of other ranks.
// All ranks call it, with the devices on which they solve together, if they do.
func Describe(w *mpi.World, devices []device.Device, linked bool) (string, error) {
	way, _, _ := strings.Cut(w.Library, ",")
	way = strings.Join(strings.Fields(strings.ReplaceAll(way, "Version:", "")), " ")
	line := fmt.Sprintf("%d of %d ranks on %s", w.Size(), w.Launch.Size, ui.Count(w.HostCount(), "host"))
	if len(devices) == 0 || devices[0].Facts().Kind != device.CUDA {
		return line + ", " + way, nil
	}
	gpus, err := collective.CountDistinctDevices(devices, w)
	if err == nil && linked {
		way, err = collective.PlannedMethod(devices, w)
	}
	return fmt.Sprintf("%s, %s, %s", line, ui.Count(gpus, "GPU"), way), err
}

// poll calls look until it is done, at growing intervals.
func poll(look func() (done bool, err error)) error {
	nap := 20 * time.Microsecond
	for {
		done, err := look()
		if done || err != nil {
			return err
		}
		time.Sleep(nap)
		nap = min(2*nap, 2*time.Millisecond)
	}
}
