/* SPDX-License-Identifier: Apache-2.0 */
/* The rogues that the testkit carries, as backends of the process. */
#include "register.h"
#include <kvslot/backend.h>
#include <string.h>

extern const struct kvs_backend kvs_rogue_backend, kvs_rogue_minimal, kvs_rogue_no_query, kvs_rogue_small,
    kvs_rogue_real, kvs_rogue_no_shape;

int kvs_rogues_register(const char *target, struct kvs_error *err)
{
    static const struct kvs_backend *const all[] = {&kvs_rogue_backend, &kvs_rogue_minimal,
                                                    &kvs_rogue_no_query, &kvs_rogue_small, &kvs_rogue_real};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        int rc = kvs_backend_register(all[i], err);
        if (rc != KVS_OK)
            return rc;
    }
    /* This one is refused, so that only who asks for it may meet it. */
    if (strncmp(target, "rogue-no-shape", 14) == 0)
        return kvs_backend_register(&kvs_rogue_no_shape, err);
    return KVS_OK;
}
