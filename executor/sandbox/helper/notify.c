/*
 * Answers denied system calls and remembers which they were, so that the result can name them. The
 * filter sends here whatever it neither allows nor answers itself. Numbers above the table are calls
 * this build knows nothing of: ENOSYS, as on an older kernel, so that programs fall back. So are the numbers of
 * the machine's other ABIs (int 0x80, x32), which mean other calls.
 */
#include "helper.h"
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>

enum { NEWEST_KNOWN = 470 };

#if defined __x86_64__
enum { X32 = 0x40000000 };
#define NATIVE AUDIT_ARCH_X86_64
#elif defined __aarch64__
enum { X32 = 0 };
#define NATIVE AUDIT_ARCH_AARCH64
#endif

static int is_native(const struct seccomp_data *call)
{
	return call->arch == NATIVE && !((uint32_t)call->nr & X32);
}

void notify_once(int listener, struct denials *d)
{
	struct seccomp_notif req;
	memset(&req, 0, sizeof req); /* the kernel refuses a buffer that is not zero */
	if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &req) < 0) return; /* the caller was killed meanwhile */
	uint32_t nr = (uint32_t)req.data.nr;
	if (!is_native(&req.data))
		nr = DENIED_OTHER_ABI;
	else if (lock_asked(listener, &req))
		return;
	d->total++;
	if (nr <= NEWEST_KNOWN || nr == DENIED_OTHER_ABI) d->numbers[nr / 64] |= 1ull << (nr % 64);
	answer(listener, req.id, nr <= NEWEST_KNOWN ? -EPERM : -ENOSYS);
}
