/* SPDX-License-Identifier: Apache-2.0 */
/* The rogues that the testkit carries, as backends of the process. */
#include "register.h"
#include <kvslot/backend.h>

extern const struct kvs_backend kvs_rogue_backend, kvs_rogue_minimal, kvs_rogue_no_query, kvs_rogue_small;

int kvs_rogues_register(struct kvs_error *err)
{
    static const struct kvs_backend *const all[] = {&kvs_rogue_backend, &kvs_rogue_minimal,
                                                    &kvs_rogue_no_query, &kvs_rogue_small};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        int rc = kvs_backend_register(all[i], err);
        if (rc != KVS_OK)
            return rc;
    }
    return KVS_OK;
}
