package modelserver

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	openai "github.com/sashabaranov/go-openai"
)

func TestTurnsFollowTheRequestAlone(t *testing.T) {
	answers := `{"match":"Add two numbers.","answers":["one","two","three"]}`
	s := play(t, answers)
	c := client(s, "")
	prompt := user("Task:\r\nAdd two numbers.\r\nThanks")
	history := []openai.ChatCompletionMessage{
		// Few-shot examples in front of the prompt don't count.
		user("Multiply two numbers."), assistant("an example"), prompt,
	}
	for _, want := range []string{"one", "two", "three", "three", "three"} {
		first := ask(t, c, history...)
		again := ask(t, c, history...)
		if got := first.Choices[0].Message.Content; got != want {
			t.Fatalf("answer is %q, not %q", got, want)
		}
		if again.ID != first.ID || again.Choices[0].Message.Content != want {
			t.Errorf("the repeated request was answered differently: %q %q", again.ID, again.Choices[0].Message.Content)
		}
		// Another server is what a restart is.
		if restarted := ask(t, client(play(t, answers), ""), history...); restarted.ID != first.ID || restarted.Choices[0].Message.Content != want {
			t.Errorf("after a restart the answer is %q", restarted.Choices[0].Message.Content)
		}
		history = append(history, assistant(want), user("wrong, again"))
	}
}

func TestTheLongestMatchWins(t *testing.T) {
	c := client(play(t, strings.Join([]string{
		`{"match":"sort","answers":["short"]}`,
		``,
		`{"match":"  sort a list\n","answers":["long"]}`,
		`{"match":"sort","answers":["short, continued"]}`,
		`{"match":"same1","answers":["earlier line"]}`,
		`{"match":"same2","answers":["later line"]}`,
	}, "\n")), "")
	if got := text(t, c, user("Please sort a list.")); got != "long" {
		t.Error(got)
	}
	if got := text(t, c, user("Please sort.")); got != "short" {
		t.Error(got)
	}
	if got := text(t, c, user("Please sort."), assistant("short"), user("no")); got != "short, continued" {
		t.Error(got)
	}
	if got := text(t, c, user("same2 same1")); got != "earlier line" {
		t.Error(got)
	}
	// The system's text is everybody's, so it names no conversation.
	_, err := c.CreateChatCompletion(t.Context(), openai.ChatCompletionRequest{Model: "m", Messages: []openai.ChatCompletionMessage{
		{Role: "system", Content: "You sort a list"}, user("What do you do?")}})
	failed, ok := errors.AsType[*openai.APIError](err)
	if !ok || failed.HTTPStatusCode != 404 || failed.Code != "no_recorded_answer" || !strings.Contains(failed.Message, `"What do you do?"`) {
		t.Errorf("error is %v", err)
	}
	parts := openai.ChatCompletionMessage{Role: "user", MultiContent: []openai.ChatMessagePart{{Type: "text", Text: "so"}, {Type: "text", Text: "rt it"}}}
	if got := text(t, c, parts); got != "short" {
		t.Error(got)
	}
}

func TestFaultsComeFirstAndPass(t *testing.T) {
	c := client(play(t, `{"match":"p","answers":[{"status":500,"times":2},{"status":429,"retry_after":7},"one",{"raw":"<html>","status":502},"two",{"status":503}]}`), "")
	type call struct {
		history []openai.ChatCompletionMessage
		user    string
	}
	try := func(x call) string {
		response, err := c.CreateChatCompletion(t.Context(), openai.ChatCompletionRequest{Model: "m", User: x.user, Messages: x.history})
		if failed, ok := errors.AsType[*openai.APIError](err); ok {
			return fmt.Sprint(failed.HTTPStatusCode, " ", failed.Code)
		}
		if failed, ok := errors.AsType[*openai.RequestError](err); ok {
			return fmt.Sprint(failed.HTTPStatusCode, " ", string(failed.Body))
		}
		if err != nil {
			t.Fatal(err)
		}
		return response.Choices[0].Message.Content
	}
	first := []openai.ChatCompletionMessage{user("p")}
	second := slices.Concat(first, []openai.ChatCompletionMessage{assistant("one"), user("more")})
	third := slices.Concat(second, []openai.ChatCompletionMessage{assistant("two"), user("more")})
	for i, step := range []struct {
		call call
		want string
	}{
		{call{first, "a"}, "500 0"},
		{call{first, "a"}, "500 0"},
		{call{first, "b"}, "500 0"}, // another user's conversation has its own faults
		{call{first, "a"}, "429 rate_limit_exceeded"},
		{call{first, "a"}, "one"},
		{call{first, "a"}, "one"},
		{call{second, "a"}, "502 <html>"},
		{call{second, "a"}, "two"},
		{call{third, "a"}, "503 0"},
		{call{third, "a"}, "two"},
		{call{first, "b"}, "500 0"},
		{call{first, "b"}, "429 rate_limit_exceeded"},
		{call{first, "b"}, "one"},
	} {
		if got := try(step.call); got != step.want {
			t.Errorf("step %d: %q, not %q", i+1, got, step.want)
		}
	}
}

func TestErrorsHaveOpenAIsShape(t *testing.T) {
	var lines []string
	for _, status := range statuses {
		lines = append(lines, fmt.Sprintf(`{"match":"give %d.","answers":[{"status":%d,"retry_after":3}]}`, status, status))
	}
	s := play(t, strings.Join(lines, "\n"))
	for _, status := range statuses {
		for range 3 { // without a turn, the last fault stays
			got, header, fail, body := post(t, s, fmt.Sprintf(`{"model":"m","messages":[{"role":"user","content":"give %d."}]}`, status))
			if got != status || header.Get("Retry-After") != "3" || fail.Message == "" || fail.Type == "" || !strings.Contains(body, `"param":null`) {
				t.Errorf("%d: %d %q %s", status, got, header.Get("Retry-After"), body)
			}
		}
	}
}

func TestDelaysComeOnceAndKeepTheirNumber(t *testing.T) {
	s := play(t, `{"match":"p","answers":[{"content":"slow","delay_ms":60},"second"]}`)
	c := client(s, "")
	started := time.Now()
	if got := text(t, c, user("p")); got != "slow" || time.Since(started) < 60*time.Millisecond {
		t.Errorf("%q after %s", got, time.Since(started))
	}
	// That it now comes at once is seen in the count, not on a clock of a busy machine.
	if s.spent.take((&request{messages: []message{{raw: []byte(`{"role":"user","content":"p"}`)}}}).conversation(0), 0, 1) {
		t.Error("the delay would be given again")
	}
	if got := text(t, c, user("p")); got != "slow" {
		t.Error(got)
	}
	if got := text(t, c, user("p"), assistant("slow"), user("more")); got != "second" {
		t.Error(got)
	}
}

func TestRawIsSentByteForByte(t *testing.T) {
	s := play(t, "{\"match\":\"p\",\"answers\":[{\"raw\":\"\\ufeff{\\\"choices\\\":\\u0000\",\"turn\":true},{\"raw\":\"nonsense\"},\"two\"]}")
	body := `{"model":"m","messages":[{"role":"user","content":"p"}]}`
	for range 2 {
		if status, _, _, got := post(t, s, body); status != 200 || got != "\ufeff{\"choices\":\x00" {
			t.Errorf("%d %q", status, got)
		}
	}
	body = `{"model":"m","stream":true,"messages":[{"role":"user","content":"p"},{"role":"assistant","content":"x"},{"role":"user","content":"y"}]}`
	status, header, _, got := post(t, s, body)
	if status != 200 || got != "nonsense" || !strings.HasPrefix(header.Get("Content-Type"), "text/event-stream") {
		t.Errorf("%d %q %q", status, got, header.Get("Content-Type"))
	}
	if _, _, _, got := post(t, s, body); !strings.Contains(got, "two") {
		t.Errorf("%q", got)
	}
}

func TestConcurrentConversationsDontMix(t *testing.T) {
	const conversations = 64
	var lines []string
	for i := range conversations {
		lines = append(lines, fmt.Sprintf(`{"match":"job %d.","answers":[{"status":429},"%d first",{"status":500},"%d last"]}`, i, i, i))
	}
	s := play(t, strings.Join(lines, "\n"))
	c := client(s, "")
	var wg sync.WaitGroup
	for i := range conversations {
		wg.Go(func() {
			history := []openai.ChatCompletionMessage{user(fmt.Sprintf("job %d.", i))}
			var got []string
			for len(got) < 5 {
				response, err := c.CreateChatCompletion(t.Context(), openai.ChatCompletionRequest{Model: "m", Messages: history})
				if failed, ok := errors.AsType[*openai.APIError](err); ok {
					got = append(got, fmt.Sprint(failed.HTTPStatusCode))
					continue
				}
				if err != nil {
					t.Error(err)
					return
				}
				said := response.Choices[0].Message.Content
				got = append(got, said)
				history = append(history, assistant(said), user("again"))
			}
			if want := fmt.Sprintf("429|%d first|500|%d last|%d last", i, i, i); strings.Join(got, "|") != want {
				t.Errorf("%q, not %q", strings.Join(got, "|"), want)
			}
		})
	}
	wg.Wait()
}

func TestSpentForgetsTheOldestFirst(t *testing.T) {
	s := newSpent(2)
	a, b, c := digest{1}, digest{2}, digest{3}
	for _, d := range []digest{a, b} {
		if !s.take(d, 0, 1) || s.take(d, 0, 1) || !s.take(d, 1, 1) {
			t.Fatalf("counts of %v are wrong", d[0])
		}
	}
	s.take(c, 0, 1)
	if len(s.given) != 2 || s.take(b, 0, 1) || s.take(c, 0, 1) {
		t.Error("a younger conversation was forgotten")
	}
	if !s.take(a, 0, 1) || len(s.given) != 2 {
		t.Error("the oldest conversation was not forgotten")
	}
}
