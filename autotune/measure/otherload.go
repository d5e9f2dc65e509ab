package measure

import (
	"bytes"
	"os"
	"strconv"
	"time"
)

// OtherLoad tells what part of the cores that this process may use other processes take. The zero value
// is ready for use, nil knows of no others. Systems without Linux's /proc tell nothing; the part is 0 there.
type OtherLoad struct {
	read    func() (counterReading, bool) // default readProc
	sleep   func(time.Duration)           // default time.Sleep
	marks   []counterReading              // the oldest first
	crowded bool                          // others did not leave the cores when they were last waited for
}

// window is the least time over which the part is taken: Linux counts in hundredths of a second.
const window = 200 * time.Millisecond

// A counterReading of the counters, all of them since some moment in the past.
type counterReading struct {
	at    time.Time
	cores int           // that this process may use
	all   time.Duration // of these, idle or not
	idle  time.Duration // of these
	own   time.Duration // that this process computed
}

// RunUndisturbed runs a measurement of so many threads while other processes take at most a part of these
// threads' time: where they took more, it waits for them to end, and runs the measurement again. Once
// the waits come to a time, it keeps the measurement that it has, and those after it do not wait until
// one of them was not disturbed. taken is the part that others took during the measurement that is kept;
// where that lasted less than 200 ms, during what came before too.
func (o *OtherLoad) RunUndisturbed(threads int, part float64, wait time.Duration, run func() error) (taken float64, err error) {
	if o == nil {
		return 0, run()
	}
	for {
		o.BeginInterval()
		err = run()
		taken = o.takenShare(threads)
		if err != nil || taken <= part {
			o.crowded = false
			return taken, err
		}
		if !o.crowded {
			wait, o.crowded = o.wait(threads, part, wait)
		}
		if o.crowded {
			return taken, nil
		}
	}
}

// Available reports whether the system tells what other processes take.
func (o *OtherLoad) Available() bool {
	_, ok := o.now()
	return ok
}

// BeginInterval notes where an interval begins. RunUndisturbed does so too; a measurement of less than 200 ms, the first of a process, tells
// of what others took since an earlier note.
func (o *OtherLoad) BeginInterval() {
	if m, ok := o.now(); ok {
		o.marks = append(o.marks, m)
	}
}

// takenShare is the part, 0 to 1, of so many threads' time since the last BeginInterval, or one before that at
// least a window ago, that other processes took. What they take of cores that the threads leave free
// is not counted. It is 0 where nothing is known of that long.
func (o *OtherLoad) takenShare(threads int) float64 {
	end, ok := o.now()
	if !ok {
		return 0
	}
	for k := len(o.marks) - 1; k >= 0; k-- {
		m := o.marks[k]
		wall := end.at.Sub(m.at)
		if wall < window {
			continue
		}
		o.marks = o.marks[k:]
		whole := float64(wall) * float64(end.cores)
		if end.cores != m.cores || float64(end.all-m.all) < whole/2 { // the counters stand still, as in some sandboxes
			return 0
		}
		others := (whole - float64(end.idle-m.idle) - float64(end.own-m.own)) / float64(wall)
		return min(max((others+float64(threads-end.cores))/float64(threads), 0), 1)
	}
	return 0
}

// wait waits until others take at most a part, for at most a time. It returns what is left of the
// time, and whether others still take more.
func (o *OtherLoad) wait(threads int, part float64, most time.Duration) (left time.Duration, crowded bool) {
	sleep := o.sleep
	if sleep == nil {
		sleep = time.Sleep
	}
	for most >= window {
		o.BeginInterval()
		sleep(window)
		most -= window
		if o.takenShare(threads) <= part {
			return most, false
		}
	}
	return most, true
}

func (o *OtherLoad) now() (counterReading, bool) {
	if o.read == nil {
		o.read = readProc
	}
	return o.read()
}

// readProc reads Linux's counters; false where there are none.
func readProc() (r counterReading, ok bool) {
	r.at = time.Now()
	system, err := os.ReadFile("/proc/stat")
	if err != nil {
		return r, false
	}
	own, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return r, false
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return r, false
	}
	return r, r.parse(system, own, status)
}

// parse takes the counters out of /proc/stat, of the cores that /proc/self/status allows, and /proc/self/stat (proc(5)).
func (r *counterReading) parse(system, own, status []byte) bool {
	_, list, _ := bytes.Cut(status, []byte("\nCpus_allowed_list:"))
	list, _, _ = bytes.Cut(list, []byte("\n"))
	for line := range bytes.Lines(system) {
		fields := bytes.Fields(line)
		if len(fields) < 6 || !bytes.HasPrefix(fields[0], []byte("cpu")) {
			continue
		}
		core, err := strconv.Atoi(string(fields[0][len("cpu"):]))
		if err != nil || !listHasCore(list, core) { // a batch system may leave this process some of the cores
			continue
		}
		r.cores++
		for k, f := range fields[1:min(len(fields), 9)] { // without guests, which count as user time too
			r.all += ticks(f)
			if k == 3 || k == 4 { // idle, and idle while a disk is waited for
				r.idle += ticks(f)
			}
		}
	}
	after := bytes.LastIndexByte(own, ')') // the end of the command's name, which may hold anything
	fields := bytes.Fields(own[after+1:])
	if r.cores == 0 || after < 0 || len(fields) < 13 {
		return false
	}
	r.own = ticks(fields[11]) + ticks(fields[12]) // user and system time
	return true
}

// listHasCore reports whether a list of cores, such as 0-3,8, has a core.
func listHasCore(list []byte, core int) bool {
	for part := range bytes.SplitSeq(bytes.TrimSpace(list), []byte(",")) {
		first, last, several := bytes.Cut(part, []byte("-"))
		low, err := strconv.Atoi(string(first))
		high := low
		if several && err == nil {
			high, err = strconv.Atoi(string(last))
		}
		if err == nil && low <= core && core <= high {
			return true
		}
	}
	return false
}

// ticks are hundredths of a second, as a text.
func ticks(text []byte) time.Duration {
	n, _ := strconv.ParseInt(string(text), 10, 64) // 0 for what is no number, which no kernel writes
	return time.Duration(n) * 10 * time.Millisecond
}
