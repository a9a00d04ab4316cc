/*
 * VERB_ZYGOTE: becomes a Python that forks runs. It lives in a copy of the base's mounts, so that what it
 * imports is what programs would import, and in a network namespace with nothing in it. It keeps the
 * privileges that making namespaces takes, and therefore never runs a program.
 */
#include "helper.h"
#include <grp.h>
#include <sched.h>
#include <sys/syscall.h>

enum { FD_BASE_MNT = FD_EXTRA, FD_BASE_USERNS };

void start_zygote(struct request *r)
{
	if (r->argc == 0) {
		errno = EBADMSG;
		die("zygote.request", NULL);
	}
	if ((r->flags & FLAG_NESTED) && setns(FD_BASE_USERNS, CLONE_NEWUSER) < 0) die("zygote.enter_user", NULL);
	if (!(r->flags & FLAG_NESTED) && setgroups(0, NULL) < 0) die("zygote.groups", NULL);
	if (setns(FD_BASE_MNT, CLONE_NEWNS) < 0) die("zygote.enter_root", NULL);
	if (unshare(CLONE_NEWNS) < 0) die("zygote.mount_namespace", NULL);
	if (!(r->flags & FLAG_NO_NETNS) && unshare(CLONE_NEWNET) < 0) die("zygote.net_namespace", NULL);
	if (chdir("/") < 0) die("zygote.root", NULL);
	if (syscall(SYS_close_range, FD_EXTRA, ~0U, 0) < 0) die("zygote.descriptors", NULL);
	execve(r->argv[0], r->argv, r->envp);
	die("zygote.exec", r->argv[0]);
}
