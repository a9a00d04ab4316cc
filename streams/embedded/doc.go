// Package embedded runs a nats-server with JetStream inside this process, on a
// real TCP listener: programs in any language reach it as they would reach a
// server of its own.
//
//	New ─► lock data dir ─► options ─► listen ─► JetStream ready ─► *Server
//	Shutdown ─► stop listening, close clients ─► flush and close stores ─► unlock
//
// A data directory belongs to one server at a time; a second one, in this
// process or another, gets a [*LockedError] that names the owner.
//
// It does not provision anything and it holds no client: whoever owns
// connections drains its consumers, waits for its handlers and drains the
// connection before Shutdown, or else the server closes a stream under an ack
// and rebuilds its index at the next start.
package embedded
