package schemas

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// MaxHosts is how many hosts a contract may name.
const MaxHosts = 16

// HostPorts are the ports of a host that names none: those of HTTP and HTTPS.
var HostPorts = []uint16{80, 443}

// Host is a machine of the network that a program may reach, by name.
type Host struct {
	Name  string
	Ports []uint16
}

// ParseHost reads "api.example.com" or "api.example.com:8443". A name is lower
// case ASCII, since that is how it is compared with what a client says later,
// and never an address: what an address is good for cannot be read off it.
func ParseHost(s string) (Host, error) {
	say := func(format string, args ...any) (Host, error) {
		return Host{}, fmt.Errorf("%q: %s; a host name such as api.example.com is expected, with a port after a colon where it is neither 80 nor 443", clip(s, 80), fmt.Sprintf(format, args...))
	}
	if _, err := netip.ParseAddr(strings.Trim(s, "[]")); err == nil {
		return say("an address")
	}
	if _, err := netip.ParseAddrPort(s); err == nil {
		return say("an address")
	}
	name, port, given := strings.Cut(s, ":")
	h := Host{Name: name, Ports: slices.Clone(HostPorts)}
	if given {
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil || n == 0 || strconv.FormatUint(n, 10) != port {
			return say("the port is not a number from 1 to 65535")
		}
		h.Ports = []uint16{uint16(n)}
	}
	if err := CheckHostName(name); err != nil {
		return say("%v", err)
	}
	return h, nil
}

// CheckHostName returns an error unless name is a DNS name of at least two
// labels in its one form: lower case, without the root's dot at the end.
func CheckHostName(name string) error {
	if name == "" {
		return fmt.Errorf("no name")
	}
	if len(name) > 253 {
		return fmt.Errorf("longer than 253 bytes")
	}
	labels := strings.Split(name, ".")
	if len(labels) < 2 {
		return fmt.Errorf("one label alone, which would depend on who resolves it")
	}
	for _, l := range labels {
		switch {
		case l == "":
			return fmt.Errorf("an empty label")
		case len(l) > 63:
			return fmt.Errorf("a label of more than 63 bytes")
		case l[0] == '-' || l[len(l)-1] == '-':
			return fmt.Errorf("a label that begins or ends with -")
		case strings.ContainsFunc(l, func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '_' }):
			return fmt.Errorf("a character other than a to z, 0 to 9, - and _ (write an international name as xn--…)")
		}
	}
	// Resolvers of the C library take "127.1" and "0x7f.1" for addresses.
	if last := labels[len(labels)-1]; last[0] >= '0' && last[0] <= '9' {
		return fmt.Errorf("its last label begins with a digit, as an address would")
	}
	return nil
}

// ParseHosts reads a contract's hosts; two lines of one name add up.
func ParseHosts(list []string) ([]Host, error) {
	if len(list) > MaxHosts {
		return nil, fmt.Errorf("%d hosts, at most %d", len(list), MaxHosts)
	}
	var hosts []Host
	for _, s := range list {
		h, err := ParseHost(s)
		if err != nil {
			return nil, err
		}
		at := slices.IndexFunc(hosts, func(o Host) bool { return o.Name == h.Name })
		if at < 0 {
			hosts = append(hosts, h)
			continue
		}
		ports := append(hosts[at].Ports, h.Ports...)
		slices.Sort(ports)
		hosts[at].Ports = slices.Compact(ports)
	}
	return hosts, nil
}

// Connection is one that a program opened to a host it may reach. Times and
// bytes are those of the program's side.
type Connection struct {
	Host          string  `json:"host"`
	Port          int     `json:"port"`
	SentBytes     int64   `json:"sent_bytes"`     // by the program
	ReceivedBytes int64   `json:"received_bytes"` // by the program
	MS            float64 `json:"ms"`
	Error         string  `json:"error,omitempty"` // why it was refused or cut off
}
