// What of libsystemd the project uses, and the two things that Swift cannot import:
// a variadic function and headers that the Glibc module lacks.
#pragma once

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-event.h>
#include <systemd/sd-journal.h>
