package streams

import "strings"

// ListSubject is where the list of jobs is asked for.
const ListSubject = "callgate.api.list"

// MachinesSubject is where every process that takes work says how its machine
// is: each of them answers a request.
const MachinesSubject = "callgate.api.machines"

// toolPrefix begins the subjects that tools answer on.
const toolPrefix = "callgate.tool."

// ToolSubject is where every instance of a version of a tool takes its calls.
// The name and the version are single tokens, as a contract's check lets them
// through, but for the dots of the version.
func ToolSubject(name, version string) string {
	return toolPrefix + name + "." + strings.ReplaceAll(version, ".", "_")
}

// ToolHealthSubject is where a version of a tool says how it is.
func ToolHealthSubject(name, version string) string { return ToolSubject(name, version) + ".health" }

// ToolContractSubject is where a version of a tool gives a contract that is too
// large for its metadata.
func ToolContractSubject(name, version string) string {
	return ToolSubject(name, version) + ".contract"
}

// ParseToolSubject reads which tool takes calls on a subject.
func ParseToolSubject(subject string) (name, version string, err error) {
	t, err := tokens(toolPrefix, subject, "<name>", "<version>")
	if err != nil {
		return "", "", err
	}
	return t[0], strings.ReplaceAll(t[1], "_", "."), nil
}
