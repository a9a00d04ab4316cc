package streams

import (
	"context"
	"errors"
	"fmt"
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

// decodeRefs reads an event and brings its spilled fields back. It returns the
// references of those, so that the next event of the job can name them again
// where the field is unchanged. What could not be brought back stays in the
// event's own Spilled.
func (l *Log) decodeRefs(ctx context.Context, subject string, data []byte, seq uint64) (schemas.Envelope, refs, error) {
	env, err := schemas.DecodeEnvelope(data)
	if err == nil {
		if says := JobSubject(env.State, env.Lane, env.Tenant, env.JobID); says != subject {
			err = fmt.Errorf("the body says %s", says)
		}
	}
	if err != nil {
		return schemas.Envelope{}, nil, &CorruptError{Subject: subject, Sequence: seq, Err: err}
	}
	env.Sequence = seq
	if len(env.Spilled) == 0 {
		return env, nil, nil
	}
	restored, err := l.restore(ctx, &env)
	return env, restored, err
}

// refs names where fields of an event are stored, by their JSON names.
type refs map[string]schemas.BlobRef

// restore fills what it can and returns the faults of the rest.
func (l *Log) restore(ctx context.Context, env *schemas.Envelope) (refs, error) {
	restored, left := refs{}, refs{}
	var errs []error
	for name, ref := range env.Spilled {
		if err := l.restoreField(ctx, env, name, ref); err != nil {
			errs = append(errs, err)
			left[name] = ref
			continue
		}
		restored[name] = ref
	}
	env.Spilled = nil
	if len(left) > 0 {
		env.Spilled = left
	}
	return restored, errors.Join(errs...)
}

func (l *Log) restoreField(ctx context.Context, env *schemas.Envelope, name string, ref schemas.BlobRef) error {
	target := field(env, name)
	if !target.IsValid() {
		return &MissingBlobError{Field: name, Ref: ref, Err: errors.New("no field of this version that can be spilled")}
	}
	data, err := l.Blobs.Get(ctx, ref)
	if err != nil {
		if lost(err) {
			err = &MissingBlobError{Field: name, Ref: ref, Err: err}
		}
		return err
	}
	if err := schemas.DecodeStrict(data, target.Addr().Interface()); err != nil {
		target.SetZero()
		return &MissingBlobError{Field: name, Ref: ref, Err: err}
	}
	return nil
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

// decode is decodeRefs for whoever appends nothing.
func (l *Log) decode(ctx context.Context, subject string, data []byte, seq uint64) (schemas.Envelope, error) {
	env, _, err := l.decodeRefs(ctx, subject, data, seq)
	return env, err
}
