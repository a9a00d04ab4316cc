package modelserver

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// BenchmarkPlay answers one request among 1,000 entries, its worst: prompts of 1 KB of which the last one matches.
func BenchmarkPlay(b *testing.B) {
	var file strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&file, `{"match":"%s task %04d","answers":["def f(): pass"]}`+"\n", strings.Repeat("context ", 120), i)
	}
	s, err := New(Config{AnswersReader: strings.NewReader(file.String())})
	if err != nil {
		b.Fatal(err)
	}
	body := `{"model":"m","messages":[{"role":"user","content":"` + strings.Repeat("context ", 120) + ` task 0999"}]}`
	b.ReportAllocs()
	for b.Loop() {
		r := httptest.NewRequestWithContext(b.Context(), http.MethodPost, "/v1/chat/completions", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if w.Code != http.StatusOK {
			b.Fatal(w.Body)
		}
	}
}
