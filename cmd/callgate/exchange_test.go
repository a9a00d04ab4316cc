package main

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"callgate.dev/schemas"
)

func recorded(t *testing.T, url, body string) schemas.Exchange {
	t.Helper()
	var kept []schemas.Exchange
	r := &recorder{
		next: http.DefaultTransport, secret: strings.NewReplacer("sk-verysecret", "[secret]"),
		keep: func(_ context.Context, x schemas.Exchange) { kept = append(kept, x) },
	}
	req, err := http.NewRequest("POST", url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer sk-verysecret")
	if resp, err := r.RoundTrip(req); err == nil {
		_, _ = io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		resp.Body.Close()
	}
	if len(kept) != 1 {
		t.Fatalf("%d exchanges kept", len(kept))
	}
	return kept[0]
}

func TestAnExchangeIsKeptAsItWentOverTheWire(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		w.WriteHeader(429)
		_, _ = w.Write([]byte("you sent " + string(b) + " with sk-verysecret \xff"))
	}))
	defer s.Close()
	x := recorded(t, s.URL+"/v1?key=sk-verysecret", `{"model":"m"}`)
	if x.Status != 429 || x.Request != `{"model":"m"}` || x.URL != s.URL+"/v1" || x.DurationMS <= 0 || x.At.IsZero() || x.Error != "" {
		t.Errorf("%+v", x)
	}
	if want := `you sent {"model":"m"} with [secret] ` + "\uFFFD"; x.Response != want {
		t.Errorf("response %q, want %q", x.Response, want)
	}
}

func TestWhatIsTooLongIsCut(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(w, r.Body) }))
	defer s.Close()
	for n, cut := range map[int]bool{schemas.MaxExchangeBytes: false, schemas.MaxExchangeBytes + 1: true, 3 << 20: true} {
		x := recorded(t, s.URL, strings.Repeat("x", n))
		if x.RequestTruncated != cut || x.ResponseTruncated != cut || len(x.Response) != schemas.MaxExchangeBytes || len(x.Request) != schemas.MaxExchangeBytes {
			t.Errorf("%d bytes: %v %v, %d and %d kept", n, x.RequestTruncated, x.ResponseTruncated, len(x.Request), len(x.Response))
		}
	}
}

func TestAnExchangeThatBreaksOffIsKept(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = w.Write([]byte("half of it"))
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}))
	x := recorded(t, s.URL, "{}")
	if x.Response != "half of it" || !strings.Contains(x.Error, io.ErrUnexpectedEOF.Error()) {
		t.Errorf("%+v", x)
	}
	s.Close()
	if x = recorded(t, s.URL, "{}"); x.Status != 0 || x.Error == "" || x.Request != "{}" {
		t.Errorf("%+v", x)
	}
}
