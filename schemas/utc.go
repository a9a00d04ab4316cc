package schemas

import "time"

// InUTC returns a JSON value with every string that is a time with a zone (RFC
// 3339, as JSON Schema's date-time) given in UTC: the same moment, and one way
// to write it. Times without a zone and all other strings stay what they are. It
// changes v in place.
func InUTC(v any) any {
	switch v := v.(type) {
	case string:
		if len(v) < len("2006-01-02T15:04:05Z") || len(v) > 40 || v[4] != '-' {
			return v
		}
		t, err := time.Parse(time.RFC3339Nano, v)
		if err != nil {
			return v
		}
		return t.UTC().Format(time.RFC3339Nano)
	case []any:
		for i := range v {
			v[i] = InUTC(v[i])
		}
	case map[string]any:
		for key := range v {
			v[key] = InUTC(v[key])
		}
	}
	return v
}
