package streams

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"callgate.dev/schemas"
)

// A reference takes this many bytes of an event, more or less; a field no
// larger than that is not worth moving.
const refBytes = 320

// Bounds of a failed event whose fields could not be moved.
const (
	maxErrorBytes = 8 << 10
	maxTriedKept  = 64
)

// encode writes env, moving its largest fields to the object store until it
// fits. A field that an earlier event of the job has already moved, unchanged,
// is named again rather than stored again. A failed event always fits: what
// the object store refuses then is left out, and the error says so.
func (l *Log) encode(ctx context.Context, env *schemas.Envelope, last uint64, known refs) ([]byte, error) {
	carried := unresolved(env)
	env.Spilled = carried
	data, err := env.Encode()
	if err != nil || len(data) <= l.MaxBytes {
		return data, err
	}
	if carried == nil {
		carried = refs{}
		env.Spilled = carried
	}
	fields, err := largest(env)
	if err != nil {
		return nil, err
	}
	size := len(data)
	var dropped []string
	for _, f := range fields {
		if size <= l.MaxBytes || len(f.raw) <= refBytes {
			break
		}
		ref, err := l.spill(ctx, env, f, known[f.name], last)
		switch {
		case err == nil:
			carried[f.name] = ref
			field(env, f.name).SetZero()
		case env.State == schemas.StateFailed:
			drop(env, f.name)
			dropped = append(dropped, f.name)
		default:
			return nil, fmt.Errorf("spill field %q: %w", f.name, err)
		}
		size += refBytes - len(f.raw)
	}
	if env.State == schemas.StateFailed {
		trim(env, dropped)
	}
	if data, err = env.Encode(); err == nil && len(data) > l.MaxBytes {
		err = schemas.Errorf(schemas.ClassTooLarge, "event of job %s: %d bytes with every large field moved out, at most %d", env.JobID, len(data), l.MaxBytes)
	}
	return data, err
}

// unresolved returns the references of env whose field is empty: they could not
// be restored, and are carried on as they are. They are carried within their
// job only; the blobs of another go when that one goes.
func unresolved(env *schemas.Envelope) refs {
	var carried refs
	for name, ref := range env.Spilled {
		if f := field(env, name); f.IsValid() && f.IsZero() && owns(env, ref) {
			if carried == nil {
				carried = refs{}
			}
			carried[name] = ref
		}
	}
	return carried
}

type rawField struct {
	name string
	raw  []byte
}

// largest returns the fields that may be moved, largest first.
func largest(env *schemas.Envelope) ([]rawField, error) {
	var fields []rawField
	for _, name := range schemas.Spillable {
		f := field(env, name)
		if !f.IsValid() || f.IsZero() {
			continue
		}
		raw, err := rawJSON(f)
		if err != nil {
			return nil, fmt.Errorf("encode field %q: %w", name, err)
		}
		fields = append(fields, rawField{name, raw})
	}
	slices.SortStableFunc(fields, func(a, b rawField) int { return len(b.raw) - len(a.raw) })
	return fields, nil
}

func rawJSON(v reflect.Value) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false) // as in the event itself: code is full of < and &
	err := enc.Encode(v.Interface())
	return bytes.TrimRight(buf.Bytes(), "\n"), err
}

func (l *Log) spill(ctx context.Context, env *schemas.Envelope, f rawField, known schemas.BlobRef, last uint64) (schemas.BlobRef, error) {
	if known.Name != "" && owns(env, known) && known.Digest == schemas.Digest(f.raw) {
		return known, nil
	}
	return l.Blobs.Put(ctx, env.Tenant, env.JobID, last, f.raw)
}

func owns(env *schemas.Envelope, ref schemas.BlobRef) bool {
	return strings.HasPrefix(ref.Name, jobBlobs(env.Tenant, env.JobID))
}

// drop leaves a field out of a failed event.
func drop(env *schemas.Envelope, name string) {
	if name == "result" && env.Result != nil {
		env.Result = &schemas.Result{Status: env.Result.Status, Metadata: env.Result.Metadata}
		env.Result.Metadata.Warnings = nil
		return
	}
	field(env, name).SetZero()
}

// trim bounds the fields of a failed event that cannot be moved, and says what
// was dropped.
func trim(env *schemas.Envelope, dropped []string) {
	if e := env.Error; e != nil {
		short := &schemas.Error{Class: e.Class, Message: clip(e.Message, maxErrorBytes)}
		if len(dropped) > 0 {
			short.Message += fmt.Sprintf(" (left out, being too large for the event while the object store takes nothing: %s)", strings.Join(dropped, ", "))
		}
		env.Error = short
	}
	if env.Result != nil {
		result := *env.Result
		result.Error = env.Error
		env.Result = &result
	}
	if len(env.Tried) > maxTriedKept {
		env.Tried = env.Tried[len(env.Tried)-maxTriedKept:]
	}
	env.Wait, env.Intent = nil, nil
}

// clip shortens s to n bytes, and says that it did.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}
