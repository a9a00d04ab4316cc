package main

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"callgate.dev/schemas"
	"callgate.dev/streams/index"
)

// badSubmissions are refused by both doors in the same words.
var badSubmissions = []struct {
	name, body string
	class      schemas.Class
	message    string // what was wrong, where, and what would be right
}{
	{"nothing", "", schemas.ClassSubmissionInvalid, `JSON`},
	{"not_JSON", "{prompt: hello", schemas.ClassSubmissionInvalid, `JSON`},
	{"an_array", `["prompt"]`, schemas.ClassSubmissionInvalid, `object`},
	{"two_documents", `{"prompt":"a"} {"prompt":"b"}`, schemas.ClassSubmissionInvalid, `.`},
	{"a_name_twice", `{"prompt":"a","prompt":"b"}`, schemas.ClassSubmissionInvalid, `prompt`},
	{"wrong_types", `{"prompt":7,"files":"a.txt"}`, schemas.ClassSubmissionInvalid, `/files.*/prompt`},
	{"unknown_field", `{"prompt":"a","langauge":"python"}`, schemas.ClassSubmissionInvalid, `langauge.*language`},
	{"unknown_field_inside", `{"prompt":"a","limits":{"tries":3}}`, schemas.ClassSubmissionInvalid, `/limits.*tries`},
	{"no_prompt", `{"language":"python"}`, schemas.ClassSubmissionInvalid, `prompt`},
	{"blank_prompt", `{"prompt":" \n"}`, schemas.ClassSubmissionInvalid, `/prompt`},
	{"unknown_language", `{"prompt":"a","language":"cobol"}`, schemas.ClassSubmissionInvalid, `/language.*python`},
	{"NUL_bytes", "{\"prompt\":\"a\x00b\"}", schemas.ClassSubmissionInvalid, `.`},
	{"escaped_NUL", `{"prompt":"a\u0000b"}`, schemas.ClassSubmissionInvalid, `/prompt.*NUL`},
	{"not_UTF-8", "{\"prompt\":\"a\xff\"}", schemas.ClassSubmissionInvalid, `UTF-8`},
	{"bad_ID", `{"id":"a.b","prompt":"a"}`, schemas.ClassSubmissionInvalid, `/id`},
	{"too_many_attempts", `{"prompt":"a","limits":{"attempts":1000}}`, schemas.ClassSubmissionInvalid, `/limits/attempts.*50`},
	{"negative_limit", `{"prompt":"a","limits":{"memory_bytes":-1}}`, schemas.ClassSubmissionInvalid, `/limits/memory_bytes`},
	{"path_out_of_the_workspace", `{"prompt":"a","files":[{"path":"../etc/passwd","content":"x"}]}`, schemas.ClassSubmissionInvalid, `/files/0/path`},
	{"bad_schema", `{"prompt":"a","contract":{"result_schema":{"type":"strnig"}}}`, schemas.ClassSubmissionInvalid, `/contract/result_schema`},
	{"long_prompt", `{"prompt":"` + strings.Repeat("x", 300<<10) + `"}`, schemas.ClassTooLarge, `/prompt: 307200 bytes, at most 262144`},
	{"prompt_of_2_MB", `{"prompt":"` + strings.Repeat("x", 2<<20) + `"}`, schemas.ClassTooLarge, `2097165 bytes, at most 1048576`},
	{"deep", `{"prompt":"a","context":` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + `}`, schemas.ClassSubmissionInvalid, `.`},
}

func TestBadSubmissionsAreRefusedAtBothDoors(t *testing.T) {
	t.Parallel()
	r := newRig(t, []string{turns("nothing", "nothing")})
	for _, door := range doors {
		tenant := "team-" + door.name
		for i, c := range badSubmissions {
			sequence, told := door.submit(r, tenant, []byte(c.body))
			if door.name == "api" && told == nil {
				t.Errorf("%s, %s: taken as %d", door.name, c.name, sequence)
				continue
			}
			seen := 0
			kept := r.rejection(tenant, func(x schemas.Rejection) bool {
				if told == nil {
					return x.Sequence == sequence
				}
				seen++ // the door's own refusals have no number
				return x.Error == *told
			})
			if kept.Error.Class != c.class || !regexp.MustCompile(c.message).MatchString(kept.Error.Message) {
				t.Errorf("%s, %s: %v", door.name, c.name, kept.Error)
			}
			if len(kept.Error.Message) > 4096 || strings.ContainsFunc(kept.Error.Message, func(x rune) bool { return x < ' ' }) {
				t.Errorf("%s, %s: a message of %d bytes, %.80q", door.name, c.name, len(kept.Error.Message), kept.Error.Message)
			}
			if len(kept.Excerpt) > 1024 || kept.At.IsZero() {
				t.Errorf("%s, %s: record %+v", door.name, c.name, kept)
			}
			if i%8 == 0 {
				r.works(tenant, fmt.Sprintf("next-%d", i))
			}
		}
		r.works(tenant, "last")
	}
	// Nothing refused became a job.
	records, err := index.Query(r.ctx, r.c.js, index.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	for _, rec := range records {
		if rec.State != schemas.StateCompleted {
			t.Errorf("%+v", rec)
		}
	}
	if len(records) != 2*4 {
		t.Errorf("%d jobs, expected 8", len(records))
	}
	// People and programs can read why.
	var rejected []schemas.Rejection
	callgate(t, r.home, "list", "--rejected", "--tenant", "team-publish", "--json").decode(t, &rejected)
	if len(rejected) != len(badSubmissions) {
		t.Errorf("list --rejected has %d, expected %d", len(rejected), len(badSubmissions))
	}
	rejected = nil
	callgate(t, r.home, "list", "--rejected", "--class", "too_large", "--limit", "3", "--json").decode(t, &rejected)
	if len(rejected) != 3 || rejected[0].Error.Class != schemas.ClassTooLarge {
		t.Errorf("list --rejected --class too_large: %+v", rejected)
	}
	if out := callgate(t, r.home, "list", "--rejected").stdout; !strings.Contains(out, "WHY") || !strings.Contains(out, "langauge") {
		t.Errorf("list --rejected prints\n%s", out)
	}
}

func TestTenantsAreNames(t *testing.T) {
	t.Parallel()
	r := newRig(t, []string{turns("nothing", "nothing")})
	for _, tenant := range []string{"a$b", "ünï", strings.Repeat("t", 65), "*", ">x", "x>", "a;b"} {
		for _, door := range doors {
			body := []byte(`{"prompt":"nothing"}`)
			sequence, told := door.submit(r, tenant, body)
			if door.name == "api" && (told == nil || told.Class != schemas.ClassSubmissionInvalid) {
				t.Errorf("api, tenant %q: %v", tenant, told)
			}
			kept := r.rejection(tenant, func(x schemas.Rejection) bool { return door.name == "api" || x.Sequence == sequence })
			if kept.Error.Class != schemas.ClassSubmissionInvalid || !strings.Contains(kept.Error.Message, "1 to 64 letters, digits") {
				t.Errorf("%s, tenant %q: %v", door.name, tenant, kept.Error)
			}
		}
	}
	r.works("default", "next")
}

func TestAnIDIsOneJob(t *testing.T) {
	t.Parallel()
	r := newRig(t, []string{turns("nothing", "nothing")})
	body := encode(map[string]any{"id": "mine", "prompt": "nothing", "code": "print('mine')"})
	other := encode(map[string]any{"id": "mine", "prompt": "nothing", "code": "print('another')"})
	for _, first := range doors {
		tenant := "team-" + first.name
		sequence, refused := first.submit(r, tenant, body)
		if refused != nil {
			t.Fatal(refused)
		}
		r.end(tenant, "mine")
		for _, door := range doors {
			// The same body is the same job, through either door.
			again, refused := door.submit(r, tenant, body)
			if refused != nil || door.name == "api" && again != sequence {
				t.Errorf("first %s, then %s: submission %d and %d, %v", first.name, door.name, sequence, again, refused)
			}
			// Another body is not, and is kept.
			taken, refused := door.submit(r, tenant, other)
			if door.name == "api" && (refused == nil || refused.Class != schemas.ClassIDConflict) {
				t.Errorf("first %s, then another by %s: %v", first.name, door.name, refused)
			}
			kept := r.rejection(tenant, func(x schemas.Rejection) bool { return x.Sequence == taken && x.Error.Class == schemas.ClassIDConflict })
			if !strings.Contains(kept.Error.Message, `"mine"`) {
				t.Errorf("%s: %v", door.name, kept.Error)
			}
		}
		r.works(tenant, "next")
		if events := r.end(tenant, "mine"); len(events) != 4 || events[len(events)-1].Result.Data != "mine\n" {
			t.Errorf("first %s: %d events, %v", first.name, len(events), events[len(events)-1].Result)
		}
	}
}
