package streams

// ListSubject is where the list of jobs is asked for.
const ListSubject = "callgate.api.list"
