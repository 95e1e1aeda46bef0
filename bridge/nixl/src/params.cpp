/* SPDX-License-Identifier: Apache-2.0 */
#include "params.h"

extern "C" {
#include "err.h"
#include "units.h"
}

#include <kvslot/backend.h>

#include <cstring>

namespace kvslot::nixl
{
namespace
{

constexpr const char *backend_name = "backend";

struct Duration {
    const char *name;
    const char *def;
    std::uint64_t Settings::*to;
};
constexpr Duration own[] = {
    {"release_timeout", "0", &Settings::release_timeout_ns},
    {"drain_timeout", "5s", &Settings::drain_timeout_ns},
};

/* Calls each(param) for what the SDK and the backend declare. */
template <class Each> void for_declared(const char *target, Each &&each)
{
    std::size_t n = 0;
    const kvs_param *sdk = kvs_sdk_params(&n);
    for (std::size_t i = 0; i < n; i++)
        each(sdk[i]);
    const kvs_backend *be = nullptr;
    if (!target || kvs_backend_find(target, &be, nullptr) != KVS_OK)
        return;
    for (std::size_t i = 0; i < be->nparams; i++) /* by the plugin's stride */
        each(*reinterpret_cast<const kvs_param *>(reinterpret_cast<const char *>(be->params) +
                                                  i * be->param_size));
}

int read_durations(const abi::Params &from, Settings &to, kvs_error *err)
{
    for (const Duration &d : own) {
        auto at = from.find(d.name);
        const char *text = at == from.end() || at->second.empty() ? d.def : at->second.c_str();
        std::int64_t ns = 0;
        if (kvs_parse_duration(text, &ns) != KVS_PARSE_OK || ns < 0)
            return kvs_err_set(err, KVS_INVALID_PARAM,
                               "parameter '%s' is '%.64s'; a duration is needed, as in 500ms", d.name, text);
        to.*d.to = static_cast<std::uint64_t>(ns);
    }
    return KVS_OK;
}

bool is_own(const std::string &name, const char *backend)
{
    for (const Duration &d : own)
        if (name == d.name)
            return true;
    return !backend && name == backend_name;
}

} // namespace

abi::Params options(const char *backend)
{
    abi::Params all;
    for_declared(backend, [&](const kvs_param &p) { all[p.name] = p.def ? p.def : ""; });
    for (const Duration &d : own)
        all[d.name] = d.def;
    if (!backend)
        all[backend_name] = "";
    return all;
}

int read_settings(const char *backend, const abi::Params &from, Settings &to, kvs_error *err)
{
    int rc = read_durations(from, to, err);
    if (rc != KVS_OK)
        return rc;
    if (backend) {
        to.target = backend;
    } else {
        auto at = from.find(backend_name);
        if (at == from.end() || at->second.empty())
            return kvs_err_set(
                err, KVS_INVALID_PARAM,
                "parameter 'backend' is missing; it is a backend's name or a URI, as in lmdb:/dir");
        to.target = at->second;
    }
    /* The host may hand back all of options(). What is as declared is left to the SDK, so that the
     * environment and the URI still count. */
    abi::Params defaults;
    for_declared(to.target.c_str(), [&](const kvs_param &p) { defaults[p.name] = p.def ? p.def : ""; });
    for (const auto &[name, value] : from) {
        if (is_own(name, backend))
            continue;
        if (std::strlen(name.c_str()) != name.size() || std::strlen(value.c_str()) != value.size())
            return kvs_err_set(err, KVS_INVALID_PARAM, "parameter '%.64s' has a NUL in it", name.c_str());
        auto def = defaults.find(name);
        if (def == defaults.end() || def->second != value)
            to.values.push_back({name.c_str(), value.c_str()});
    }
    return KVS_OK;
}

} // namespace kvslot::nixl
