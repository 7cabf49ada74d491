// What of libsystemd the project uses, and the things that Swift cannot import: a variadic function, headers and a
// function that the Glibc module lacks, and global variables that any thread could change.
#pragma once

#include <malloc.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-event.h>
#include <wchar.h>

// POSIX has the program declare it.
extern char **environ;

static inline char **process_environment(void) { return environ; }

// errno.h declares it for GNU sources only.
extern char *program_invocation_short_name;

static inline const char *process_name(void) { return program_invocation_short_name; }

// wchar.h declares it for X/Open only.
extern int wcwidth(wchar_t character);

static inline int character_columns(unsigned int character) { return wcwidth((wchar_t)character); }
