/* SPDX-License-Identifier: Apache-2.0 */
/* Secrets stay where they are. */
#include "case.h"
#include <kvslot/backend.h>
#include <stdatomic.h>
#include <stdio.h>

struct watch {
    char secret[48];
    _Atomic bool seen; /* in a log line */
};

static void look(void *arg, int level, const char *text)
{
    struct watch *w = arg;
    (void)level;
    if (strstr(text, w->secret))
        w->seen = true;
}

static void check_text(const struct watch *w, const char *name, const char *text)
{
    KIT_CHECK(!text || !strstr(text, w->secret), "a text has the secret of %s in it", name);
}

/* Whatever comes of it: the store may refuse the secret. */
static void use(struct kit *k, const struct watch *w, const char *name)
{
    struct kvs_error err = {0};
    kvs_engine *e = NULL;
    const char *text = NULL;
    int rc = kit_open_with(k, name, w->secret, &e, &err);
    check_text(w, name, err.text);
    if (rc != KVS_OK)
        return;
    struct kit_buf v = kit_value(k, 1, 1);
    struct kit_item item = {kit_key(k, "beside a secret"), v.data, v.len};
    kvs_xfer *x = kit_prep(k, e, KVS_WRITE, &item, 1);
    kit_run(k, x);
    check_text(w, name, kvs_xfer_error(x));
    KIT_STATUS(kvs_xfer_result(x, 0, NULL, NULL, &text), KVS_OK);
    check_text(w, name, text);
    kit_release(x);
    kit_close(k, e);
}

static void secrets_texts(struct kit *k)
{
    const struct kvs_backend *b = kvs_engine_backend(kit_open(k));
    struct watch w = {.seen = false};
    unsigned found = 0;
    kit_needs_two_configurations(k);
    snprintf(w.secret, sizeof(w.secret), "s3cret-%016llx", (unsigned long long)kit_run_number(k));
    kvs_set_log(look, &w, KVS_LOG_TRACE);
    for (uint32_t i = 0; i < b->nparams; i++) {
        size_t stride = b->param_size ? b->param_size : sizeof(struct kvs_param);
        const struct kvs_param *p = (const void *)((const char *)b->params + i * stride);
        if (!(p->flags & KVS_PARAM_SECRET))
            continue;
        found++;
        use(k, &w, p->name);
        KIT_CHECK(!w.seen, "a log line has the secret of %s in it", p->name);
    }
    kvs_set_log(NULL, NULL, -1);
    if (found == 0)
        kit_not_supported(k, "the backend declares no secret");
}

static const struct kit_case cases[] = {
    {.id = "secrets.texts",
     .title = "No text and no log line has a secret in it",
     .explain = "Opens the target with a made-up value for each secret parameter, writes where that works, "
                "and looks at every error's text and, at the level trace, at every line of the log.",
     .requirements = "KVS-REQ-518 KVS-REQ-515 KVS-REQ-516",
     .profile = KVS_CONFORM_EXTENDED,
     .timeout_s = 60,
     .fn = secrets_texts},
};
KIT_TOPIC(topic_secrets, cases);
