package steering

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"callgate.dev/schemas"
)

// override returns job with the fields of set replaced, checked as a submission
// is: strictly, and within the limits.
func override(job schemas.Job, id string, set map[string]string) (schemas.Job, error) {
	job.ID = id
	for _, path := range slices.Sorted(maps.Keys(set)) {
		if path == "id" {
			return job, schemas.Errorf(schemas.ClassArgumentsInvalid, "set id: the fork's ID is given apart")
		}
		next, err := replace(job, path, set[path])
		if err != nil {
			return job, schemas.Errorf(schemas.ClassArgumentsInvalid, "set %s=%s: %v", path, clip(set[path]), err)
		}
		job = next
	}
	return job, nil
}

// replace tries text as JSON first. What is no JSON, or not of the field's
// type, is tried as a string: model=7 is a name.
func replace(job schemas.Job, path, text string) (schemas.Job, error) {
	var value any
	var first error
	if err := json.Unmarshal([]byte(text), &value); err == nil {
		next, err := with(job, path, value)
		if err == nil {
			return next, nil
		}
		first = err
	}
	next, err := with(job, path, text)
	if err != nil && first != nil {
		err = first
	}
	return next, err
}

func with(job schemas.Job, path string, value any) (schemas.Job, error) {
	raw, err := json.Marshal(job)
	if err != nil {
		return job, err
	}
	var doc map[string]any
	if err := json.Unmarshal(raw, &doc); err != nil {
		return job, err
	}
	at, keys := doc, strings.Split(path, ".")
	for i, key := range keys[:len(keys)-1] {
		inner, ok := at[key].(map[string]any)
		if at[key] == nil {
			inner, ok = map[string]any{}, true
			at[key] = inner
		}
		if !ok {
			return job, fmt.Errorf("%s is not an object", strings.Join(keys[:i+1], "."))
		}
		at = inner
	}
	at[keys[len(keys)-1]] = value
	if raw, err = json.Marshal(doc); err != nil {
		return job, err
	}
	return schemas.DecodeJob(raw)
}

func clip(s string) string {
	const most = 60
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
