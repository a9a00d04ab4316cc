package tokens

import (
	"strings"
	"testing"
)

func TestCount(t *testing.T) {
	// The vocabulary that is built in, and not another.
	for text, want := range map[string]int{"": 0, "hello world": 2, "def add(a, b):\n    return a + b\n": 12} {
		if got := Count(text); got != want {
			t.Errorf("%q: %d tokens, want %d", text, got, want)
		}
	}
}

func TestCountOfWhatIsNoText(t *testing.T) {
	for name, text := range map[string]string{
		"invalid UTF-8": strings.Repeat("\xff\xfe", 1000), "NUL": "\x00\x00", "one word": strings.Repeat("a", 3*maxPiece+1),
		"special": "<|endoftext|>", "wide": strings.Repeat("漢", maxPiece),
	} {
		if got := Count(text); got < 1 || got > Bound(text) {
			t.Errorf("%s: %d tokens of %d bytes", name, got, len(text))
		}
	}
}

func TestPiecesEndBetweenCharacters(t *testing.T) {
	text := "a" + strings.Repeat("漢", maxPiece)
	if end := cut(text); end > maxPiece || end < maxPiece-3 || (end-1)%3 != 0 {
		t.Errorf("a piece of %d bytes", end)
	}
	if end := cut(strings.Repeat("\xbf", 2*maxPiece)); end < maxPiece-4 {
		t.Errorf("a piece of %d bytes", end)
	}
}
