/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-256 (FIPS 180-4), by which a report says what it is about. */
#ifndef KVSLOT_TESTKIT_SHA256_H
#define KVSLOT_TESTKIT_SHA256_H

#include <stddef.h>
#include <stdint.h>

#define SHA256_HEX 65 /* bytes of a hash as text, with its end */

struct sha256 {
    uint32_t state[8];
    uint64_t total; /* bytes so far */
    uint8_t block[64];
};

void sha256_init(struct sha256 *s);
void sha256_add(struct sha256 *s, const void *data, size_t len);
void sha256_end(struct sha256 *s, char hex[SHA256_HEX]);
/** That of a file, and its size. 0, or -1 and errno. */
int sha256_file(const char *file, char hex[SHA256_HEX], uint64_t *size);

#endif
