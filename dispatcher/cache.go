package dispatcher

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"

	"callgate.dev/dispatcher/registry"
	"callgate.dev/schemas"
)

// Cache keeps what pure calls returned. Its errors cost time, never a call.
type Cache interface {
	// Get returns what is kept under a key, nil where nothing is.
	Get(ctx context.Context, key string) (json.RawMessage, error)
	Put(ctx context.Context, key string, output json.RawMessage) error
}

// RuleCached names, in a call's repairs, that its result was kept from an
// earlier call of the same tenant.
const RuleCached = "cached_result"

// cached returns the kept result of a pure call. What others can write to is
// held to the contract again.
func (d *Dispatcher) cached(ctx context.Context, tenant string, entry *registry.Entry, call schemas.Call) json.RawMessage {
	if d.config.Cache == nil || entry.Contract.Effect != schemas.Pure {
		return nil
	}
	output, err := d.config.Cache.Get(ctx, cacheKey(tenant, entry.Contract, call.Arguments))
	if err != nil {
		d.config.Log.Warn("the cache of pure results was not asked", "call_id", call.ID, "tool", call.Tool, "error", err)
		return nil
	}
	if output == nil || !json.Valid(output) || entry.CheckOutput(output) != nil {
		return nil
	}
	return output
}

func (d *Dispatcher) keep(ctx context.Context, tenant string, entry *registry.Entry, call schemas.Call, output json.RawMessage) {
	if d.config.Cache == nil || entry.Contract.Effect != schemas.Pure {
		return
	}
	if err := d.config.Cache.Put(ctx, cacheKey(tenant, entry.Contract, call.Arguments), output); err != nil {
		d.config.Log.Warn("a pure result was not kept", "call_id", call.ID, "tool", call.Tool, "error", err)
	}
}

// cacheKey is made of all that a pure result depends on: the tool, its version
// and contract, and the arguments, whose fields have no order.
func cacheKey(tenant string, c schemas.ToolContract, arguments json.RawMessage) string {
	contract, err := json.Marshal(c)
	if err != nil {
		contract = nil // it was read from JSON
	}
	canonical := arguments
	dec := json.NewDecoder(bytes.NewReader(arguments))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) == nil {
		if b, err := json.Marshal(v); err == nil { // fields in order
			canonical = b
		}
	}
	h := sha256.New()
	for _, part := range [][]byte{contract, canonical} {
		sum := sha256.Sum256(part) // of one length, so that no two pairs read alike
		h.Write(sum[:])
	}
	return strings.Join([]string{tenant, c.Name, strings.ReplaceAll(c.Version, ".", "_"), hex.EncodeToString(h.Sum(nil))}, ".")
}
