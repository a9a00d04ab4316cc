package sandbox

// poolSize is how many interpreters of a kind are kept waiting. It follows
// load: one more each time that a run found none, one less after a while in
// which some were always left.
type poolSize struct {
	least, most int
	want        int
	left        int // the fewest that waited since the last tick
	quiet       int // ticks in a row with some left
}

// ticksToShrink of [heartbeat] each.
const ticksToShrink = 6

func newPoolSize(c Config) *poolSize {
	return &poolSize{least: c.AheadMin, most: c.AheadMax, want: c.AheadStart, left: c.AheadStart}
}

// taken notes that a run took one, or found none, and how many are left.
func (s *poolSize) taken(found bool, left int) {
	s.left = min(s.left, left)
	if !found {
		s.quiet = 0
		s.want = min(s.want+1, s.most)
	}
}

func (s *poolSize) tick() {
	if s.left > 0 {
		s.quiet++
	} else {
		s.quiet = 0
	}
	s.left = s.want
	if s.quiet >= ticksToShrink {
		s.quiet = 0
		s.want = max(s.want-1, s.least)
	}
}
