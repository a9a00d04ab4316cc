package streams

// ListSubject is where the list of jobs is asked for.
const ListSubject = "callgate.api.list"

// MachinesSubject is where every process that takes work says how its machine
// is: each of them answers a request.
const MachinesSubject = "callgate.api.machines"
