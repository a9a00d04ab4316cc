package sandbox

import (
	"errors"
	"time"

	"golang.org/x/sys/unix"
)

func (x *execution) ended(rep *reply, err error) (*reply, error) {
	switch {
	case err != nil:
		return nil, err
	case rep == nil && !x.asked.Load():
		return nil, errors.New("PID 1 of the run ended without a report")
	case rep != nil && rep.Kind == replyFailed:
		return nil, rep.failure()
	}
	return rep, nil
}

func (x *execution) account(rep *reply, start counters, wall time.Duration, streams [2]*stream, f *facts, res *Result) error {
	end, err := x.slot.group.counters()
	if err != nil {
		return err
	}
	cpu := end.cpu - start.cpu
	res.PeakMemoryBytes = end.peak
	if rep != nil {
		f.status = unix.WaitStatus(rep.Status)
		f.ended, f.flooded = rep.Ended == endedItself, rep.Ended == endedDenied
		f.locks = rep.Ended == endedLocks
		wall = time.Duration(rep.WallNS)
		f.diskFull, f.largest = rep.TmpFull != 0, int64(rep.TmpBytes)
		for _, nr := range rep.deniedCalls() {
			f.denied = append(f.denied, syscallName(nr))
		}
		if x.sandbox.cgroups.version == "" {
			cpu, res.PeakMemoryBytes = time.Duration(rep.CPUNS), int64(rep.MaxRSS)
		}
	}
	f.wall, f.cpu, f.output = x.wall.Load(), x.cpu.Load(), x.flooded.Load()
	if f.ended && f.status.Signaled() && cpu >= time.Duration(x.limits.CPUMS)*time.Millisecond {
		f.cpu = true // RLIMIT_CPU was faster, or the only clock
	}
	f.oomKills, f.pidsHits = end.oomKills-start.oomKills, end.pidsHits-start.pidsHits
	f.stderr = streams[1].kept
	held, full := x.slot.usage()
	f.diskFull, f.largest = f.diskFull || full, max(f.largest, held)
	res.SetStdout(streams[0].kept)
	res.SetStderr(streams[1].kept)
	res.StdoutTruncated, res.StderrTruncated = streams[0].truncated, streams[1].truncated
	res.WallMS, res.CPUMS = milliseconds(wall), milliseconds(cpu)
	res.Denied = append(res.Denied, f.denied...)
	res.Audit = x.audit
	return nil
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// usage tells how many bytes the workspace holds, and whether it has no room left.
func (s *slot) usage() (held int64, full bool) {
	var st unix.Statfs_t
	if err := unix.Fstatfs(int(s.root.Fd()), &st); err != nil {
		return 0, false
	}
	return int64(st.Blocks-st.Bfree) * st.Bsize, st.Bavail == 0 || st.Ffree == 0
}
