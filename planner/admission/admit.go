package admission

import (
	"bytes"
	"encoding/json"
	"slices"

	"callgate.dev/schemas"
)

// Doors are the ways in that Admit knows.
var Doors = []string{"api", "publish"}

// Admit checks a submission and returns the planning event that begins its job.
// The error is a *schemas.Error.
//
// Files stay in the job: the workspace is built from them, once, by the worker
// that first needs it.
func Admit(raw []byte, meta schemas.Meta) (schemas.Envelope, error) {
	if err := checkMeta(meta); err != nil {
		return schemas.Envelope{}, err
	}
	job, err := schemas.DecodeJob(raw)
	if err != nil {
		return schemas.Envelope{}, err
	}
	id := job.ID
	if id == "" {
		id = schemas.JobIDFor(meta.Stored, meta.Sequence)
	}
	if err := schemas.CheckName("job id", id); err != nil {
		return schemas.Envelope{}, err
	}
	lane := meta.Lane
	if lane == "" {
		lane = schemas.LaneInteractive
	}
	return schemas.Envelope{
		Version:    schemas.EnvelopeVersion,
		JobID:      id,
		Tenant:     meta.Tenant,
		Lane:       lane,
		State:      schemas.StatePlanning,
		At:         meta.Stored.UTC(),
		CreatedAt:  meta.Stored.UTC(),
		Submission: schemas.Submission{Sequence: meta.Sequence, Digest: digest(raw), Door: meta.Door},
		Job:        job,
	}, nil
}

// digest tells submissions apart by what they say: the same fields with other
// white space, or in another order, are the same submission. Numbers keep the
// text that they were written with.
func digest(raw []byte) string {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return schemas.Digest(raw) // it was decoded before: this cannot be
	}
	canonical, err := json.Marshal(v) // keys in order
	if err != nil {
		return schemas.Digest(raw)
	}
	return schemas.Digest(canonical)
}

// checkMeta holds the caller to what it must know. A tenant is part of a
// subject that a client chose; the rest can only be wrong by a fault of ours.
func checkMeta(meta schemas.Meta) error {
	if err := schemas.CheckName("tenant", meta.Tenant); err != nil {
		return err
	}
	switch {
	case meta.Lane != "" && !slices.Contains(schemas.Lanes, meta.Lane):
		return schemas.Errorf(schemas.ClassInternal, "admit: unknown lane %q, the lanes are %v", meta.Lane, schemas.Lanes)
	case !slices.Contains(Doors, meta.Door):
		return schemas.Errorf(schemas.ClassInternal, "admit: unknown door %q, the doors are %v", meta.Door, Doors)
	case meta.Sequence == 0 || meta.Stored.IsZero():
		return schemas.Errorf(schemas.ClassInternal, "admit: sequence %d stored at %v: a submission is admitted after the stream took it", meta.Sequence, meta.Stored)
	}
	return nil
}
