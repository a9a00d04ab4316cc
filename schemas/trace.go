package schemas

import (
	"crypto/sha256"
	"encoding/hex"
)

// TraceID names everything that happens for a job, in the form that W3C Trace
// Context gives a trace-id: 32 hexadecimal digits. Who knows a job knows its
// trace, on any machine and after any replay.
func TraceID(tenant, job string) string {
	sum := sha256.Sum256([]byte(tenant + "/" + job))
	return hex.EncodeToString(sum[:16])
}
