/*
 * VERB_CHECK: tries each kind of namespace, since a kernel that has them may not let this process make any: a limit of
 * their number is reached or 0 (ENOSPC), a rule forbids it (EPERM). The reply has an errno for each, 0 where it was made;
 * all end with this process. An ordinary user makes the others in a user namespace of its own; what becomes of root in
 * one is not how runs are made, so there it comes last.
 */
#include "helper.h"
#include <sched.h>

static const int kinds[NAMESPACES] = { CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNS, CLONE_NEWNET, CLONE_NEWIPC, CLONE_NEWUTS, CLONE_NEWCGROUP };

static void make(struct reply *r, int i)
{
	if (unshare(kinds[i]) < 0) r->denied[i] = (uint64_t)errno;
}

void check(struct request *r)
{
	struct reply ok = { .kind = REPLY_READY };
	int nested = r->flags & FLAG_NESTED;
	if (nested) make(&ok, 0);
	for (int i = 1; i < NAMESPACES; i++) make(&ok, i);
	if (!nested) make(&ok, 0);
	reply(&ok, NULL, 0);
	_exit(0);
}
