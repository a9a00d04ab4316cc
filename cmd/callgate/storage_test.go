package main

import (
	"testing"

	"callgate.dev/streams"
	"callgate.dev/streams/embedded"
	"callgate.dev/streams/streamstest"
	"golang.org/x/sys/unix"
)

// A disk that has less room than the defaults reserve must not keep `up` from
// starting: the server refuses streams that do not fit.
func TestStreamsAreBoundedByTheDisk(t *testing.T) {
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=1g"); err != nil {
		t.Fatalf("mount a small disk: %v", err)
	}
	t.Cleanup(func() { _ = unix.Unmount(dir, unix.MNT_DETACH) })
	s, err := embedded.New(embedded.Config{Listen: "127.0.0.1:0", Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Shutdown)
	_, js := streamstest.Connect(t, s.ClientURL())

	whole, err := streams.NewTopology(streams.TopologyConfig{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := streams.Provision(t.Context(), js, whole); err == nil {
		t.Fatal("a server on 1 GB took streams of 28: there would be nothing to mend")
	}
	for range 2 { // the second time finds what is there, and changes nothing
		cfg, err := fit(t.Context(), js, dir)
		if err != nil {
			t.Fatal(err)
		}
		if cfg.LogBytes <= 0 || cfg.LogBytes >= 1<<30 {
			t.Fatalf("log of %d bytes on a disk of 1 GB", cfg.LogBytes)
		}
		topology, err := streams.NewTopology(cfg)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := streams.Provision(t.Context(), js, topology); err != nil {
			t.Fatal(err)
		}
	}
}
