// Package tokens counts what a model reads, without asking anyone: with the
// o200k_base vocabulary, which is part of the binary.
//
// Models of other makers cut text otherwise, so a count is theirs only to about
// a tenth. The vocabulary takes some megabytes of memory and a good part of a
// second to unpack: that is done when a count is first needed, and [Bound]
// answers most questions without one.
package tokens

import (
	"sync"
	"unicode/utf8"

	"github.com/tiktoken-go/tokenizer/codec"
)

var vocabulary = sync.OnceValue(codec.NewO200kBase)

// maxPiece bounds what is given to the tokenizer at once, in bytes: its memory
// is a multiple of that. Between two pieces one token may be counted twice.
const maxPiece = 64 << 10

// Count returns the number of tokens of s.
func Count(s string) int {
	n := 0
	for len(s) > 0 {
		piece := s[:cut(s)]
		s = s[len(piece):]
		count, err := vocabulary().Count(piece)
		if err != nil {
			// The vocabulary has all bytes. What it can't cut is counted at its dearest.
			count = len(piece)
		}
		n += count
	}
	return n
}

// Bound returns what Count cannot exceed: no token is shorter than a byte.
func Bound(s string) int { return len(s) }

// cut returns where the first piece of s ends: not within a character.
func cut(s string) int {
	if len(s) <= maxPiece {
		return len(s)
	}
	end := maxPiece
	for end > maxPiece-utf8.UTFMax && !utf8.RuneStart(s[end]) {
		end--
	}
	return end
}
