// Package network lets a sandboxed program reach some hosts by name, and
// nothing else.
//
// The program has a network namespace of its own with nothing in it but
// listening sockets, one for each allowed host and port, on loopback addresses
// to which the run's /etc/hosts resolves the names. A socket belongs to the
// namespace that it was made in, whoever holds it; these are held by a
// [Forwarder], outside. It accepts what the program connects, and knows by the
// listener which host is meant. Clients need no proxy setting, and TLS stays
// between them and the server.
//
//	f, err := network.New(network.Config{}, []network.Listener{{Host: "api.example.com", Port: 443, Listener: l}})
//	… the program runs
//	connections := f.Close()
//
// # What passes
//
// The first bytes decide. A TLS ClientHello must name the host, in the open: no
// other name, none, or an encrypted one is refused. From then on bytes are
// forwarded as they come. Plain HTTP is parsed and written anew, request by
// request, and each must be for the host; there is no CONNECT and no change of
// protocol. All else is refused. Two hosts that one server serves can still be
// told apart by what is inside TLS alone, where nobody looks: who allows a name
// allows the server behind it.
//
// The host's name is resolved here, for every connection, and the very address
// that is dialled has been checked: it is none that means a private network,
// this machine or a tunnel into either (see [Public]), unless the operator
// allowed its prefix.
//
// # Bounds
//
// Of a connection: ConnectTimeout to be connected, and no more than ReadTimeout
// without a byte in either direction; then it is reset. A connection that rests
// between two HTTP requests is reset too, and that is no failure. Of a run: AtOnce open
// connections, of which further ones are reset; Connections in all, after which
// nobody listens; and Bytes, both directions added, after which everything is
// reset. What is over its bounds fails as a connection does, and says why in
// its [schemas.Connection].
package network
