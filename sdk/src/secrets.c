/* SPDX-License-Identifier: Apache-2.0 */
#include "secrets.h"
#include "err.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST 65536

/* Reads to the end, or until the buffer is full. The number of bytes, or -1 with errno. */
static ssize_t read_all(int fd, char *buf, size_t size)
{
    size_t have = 0;
    while (have < size) {
        ssize_t n = read(fd, buf + have, size - have);
        if (n == 0)
            break;
        if (n > 0)
            have += (size_t)n;
        else if (errno != EINTR)
            return -1;
    }
    return (ssize_t)have;
}

static int unusable(const char *param, const char *source, const char *why, struct kvs_error *err)
{
    char shown[256];
    return kvs_err_set(err, KVS_INVALID_PARAM, "parameter '%.64s' is to be read from '%s', %s", param,
                       kvs_show_bytes(shown, sizeof shown, source + 1, strlen(source + 1)), why);
}

static int unreadable(const char *param, const char *source, int error, struct kvs_error *err)
{
    char buf[128], why[160] = "which cannot be read: ";
    strncat(why, strerror_r(error, buf, sizeof buf), sizeof why - strlen(why) - 1);
    return unusable(param, source, why, err);
}

/* The N of "@fd:N"; -1: it is a file; -2: it is no number. */
static int descriptor_of(const char *source)
{
    if (strncmp(source, "@fd:", 4) != 0)
        return -1;
    const char *number = source + 4;
    size_t n = strspn(number, "0123456789");
    if (n == 0 || n > 9 || number[n] != '\0')
        return -2;
    return atoi(number);
}

static int check(const char *param, const char *source, char *buf, size_t len, struct kvs_error *err)
{
    if (len > MOST)
        return unusable(param, source, "which holds more than 64KiB", err);
    if (memchr(buf, '\0', len))
        return unusable(param, source, "which holds a NUL byte", err);
    if (len > 0 && buf[len - 1] == '\n')
        len--;
    buf[len] = '\0';
    return KVS_OK;
}

int kvs_secret_read(const char *param, const char *source, char **value, struct kvs_error *err)
{
    *value = NULL;
    int given = descriptor_of(source);
    if (given == -2)
        return unusable(param, source, "which is not fd: and the number of a descriptor", err);
    char *buf = malloc(MOST + 2);
    if (!buf)
        return kvs_err_set(err, KVS_NO_MEMORY, "no memory for parameter '%.64s'", param);
    int fd = given >= 0 ? given : open(source + 1, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    ssize_t len = fd < 0 ? -1 : read_all(fd, buf, MOST + 1);
    int error = errno, rc;
    if (given < 0 && fd >= 0)
        close(fd);
    if (len < 0)
        rc = unreadable(param, source, error, err);
    else if (len == 0 && given >= 0) /* most likely a pipe that an earlier open has emptied */
        rc = unusable(param, source, "which has nothing left to read", err);
    else
        rc = check(param, source, buf, (size_t)len, err);
    char *kept = rc == KVS_OK ? strdup(buf) : NULL;
    explicit_bzero(buf, MOST + 2);
    free(buf);
    if (rc == KVS_OK && !kept)
        return kvs_err_set(err, KVS_NO_MEMORY, "no memory for parameter '%.64s'", param);
    *value = kept;
    return rc;
}

void kvs_secret_free(char *value)
{
    if (value)
        explicit_bzero(value, strlen(value));
    free(value);
}
