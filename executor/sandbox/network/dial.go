package network

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
)

// refusal is why a connection was not made or cut off. Its text goes into logs
// and results: it names no path, no header, and nothing that a server sent.
type refusal string

func (r refusal) Error() string { return string(r) }

// dial resolves host and connects to the first address that takes it. It hands
// the checked address to the kernel, and not the name: a second look at the
// name could find another address.
func (f *Forwarder) dial(ctx context.Context, host string, port uint16) (*net.TCPConn, error) {
	ctx, cancel := context.WithTimeout(ctx, f.config.ConnectTimeout)
	defer cancel()
	addrs, err := f.config.Resolve(ctx, host)
	if err != nil {
		return nil, refusal("the name does not resolve" + timedOut(err))
	}
	var last error = refusal("the name has no address")
	var d net.Dialer
	for _, a := range addrs {
		if last = f.allowed(a); last != nil {
			continue
		}
		c, err := d.DialContext(ctx, "tcp", netip.AddrPortFrom(a, port).String())
		if err == nil {
			return c.(*net.TCPConn), nil
		}
		last = refusal("cannot connect" + timedOut(err))
		if ctx.Err() != nil {
			break
		}
	}
	return nil, last
}

// allowed checks one address.
func (f *Forwarder) allowed(a netip.Addr) error {
	if slices.ContainsFunc(f.config.Private, func(p netip.Prefix) bool { return p.Contains(a) }) {
		return nil
	}
	if err := Public(a); err != nil {
		return refusal(fmt.Sprintf("refused address: %v", err))
	}
	return nil
}

func timedOut(err error) string {
	var n net.Error
	if errors.Is(err, context.DeadlineExceeded) || errors.As(err, &n) && n.Timeout() {
		return ": timed out"
	}
	return ""
}

// resolve asks the machine's resolver. The dot at the end keeps search domains
// out. Go writes the addresses of A records as IPv4 in IPv6.
func resolve(ctx context.Context, host string) ([]netip.Addr, error) {
	addrs, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host+".")
	for i := range addrs {
		addrs[i] = addrs[i].Unmap()
	}
	return addrs, err
}
