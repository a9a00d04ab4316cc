package main

import (
	"log/slog"
	"net/netip"

	"callgate.dev/executor/sandbox/network"
	"callgate.dev/schemas"
	"github.com/spf13/pflag"
)

// networkFlags say which hosts programs may reach.
type networkFlags struct {
	hosts   []string
	private []string
}

func (n *networkFlags) flags(f *pflag.FlagSet) {
	listFlag(f, &n.hosts, "network-hosts", network.CheckPattern, "hosts that jobs may ask for in contract.network, by name or as *.example.com (default: none)")
	n.privateFlag(f)
}

func (n *networkFlags) privateFlag(f *pflag.FlagSet) {
	listFlag(f, &n.private, "network-private", isPrefix, "address prefixes, such as 10.1.2.0/24, that such a host may be at although they are not public (default: none)")
}

// allow lets programs reach hosts that were named on the command line.
func (n *networkFlags) allow(hosts []string) {
	for _, h := range hosts {
		if host, err := schemas.ParseHost(h); err == nil { // as its flag has checked
			n.hosts = append(n.hosts, host.Name)
		}
	}
}

func (n *networkFlags) config(log *slog.Logger) network.Config {
	c := network.Config{Log: log}
	for _, p := range n.private {
		c.Private = append(c.Private, netip.MustParsePrefix(p)) // as above
	}
	return c
}

func isHost(s string) error {
	_, err := schemas.ParseHost(s)
	return err
}

func isPrefix(s string) error {
	p, err := netip.ParsePrefix(s)
	if err == nil && p != p.Masked() {
		return usageError("%q has bits beyond its prefix; %s is meant", s, p.Masked())
	}
	return err
}
