/* SPDX-License-Identifier: Apache-2.0 */
/* Keys that are not the run's: put before its first case, where the store keeps them between processes, and
 * found unchanged after its last one. They are made of the run's prefix, so that no other run has them. */
#include "caps.h"
#include "child.h"
#include "kit.h"
#include "run.h"
#include "say.h"
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

struct kit_key kit_foreign_key(struct kit *k, size_t i)
{
    /* Nearest to the prefix: its beginning, its neighbour in the order of bytes, in capitals, and inside
     * another. */
    static const struct {
        const char *before, *after;
    } forms[KIT_FOREIGN] = {{"", ""}, {"", "/x"}, {"", ".x"}, {"f.", "."}};
    const char *prefix = kit_prefix(k);
    char name[64];
    int n = snprintf(name, sizeof(name), "%s%.*s%s", forms[i].before, (int)strcspn(prefix, "."), prefix,
                     forms[i].after);
    for (int j = 0; i == 2 && j < n; j++)
        name[j] = (char)(name[j] >= 'a' && name[j] <= 'z' ? name[j] - 'a' + 'A' : name[j]);
    return kit_key_raw(k, name, (size_t)n);
}

bool kit_foreign_waits(const struct kit *k)
{
    return json_is_true(json_object_get(k->cfg->store, "foreign"));
}

static struct run_row *row_of(struct run *r)
{
    for (size_t i = 0; i < r->nrows; i++)
        if (r->rows[i].row->foreign)
            return &r->rows[i];
    return NULL;
}

static void note_keys(struct run *r, const struct child *c)
{
    json_t *report;
    size_t i;
    json_array_foreach(c->reports, i, report)
    {
        json_t *key = json_object_get(report, "key");
        if (!json_is_string(key))
            continue;
        json_array_append(r->foreign_keys, key);
        journal_key(&r->journal, json_string_value(key));
    }
}

static int put_keys(struct run *r, const struct run_row *row, struct kvs_error *err)
{
    static const char what[] = "the process that puts keys which are not the run's";
    struct child c;
    uint64_t timeout = run_timeout(r, KIT_TIMEOUT_S);
    json_object_set_new(r->store, "foreign", json_false());
    char *request = run_request(r, row->row->id, KIT_FOREIGN_PUT, r->run_prefix, 0, timeout, NULL);
    int rc = request ? child_start(&c, r->program, row->row->id, request, timeout, run_timeout(r, 2), err)
                     : say(err, KVS_NO_MEMORY, "no memory for case %s", row->row->id);
    if (!request)
        return rc;
    if (rc == KVS_OK) {
        run_wait(&c);
        note_keys(r, &c);
        const json_t *outcome = child_report(&c, "outcome"), *error = child_report(&c, "error");
        const char *text =
            json_string_value(error ? json_object_get(error, "text") : child_report(&c, "text"));
        if (error || (outcome && json_integer_value(outcome) != KVS_CONFORM_PASS))
            rc = say(err, KVS_MISMATCH, "%s: %s", what, text ? text : "failed");
        else if (!outcome || c.stage != CHILD_RUNS || c.status_lost || c.status != 0)
            rc = run_say_silent(r, &c, what, err);
    }
    child_free(&c);
    return rc;
}

void run_put_foreign(struct run *r)
{
    struct kvs_error err = {0};
    const struct run_row *row = row_of(r);
    r->foreign_waits = false;
    if (!row || r->stopped || run_leaves_out(r, row) || !caps_have(&r->limits, KVS_CAP_DURABLE))
        return;
    json_decref(r->foreign_keys);
    r->foreign_keys = json_array();
    r->foreign_waits = put_keys(r, row, &err) == KVS_OK;
    if (!r->foreign_waits) {
        size_t len = strlen(err.text);
        free(r->foreign_why);
        r->foreign_why = mask_text(&r->mask, err.text, &len);
    }
}

void run_remove_foreign(struct run *r)
{
    struct kvs_error err = {0};
    json_t *answer = NULL;
    const struct run_row *row = row_of(r);
    if (!row || row->outcome == KVS_CONFORM_PASS || json_array_size(r->foreign_keys) == 0)
        return; /* the case itself removes them where it passes */
    json_object_set_new(r->store, "restore", json_false());
    if (run_errand(r, r->run_prefix, r->foreign_keys, WIRE_SWEEP, "outcome",
                   "the process that removes keys which the run had put beside its own", &answer,
                   &err) != KVS_OK) {
        r->keys_left = true;
        table_note(r, "keys that the run had put beside its own cannot be removed: %s", err.text);
    }
    json_decref(answer);
}
