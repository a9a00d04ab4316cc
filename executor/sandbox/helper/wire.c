/* The wire: one request in, replies out. Every length is checked before it is believed. */
#include "helper.h"
#include <sys/socket.h>
#include <time.h>

uint64_t now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

static uint32_t u32(const char *p)
{
	uint32_t v;
	memcpy(&v, p, sizeof v);
	return v;
}

/* Tags whose bytes are two parts separated by a NUL, the second NUL-terminated unless it is contents. */
static int two_parts(uint16_t tag)
{
	return tag == TAG_LINK || tag == TAG_FILE || tag == TAG_COPY || tag == TAG_BIND || tag == TAG_NODE;
}

static int check_item(struct request *r, struct item *it)
{
	switch (it->tag) {
	case TAG_FLAGS: case TAG_ID_OUT: case TAG_CGROUPS: case TAG_DENIED:
		if (it->len != 4) return -1;
		if (it->tag == TAG_FLAGS) r->flags = u32(it->data);
		if (it->tag == TAG_ID_OUT) r->id = u32(it->data);
		if (it->tag == TAG_CGROUPS) r->cgroups = u32(it->data);
		if (it->tag == TAG_DENIED) r->denied_max = u32(it->data);
		return r->cgroups > 8 ? -1 : 0;
	case TAG_LISTEN:
		return it->len == 8 ? 0 : -1;
	case TAG_RLIMIT:
		return it->len == 12 ? 0 : -1;
	case TAG_FILTER:
		if (it->len == 0 || it->len % 8 || it->len / 8 > 4096) return -1;
		r->filter = *it;
		return 0;
	}
	if (it->tag == TAG_LANDLOCK) return it->len > 5 && it->data[it->len - 1] == 0 ? 0 : -1;
	if (it->len == 0 || (it->tag != TAG_FILE && it->data[it->len - 1] != 0)) return -1;
	if (two_parts(it->tag)) {
		const char *nul = memchr(it->data, 0, it->len);
		if (!nul) return -1;
		it->second = nul + 1;
		it->second_len = it->len - (uint32_t)(nul + 1 - it->data);
		return it->tag == TAG_FILE || it->second_len > 1 ? 0 : -1;
	}
	if (memchr(it->data, 0, it->len) != it->data + it->len - 1) return -1;
	if (it->tag == TAG_TMPFS) r->tmpfs = it->data;
	if (it->tag == TAG_HOSTS) r->hosts = it->data;
	if (it->tag == TAG_ARG) r->argv[r->argc++] = (char *)it->data;
	if (it->tag == TAG_ENV) r->envp[r->envc++] = (char *)it->data;
	return 0;
}

int decode(struct request *r, char *buf, size_t len)
{
	memset(r, 0, sizeof *r);
	if (len < 8 || u32(buf) != REQUEST_MAGIC) goto bad;
	r->verb = u32(buf + 4);
	if (r->verb < VERB_BASE || r->verb >= VERB_LAST) goto bad;
	for (size_t at = 8; at < len;) {
		struct item *it = &r->items[r->n];
		if (r->n == MAX_ITEMS - 1 || len - at < 6) goto bad;
		memcpy(&it->tag, buf + at, 2);
		it->len = u32(buf + at + 2);
		it->data = buf + at + 6;
		if (it->tag == 0 || it->tag >= TAG_LAST || it->len > len - at - 6) goto bad;
		if (check_item(r, it) < 0) goto bad;
		at += 6 + it->len;
		r->n++;
	}
	return 0;
bad:
	errno = EBADMSG;
	return -1;
}

int receive(struct request *r, char *buf)
{
	ssize_t n;
	while ((n = recv(FD_CONTROL, buf, MAX_REQUEST, MSG_TRUNC)) < 0 && errno == EINTR) {}
	if (n <= 0) return (int)n;
	if (n > MAX_REQUEST) {
		errno = EMSGSIZE;
		return -1;
	}
	return decode(r, buf, (size_t)n) < 0 ? -1 : 1;
}

void reply(struct reply *r, const int *fds, int nfds)
{
	char control[CMSG_SPACE(sizeof(int) * REPLY_FDS)] = { 0 };
	struct iovec iov = { r, sizeof *r };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };
	if (nfds > 0) {
		m.msg_control = control;
		m.msg_controllen = CMSG_SPACE(sizeof(int) * (size_t)nfds);
		struct cmsghdr *c = CMSG_FIRSTHDR(&m);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int) * (size_t)nfds);
		memcpy(CMSG_DATA(c), fds, sizeof(int) * (size_t)nfds);
	}
	r->magic = REPLY_MAGIC;
	while (sendmsg(FD_CONTROL, &m, MSG_NOSIGNAL) < 0 && errno == EINTR) {}
}

void die(const char *step, const char *detail)
{
	struct reply r = { .kind = REPLY_FAILED, .err = errno };
	snprintf(r.step, sizeof r.step, "%s", step);
	snprintf(r.detail, sizeof r.detail, "%s", detail ? detail : "");
	reply(&r, NULL, 0);
	_exit(111);
}
