/* SPDX-License-Identifier: Apache-2.0 */
/* What is looked at while a scenario runs, and afterwards. */
#include "rules.h"
#include "engine.h"
#include "scheduler.h"

static unsigned number(const struct model_xfer *m)
{
    return (unsigned)(m - model.at);
}

static bool legal(int status)
{
    unsigned may = model.s->may;
    return status == KVS_OK || (status == KVS_CANCELED && (may & MAY_CANCEL)) ||
           (status == KVS_TIMEOUT && (may & MAY_TIMEOUT)) ||
           (status == model.s->refuses && (may & MAY_REFUSE));
}

/* A call has shown the transfer's end: KVS-REQ-200, nothing is open, and the result is one of its ios'. */
void rules_result(struct model_xfer *m, int rc, bool in_done)
{
    unsigned n = number(m);
    explore_note(m);
    if (!legal(rc))
        explore_fail("transfer %u ended with %s", n, kvs_status_name(rc));
    if (rc == KVS_TIMEOUT && explore_now() < m->posted_at + m->x->engine->timeout)
        explore_fail("transfer %u ended with TIMEOUT before its time was up", n);
    if (m->owned && rc != KVS_TIMEOUT)
        explore_fail("transfer %u shows %s, but the store has ios of it", n, kvs_status_name(rc));
    if (!in_done && model.s->done && m->returned != m->accepted)
        explore_fail("transfer %u shows its end after %u posts, with %u calls of its done function over", n,
                     m->accepted, m->returned);
    bool found = rc == KVS_OK || rc == KVS_TIMEOUT;
    for (unsigned i = 0; i < model_ios(model.s); i++) {
        int status = 99;
        kvs_xfer_result(m->x, i, &status, NULL, NULL);
        found = found || status == rc;
        if (m->shown == m->accepted && status != m->status[i])
            explore_fail("io %u of transfer %u was %s, and is %s now", i, n, kvs_status_name(m->status[i]),
                         kvs_status_name(status));
        m->status[i] = status;
        if (!legal(status))
            explore_fail("io %u of transfer %u ended with %s", i, n, kvs_status_name(status));
        if (rc == KVS_OK && status != KVS_OK)
            explore_fail("transfer %u is OK, but its io %u is %s", n, i, kvs_status_name(status));
    }
    m->shown = m->accepted;
    if (!found)
        explore_fail("transfer %u has %s, but none of its ios", n, kvs_status_name(rc));
}

/* Nobody can run but by time passing: whoever waits for a transfer that has ended was not woken. */
void rules_idle(void)
{
    for (int i = 0; i < EXPLORE_THREADS; i++)
        if (model.waits[i] && explore_asleep(i) && !model.waits[i]->gone &&
            kvs_xfer_ended(model.waits[i]->x->word.v))
            explore_fail("transfer %u has ended, but whoever waits for it was not woken",
                         number(model.waits[i]));
    for (int i = 0; i < EXPLORE_THREADS; i++)
        if (model.reaping[i] && explore_asleep(i) && model.e->reap.head)
            explore_fail("there is a transfer to be reaped, but whoever waits for one was not woken");
}

void rules_done(kvs_xfer *x, int status, void *arg)
{
    struct model_xfer *m = arg;
    explore_note(m);
    m->started++;
    if (m->abandoned)
        explore_fail("a done function of transfer %u starts after it was abandoned", number(m));
    if (m->started != m->returned + 1)
        explore_fail("two done functions of transfer %u run at once", number(m));
    if (m->x != x || kvs_xfer_check(x) != status)
        explore_fail("check inside a done function of transfer %u does not give its result", number(m));
    rules_result(m, status, true);
    explore_point("in its done function", m, true);
    if (model.s->done == DONE_POSTS && m->reposts > 0) {
        m->reposts--;
        m->posts++;
        bool over = (x->word.v & KVS_W_COUNT) == 1; /* KVS-REQ-276 */
        int rc = kvs_xfer_post(x);
        if (rc == KVS_IN_PROG) {
            m->accepted++;
            m->posted_at = explore_now(); /* or later */
        } else if (!(rc == KVS_BUSY && status == KVS_TIMEOUT && !over) &&
                   !(rc == KVS_NOT_ALLOWED && model.closing))
            explore_fail("post in a done function answers %s", kvs_status_name(rc));
    }
    if (model.s->done == DONE_RELEASES) {
        int rc = kvs_xfer_release(x, 0);
        if (rc != KVS_OK && status != KVS_TIMEOUT)
            explore_fail("release in a done function answers %s", kvs_status_name(rc));
        m->gone = rc == KVS_OK;
    }
    if (model.s->done == DONE_ABANDONS) {
        kvs_xfer_abandon(x);
        m->gone = true;
    }
    m->returned++;
    explore_point("at the end of its done function", m, true);
}

void rules_given_back(struct model_xfer *m)
{
    explore_note(m);
    if (m->owned)
        explore_fail("transfer %u was released, but the store has ios of it", number(m));
    if (m->returned != m->started || (model.s->done && m->returned != m->accepted))
        explore_fail("transfer %u was released after %u posts, with %u calls of its done function over",
                     number(m), m->accepted, m->returned);
    m->gone = true;
}

/* Nothing is left, and each accepted post had its done call. */
void rules_end(uint64_t violations)
{
    for (unsigned i = 0; i < model_xfers(model.s); i++) {
        struct model_xfer *m = &model.at[i];
        if (model.s->done && m->returned != m->accepted && !m->abandoned)
            explore_fail("transfer %u had %u posts, but %u calls of its done function", i, m->accepted,
                         m->returned);
        if (m->returned != m->started || m->returned > m->accepted)
            explore_fail("transfer %u had %u posts, and %u calls of its done function", i, m->accepted,
                         m->started);
        if (m->owned)
            explore_fail("the store has ios of transfer %u at the end", i);
    }
    uint64_t least = model.s->twice ? store_taken() : 0, most = least;
    if (model.s->may & MAY_TIMEOUT) /* the vendor's thread may take longer than the grace: cancel is native */
        for (unsigned i = 0; i < model_xfers(model.s); i++)
            most += model.at[i].posts;
    if (violations < least || violations > most)
        explore_fail("%llu violations were counted, and not %llu to %llu", (unsigned long long)violations,
                     (unsigned long long)least, (unsigned long long)most);
}
