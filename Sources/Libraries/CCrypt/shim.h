// libcrypt: crypt(3) with yescrypt, as /etc/shadow uses it.
#pragma once

#include <crypt.h>
