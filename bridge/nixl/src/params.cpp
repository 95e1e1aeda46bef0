/* SPDX-License-Identifier: Apache-2.0 */
#include "params.h"

#include "declared.h"
#include "status.h"

#include <algorithm>
#include <cstring>

namespace kvslot::nixl
{
namespace
{

bool has_nul(const std::string &text)
{
    return std::strlen(text.c_str()) != text.size();
}

int check_text(const abi::Params &from, kvs_error *err)
{
    for (const auto &[name, value] : from)
        if (has_nul(name) || has_nul(value))
            return fail(err, KVS_INVALID_PARAM, "parameter '%.64s' has a NUL in it", name.c_str());
    return KVS_OK;
}

int read_target(const char *backend, const abi::Params &from, std::string &to, kvs_error *err)
{
    auto at = from.find("backend");
    if (!backend && (at == from.end() || at->second.empty()))
        return fail(err, KVS_INVALID_PARAM,
                    "parameter 'backend' is missing; it is a backend's name or a URI, as in lmdb:/dir");
    to = backend ? backend : at->second;
    return KVS_OK;
}

/* An empty value is as none. */
int read_duration(const Declared &declared, const char *name, const abi::Params &from, std::uint64_t &to,
                  kvs_error *err)
{
    auto at = from.find(name);
    bool given = at != from.end() && !at->second.empty();
    const kvs_param_value value = {name,
                                   given ? at->second.c_str() : declared.find(Declared::own, name)->def};
    std::int64_t ns = 0;
    int rc = kvs_param_read("the plugin", declared.lists(), Declared::places, &value, &ns, err);
    to = static_cast<std::uint64_t>(ns);
    return rc;
}

/* ---- Secrets ---- */

constexpr const char *hidden = "***";

bool is_secret(const kvs_param *p)
{
    return p && p->flags & KVS_PARAM_SECRET;
}

/* A name in a query, as it may be written with '%'. */
std::string decoded(const std::string &text)
{
    std::string to;
    for (std::size_t i = 0; i < text.size(); i++) {
        bool escape = text[i] == '%' && i + 2 < text.size();
        to += escape ? static_cast<char>(std::stoi(text.substr(i + 1, 2), nullptr, 16)) : text[i];
        i += escape ? 2 : 0;
    }
    return to;
}

std::string hide_query(const Declared &declared, const std::string &query)
{
    std::string to;
    for (std::size_t at = 0; at < query.size();) {
        std::size_t end = std::min(query.find('&', at), query.size());
        std::size_t value = query.find('=', at) + 1; /* the SDK has taken it: there is one in each item */
        if (value > at && value <= end && is_secret(declared.find(decoded(query.substr(at, value - 1 - at)))))
            to += query.substr(at, value - at) + hidden;
        else
            to += query.substr(at, end - at);
        to += query.substr(end, 1);
        at = end + 1;
    }
    return to;
}

/* user:password */
std::string hide_user(const std::string &text, bool user_too)
{
    std::size_t colon = text.find(':');
    if (colon == std::string::npos)
        return user_too ? hidden : text;
    return (user_too ? hidden : text.substr(0, colon)) + ":" + hidden;
}

/* Of a URI that could be opened; of any other nothing is shown, as it may be anywhere that a secret stands.
 */
std::string hide_target(const Declared &declared, const std::string &target)
{
    bool user = false; /* no other part but the password may be a secret */
    if (!declared.has_backend())
        return hidden;
    declared.for_each([&](Declared::Place, const kvs_param &p) {
        user = user || (is_secret(&p) && p.uri && std::strstr(p.uri, "user"));
    });
    std::size_t query = std::min(target.find('?'), target.size()), rest = target.find(':');
    std::string to = target.substr(0, query);
    if (rest < query && to.compare(rest, 3, "://") == 0) {
        std::size_t start = rest + 3, at = to.substr(0, to.find('/', start)).rfind('@');
        if (at != std::string::npos && at >= start)
            to = to.substr(0, start) + hide_user(to.substr(start, at - start), user) + to.substr(at);
    }
    if (query < target.size())
        to += "?" + hide_query(declared, target.substr(query + 1));
    return to;
}

} // namespace

abi::Params options(const char *backend)
{
    abi::Params all;
    Declared(!backend, backend).for_each([&](Declared::Place, const kvs_param &p) {
        all[p.name] = p.def ? p.def : "";
    });
    return all;
}

int read_settings(const char *backend, const abi::Params &from, Settings &to, kvs_error *err)
{
    int rc = check_text(from, err);
    if (rc == KVS_OK)
        rc = read_target(backend, from, to.target, err);
    if (rc != KVS_OK)
        return rc;
    Declared declared(!backend, to.target.c_str());
    rc = read_duration(declared, "release_timeout", from, to.release_timeout_ns, err);
    if (rc == KVS_OK)
        rc = read_duration(declared, "drain_timeout", from, to.drain_timeout_ns, err);
    for (const auto &[name, value] : from) {
        if (rc != KVS_OK)
            return rc;
        const kvs_param_value given = {name.c_str(), value.c_str()};
        if (declared.find(Declared::own, name))
            continue;
        if (declared.has_backend()) /* else the SDK says what is wrong with it */
            rc = kvs_param_read("the plugin", declared.lists(), Declared::places, &given, nullptr, err);
        /* The host may hand back all of options(). What is as declared is left to the SDK, so that the
         * environment and the URI still count. */
        const kvs_param *p = declared.find(name);
        if (!p || value != (p->def ? p->def : ""))
            to.values.push_back(given);
    }
    return rc;
}

void hide_secrets(const char *backend, abi::Params &shown)
{
    auto target = shown.find("backend");
    bool any = !backend && target != shown.end();
    Declared declared(!backend, any ? target->second.c_str() : backend);
    for (auto &[name, value] : shown)
        if (is_secret(declared.find(name)) && !value.empty() && value[0] != '@')
            value = hidden;
    if (any)
        target->second = hide_target(declared, target->second);
}

} // namespace kvslot::nixl
