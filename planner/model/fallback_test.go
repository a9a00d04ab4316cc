package model

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"callgate.dev/schemas"
)

// perModel answers each model in its own way: a status, or 200 where it has none.
func perModel(t *testing.T, status map[string]int, retryAfter map[string]string) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var request struct{ Model string }
		if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
			t.Error(err)
		}
		if s, ok := status[request.Model]; ok {
			w.Header().Set("Retry-After", retryAfter[request.Model])
			w.WriteHeader(s)
			fmt.Fprintf(w, `{"error":{"message":"%s is away"}}`, request.Model)
			return
		}
		fmt.Fprintf(w, `{"model":%q,"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1}}`, request.Model)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func fallback(t *testing.T, url string, models ...string) *Fallback {
	t.Helper()
	f, err := NewFallback(client(t, url, nil), models)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestFallbackAsksTheNextAndSaysWhy(t *testing.T) {
	f := fallback(t, perModel(t, map[string]int{"a": 503, "b": 404}, nil), "a", "b", "c")
	got, err := f.Complete(t.Context(), question)
	if err != nil || got.Model != "c" || len(got.Fallbacks) != 2 {
		t.Fatalf("%v, %+v", err, got)
	}
	for i, name := range []string{"a", "b"} {
		if x := got.Fallbacks[i]; x.Model != name || x.Error.Class != schemas.ClassModelUnavailable || !strings.Contains(x.Error.Message, name+" is away") {
			t.Errorf("%+v", x)
		}
	}
}

func TestFallbackOfAJobWithAModel(t *testing.T) {
	f := fallback(t, perModel(t, map[string]int{"other": 503}, nil), "a", "b")
	q := question
	q.Model = "other"
	if got, err := f.Complete(t.Context(), q); err == nil || schemas.ClassOf(err) != schemas.ClassModelUnavailable {
		t.Errorf("%v: another model than the job's own answered: %+v", err, got)
	}
}

func TestFallbackWhereNoneAnswers(t *testing.T) {
	for _, c := range []struct {
		name      string
		status    map[string]int
		after     map[string]string
		class     schemas.Class
		permanent bool
		wait      time.Duration
	}{
		{"all are permanent", map[string]int{"a": 404, "b": 401}, nil, schemas.ClassModelUnavailable, true, 0},
		{"one may come back", map[string]int{"a": 404, "b": 429}, map[string]string{"b": "7"}, schemas.ClassModelRateLimited, false, 7 * time.Second},
		{"the shortest wait", map[string]int{"a": 429, "b": 429}, map[string]string{"a": "9", "b": "5"}, schemas.ClassModelRateLimited, false, 5 * time.Second},
		{"one names no wait", map[string]int{"a": 429, "b": 500}, map[string]string{"a": "9"}, schemas.ClassModelRateLimited, false, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := fallback(t, perModel(t, c.status, c.after), "a", "b").Complete(t.Context(), question)
			wait, _ := schemas.RetryDelay(err)
			if schemas.ClassOf(err) != c.class || schemas.IsPermanent(err) != c.permanent || wait != c.wait {
				t.Errorf("%v, permanent %v, wait %v", err, schemas.IsPermanent(err), wait)
			}
			for _, name := range []string{"a: ", "b: "} {
				if !strings.Contains(err.Error(), name) {
					t.Errorf("%v does not name %s", err, name)
				}
			}
		})
	}
}

func TestFallbackNames(t *testing.T) {
	for _, names := range [][]string{nil, {"a", ""}, {"a", "b", "a"}} {
		if _, err := NewFallback(nil, names); err == nil {
			t.Errorf("%q are taken", names)
		}
	}
}
