/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations of parameters: the bridge's own, the SDK's, and those of the backend that will be opened. */
#ifndef KVSLOT_NIXL_DECLARED_H
#define KVSLOT_NIXL_DECLARED_H

#include <kvslot/backend.h>
#include <kvslot/kvslot.h>

#include <cstddef>
#include <string>

namespace kvslot::nixl
{

class Declared
{
  public:
    enum Place { own, of_backend, of_sdk, places };

    /* `any`: of the plugin that opens any backend, which has one parameter more. `target` (a name or URI)
     * says whose the backend's are; NULL, or of no backend that there is: there are none. */
    Declared(bool any, const char *target);

    const kvs_param_list *lists() const
    {
        return lists_;
    }
    bool has_backend() const
    {
        return backend_ != nullptr;
    }
    /* NULL: nobody declares that name there. */
    const kvs_param *find(Place place, const std::string &name) const;
    /* Anywhere. */
    const kvs_param *find(const std::string &name) const;
    /* Calls each(place, param) for all of them. */
    template <class Each> void for_each(Each &&each) const
    {
        for (int place = own; place < places; place++)
            for (std::size_t i = 0; i < lists_[place].count; i++)
                each(static_cast<Place>(place), at(lists_[place], i));
    }

  private:
    static const kvs_param &at(const kvs_param_list &list, std::size_t i);

    const kvs_backend *backend_ = nullptr;
    kvs_param_list lists_[places] = {};
};

} // namespace kvslot::nixl

#endif
