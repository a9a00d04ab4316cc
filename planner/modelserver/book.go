package modelserver

import (
	"slices"
	"strings"
	"sync"
)

// book holds the entries of an answers file. Recording adds to it while requests read it.
type book struct {
	fingerprint string

	mu      sync.RWMutex
	byMatch map[string]*entry
	order   []*entry // longest match first, then by line
}

// entry is what one kind of conversation is answered with. It is never changed once published: add replaces it.
type entry struct {
	match   string
	line    int // of the first line with this match, for logs
	answers []Answer
	turns   []int // indices of the answers that are turns
}

func newBook() *book { return &book{byMatch: map[string]*entry{}} }

func (b *book) add(match string, answers []Answer, line int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	next := &entry{match: match, line: line}
	old := b.byMatch[match]
	if old != nil {
		next.line = old.line
		next.answers = slices.Clone(old.answers)
	}
	next.answers = append(next.answers, answers...)
	for i := range next.answers {
		if !next.answers[i].isFault() {
			next.turns = append(next.turns, i)
		}
	}
	b.byMatch[match] = next
	if old != nil {
		b.order[slices.Index(b.order, old)] = next
		return
	}
	// Lines come in order, so inserting behind the equals keeps the earlier line first.
	at, _ := slices.BinarySearchFunc(b.order, len(match), func(e *entry, length int) int {
		if len(e.match) >= length {
			return -1
		}
		return 1
	})
	b.order = slices.Insert(b.order, at, next)
}

func (b *book) len() int {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return len(b.order)
}

// find gives the entry that a conversation belongs to and the index of the first user message that has the match.
func (b *book) find(messages []message) (found *entry, at int) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	for _, e := range b.order {
		for i := range messages {
			if messages[i].role == "user" && strings.Contains(messages[i].text, e.match) {
				return e, i
			}
		}
	}
	return nil, 0
}

// number says which turn a conversation asks for, from nothing but its messages.
func number(messages []message, prompt int) int {
	n := 1
	for i := range messages[prompt:] {
		if messages[prompt+i].role == "assistant" {
			n++
		}
	}
	return n
}

// pick gives the index of the answer for turn n: a fault in front of it that take lets through, or the turn itself.
func (e *entry) pick(n int, take func(index int) bool) int {
	if len(e.turns) == 0 {
		for i := range e.answers {
			if take(i) {
				return i
			}
		}
		return len(e.answers) - 1
	}
	turn := e.turns[min(n, len(e.turns))-1]
	first, last := 0, turn
	switch {
	case n > len(e.turns):
		first, last = turn+1, len(e.answers)
	case n > 1:
		first = e.turns[n-2] + 1
	}
	for i := first; i < last; i++ {
		if take(i) {
			return i
		}
	}
	return turn
}

// normal is the form in which matches and prompts are compared.
func normal(text string) string { return strings.TrimSpace(lineEnds(text)) }

func lineEnds(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }

func (b *book) entry(match string) *entry {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return b.byMatch[match]
}
