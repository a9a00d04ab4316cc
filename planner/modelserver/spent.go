package modelserver

import "sync"

const maxConversations = 65536

// spent remembers how often each fault and delay was given in a conversation. It is the only memory of the server, and
// bounded: the conversation that came first is forgotten first.
type spent struct {
	mu    sync.Mutex
	given map[digest]map[int]int // conversation, index of the answer, how often
	queue []digest               // a ring, in the order in which conversations came
	next  int
}

func newSpent(limit int) *spent {
	return &spent{given: map[digest]map[int]int{}, queue: make([]digest, 0, limit)}
}

// take says whether an answer is still to be given, and counts that it is.
func (s *spent) take(conversation digest, index, times int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	counts := s.given[conversation]
	if counts == nil {
		counts = map[int]int{}
		s.remember(conversation, counts)
	}
	if counts[index] >= times {
		return false
	}
	counts[index]++
	return true
}

func (s *spent) remember(conversation digest, counts map[int]int) {
	if len(s.queue) < cap(s.queue) {
		s.queue = append(s.queue, conversation)
	} else {
		delete(s.given, s.queue[s.next])
		s.queue[s.next] = conversation
		s.next = (s.next + 1) % len(s.queue)
	}
	s.given[conversation] = counts
}
