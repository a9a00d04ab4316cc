package sandbox

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"

	"callgate.dev/executor/sandbox/network"
	"callgate.dev/schemas"
)

// access is what a run with hosts or services has beyond others: addresses of
// its own network namespace that their names resolve to, and who listens at
// them, the Forwarder for hosts.
type access struct {
	doors     []door
	hosts     string // for /etc/hosts
	forwarder *network.Forwarder
	services  []*served
}

// door is an address inside and what it stands for.
type door struct {
	host    string
	at      netip.AddrPort
	service *Service // nil for a host
}

// firstDoor leaves 127.0.0.1 to what a program expects to be itself.
var firstDoor = netip.MustParseAddr("127.0.0.2")

// maxDoors is what one message of the helper's brings.
const maxDoors = maxFDs

// doorsOf gives every host and service an address.
func doorsOf(hosts []schemas.Host, services []Service) (doors []door, file string) {
	var b strings.Builder
	b.WriteString("127.0.0.1 localhost\n")
	at := firstDoor
	for _, h := range hosts {
		for _, p := range h.Ports {
			doors = append(doors, door{host: h.Name, at: netip.AddrPortFrom(at, p)})
		}
		fmt.Fprintf(&b, "%s %s\n", at, h.Name)
		at = at.Next()
	}
	for i, s := range services {
		doors = append(doors, door{host: s.Host, at: netip.AddrPortFrom(at, s.Port), service: &services[i]})
		fmt.Fprintf(&b, "%s %s\n", at, s.Host)
		at = at.Next()
	}
	return doors, b.String()
}

// open makes the sockets in the slot's namespace and begins to forward.
func (s *Sandbox) open(slot *slot, spec Spec) (*access, error) {
	hosts, err := schemas.ParseHosts(spec.Network)
	if err != nil {
		return nil, err
	}
	a := &access{}
	a.doors, a.hosts = doorsOf(hosts, spec.Services)
	q := newRequest(verbListen)
	q.number(tagFlags, s.flags())
	for _, d := range a.doors {
		q.listen(d.numbers())
	}
	fds, err := s.helper.call(q, len(a.doors), slot.net, s.baseUser)
	if err != nil {
		return nil, fmt.Errorf("listen for the run's hosts: %w", err)
	}
	var listeners []network.Listener
	for i, fd := range fds {
		f := os.NewFile(uintptr(fd), a.doors[i].at.String())
		l, lerr := net.FileListener(f) // a duplicate
		err = errors.Join(err, lerr, f.Close())
		switch {
		case lerr != nil:
		case a.doors[i].service != nil:
			a.services = append(a.services, serve(*a.doors[i].service, l))
		default:
			listeners = append(listeners, network.Listener{Host: a.doors[i].host, Port: a.doors[i].at.Port(), Listener: l})
		}
	}
	if err != nil {
		for _, l := range listeners {
			_ = l.Close() // nobody has connected
		}
		a.close()
		return nil, fmt.Errorf("take over the sockets of the run's hosts: %w", err)
	}
	if a.forwarder, err = network.New(s.config.Network, listeners); err != nil {
		a.close()
		return nil, err
	}
	return a, nil
}

// close ends every connection and returns those to hosts.
func (a *access) close() (past []schemas.Connection) {
	if a.forwarder != nil {
		past = a.forwarder.Close()
	}
	for _, v := range a.services {
		v.close()
	}
	return past
}

func (d door) numbers() (address, port uint32) {
	b := d.at.Addr().As4()
	return binary.BigEndian.Uint32(b[:]), uint32(d.at.Port())
}

// request adds to a run what it needs to reach the doors.
func (a *access) request(q *request, s *Sandbox) {
	q.text(tagHosts, a.hosts)
	byPort := slices.Clone(a.doors)
	slices.SortFunc(byPort, func(x, y door) int { return cmp.Compare(x.at.Port(), y.at.Port()) })
	for _, d := range slices.CompactFunc(byPort, func(x, y door) bool { return x.at.Port() == y.at.Port() }) {
		q.listen(d.numbers()) // Landlock holds ports and not addresses
	}
	if len(s.netFilter.program) > 0 {
		q.bytes(tagFilter, s.netFilter.program)
	}
}

// checkNetwork joins every fault of a list of hosts.
func checkNetwork(list []string, services []Service) error {
	errs := []error{checkServices(services)}
	for i, h := range list {
		if _, err := schemas.ParseHost(h); err != nil {
			errs = append(errs, fmt.Errorf("network[%d]: %w", i, err))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	hosts, err := schemas.ParseHosts(list)
	if err != nil {
		return fmt.Errorf("network: %w", err)
	}
	if doors, _ := doorsOf(hosts, services); len(doors) > maxDoors {
		return fmt.Errorf("network and services have %d ports, at most %d", len(doors), maxDoors)
	}
	return nil
}

// Permit returns an error, of class tool_denied, unless the operator allows every
// host of the list.
func (s *Sandbox) Permit(list []string) error {
	hosts, err := schemas.ParseHosts(list)
	if err != nil {
		return err
	}
	for _, h := range hosts {
		if !slices.ContainsFunc(s.config.NetworkHosts, func(p string) bool { return network.Matches(p, h.Name) }) {
			return schemas.Errorf(schemas.ClassToolDenied, "the network host %q is not allowed here; %s", h.Name, allowedHosts(s.config.NetworkHosts))
		}
	}
	return nil
}

func allowedHosts(patterns []string) string {
	if len(patterns) == 0 {
		return "the operator allows none"
	}
	return "the operator allows " + strings.Join(patterns, ", ")
}
