// What of libsystemd the project uses, and the things that Swift cannot import: a variadic function, headers and a
// function that the Glibc module lacks, and a global variable that any thread could change.
#pragma once

#include <malloc.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-event.h>
#include <systemd/sd-journal.h>
#include <wchar.h>

// POSIX has the program declare it.
extern char **environ;

static inline char **process_environment(void) { return environ; }

// wchar.h declares it for X/Open only.
extern int wcwidth(wchar_t character);

static inline int character_columns(unsigned int character) { return wcwidth((wchar_t)character); }
