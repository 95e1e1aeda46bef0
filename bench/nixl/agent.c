/* SPDX-License-Identifier: Apache-2.0 */
#include "agent.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

enum { IN_PROG = 1, DRAM = 0, READ = 0 };

/* What is used of the library; handles are pointers, and a status is an int, 0 for success. */
static struct {
    int (*create_agent)(const char *name, void **agent);
    int (*destroy_agent)(void *agent);
    int (*create_params)(void **params);
    int (*params_add)(void *params, const char *name, const char *value);
    int (*destroy_params)(void *params);
    int (*create_backend)(void *agent, const char *plugin, void *params, void **backend);
    int (*destroy_backend)(void *backend);
    int (*create_opt_args)(void **args);
    int (*opt_args_add_backend)(void *args, void *backend);
    int (*destroy_opt_args)(void *args);
    int (*create_reg_dlist)(int type, void **list, bool sorted);
    int (*reg_dlist_add_desc)(void *list, uintptr_t addr, size_t len, uint64_t dev_id, const void *meta,
                              size_t meta_len);
    int (*destroy_reg_dlist)(void *list);
    int (*create_xfer_dlist)(int type, void **list, bool sorted);
    int (*xfer_dlist_add_desc)(void *list, uintptr_t addr, size_t len, uint64_t dev_id);
    int (*destroy_xfer_dlist)(void *list);
    int (*register_mem)(void *agent, void *list, void *args);
    int (*create_xfer_req)(void *agent, int op, void *local, void *remote, const char *remote_agent,
                           void **req, void *args);
    int (*post_xfer_req)(void *agent, void *req, void *args);
    int (*get_xfer_status)(void *agent, void *req);
    int (*release_xfer_req)(void *agent, void *req);
    int (*destroy_xfer_req)(void *req);
} nixl;

#define FUNCTION(name)                                                                                       \
    {                                                                                                        \
        "nixl_capi_" #name, (void **)&nixl.name                                                              \
    }
static const struct {
    const char *name;
    void **to; /* as POSIX has it, a pointer to a function comes from dlsym as one to data */
} functions[] = {
    FUNCTION(create_agent),       FUNCTION(destroy_agent),     FUNCTION(create_params),
    FUNCTION(params_add),         FUNCTION(destroy_params),    FUNCTION(create_backend),
    FUNCTION(destroy_backend),    FUNCTION(create_opt_args),   FUNCTION(opt_args_add_backend),
    FUNCTION(destroy_opt_args),   FUNCTION(create_reg_dlist),  FUNCTION(reg_dlist_add_desc),
    FUNCTION(destroy_reg_dlist),  FUNCTION(create_xfer_dlist), FUNCTION(xfer_dlist_add_desc),
    FUNCTION(destroy_xfer_dlist), FUNCTION(register_mem),      FUNCTION(create_xfer_req),
    FUNCTION(post_xfer_req),      FUNCTION(get_xfer_status),   FUNCTION(release_xfer_req),
    FUNCTION(destroy_xfer_req),
};

struct agent {
    char name[32];
    void *agent, *backend, *args;
    char *memory;
    size_t size, count;
};

static bool load(void)
{
    static void *library;
    if (library)
        return true;
    const char *file = getenv("NIXL_CAPI");
    if (!file) {
        fprintf(stderr, "NIXL_CAPI names no libnixl_capi.so; bench/nixl/run.sh sets it\n");
        return false;
    }
    void *found = dlopen(file, RTLD_NOW);
    for (size_t i = 0; found && i < sizeof functions / sizeof functions[0]; i++)
        if (!(*functions[i].to = dlsym(found, functions[i].name)))
            found = NULL;
    if (!found) {
        fprintf(stderr, "%s\n", dlerror());
        return false;
    }
    library = found;
    return true;
}

static bool make(struct agent *a, const char *plugin, const char *name, const char *value)
{
    void *params = NULL;
    bool made = nixl.create_agent(a->name, &a->agent) == 0 && nixl.create_params(&params) == 0 &&
                (!name || nixl.params_add(params, name, value) == 0) &&
                nixl.create_backend(a->agent, plugin, params, &a->backend) == 0 &&
                nixl.create_opt_args(&a->args) == 0 && nixl.opt_args_add_backend(a->args, a->backend) == 0;
    if (params)
        nixl.destroy_params(params);
    return made;
}

struct agent *agent_make(const char *plugin, const char *name, const char *value)
{
    static unsigned agents;
    struct agent *a = load() ? calloc(1, sizeof *a) : NULL;
    if (!a)
        return NULL;
    snprintf(a->name, sizeof a->name, "bench%u", agents++);
    if (make(a, plugin, name, value))
        return a;
    fprintf(stderr, "the agent has no backend '%s'\n", plugin);
    agent_end(a);
    return NULL;
}

void agent_end(struct agent *a)
{
    if (!a)
        return;
    if (a->args)
        nixl.destroy_opt_args(a->args);
    if (a->backend)
        nixl.destroy_backend(a->backend);
    if (a->agent)
        nixl.destroy_agent(a->agent);
    free(a);
}

static uintptr_t value_at(const struct agent *a, size_t i)
{
    return (uintptr_t)a->memory + i * a->size;
}

/* The memory is device 0, the values' places are 1 and up. */
bool agent_register(struct agent *a, char *memory, size_t size, size_t count)
{
    a->memory = memory;
    a->size = size;
    a->count = count;
    void *list;
    if (nixl.create_reg_dlist(DRAM, &list, false) != 0)
        return false;
    bool good = nixl.reg_dlist_add_desc(list, (uintptr_t)memory, size * count, 0, "", 0) == 0;
    for (size_t i = 0; good && i < count; i++)
        good = nixl.reg_dlist_add_desc(list, value_at(a, i), size, i + 1, "", 0) == 0;
    good = good && nixl.register_mem(a->agent, list, a->args) == 0;
    nixl.destroy_reg_dlist(list);
    if (!good)
        fprintf(stderr, "the agent does not register memory\n");
    return good;
}

void *agent_prep(struct agent *a)
{
    void *local = NULL, *remote = NULL, *request = NULL;
    bool good =
        nixl.create_xfer_dlist(DRAM, &local, false) == 0 && nixl.create_xfer_dlist(DRAM, &remote, false) == 0;
    for (size_t i = 0; good && i < a->count; i++)
        good = nixl.xfer_dlist_add_desc(local, value_at(a, i), a->size, 0) == 0 &&
               nixl.xfer_dlist_add_desc(remote, value_at(a, i), a->size, i + 1) == 0;
    good = good && nixl.create_xfer_req(a->agent, READ, local, remote, a->name, &request, a->args) == 0;
    if (local)
        nixl.destroy_xfer_dlist(local);
    if (remote)
        nixl.destroy_xfer_dlist(remote);
    if (!good)
        fprintf(stderr, "the agent does not prepare a transfer\n");
    return good ? request : NULL;
}

void agent_post(struct agent *a, void *request)
{
    int rc = nixl.post_xfer_req(a->agent, request, a->args);
    while (rc == IN_PROG)
        rc = nixl.get_xfer_status(a->agent, request);
    if (rc == 0)
        return;
    fprintf(stderr, "a transfer of the agent's ended %d\n", rc);
    exit(1);
}

void agent_release(struct agent *a, void *request)
{
    nixl.release_xfer_req(a->agent, request);
    nixl.destroy_xfer_req(request);
}
