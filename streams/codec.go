package streams

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"strings"

	"callgate.dev/schemas"
)

// CorruptError says that the message at a sequence of the log is not an event
// that this version reads. No other try will read it.
type CorruptError struct {
	Subject  string
	Sequence uint64
	Err      error
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("event %d on %s: %v", e.Sequence, e.Subject, e.Err)
}

func (e *CorruptError) Unwrap() error { return e.Err }

// MissingBlobError says that a field of an event was spilled and its blob is
// gone, or is not what was stored.
type MissingBlobError struct {
	Field string
	Ref   schemas.BlobRef
	Err   error
}

func (e *MissingBlobError) Error() string {
	return fmt.Sprintf("field %q, spilled to blob %s: %v", e.Field, e.Ref.Name, e.Err)
}

func (e *MissingBlobError) Unwrap() error { return e.Err }

// decode reads an event and brings its spilled fields back. Spilled keeps the
// references, so that the next event can reuse those whose field is unchanged.
func (l *Log) decode(ctx context.Context, subject string, data []byte, seq uint64) (schemas.Envelope, error) {
	state, lane, tenant, job, err := ParseJobSubject(subject)
	if err != nil {
		return schemas.Envelope{}, &CorruptError{Subject: subject, Sequence: seq, Err: err}
	}
	env, err := schemas.DecodeEnvelope(data)
	if err == nil && (env.State != state || env.Lane != lane || env.Tenant != tenant || env.JobID != job) {
		err = fmt.Errorf("the body says %s", JobSubject(env.State, env.Lane, env.Tenant, env.JobID))
	}
	if err != nil {
		return schemas.Envelope{}, &CorruptError{Subject: subject, Sequence: seq, Err: err}
	}
	env.Sequence = seq
	return env, l.restore(ctx, &env)
}

// restore fills what it can and returns the faults of the rest.
func (l *Log) restore(ctx context.Context, env *schemas.Envelope) error {
	var errs []error
	for name, ref := range env.Spilled {
		target := field(env, name)
		if !target.IsValid() {
			errs = append(errs, &CorruptError{Subject: ref.Name, Sequence: env.Sequence, Err: fmt.Errorf("field %q cannot be spilled", name)})
			continue
		}
		data, err := l.Blobs.Get(ctx, ref)
		if err != nil {
			if lost(err) {
				err = &MissingBlobError{Field: name, Ref: ref, Err: err}
			}
			errs = append(errs, err)
			continue
		}
		dec := json.NewDecoder(bytes.NewReader(data))
		dec.DisallowUnknownFields()
		if err := dec.Decode(target.Addr().Interface()); err != nil {
			target.SetZero()
			errs = append(errs, &CorruptError{Subject: ref.Name, Sequence: env.Sequence, Err: err})
		}
	}
	return errors.Join(errs...)
}

// field returns the field that Spillable names, settable.
func field(env *schemas.Envelope, name string) reflect.Value {
	i, ok := spillable[name]
	if !ok {
		return reflect.Value{}
	}
	return reflect.ValueOf(env).Elem().Field(i)
}

// spillable maps the JSON names of Spillable to indexes of Envelope's fields.
var spillable = func() map[string]int {
	index := map[string]int{}
	t := reflect.TypeFor[schemas.Envelope]()
	for _, name := range schemas.Spillable {
		for i := range t.NumField() {
			if tag, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ","); tag == name {
				index[name] = i
			}
		}
	}
	return index
}()

// cloneRefs keeps one event's references from being written by another.
func cloneRefs(refs map[string]schemas.BlobRef) map[string]schemas.BlobRef {
	if len(refs) == 0 {
		return nil
	}
	return maps.Clone(refs)
}
