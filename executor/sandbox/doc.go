// Package sandbox runs programs that nobody has read, for many tenants on one
// kernel, and says honestly under which isolation each one ran. It is the only
// privileged code of the executor.
//
// # Use
//
//	s, err := sandbox.New(sandbox.Config{})        // *MissingError names all that lacks
//	defer s.Close()
//	res, err := s.Run(ctx, sandbox.Spec{           // one-shot: a workspace of its own
//		Language: schemas.Python, Code: code, Stdin: in,
//		Files: files, KeepFiles: true, Limits: sandbox.Limits{WallMS: 5000},
//	})
//
//	w, err := s.NewWorkspace(ctx, sandbox.Limits{DiskBytes: 64 << 20}) // several runs, one workspace
//	defer w.Close()
//	err = w.Put(files...)
//	res, err = s.Run(ctx, sandbox.Spec{Language: schemas.Python, Code: first, Workspace: w})
//	res, err = s.Run(ctx, sandbox.Spec{Language: schemas.Python, Args: []string{"tests.py"}, Workspace: w})
//	snap, err := w.Snapshot()                      // files with contents, digest, what was skipped
//
//	err = s.Check(ctx)                             // every interpreter runs a trivial program: *CheckError
//	p, err := sandbox.Look(sandbox.Config{})       // what this machine offers, for doctor
//
// [Sandbox.Run] returns an error only when the sandbox could not do its part
// (class sandbox_unavailable) or the [Spec] is wrong (arguments_invalid); the
// Result then has status "refused". Everything that a program does is a Result:
//
//	status   class
//	ok       none
//	error    runtime_error, syscall_denied
//	timeout  wall_timeout, cpu_timeout
//	killed   out_of_memory, output_limit, disk_limit, process_limit, syscall_denied, cancelled
//	refused  sandbox_unavailable, arguments_invalid, disk_limit (the files given do not fit),
//	         out_of_memory (the workspace's files alone are more than the run may use)
//
// One verdict is given, the first that holds of: sandbox error, out of memory
// (also where the program itself exited with 0), wall time, processor time,
// output, ended from outside, disk, processes, system call, signal, exit status.
// A program that ended with 0 after a denied call is ok, with Denied filled.
//
// None but runtime_error is given for what a program prints or signals alone:
//
//	cpu_timeout     the measured processor time reached the limit, whatever SIGXCPU says
//	disk_limit      the workspace or /tmp is full; SIGXFSZ and one of them holds as much as
//	                a file may; or the interpreter ended with an uncaught ENOSPC or EFBIG
//	process_limit   the group counted refusals, and the program failed of one: its last
//	                error is that of fork or of a thread that cannot start
//	syscall_denied  too many denied calls; or PID 1 denied calls and the last error
//	                is that it was not permitted
//	out_of_memory   the group counted kills; or more file locks than a run may hold
//
// PeakMemoryBytes is the most that the whole tree of a run was charged for, tmpfs
// included. On v2 before Linux 6.12 the second run of a workspace and those after
// it leave out what earlier ones left in it, and before 5.19, where no group has
// a peak, it is 0. Without a memory group it is the largest process's.
//
// A program that was refused something and then failed of something else has
// runtime_error, and its detail names the refusals.
//
// # Layers
//
//	┌ supervisor (this package) ──────────────────────────────────────────────┐
//	│ cgroup memory · pids · cpu    wall and cpu clocks    pipes, capped      │
//	│ ┌ namespaces: pid mount net ipc uts, owned outside ───────────────────┐ │
//	│ │ ┌ user namespace: one identity, a host uid per workspace ─────────┐ │ │
//	│ │ │ read-only root · /workspace and /tmp on bounded tmpfs           │ │ │
//	│ │ │ PID 1: reaper, answers denied calls                             │ │ │
//	│ │ │ ┌ PID 2, the program ────────────────────────────────────────┐  │ │ │
//	│ │ │ │ no capabilities · no_new_privs · rlimits · own session     │  │ │ │
//	│ │ │ │ Landlock · seccomp allowlist · descriptors 0, 1, 2 only    │  │ │ │
//	└─┴─┴─┴────────────────────────────────────────────────────────────┴──┴─┴─┘
//
// # Protocol
//
// A static C program (helper/) does what Go cannot do cheaply or at all between
// fork and exec. It runs from a sealed memory file, reads one request from
// descriptor 3 and answers there. There are three verbs; each step of one has a
// name, and a [StepError] tells the name and the errno of the step that failed.
//
// base, once: open sources, mount a tmpfs, make directories, files and links,
// bind interpreter and libraries (read-only, nosuid, nodev), make /dev, turn it
// read-only, pivot_root. Answers with the mount namespace. A run copies these few
// mounts and not the host's table.
//
// slot, once a workspace and ahead of need: user namespace with its map, a copy
// of the base's mounts with /workspace and a /dev of its own mounted, a network
// namespace with nothing in it. Answers with the descriptors and that of /workspace. Nothing
// is mounted on the host: closing the descriptors removes it all.
//
// run, as PID 1 of a new PID namespace:
//
//	run.groups        drop supplementary groups
//	run.enter_net     the slot's network namespace
//	run.enter_root    the slot's mounts, then a copy of its own
//	run.namespaces    mount, ipc, uts
//	run.proc          /proc with subset=pid: nothing but processes
//	run.tmp           /tmp; /dev/shm is a link into it
//	run.undumpable    PID 1 cannot be read or traced by what it starts
//	run.start         PID 2, on v2 directly into its cgroup
//	  user.cgroup         v1: writes 0 into tasks files that the supervisor opened
//	  user.identity       the slot's user namespace and its one identity: from here
//	                      on there is no right over any namespace above
//	  user.cgroup_namespace, user.session (no controlling terminal)
//	  user.rlimit         files, processes, cores, locked memory, …
//	  user.bounding_set, user.ambient, user.capabilities, user.no_new_privs
//	  user.landlock       paths once more, TCP, signals
//	  user.seccomp        policy/syscalls.txt, with a listener that stays in PID 1
//	  user.descriptors    a table of its own with 0, 1 and 2
//	  user.exec
//	run.drop          PID 1 takes the same identity and gives up its capabilities
//
// PID 1 then reaps, answers denied calls (EPERM, or ENOSYS for numbers that it
// does not know and for the machine's other ABIs) and remembers which they were.
// flock and F_GETLK it does itself, and denies them on files that runs share. The
// supervisor holds a lock on the kernel's one inode for descriptors without a
// file (guard.go), so that each lock there fails.
// Four times a second it counts the run's POSIX locks, which no group is charged
// for, and ends a run that holds more than 10,000, has one where no file is or on a
// device that runs share, or takes half a second to look through; of its time a
// look is at most a tenth. When PID 2 ends, or when the
// supervisor closes its end of descriptor 3 or dies, PID 1 reports and ends,
// and the kernel ends whatever is left in the namespace.
//
// # Warm starts
//
// With [Config].Warm an interpreter may have been started before its program was
// there. It differs from a cold one in nothing but the moment: the same verb
// started it, in a slot of its own, behind the same filter, and it is used once.
//
//	run, ahead of need                          the program comes
//	  PID 1, PID 2: the interpreter               go: rlimits, to PID 1; answered when they hold
//	  … opens /workspace/main.py, a FIFO          cgroup limits, files, standard input
//	  … reads: waits                              main.py becomes a file; the same bytes into the FIFO
//	                                              clocks and counters begin here
//
// A pool of those that wait belongs to a kind of run ([Spec].Ahead makes one of a
// script that waits for its standard input), begins with its first run, follows
// load between two bounds, and is nobody's: what waits has run nothing. What an
// interpreter has to know when it starts (arguments, an environment, another
// disk size) makes a run cold. Two differences can be seen: the program's time
// and counters leave the interpreter's start out, and so does its denied list.
//
// Where none waits, a Python program is forked from its tenant's zygote: a Python
// that has imported what programs often do, keeps the helper's privileges, and
// has never run a program or held a byte of one.
//
//	zygote ── clone(NEWPID) ─► PID 1, which reads the run's request itself and takes
//	                           every step of a cold one's, in the same code
//	                             └─ fork ─► PID 2, which takes every step of a cold
//	                                        one's but the exec
//
// The zygote's library (helper/zygote.c) is made of the same source as the helper.
// A program can tell a fork from a cold start: what was imported is there already,
// one more frame is below its own, its command line in /proc is the zygote's, and
// the hash secret, the layout and the stack's canary are those of the tenant's
// other forks. A run with a file beside its program that has an installed module's
// name starts cold, since its imports have to find that file. The forked interpreter ends as others do (threads, atexit,
// finalizers of what the program holds, flushed streams) and leaves out taking
// down what the zygote had made. A tenant whose runs time out three times in a row
// starts cold until five in a row have not. How much a fork saves is the
// machine's: it is page tables and copies on write, which are dear in a guest
// without nested paging.
//
// # Network
//
// A run without [Spec].Network has a network namespace with nothing in it, and no
// way to make a socket. One with hosts, which [Config].NetworkHosts has to allow,
// starts cold and has this beside:
//
//	listen, before the run                      the run
//	  the slot's network namespace                run.hosts: /etc/hosts, bound for this run, has the names at
//	  loopback up                                   127.0.0.2 and on
//	  a listening socket a host and port          Landlock: connecting to those ports
//	  … handed to the supervisor                  seccomp: policy/network.txt beside syscalls.txt
//
// A socket stays in the namespace that it was made in. So the supervisor accepts
// outside what the program connects inside, package network carries it to the
// host or refuses it, and nothing of ours runs where the program could reach it.
// A result tells the connections, and in its isolation the hosts and the filter.
// A [Service] is reached in the same way, and is the supervisor's own.
//
// # Audit
//
// With [Spec].Audit a library of ours (helper/audit) is preloaded into the run's
// dynamically linked programs. It records what they open, write and resize, and
// cuts a write at the size that a file of the workspace may have, ENOSPC after
// that; EFBIG becomes ENOSPC everywhere. Records lie in a file of the run's /tmp
// that every process maps. PID 1 hands its descriptor over at the end, and what
// is read from it is checked field by field and marked untrusted: a static
// program, a direct system call, a cleared environment go past the library, what a
// C library's stream writes is cut and recorded only when it is flushed, closed or
// at an orderly end (and not recorded for standard output), and the file is the program's to
// write to. What decides is the limits, which the kernel holds, and [Result]'s
// Changed, which the supervisor found by looking before and after.
//
// # What it does not do
//
// It is one kernel: a kernel bug that is reachable through the allowed calls is
// not held by it. It offers no network but named hosts, and no installing of packages: programs
// import what the host's interpreter has, listed by [Sandbox.Interpreters]. Of a
// workspace only regular files are collected; links, files that claim far more than they hold, FIFOs, empty directories
// and names that are not printable UTF-8 are listed as skipped or left out.
// /proc shows processes alone, so Node's os.cpus() is empty there;
// os.availableParallelism() works. Nothing can be watched: fs.watch fails with
// ENOSYS.
//
// Three things are known and not held. /proc/self/mountinfo names the host's
// file systems that the root is bound from: their devices, and where the host
// lies on an overlay its directories. A program chooses its own name and
// arguments, control characters included, and the host's process list shows
// them. And two programs that mean to talk can: by the time that something takes,
// since they share processors, caches and a disk; by a futex in a page of the
// host's library, which waits and wakes by the file; and where "devices" is among
// what is missing (the supervisor may not make device nodes: an ordinary user, a
// container in a user namespace), by write locks (F_SETLK) on those of the host,
// for the quarter of a second until PID 1 sees one and ends the run.
package sandbox
