package sandbox

import (
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
)

// slot is everything that one workspace owns, made before it is needed.
type slot struct {
	id    uint32 // host identity; also what the workspace's files belong to
	group group
	user  int // namespaces
	mnt   int
	net   int
	root  *os.File // /workspace, reachable from here and mounted nowhere on the host

	used    bool           // a run has been in it
	leaving sync.WaitGroup // for PID 1 of the last one
}

// slots makes slots and hands out identities.
type slots struct {
	sandbox *Sandbox
	mu      sync.Mutex
	inUse   map[uint32]bool
	first   uint32 // of the range, where identities begin
	next    uint32
	made    int
}

func newSlots(s *Sandbox) *slots {
	return &slots{sandbox: s, inUse: map[uint32]bool{}, first: firstIdentity(s.config.UIDCount)}
}

// firstIdentity lets supervisors with the same range rarely meet. A PID is not
// enough: it is 1 in every container, so the PID namespace's inode is mixed in.
func firstIdentity(count uint32) uint32 {
	ns, err := os.Readlink("/proc/self/ns/pid") // "pid:[4026531836]"
	if err != nil {
		ns = ""
	}
	h := fnv.New32a()
	_, _ = fmt.Fprint(h, ns, os.Getpid()) // a hash does not fail
	return h.Sum32() % count
}

// identity returns a host uid that no live slot of this supervisor has.
func (p *slots) identity() (uint32, error) {
	if p.sandbox.nested {
		return 0, nil // the base's user namespace maps its 0 to the user itself
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.sandbox.config
	for range c.UIDCount {
		id := c.UIDBase + (p.first+p.next)%c.UIDCount
		p.next++
		if !p.inUse[id] {
			p.inUse[id] = true
			return id, nil
		}
	}
	return 0, fmt.Errorf("all %d identities from %d on are in use", c.UIDCount, c.UIDBase)
}

func (p *slots) release(id uint32) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.inUse, id)
}

func (p *slots) name() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.made++
	return "slot-" + strconv.Itoa(p.made)
}

// make prepares a slot whose workspace holds l.DiskBytes.
func (p *slots) make(l Limits) (*slot, error) {
	s := p.sandbox
	id, err := p.identity()
	if err != nil {
		return nil, err
	}
	g, err := s.cgroups.create(p.name(), l)
	if err != nil {
		p.release(id)
		return nil, err
	}
	q := newRequest(verbSlot)
	q.number(tagFlags, s.flags())
	q.number(tagIDOut, id)
	q.text(tagTmpfs, tmpfsOptions(l.DiskBytes, l.DiskFiles, 0o755, id))
	fds, err := s.helper.call(q, 4, s.baseMnt, s.baseUser)
	if err != nil {
		p.release(id)
		return nil, errors.Join(err, g.close())
	}
	return &slot{id: id, group: g, user: fds[0], mnt: fds[1], net: fds[2], root: os.NewFile(uintptr(fds[3]), workspaceDir)}, nil
}

// discard ends a slot. The mounts and namespaces go with their descriptors.
func (p *slots) discard(s *slot) error {
	s.leaving.Wait()
	closeAll([]int{s.user, s.mnt, s.net})
	err := errors.Join(s.root.Close(), s.group.close())
	p.release(s.id)
	return err
}

// owned gives a file that the supervisor made to the program.
func (s *slot) owned(fd int) error {
	if s.id == 0 {
		return nil
	}
	return unix.Fchown(fd, int(s.id), int(s.id))
}
