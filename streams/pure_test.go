package streams_test

import (
	"testing"

	"callgate.dev/streams"
	"callgate.dev/streams/streamstest/rig"
)

func TestPureResults(t *testing.T) {
	r := rig.New(t)
	p, err := streams.NewPureResults(r.Ctx, r.JS)
	if err != nil {
		t.Fatal(err)
	}
	const key = "acme.look_up.1_0_0.0123abcd"
	if got, err := p.Get(r.Ctx, key); got != nil || err != nil {
		t.Errorf("nothing is kept: %s, %v", got, err)
	}
	if err := p.Put(r.Ctx, key, []byte(`{"n":1}`)); err != nil {
		t.Fatal(err)
	}
	if got, err := p.Get(r.Ctx, key); string(got) != `{"n":1}` || err != nil {
		t.Errorf("%s, %v", got, err)
	}
}
