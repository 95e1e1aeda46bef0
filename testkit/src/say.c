/* SPDX-License-Identifier: Apache-2.0 */
#include "say.h"
#include <stdarg.h>
#include <stdio.h>

int say(struct kvs_error *err, int status, const char *fmt, ...)
{
    va_list ap;
    if (!err)
        return status;
    va_start(ap, fmt);
    vsnprintf(err->text, sizeof(err->text), fmt, ap);
    va_end(ap);
    err->status = status;
    return status;
}
