// The resolver of glibc: queries for records of any type.
#pragma once

#include <arpa/nameser.h>
#include <netinet/in.h>
#include <resolv.h>
