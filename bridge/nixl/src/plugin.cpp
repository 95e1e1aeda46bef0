/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of a plugin's table. They have no argument to know the plugin by, so that each plugin has
 * these in its own shared object, with what they know in static memory there. */
#include "plugin.h"

#include "abi.h"
#include "engine.h"
#include "guard.h"
#include "params.h"

#include <kvslot/backend.h>

#include <new>

namespace kvslot::nixl
{
namespace
{

/* Set once, before the host has the table. */
const char *plugin_name = "";
const char *plugin_backend = nullptr;

abi::BackendEngine *create_engine(const abi::InitParams *init)
{
    return guarded(plugin_name, "create_engine", static_cast<abi::BackendEngine *>(nullptr),
                   [&]() -> abi::BackendEngine * {
                       if (!init || !init->custom) {
                           kvs_log(KVS_LOG_ERROR, plugin_name, "create_engine: no parameters were given");
                           return nullptr;
                       }
                       return new Engine(init, plugin_backend);
                   });
}

void destroy_engine(abi::BackendEngine *engine)
{
    delete engine;
}

const char *name()
{
    return plugin_name;
}

abi::Params plugin_options()
{
    return guarded(plugin_name, "get_backend_options", abi::Params{}, [] { return options(plugin_backend); });
}

/* Which backend it will be is not known for the plugin that opens any: what the bridge can do, then. */
abi::MemList plugin_mems()
{
    return guarded(plugin_name, "get_backend_mems", abi::MemList{}, [] {
        const kvs_backend *be = nullptr;
        kvs_error err;
        if (!plugin_backend)
            return abi::MemList{abi::mem_dram, abi::mem_object};
        if (kvs_backend_find(plugin_backend, &be, &err) == KVS_OK)
            return mems_of(be);
        kvs_log(KVS_LOG_WARN, plugin_name, "%s", err.text);
        return abi::MemList{};
    });
}

abi::Plugin table = {abi::plugin_api, create_engine,  destroy_engine, name,
                     kvs_version,     plugin_options, plugin_mems};

} // namespace
} // namespace kvslot::nixl

void *kvslot_nixl_plugin(const char *name, const char *backend) noexcept
{
    kvslot::nixl::plugin_name = name;
    kvslot::nixl::plugin_backend = backend;
    return &kvslot::nixl::table;
}
