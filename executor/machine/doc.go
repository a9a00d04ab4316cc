// Package machine says whether the machine has room for another run: how much
// memory and disk is free, and whether that is enough.
//
//	memory   the least of MemAvailable and what each memory cgroup above this process has left
//	disk     what an unprivileged process may still write, beneath each directory
//
// It measures, and decides nothing else: who takes work asks first. Runs that
// have begun are not counted ahead: they may still grow to their own limits, so
// a threshold is a reserve and no promise, and slots may overcommit memory.
package machine
