package schemas

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
)

// DecodeJob reads a submission strictly and fills its defaults. The error is an
// *Error of class submission_invalid or too_large. It names everything that is
// wrong at once, each with a JSON pointer and what would be right.
func DecodeJob(b []byte) (Job, error) {
	if len(b) > MaxJobBytes {
		return Job{}, Errorf(ClassTooLarge, "submission: %d bytes, at most %d", len(b), MaxJobBytes)
	}
	doc, err := parseJSON(b)
	if err != nil {
		return Job{}, Errorf(ClassSubmissionInvalid, "submission: %v", err)
	}
	faults := jobFaults(doc)
	var j Job
	if err := DecodeStrict(b, &j); err == nil {
		faults = append(faults, checkJob(j)...)
	} else if len(faults) == 0 {
		faults = append(faults, decodeFault(err))
	}
	if len(faults) > 0 {
		class := ClassSubmissionInvalid
		if len(j.Prompt) > MaxPromptBytes {
			class = ClassTooLarge
		}
		return Job{}, Errorf(class, "submission: %v", faults)
	}
	j.Limits = j.Limits.OrDefault()
	if j.Language == "" {
		j.Language = Python
	}
	return j, nil
}

// jobFaults holds a document to the job's JSON Schema, and to what no schema
// can say of its strings.
func jobFaults(doc any) Faults {
	var faults Faults
	if err := published("job").validate(doc); err != nil {
		if !errors.As(err, &faults) {
			return faultf("", "%v", err)
		}
	}
	nulFaults(&faults, "", doc)
	object, _ := doc.(map[string]any)
	files, _ := object["files"].([]any)
	for i, f := range files {
		file, _ := f.(map[string]any)
		if data, ok := file["content_base64"].(string); ok {
			if _, err := base64.StdEncoding.DecodeString(data); err != nil {
				faults.add(fmt.Sprintf("/files/%d/content_base64", i), "%v; standard base64 with padding is expected", err)
			}
		}
	}
	return faults
}

// nulFaults finds strings with a NUL byte: neither a file name nor a source
// nor an argument of a process can have one.
func nulFaults(faults *Faults, at string, v any) {
	if len(*faults) > maxFaults {
		return
	}
	switch v := v.(type) {
	case string:
		if i := strings.IndexByte(v, 0); i >= 0 {
			faults.add(at, "a NUL byte at offset %d; binary content goes into a file's content_base64", i)
		}
	case []any:
		for i, x := range v {
			nulFaults(faults, fmt.Sprintf("%s/%d", at, i), x)
		}
	case map[string]any:
		for key, x := range v {
			if strings.IndexByte(key, 0) >= 0 {
				faults.add(at, "a NUL byte in the key %q", clip(key, 40))
			}
			nulFaults(faults, pointer(at, key), x)
		}
	}
}

// decodeFault turns what the decoder minds, after the schema was content, into
// a fault: an integer written as 4.0 or 4e0.
func decodeFault(err error) Fault {
	var mistyped *jsonv2.SemanticError
	if errors.As(err, &mistyped) {
		return Fault{string(mistyped.JSONPointer), fmt.Sprintf("found %s; write an integer with digits only", clip(string(mistyped.JSONValue), 40))}
	}
	return Fault{"", clip(err.Error(), 200)}
}
