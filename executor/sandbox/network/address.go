package network

import (
	"fmt"
	"net/netip"
)

// special are the prefixes that no public server has, after IANA's registries
// of special-purpose addresses, and those that carry an IPv4 address inside:
// through a translator or a tunnel they lead to whatever that one means.
var special = []struct {
	prefix netip.Prefix
	why    string
}{
	{netip.MustParsePrefix("0.0.0.0/8"), "this network"},
	{netip.MustParsePrefix("10.0.0.0/8"), "private"},
	{netip.MustParsePrefix("100.64.0.0/10"), "shared by a carrier"},
	{netip.MustParsePrefix("127.0.0.0/8"), "loopback"},
	{netip.MustParsePrefix("169.254.0.0/16"), "link-local"},
	{netip.MustParsePrefix("172.16.0.0/12"), "private"},
	{netip.MustParsePrefix("192.0.0.0/24"), "reserved for protocols"},
	{netip.MustParsePrefix("192.0.2.0/24"), "for documentation"},
	{netip.MustParsePrefix("192.31.196.0/24"), "reserved for AS112"},
	{netip.MustParsePrefix("192.52.193.0/24"), "reserved for AMT"},
	{netip.MustParsePrefix("192.88.99.0/24"), "6to4 relay"},
	{netip.MustParsePrefix("192.168.0.0/16"), "private"},
	{netip.MustParsePrefix("192.175.48.0/24"), "reserved for AS112"},
	{netip.MustParsePrefix("198.18.0.0/15"), "for benchmarks"},
	{netip.MustParsePrefix("198.51.100.0/24"), "for documentation"},
	{netip.MustParsePrefix("203.0.113.0/24"), "for documentation"},
	{netip.MustParsePrefix("224.0.0.0/4"), "multicast"},
	{netip.MustParsePrefix("240.0.0.0/4"), "reserved"},
	{netip.MustParsePrefix("::ffff:0:0/96"), "IPv4 in IPv6"},
	{netip.MustParsePrefix("2001::/23"), "reserved for protocols, Teredo among them"},
	{netip.MustParsePrefix("2001:db8::/32"), "for documentation"},
	{netip.MustParsePrefix("2002::/16"), "6to4"},
	{netip.MustParsePrefix("2620:4f:8000::/48"), "reserved for AS112"},
	{netip.MustParsePrefix("3fff::/20"), "for documentation"},
}

// global is where IPv6 addresses of public servers are: all others are
// unspecified, loopback, translated, local, multicast or not handed out.
var global = netip.MustParsePrefix("2000::/3")

// Public returns an error unless a is an address that a public server can have.
func Public(a netip.Addr) error {
	if !a.IsValid() {
		return fmt.Errorf("no address")
	}
	if a.Zone() != "" {
		return fmt.Errorf("%s is link-local", a)
	}
	for _, s := range special {
		if s.prefix.Contains(a) {
			return fmt.Errorf("%s is %s", a, s.why)
		}
	}
	if a.Is6() && !global.Contains(a) {
		return fmt.Errorf("%s is outside of %s, where public servers are", a, global)
	}
	return nil
}
