package sandbox

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"unsafe"
)

// The helper's side of the wire is helper/helper.h; TestWireAgreesWithHelper
// holds the two together.
const (
	requestMagic = 0x43470001
	replyMagic   = 0x43470002
	maxRequest   = 192 << 10
	maxItems     = 511
)

type verb uint32

const (
	verbBase   verb = 1
	verbSlot   verb = 2
	verbRun    verb = 3
	verbCheck  verb = 4
	verbGo     verb = 5 // to PID 1 of a run that waits for its program
	verbPing   verb = 6
	verbZygote verb = 7
	verbFork   verb = 8 // to a zygote
	verbListen verb = 9
)

type tag uint16

const (
	tagFlags tag = iota + 1
	tagDir
	tagLink
	tagFile
	tagCopy
	tagBind
	tagNode
	tagTmpfs
	tagIDOut
	tagArg
	tagEnv
	tagRlimit
	tagFilter
	tagCgroups
	tagLandlock
	tagDenied
	tagListen
	tagHosts
)

const (
	flagNested     = 1
	flagCgroup2    = 2
	flagNoLandlock = 4
	flagNoFilter   = 8
	flagNoNetns    = 16
	flagAudit      = 32
	flagOwnDevices = 64
)

// request is a message to the helper, built field by field.
type request struct {
	buf   bytes.Buffer
	items int
}

func newRequest(v verb) *request {
	r := &request{}
	r.u32(requestMagic)
	r.u32(uint32(v))
	return r
}

func (r *request) u32(v uint32) { r.buf.Write(binary.LittleEndian.AppendUint32(nil, v)) }

func (r *request) bytes(t tag, b []byte) {
	r.buf.Write(binary.LittleEndian.AppendUint16(nil, uint16(t)))
	r.u32(uint32(len(b)))
	r.buf.Write(b)
	r.items++
}

func (r *request) number(t tag, v uint32) { r.bytes(t, binary.LittleEndian.AppendUint32(nil, v)) }
func (r *request) text(t tag, s string)   { r.bytes(t, append([]byte(s), 0)) }
func (r *request) pair(t tag, a, b string) {
	r.bytes(t, append(append(append([]byte(a), 0), b...), 0))
}

func (r *request) contents(path string, data []byte) {
	r.bytes(tagFile, append(append([]byte(path), 0), data...))
}

func (r *request) rlimit(resource uint32, value uint64) {
	b := binary.LittleEndian.AppendUint32(nil, resource)
	r.bytes(tagRlimit, binary.LittleEndian.AppendUint64(b, value))
}

func (r *request) landlock(rights uint32, path string) {
	b := binary.LittleEndian.AppendUint32(nil, rights)
	r.bytes(tagLandlock, append(append(b, path...), 0))
}

func (r *request) listen(address, port uint32) {
	b := binary.LittleEndian.AppendUint32(nil, address)
	r.bytes(tagListen, binary.LittleEndian.AppendUint32(b, port))
}

func (r *request) message() ([]byte, error) {
	if r.buf.Len() > maxRequest || r.items > maxItems {
		return nil, fmt.Errorf("arguments and environment are too large: %d bytes in %d parts, at most %d in %d",
			r.buf.Len(), r.items, maxRequest, maxItems)
	}
	return r.buf.Bytes(), nil
}

type replyKind uint32

const (
	replyReady   replyKind = 1
	replyFailed  replyKind = 2
	replyStarted replyKind = 3
	replyExited  replyKind = 4
)

// ending says who ended the program.
type ending uint32

const (
	endedItself ending = iota
	endedDenied        // by PID 1, for too many denied calls
	endedAsked         // by PID 1, because the supervisor asked
	endedLocks         // by PID 1, for too many file locks
)

// maxFDs is how many descriptors one reply may bring.
const maxFDs = 64

const (
	deniedNumbers  = 512
	deniedOtherABI = deniedNumbers - 1
	locksMax       = 10_000
)

// reply is the helper's struct reply, byte for byte.
type reply struct {
	Magic       uint32
	Kind        replyKind
	Errno       int32
	Status      int32
	WallNS      uint64
	CPUNS       uint64
	MaxRSS      uint64
	DeniedTotal uint64
	Denied      [deniedNumbers / 64]uint64
	Landlock    uint32
	Ended       ending
	TmpBytes    uint64
	TmpFull     uint64
	Step        [64]byte
	Detail      [64]byte
}

const replySize = int(unsafe.Sizeof(reply{}))

// decodeReply accepts nothing but a whole reply of a known kind.
func decodeReply(b []byte) (*reply, error) {
	if len(b) != replySize {
		return nil, fmt.Errorf("the helper's reply has %d bytes, expected %d", len(b), replySize)
	}
	var r reply
	if err := binary.Read(bytes.NewReader(b), binary.LittleEndian, &r); err != nil {
		return nil, fmt.Errorf("decode the helper's reply: %w", err)
	}
	if r.Magic != replyMagic {
		return nil, fmt.Errorf("the helper's reply starts with %#x, expected %#x: helper and package differ in version", r.Magic, replyMagic)
	}
	switch r.Kind {
	case replyReady, replyFailed, replyStarted, replyExited:
		return &r, nil
	}
	return nil, fmt.Errorf("the helper's reply has unknown kind %d", r.Kind)
}

func cString(b []byte) string {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	return string(b)
}

// deniedCalls lists the numbers whose bit is set.
func (r *reply) deniedCalls() []int {
	var out []int
	for i, word := range r.Denied {
		for bit := range 64 {
			if word&(1<<bit) != 0 {
				out = append(out, i*64+bit)
			}
		}
	}
	return out
}
