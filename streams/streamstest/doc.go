// Package streamstest gives tests real servers: one, one in a process of its
// own that can be killed, or a cluster of three with routes on loopback. A
// stream server starts in about ten milliseconds, so nothing needs a mock.
//
//	Server(t)     *Node     in this process; Stop, Start
//	NewProcess(t) *Process  beside it; Kill is SIGKILL, Start takes the same data
//	Cluster(t, 3) *Nodes    one metadata group; Stop and Start of each node
//
// Everything is ended by the test's cleanup, in the order that leaves no
// goroutine behind: connections made here, then servers. A test binary that
// uses NewProcess calls [Main] from TestMain; so does one that wants to be checked
// for leaked goroutines.
package streamstest
