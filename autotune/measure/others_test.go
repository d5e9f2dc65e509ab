package measure

import (
	"errors"
	"math"
	"os"
	"os/exec"
	"runtime"
	"testing"
	"time"
)

const (
	threeCores = "cpu  150 5 20 1500 30 2 3 4 50 0\ncpu0 50 5 10 500 15 1 1 2 25 0\ncpu1 50 0 10 500 15 1 2 2 25 0\ncpu2 50 0 0 500 0 0 0 0 0 0\nintr 5 6 7 8 9 10\n"
	own        = "77 (a name) of )) S) R 1 77 77 0 -1 4194304 100 0 0 0 250 50 3 4 20 0 9 0 100 0 0\n"
	twoAllowed = "Name:\tx\nCpus_allowed:\t3\nCpus_allowed_list:\t0-1,7\nMems_allowed:\t1\n"
)

func TestParse(t *testing.T) {
	var r counterReading
	if !r.parse([]byte(threeCores), []byte(own), []byte(twoAllowed)) || r.cores != 2 || r.all != 11640*time.Millisecond || r.idle != 10300*time.Millisecond || r.own != 3*time.Second {
		t.Errorf("%+v, expected 2 cores, 11.64 s, of which 10.3 idle, and 3 s of its own", r)
	}
	for _, c := range [][3]string{{"", own, twoAllowed}, {threeCores, "", twoAllowed}, {"cpu  1 2 3 4 5 6\n", own, twoAllowed},
		{threeCores, "77 (name) R 1", twoAllowed}, {threeCores, "R 1", twoAllowed}, {threeCores, own, "Name:\tx\n"}} {
		if new(counterReading).parse([]byte(c[0]), []byte(c[1]), []byte(c[2])) {
			t.Errorf("%q are taken for counters", c)
		}
	}
	for list, want := range map[string]bool{"2": true, "0,2-3": true, "0-1,3": false, "": false, "x-2": false, "10-20": false} {
		if listHasCore([]byte(list), 2) != want {
			t.Errorf("core 2 among %q: expected %v", list, want)
		}
	}
}

// simulated is a machine of some cores on which this process computes on own of them, and others on
// others, until then.
type simulated struct {
	r           counterReading
	own, others float64
	until       time.Time
}

func newSimulated(cores int, own, others float64) (*simulated, *OtherLoad) {
	s := &simulated{r: counterReading{at: time.Unix(0, 0), cores: cores}, own: own, others: others, until: time.Unix(1e6, 0)}
	return s, &OtherLoad{
		read:  func() (counterReading, bool) { return s.r, true },
		sleep: func(d time.Duration) { s.pass(d, 0) },
	}
}

func (s *simulated) pass(d time.Duration, own float64) {
	for end := s.r.at.Add(d); s.r.at.Before(end); s.r.at = s.r.at.Add(time.Millisecond) {
		others := s.others
		if !s.r.at.Before(s.until) {
			others = 0
		}
		s.r.all += time.Duration(s.r.cores) * time.Millisecond
		s.r.own += time.Duration(own * 1e6)
		s.r.idle += time.Duration((float64(s.r.cores) - own - others) * 1e6)
	}
}

func (s *simulated) run(d time.Duration) func() error {
	return func() error { s.pass(d, s.own); return nil }
}

func TestTaken(t *testing.T) {
	for _, c := range []struct {
		cores, threads int
		own, others    float64
		want           float64
	}{
		{2, 2, 2, 0, 0},
		{2, 2, 1, 1, 0.5},
		{2, 2, 1.5, 0.5, 0.25},
		{2, 1, 1, 1, 0},
		{2, 1, 0.5, 1.5, 0.5},
		{64, 16, 16, 48, 0}, // on a shared machine, on cores of its own
		{64, 16, 16, 20, 0},
		{16, 16, 15, 0.32, 0.02},
	} {
		s, o := newSimulated(c.cores, c.own, c.others)
		got, err := o.RunUndisturbed(c.threads, 1, 0, s.run(time.Second))
		if err != nil || math.Abs(got-c.want) > 1e-6 {
			t.Errorf("%+v: %v, %v", c, got, err)
		}
	}
	s, o := newSimulated(2, 1, 1)
	for k := range 30 { // short measurements count together
		got, _ := o.RunUndisturbed(2, 1, 0, s.run(10*time.Millisecond))
		if want := 0.5; k < 19 && got != 0 || k >= 19 && math.Abs(got-want) > 1e-6 {
			t.Errorf("after %d times 10 ms: %v", k+1, got)
		}
	}
	if len(o.marks) > 21 {
		t.Errorf("%d marks are kept", len(o.marks))
	}
	o = &OtherLoad{read: func() (counterReading, bool) { r := s.r; r.all, r.idle = 5, 5; return r, true }}
	if got, _ := o.RunUndisturbed(2, 0, 0, s.run(time.Second)); got != 0 {
		t.Errorf("counters that stand still: %v", got)
	}
	o = &OtherLoad{read: func() (counterReading, bool) { return counterReading{}, false }}
	if got, _ := o.RunUndisturbed(2, 0, time.Hour, s.run(time.Second)); got != 0 || o.Available() {
		t.Errorf("no counters: %v, known %v", got, o.Available())
	}
}

// A measurement that others disturb is made again when they have ended. Where they do not end, those
// after it are not kept waiting, until others have ended.
func TestAlone(t *testing.T) {
	s, o := newSimulated(2, 1, 1)
	s.until = s.r.at.Add(1500 * time.Millisecond)
	runs, failed := 0, errors.New("failed")
	run := func() error { runs++; return s.run(400 * time.Millisecond)() }
	if taken, err := o.RunUndisturbed(2, 0.05, 10*time.Second, run); taken != 0 || err != nil || runs != 2 {
		t.Errorf("others ended after 1.5 s: %d runs, %v of the cores taken, error %v", runs, taken, err)
	}
	s.until, runs = s.r.at.Add(time.Minute), 0
	begin := s.r.at
	for range 3 {
		if taken, err := o.RunUndisturbed(2, 0.05, 10*time.Second, run); math.Abs(taken-0.5) > 0.01 || err != nil {
			t.Errorf("others do not end: %v of the cores taken, error %v", taken, err)
		}
	}
	if wall := s.r.at.Sub(begin); runs != 3 || wall != 10*time.Second+3*400*time.Millisecond {
		t.Errorf("others do not end: %d runs, %v, expected one wait of 10 s", runs, wall)
	}
	s.pass(time.Minute, 0)
	if taken, err := o.RunUndisturbed(2, 0.05, 10*time.Second, run); taken != 0 || err != nil || runs != 4 {
		t.Errorf("others ended: %d runs, %v of the cores taken, error %v", runs, taken, err)
	}
	if _, err := o.RunUndisturbed(2, 0.05, time.Second, func() error { return failed }); !errors.Is(err, failed) {
		t.Errorf("error %v, expected the measurement's", err)
	}
	if taken, err := (*OtherLoad)(nil).RunUndisturbed(2, 0, time.Second, run); taken != 0 || err != nil || runs != 5 {
		t.Errorf("nobody asked: %d runs, %v of the cores taken, error %v", runs, taken, err)
	}
}

// The first measurement, which is short, tells of what others took since the process began to watch.
func TestWatch(t *testing.T) {
	for watched, want := range map[bool]float64{true: 0.5, false: 0} {
		s, o := newSimulated(2, 1, 1)
		if watched {
			o.BeginInterval()
		}
		s.pass(150*time.Millisecond, 1)
		if taken, err := o.RunUndisturbed(2, 1, 0, s.run(100*time.Millisecond)); err != nil || math.Abs(taken-want) > 0.01 {
			t.Errorf("watched %v: others took %.2f (%v), expected %.2f", watched, taken, err, want)
		}
	}
}

// Another process that computes on all cores is found where the system tells.
func TestAnotherProcess(t *testing.T) {
	const child = "COALESCE_TEST_COMPUTES"
	if os.Getenv(child) != "" {
		end := time.Now().Add(time.Minute)
		for range runtime.GOMAXPROCS(0) {
			go func() {
				for time.Now().Before(end) {
				}
			}()
		}
		time.Sleep(time.Minute)
	}
	threads := runtime.GOMAXPROCS(0)
	if r, ok := readProc(); !ok || r.cores != threads {
		t.Skipf("the system tells nothing of other processes on the %d cores that this one may use", threads)
	}
	cmd := exec.Command(os.Args[0], "-test.run", t.Name())
	cmd.Env = append(os.Environ(), child+"=1")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = cmd.Process.Kill(), cmd.Wait() }()
	o := new(OtherLoad)
	for range 20 { // the process takes time to start
		taken, err := o.RunUndisturbed(threads, 1, 0, func() error { time.Sleep(window); return nil })
		if err != nil {
			t.Fatal(err)
		}
		if taken > 0.5 {
			return
		}
	}
	t.Error("a process that computes on all cores was not found within 4 s")
}
