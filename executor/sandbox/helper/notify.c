/*
 * Answers denied system calls and remembers which they were, so that the result can name them. The
 * filter sends here whatever it neither allows nor answers itself. Numbers above the table are calls
 * this build knows nothing of: ENOSYS, as on an older kernel, so that programs fall back.
 */
#include "helper.h"
#include <linux/seccomp.h>
#include <sys/ioctl.h>

enum { NEWEST_KNOWN = 470 };

void notify_once(int listener, struct denials *d)
{
	struct seccomp_notif req;
	struct seccomp_notif_resp resp;
	memset(&req, 0, sizeof req); /* the kernel refuses a buffer that is not zero */
	memset(&resp, 0, sizeof resp);
	if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &req) < 0) return; /* the caller was killed meanwhile */
	uint32_t nr = (uint32_t)req.data.nr;
	resp.id = req.id;
	resp.error = nr <= NEWEST_KNOWN ? -EPERM : -ENOSYS;
	if (nr <= NEWEST_KNOWN) {
		d->total++;
		d->numbers[nr / 64] |= 1ull << (nr % 64);
	} else {
		d->total++;
	}
	ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &resp);
}
