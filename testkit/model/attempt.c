/* SPDX-License-Identifier: Apache-2.0 */
#include "attempt.h"
#include "child.h"
#include "execute.h"
#include "judge.h"
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#define GRACE_PART 10 /* of its time, between TERM and KILL */

static void wait_for(struct child *c)
{
    while (!child_step(c)) {
        struct pollfd fds[3];
        size_t n = child_poll(c, fds);
        poll(fds, n, child_tick(c));
    }
}

static void take_end(struct attempt *a, const struct child *c)
{
    size_t len = 0;
    a->begun = child_report(c, "error") == NULL;
    a->outcome = judge_child(c, &a->reason);
    a->output = child_output_text(c, &len);
}

/* The time for one transfer, a newline, and the script; to be freed. */
static char *make_role(const struct script *s, uint64_t one_ns)
{
    char *text = script_text(s), *role = NULL;
    if (text && asprintf(&role, "%llu\n%s", (unsigned long long)one_ns, text) < 0)
        role = NULL;
    free(text);
    return role;
}

void attempt_helper(struct kit *k, const char *role)
{
    struct script s;
    struct kvs_error err = {0};
    char *text;
    uint64_t one_ns = strtoull(role, &text, 10), most = kit_wait_ns(k);
    KIT_STATUS_ERR(script_parse(text, strlen(text), &s, &err), KVS_OK, &err);
    model_execute(k, &s, one_ns < most ? one_ns : most);
    script_free(&s);
}

void attempt_run(struct kit *k, const struct script *s, struct attempt_limits limits, struct attempt *a)
{
    static unsigned count; /* one thread makes attempts */
    struct wire_config cfg = *k->cfg;
    struct kit_key keys[SCRIPT_KEYS];
    struct kvs_error err = {0};
    struct child c;
    char prefix[64], program[PATH_MAX] = "";
    memset(a, 0, sizeof(*a));
    snprintf(prefix, sizeof(prefix), "%s%x.", k->cfg->prefix, ++count);
    model_keys(k, s, prefix, keys); /* the case's to remove */
    cfg.prefix = prefix;
    cfg.role = make_role(s, limits.one_ns);
    cfg.timeout_ns = limits.all_ns;
    char *request = cfg.role ? wire_config_encode(&cfg, NULL) : NULL;
    free(cfg.role);
    KIT_CHECK(request && readlink("/proc/self/exe", program, sizeof(program) - 1) > 0,
              "a process for a script cannot be made: %s", strerror(errno));
    int rc = child_start(&c, program, k->row->id, request, limits.all_ns, limits.all_ns / GRACE_PART, &err);
    KIT_CHECK(rc == KVS_OK, "a process for a script cannot be started: %s", err.text);
    wait_for(&c);
    take_end(a, &c);
    child_free(&c);
}

void attempt_free(struct attempt *a)
{
    free(a->reason);
    free(a->output);
    memset(a, 0, sizeof(*a));
}
