// Package workspace is a job's /workspace between runs: a tree of regular
// files, its name by content, and the two forms in which it travels.
//
//	job.files ──FromFiles──┐                         ┌── Read / Write / List (read_file, …)
//	                       ▼                         │
//	snapshot ───Load────► Tree ──(sandbox runs)──► Tree ──Save──► snapshot
//	                                                         ├ small: files inline in the event
//	                                                         └ large: one tar in the object store
//
// # What is kept
//
// Regular files with their path, permission bits and content. Owner, times,
// extended attributes and links between names are not kept: a restored workspace
// looks the same on every executor. A tree can hold directories with nothing in
// them, from a directory on disk; the sandbox neither takes nor gives those, so
// one that a program makes lasts until the program's end.
//
// Everything else that can be planted is left out and named in Skipped: symbolic
// links, FIFOs, sockets, devices, and names that are not UTF-8 or hold control
// characters. None of them is ever opened or followed.
//
// # The digest
//
// A tree is named "sha256:" and the SHA-256, in hex, of this text, one line an
// entry, sorted by the bytes of the path:
//
//	callgate-workspace-1
//	0644 3 ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad data/a.txt
//	0755 0 e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855 empty/
//
// mode (octal, four digits), size (bytes), SHA-256 of the content, path. Paths
// hold no control characters, so a line cannot be forged by a name. A directory
// is a path that ends in "/".
//
// # What comes back is hostile
//
// A snapshot was made by somebody's program and has been through a store. Load
// takes nothing from it but regular files and directories under clean paths,
// bounds their number, depth and size before it reads them, and refuses a tree
// whose digest is not the one that the event names.
package workspace
