/* SPDX-License-Identifier: Apache-2.0 */
#include "room.h"

#include "say.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

static int random_bytes(void *to, size_t len, struct kvs_error *err)
{
    ssize_t got;
    do
        got = getrandom(to, len, 0); /* 256 bytes and less are never given in part */
    while (got < 0 && errno == EINTR);
    if (got != (ssize_t)len)
        return kvs_say(err, KVS_IO, "the system gives no random numbers for bootstrap_room: %s",
                       got < 0 ? strerror(errno) : "it gave too few");
    return KVS_OK;
}

static void put_uuid(char *to, const unsigned char *bytes)
{
    static const char hex[] = "0123456789abcdef";
    for (int i = 0; i < 16; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            *to++ = '-';
        *to++ = hex[bytes[i] >> 4];
        *to++ = hex[bytes[i] & 15];
    }
    *to = '\0';
}

int kvs_room_make(char room[KVS_ROOM_SIZE], bool number, struct kvs_error *err)
{
    unsigned char bytes[16];
    uint64_t n;
    int status = random_bytes(bytes, number ? sizeof n : sizeof bytes, err);
    if (status != KVS_OK)
        return status;
    if (number) {
        memcpy(&n, bytes, sizeof n);
        snprintf(room, KVS_ROOM_SIZE, "%" PRIu64, n >> 1);
    } else {
        bytes[6] = (unsigned char)((bytes[6] & 0x0f) | 0x40); /* version 4 */
        bytes[8] = (unsigned char)((bytes[8] & 0x3f) | 0x80); /* RFC 9562's variant */
        put_uuid(room, bytes);
    }
    return KVS_OK;
}
