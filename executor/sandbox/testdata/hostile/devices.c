// class: ok
// stdout: all held
#include "hostile.h"
int main(void)
{
	static const char *absent[] = { "kvm", "vhost-net", "vhost-vsock", "dri/card0", "mem", "kmsg", "port", "fuse", "net/tun", "loop0", "loop-control", "sda", "vda", "input", "snd", "hwrng", "rtc", "uinput", "userfaultfd", "vfio/vfio", "mapper/control", "log", "mqueue", "hugepages", "cpu_dma_latency" };
	for (unsigned i = 0; i < sizeof absent / sizeof *absent; i++) {
		char path[64];
		snprintf(path, sizeof path, "/dev/%s", absent[i]);
		refused(ENOENT, open(path, O_RDONLY));
	}
	static const char *present[] = { "null", "zero", "full", "random", "urandom" };
	for (unsigned i = 0; i < sizeof present / sizeof *present; i++) {
		char path[64], old[64];
		snprintf(path, sizeof path, "/dev/%s", present[i]);
		fact(path, open(path, O_RDWR) >= 0);
		fails(unlink(path));
		fails(chmod(path, 0777));
		fails(rename(path, "/dev/other"));
	}
	int fd = open("/dev/urandom", O_RDWR), entropy = 1;
	fails(ioctl(fd, 0x40045201, &entropy)); /* RNDADDTOENTCNT */
	fails(ioctl(fd, 0x5207)); /* RNDRESEEDCRNG */
	return verdict();
}
