/*
 * The audit library: preloaded into dynamically linked programs of a run that asks for it. It records
 * what they open and write, and keeps files of /workspace to a size. It is telemetry and courtesy, and
 * no boundary: a static program, a system call made directly and an environment without LD_PRELOAD go
 * past it, so nothing that it records is trusted.
 */
#ifndef CALLGATE_AUDIT_H
#define CALLGATE_AUDIT_H

#define _GNU_SOURCE
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/types.h>

#define AUDIT_FILE "/tmp/.callgate-audit"
#define AUDIT_LIMIT "CALLGATE_MAX_FILE_BYTES" /* of the environment */

enum { AUDIT_MAGIC = 0x43470003, AUDIT_RECORDS = 128, AUDIT_PATH = 224 };
enum { OP_OPEN = 1, OP_WRITE, OP_RESIZE, OP_REFUSED };

/* The file is one of these, mapped by every process of the run. audit.go reads it. */
struct record {
	_Atomic uint64_t key; /* what the record is of; 0 until it is whole */
	_Atomic uint64_t bytes;
	uint32_t op;
	int32_t flags;
	char path[AUDIT_PATH];
};
struct audit {
	uint32_t magic;
	_Atomic uint32_t taken;
	_Atomic uint64_t left_out;
	struct record records[AUDIT_RECORDS];
};

/* Programs see the C library's names alone. */
#pragma GCC visibility push(hidden)

/* record.c: none of these changes errno, takes a lock or allocates. */
void record_open(const char *path, int flags);
/* A file that a call is about to write to: behind fd, or at path where fd is -1. */
struct target {
	struct stat st;
	const char *path;
	int workspace; /* a regular file of the workspace */
};
/* Adds to what is recorded of the file. */
void record_file(int op, int fd, const struct target *t, uint64_t bytes);

/* limit.c */
/* How many of n bytes may be written to fd at offset at, or where it stands for -1. */
size_t room(struct target *t, int fd, off_t at, size_t n);
/* Whether fd, or path where fd is -1, may have size. */
int may_grow(struct target *t, int fd, const char *path, off_t size);
/* Whether files like that of fd are held to a size; and to which, of one that began with so many bytes. */
int may_watch(struct target *t, int fd);
off_t bound_of(off_t began);
/* What the caller of a call that wrote to fd is told: ENOSPC for EFBIG. */
ssize_t wrote(struct target *t, int fd, ssize_t n);
int full(struct target *t, int fd, uint64_t asked);

/* stream.c: f was opened. */
void watch_stream(FILE *f);

#pragma GCC visibility pop

#endif
