// What of libsystemd the project uses, and three kinds of things that Swift cannot import:
// a variadic function, headers that the Glibc module lacks, and a global variable that any thread could change.
#pragma once

#include <malloc.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-event.h>
#include <systemd/sd-journal.h>

// POSIX has the program declare it.
extern char **environ;

static inline char **process_environment(void) { return environ; }
