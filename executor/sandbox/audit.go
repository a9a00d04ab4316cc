package sandbox

import (
	"bytes"
	"embed"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"callgate.dev/schemas"
	"golang.org/x/sys/unix"
)

// Audit asks for the audit library (helper/audit), which is preloaded into
// dynamically linked programs. It records what they open and write, and a write
// that would make a file of the workspace larger than MaxFileBytes is cut there,
// then fails with ENOSPC. A stream of the C library is cut, with ENOSPC, when it
// is flushed, closed or at the program's end. Static programs, direct system
// calls and streams of a program that is killed go past it: for them [Limits] hold.
type Audit struct {
	MaxFileBytes int64 `json:"max_file_bytes"`
}

func (a Audit) validate() error {
	if a.MaxFileBytes < 1 {
		return fmt.Errorf("audit.max_file_bytes is %d, expected at least 1", a.MaxFileBytes)
	}
	return nil
}

const (
	auditLibrary = "etc/callgate-audit.so" // in the root
	auditLimit   = "CALLGATE_MAX_FILE_BYTES"
)

//go:embed helper/audit/callgate-audit*
var embeddedAudit embed.FS

var errNoAudit = errors.New("the audit library was not compiled into this program; build it with: make build")

// auditProgram is the library, or nil where it was not compiled.
var auditProgram = sync.OnceValue(func() []byte {
	b, err := embeddedAudit.ReadFile("helper/audit/callgate-audit.so")
	if err != nil {
		return nil
	}
	return b
})

// As in helper/audit/audit.h; TestAuditAgreesWithLibrary holds the two together.
const (
	auditMagic   = 0x43470003
	auditRecords = 128
	auditPath    = 224
)

type auditRecord struct {
	Key, Bytes uint64
	Op         uint32
	Flags      int32
	Path       [auditPath]byte
}

type auditFile struct {
	Magic, Taken uint32
	LeftOut      uint64
	Records      [auditRecords]auditRecord
}

// maxAuditBytes bounds the paths of a report: two reports share an event.
const maxAuditBytes = 16 << 10

var auditOps = map[uint32]string{1: "open", 2: "write", 3: "resize", 4: "refused"}

// readAudit reads what PID 1 handed over, which the program could write to: its
// size is not believed, and no field is.
func readAudit(fds []int) *schemas.Audit {
	out := &schemas.Audit{Records: []schemas.AuditRecord{}}
	if len(fds) != 1 {
		return out
	}
	buf := make([]byte, binary.Size(auditFile{}))
	n, err := unix.Pread(fds[0], buf, 0)
	var f auditFile
	if err != nil || n < len(buf) || binary.Read(bytes.NewReader(buf), binary.LittleEndian, &f) != nil || f.Magic != auditMagic {
		return out
	}
	out.LeftOut = int64(min(f.LeftOut, 1<<53)) // what any reader of JSON can hold
	room := maxAuditBytes
	for _, r := range f.Records {
		op, known := auditOps[r.Op]
		if r.Key == 0 || !known {
			continue
		}
		rec := schemas.AuditRecord{Op: op, Path: escaped(cString(r.Path[:])), Bytes: min(r.Bytes, 1<<53)}
		if op == "open" {
			rec.Flags = openFlags(r.Flags)
		}
		// Two threads may have begun a record of one file each, and flags that
		// are not told may differ.
		if i := slices.IndexFunc(out.Records, func(o schemas.AuditRecord) bool {
			return o.Op == rec.Op && o.Path == rec.Path && o.Flags == rec.Flags
		}); i >= 0 {
			if bytes := &out.Records[i].Bytes; op == "write" {
				*bytes = min(*bytes+rec.Bytes, 1<<53)
			} else {
				*bytes = rec.Bytes
			}
			continue
		}
		if room -= len(rec.Path) + len(rec.Flags); room < 0 {
			out.LeftOut++
			continue
		}
		out.Records = append(out.Records, rec)
	}
	return out
}

// escaped leaves printable characters alone, and nothing else.
func escaped(path string) string {
	quoted := strconv.Quote(path)
	return strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`)
}

var openFlagNames = []struct {
	name string
	bits int32
}{
	{"O_CREAT", unix.O_CREAT}, {"O_EXCL", unix.O_EXCL}, {"O_TRUNC", unix.O_TRUNC}, {"O_APPEND", unix.O_APPEND},
	{"O_NONBLOCK", unix.O_NONBLOCK}, {"O_NOFOLLOW", unix.O_NOFOLLOW}, {"O_PATH", unix.O_PATH}, {"O_DIRECTORY", unix.O_DIRECTORY},
}

// openFlags names what matters of the flags of an open, and gives no other.
func openFlags(flags int32) string {
	names := []string{[]string{"O_RDONLY", "O_WRONLY", "O_RDWR", "O_ACCMODE"}[flags&unix.O_ACCMODE]}
	for _, f := range openFlagNames {
		if flags&f.bits == f.bits {
			names = append(names, f.name)
		}
	}
	return strings.Join(names, "|")
}
