// libcrypto: X25519, ChaCha20-Poly1305, SHA-256 and HMAC.
#pragma once

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>
