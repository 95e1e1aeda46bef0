/* SPDX-License-Identifier: Apache-2.0 */
/* Asserts that abi.h lays everything out as the host does. */
#include "abi.h"

#include <cstddef>

namespace kvslot::nixl::abi
{

#pragma GCC diagnostic ignored "-Winvalid-offsetof"

#define AT(type, member, offset) static_assert(offsetof(type, member) == (offset), #type "." #member)
#define SIZE(type, size)         static_assert(sizeof(type) == (size), #type)

/* Of the C++ library, libstdc++ with its new string. */
SIZE(std::string, 32);
SIZE(Params, 56);
SIZE(MemList, 24);
SIZE(std::mutex, 40);
SIZE(QueryAnswer, 64);
SIZE(std::chrono::microseconds, 8);

SIZE(MemType, 4);
SIZE(XferOp, 4);
SIZE(Status, 4);
SIZE(CostMethod, 4);
SIZE(SyncMode, 4);

SIZE(BasicDesc, 24);
AT(BasicDesc, addr, 0);
AT(BasicDesc, len, 8);
AT(BasicDesc, dev_id, 16);
SIZE(BlobDesc, 56);
AT(BlobDesc, meta_info, 24);
SIZE(MetaDesc, 32);
AT(MetaDesc, md, 24);
SIZE(MetaList, 40);
AT(MetaList, type, 8);
AT(MetaList, descs, 16);
SIZE(RegList, 40);
AT(RegList, descs, 16);

SIZE(BackendMD, 16);
SIZE(BackendReq, 8);

SIZE(OptArgs, 72);
AT(OptArgs, notif, 0);
AT(OptArgs, has_notif, 32);
AT(OptArgs, custom, 40);

SIZE(InitParams, 96);
AT(InitParams, local_agent, 0);
AT(InitParams, type, 32);
AT(InitParams, custom, 64);
AT(InitParams, progress_thread, 72);
AT(InitParams, progress_delay_us, 80);
AT(InitParams, sync, 88);
AT(InitParams, telemetry, 92);

SIZE(Plugin, 56);
AT(Plugin, api, 0);
AT(Plugin, create_engine, 8);
AT(Plugin, destroy_engine, 16);
AT(Plugin, name, 24);
AT(Plugin, version, 32);
AT(Plugin, options, 40);
AT(Plugin, mems, 48);

struct EngineLayout {
    SIZE(BackendEngine, 208);
    AT(BackendEngine, type_, 8);
    AT(BackendEngine, custom_, 40);
    AT(BackendEngine, events_, 96);
    AT(BackendEngine, events_lock_, 120);
    AT(BackendEngine, init_err, 160);
    AT(BackendEngine, local_agent, 168);
    AT(BackendEngine, telemetry, 200);
};

} // namespace kvslot::nixl::abi
