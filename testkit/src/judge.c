/* SPDX-License-Identifier: Apache-2.0 */
#include "judge.h"
#include "case.h"
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

static const char *signal_name(int sig)
{
    const char *name = sigabbrev_np(sig);
    return name ? name : "?";
}

static void set(char **reason, const char *fmt, ...) KVS_PRINTF(2, 3);
static void set(char **reason, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    if (vasprintf(reason, fmt, ap) < 0)
        *reason = NULL;
    va_end(ap);
}

/* Report and end have to agree: neither alone makes a PASS. */
uint32_t judge_child(const struct child *c, char **reason)
{
    const json_t *said = child_report(c, "outcome"), *error = child_report(c, "error");
    const char *text = json_string_value(child_report(c, "text"));
    uint32_t outcome = said ? (uint32_t)json_integer_value(said) : KVS_CONFORM_CRASH;
    bool failed = outcome == KVS_CONFORM_FAIL || outcome == KVS_CONFORM_TIMEOUT;
    static const char *const ends[] = {
        [CHILD_RUNS] = "",
        [CHILD_TERMINATED] = "",
        [CHILD_KILLED] = "; SIGTERM did not end it, so SIGKILL did",
        [CHILD_GIVEN_UP] = "; neither SIGTERM nor SIGKILL ended it",
    };
    if (c->stage != CHILD_RUNS) {
        set(reason, "it did not end in its time%s%s%s", text && text[0] ? ", after it had reported: " : "",
            text ? text : "", ends[c->stage]);
        return KVS_CONFORM_TIMEOUT;
    }
    if (c->status_lost) {
        set(reason, "somebody else has waited for the case's process, so its end is not known");
        return KVS_CONFORM_FAIL;
    }
    if (WIFSIGNALED(c->status)) {
        set(reason, "died of SIG%s%s%s", signal_name(WTERMSIG(c->status)),
            text && text[0] ? " after it had reported: " : "", text ? text : "");
        return KVS_CONFORM_CRASH;
    }
    if (error) {
        set(reason, "could not begin: %s", json_string_value(json_object_get(error, "text")));
        return KVS_CONFORM_FAIL;
    }
    if (!said || outcome > KVS_CONFORM_TIMEOUT) {
        set(reason, "ended with exit code %d and without a report", WEXITSTATUS(c->status));
        return KVS_CONFORM_CRASH;
    }
    if (!failed && WEXITSTATUS(c->status) != 0) {
        set(reason, "reported %s, and then ended with exit code %d", kvs_conform_outcome_name(outcome),
            WEXITSTATUS(c->status));
        return KVS_CONFORM_FAIL;
    }
    set(reason, "%s", text ? text : "");
    return outcome;
}
