/* SPDX-License-Identifier: Apache-2.0 */
#include "adopt.h"
#include "err.h"
#include "paramdef.h"
#include "uri.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A table or a parameter that ends before these never existed; one that is longer than those is no table. */
#define LEAST_TABLE (offsetof(struct kvs_backend, submit) + sizeof(int (*)(void)))
#define MOST_TABLE  65536u
#define MOST_PARAM  4096u
#define MOST_PARAMS 1024u
#define MOST_ALIGN  4096u
#define ALL_MEMS    (KVS_MEM_MASK(KVS_MEM_FILE + 1) - 1)

int kvs_adopt_refuse(const struct kvs_adopt *adopt, const char *fmt, ...)
{
    char why[400];
    va_list args;
    va_start(args, fmt);
    vsnprintf(why, sizeof why, fmt, args);
    va_end(args);
    return kvs_err_set(adopt->err, KVS_INVALID_PARAM, "%s: %s", adopt->where, why);
}

/* A structure of the host's that the plugin reads or calls into must not be longer where the plugin was
 * compiled. */
static int check_not_newer(const char *what, uint32_t theirs, size_t ours, const struct kvs_adopt *adopt)
{
    if (theirs == 0)
        return kvs_adopt_refuse(
            adopt,
            "the table is not stamped: it says that struct %s has 0 bytes; define it with "
            "KVS_BACKEND_DEFINE, or start it with KVS_BACKEND_STAMP",
            what);
    if (theirs > ours)
        return kvs_adopt_refuse(
            adopt, "it was compiled against a newer kvslot: its struct %s has %u bytes, here it has %zu",
            what, theirs, ours);
    return KVS_OK;
}

/* KVS-REQ-403 KVS-REQ-404: before anything else of the table is read. */
static int check_stamp(const struct kvs_backend *theirs, const struct kvs_adopt *adopt)
{
    if (theirs->magic != KVS_BACKEND_MAGIC)
        return kvs_adopt_refuse(adopt,
                                "this is no table of a kvslot backend: its magic is 0x%016llx, not 0x%016llx",
                                (unsigned long long)theirs->magic, (unsigned long long)KVS_BACKEND_MAGIC);
    if (theirs->api != KVS_API)
        return kvs_adopt_refuse(adopt, "it was compiled for API %u, this kvslot (%s) has API %u", theirs->api,
                                KVS_VERSION_TEXT, (unsigned)KVS_API);
    if (theirs->size < LEAST_TABLE || theirs->size > MOST_TABLE)
        return kvs_adopt_refuse(adopt, "its table has %u bytes, which is not from %zu to %u", theirs->size,
                                LEAST_TABLE, MOST_TABLE);
    if (theirs->param_size < KVS_PARAM_LEAST || theirs->param_size > MOST_PARAM ||
        theirs->param_size % _Alignof(struct kvs_param) != 0)
        return kvs_adopt_refuse(
            adopt, "its struct kvs_param has %u bytes, which is not a multiple of %zu from %zu to %u",
            theirs->param_size, _Alignof(struct kvs_param), KVS_PARAM_LEAST, MOST_PARAM);
    int rc = check_not_newer("kvs_io", theirs->io_size, sizeof(struct kvs_io), adopt);
    if (rc == KVS_OK)
        rc = check_not_newer("kvs_batch", theirs->batch_size, sizeof(struct kvs_batch), adopt);
    if (rc == KVS_OK)
        rc = check_not_newer("kvs_host", theirs->host_size, sizeof(struct kvs_host), adopt);
    return rc;
}

/* KVS-REQ-402: the smaller of both sizes, into zeros. */
static struct kvs_backend *copy_table(const struct kvs_backend *theirs)
{
    struct kvs_backend *ours = calloc(1, sizeof *ours);
    if (!ours)
        return NULL;
    memcpy(ours, theirs, theirs->size < sizeof *ours ? theirs->size : sizeof *ours);
    ours->size = sizeof *ours;
    ours->params = NULL;
    return ours;
}

/* KVS-REQ-411 KVS-REQ-412: from their stride to ours. */
static int copy_params(struct kvs_backend *ours, const struct kvs_backend *theirs,
                       const struct kvs_adopt *adopt)
{
    uint32_t n = theirs->nparams, stride = theirs->param_size;
    if (n > MOST_PARAMS)
        return kvs_adopt_refuse(adopt, "it says that it has %u parameters; %u are the most", n, MOST_PARAMS);
    if (n > 0 && !theirs->params)
        return kvs_adopt_refuse(adopt, "it says that it has %u parameters, but params is NULL", n);
    ours->param_size = sizeof(struct kvs_param);
    if (n == 0)
        return KVS_OK;
    struct kvs_param *params = calloc(n, sizeof *params);
    if (!params)
        return kvs_err_set(adopt->err, KVS_NO_MEMORY, "%s: no memory for its parameters", adopt->where);
    for (uint32_t i = 0; i < n; i++)
        memcpy(&params[i], (const char *)theirs->params + (size_t)i * stride,
               stride < sizeof *params ? stride : sizeof *params);
    ours->params = params;
    return KVS_OK;
}

/* KVS-REQ-405 KVS-REQ-406 KVS-REQ-407 KVS-REQ-408 */
static int check_functions(const struct kvs_backend *b, const struct kvs_adopt *adopt)
{
    if (!b->open)
        return kvs_adopt_refuse(adopt, "backend '%s' has no function open", b->name);
    if (!b->submit && !b->put && !b->get)
        return kvs_adopt_refuse(adopt, "backend '%s' has neither the functions put and get nor submit",
                                b->name);
    if (b->put && !b->get)
        return kvs_adopt_refuse(adopt, "backend '%s' has the function put, but not get", b->name);
    if (b->get && !b->put)
        return kvs_adopt_refuse(adopt, "backend '%s' has the function get, but not put", b->name);
    if (b->poll && !b->poll_fd)
        return kvs_adopt_refuse(adopt, "backend '%s' has the function poll, but not poll_fd", b->name);
    if (b->poll_fd && !b->poll)
        return kvs_adopt_refuse(adopt, "backend '%s' has the function poll_fd, but not poll", b->name);
    return KVS_OK;
}

static int check_data(const struct kvs_backend *b, const struct kvs_adopt *adopt)
{
    if (!b->version || !*b->version)
        return kvs_adopt_refuse(adopt, "backend '%s' has no version", b->name);
    if (b->thread_model != KVS_THREADS_SERIAL && b->thread_model != KVS_THREADS_PARALLEL)
        return kvs_adopt_refuse(adopt,
                                "backend '%s' has thread model %u; it can be %d (serial) or %d (parallel)",
                                b->name, b->thread_model, KVS_THREADS_SERIAL, KVS_THREADS_PARALLEL);
    if (b->priv_align > MOST_ALIGN || (b->priv_align & (b->priv_align - 1)) != 0)
        return kvs_adopt_refuse(adopt, "backend '%s' has priv_align %u, which is not a power of 2 up to %u",
                                b->name, b->priv_align, MOST_ALIGN);
    if (b->max_key != 0 && b->min_key > b->max_key)
        return kvs_adopt_refuse(adopt, "backend '%s' has min_key %u above max_key %u", b->name, b->min_key,
                                b->max_key);
    return KVS_OK;
}

/* What a zero stands for. Bits that this host does not know are not kept. */
static void fill_in(struct kvs_backend *b)
{
    if (b->min_key == 0)
        b->min_key = 1;
    if (b->max_batch == 0)
        b->max_batch = KVS_BATCH_DEFAULT;
    if (b->max_iov == 0)
        b->max_iov = 1;
    if (b->priv_align == 0)
        b->priv_align = 16;
    b->local_mems &= ALL_MEMS;
    b->remote_mems &= ALL_MEMS;
    if (b->local_mems == 0) /* KVS-REQ-429 */
        b->local_mems = KVS_MEM_MASK(KVS_MEM_DRAM);
    if (b->remote_mems == 0) /* it only names a key there: KVS-REQ-448 */
        b->remote_mems = KVS_MEM_MASK(KVS_MEM_DRAM) | KVS_MEM_MASK(KVS_MEM_OBJECT);
    b->flags &= KVS_F_SUBMIT_BLOCKS | KVS_F_COMPLETE_DEFERRED | KVS_F_NEEDS_REGISTRATION |
                KVS_F_ONCE_PER_PROCESS | KVS_F_EMULATED;
}

static int check_all(struct kvs_backend *ours, const struct kvs_backend *theirs,
                     const struct kvs_adopt *adopt)
{
    char shown[80];
    if (!ours->name)
        return kvs_adopt_refuse(adopt, "its table has no name");
    size_t len = kvs_name_span(ours->name);
    if (len == 0 || len > 63 || ours->name[len] != '\0')
        return kvs_adopt_refuse(
            adopt, "its name is '%s'; a name has up to 63 characters of a-z, 0-9, _ and -, a letter first",
            kvs_show_bytes(shown, sizeof shown, ours->name, strlen(ours->name)));
    int rc = check_functions(ours, adopt);
    if (rc == KVS_OK)
        rc = check_data(ours, adopt);
    if (rc == KVS_OK)
        rc = kvs_adopt_caps(ours, adopt);
    if (rc == KVS_OK)
        rc = copy_params(ours, theirs, adopt);
    if (rc == KVS_OK)
        rc = kvs_adopt_params(ours, adopt);
    return rc;
}

int kvs_backend_adopt(const struct kvs_backend *theirs, const char *where, const struct kvs_backend **ours,
                      struct kvs_error *err)
{
    struct kvs_adopt adopt = {.where = where, .err = err};
    *ours = NULL;
    if (!theirs)
        return kvs_adopt_refuse(&adopt, "there is no table: its address is NULL");
    int rc = check_stamp(theirs, &adopt);
    if (rc != KVS_OK)
        return rc;
    struct kvs_backend *copy = copy_table(theirs);
    if (!copy)
        return kvs_err_set(err, KVS_NO_MEMORY, "%s: no memory for its table", where);
    rc = check_all(copy, theirs, &adopt);
    if (rc != KVS_OK) {
        kvs_backend_disown(copy);
        return rc;
    }
    fill_in(copy);
    *ours = copy;
    return KVS_OK;
}

void kvs_backend_disown(const struct kvs_backend *ours)
{
    if (!ours)
        return;
    /* Both were made by adopt; const is only for those who look. */
    free((void *)(uintptr_t)ours->params);
    free((void *)(uintptr_t)ours);
}
