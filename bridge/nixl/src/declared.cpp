/* SPDX-License-Identifier: Apache-2.0 */
#include "declared.h"

#include <iterator>

namespace kvslot::nixl
{
namespace
{

constexpr kvs_param declare(const char *name, const char *def, kvs_param_type type, const char *help)
{
    kvs_param p = {};
    p.name = name;
    p.def = def;
    p.help = help;
    p.since = "0.1";
    p.type = type;
    return p;
}

/* `backend` comes first, for the plugins that have it not. */
constexpr kvs_param own_params[] = {
    declare("backend", "", KVS_PARAM_STRING, "what to open: a backend's name or a URI"),
    declare("release_timeout", "0", KVS_PARAM_DURATION,
            "how long giving back a transfer that runs may wait for its end"),
    declare("drain_timeout", "5s", KVS_PARAM_DURATION,
            "how long destroying the backend waits for transfers that run"),
};

} // namespace

Declared::Declared(bool any, const char *target)
{
    std::size_t first = any ? 0 : 1;
    lists_[own] = {own_params + first, std::size(own_params) - first, sizeof(kvs_param)};
    lists_[of_sdk].params = kvs_sdk_params(&lists_[of_sdk].count);
    if (target && kvs_backend_find(target, &backend_, nullptr) == KVS_OK)
        lists_[of_backend] = {backend_->params, backend_->nparams, backend_->param_size};
}

const kvs_param &Declared::at(const kvs_param_list &list, std::size_t i)
{
    std::size_t stride = list.stride ? list.stride : sizeof(kvs_param);
    return *reinterpret_cast<const kvs_param *>(reinterpret_cast<const char *>(list.params) + i * stride);
}

const kvs_param *Declared::find(Place place, const std::string &name) const
{
    for (std::size_t i = 0; i < lists_[place].count; i++)
        if (name == at(lists_[place], i).name)
            return &at(lists_[place], i);
    return nullptr;
}

const kvs_param *Declared::find(const std::string &name) const
{
    for (Place place : {own, of_backend, of_sdk})
        if (const kvs_param *p = find(place, name))
            return p;
    return nullptr;
}

} // namespace kvslot::nixl
