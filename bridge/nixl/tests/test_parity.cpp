/* SPDX-License-Identifier: Apache-2.0 */
/* abi.h against NIXL's own headers, where -DNIXL_INCLUDE_DIR names them: sizes, offsets, numbers, and the
 * order of the virtual functions. */
#include "abi.h"
#include "slots.h"

#include <backend/backend_engine.h>
#include <backend/backend_plugin.h>

#include <cstdio>

namespace ours = kvslot::nixl::abi;

#pragma GCC diagnostic ignored "-Winvalid-offsetof"

#define SAME_SIZE(mine, theirs) static_assert(sizeof(ours::mine) == sizeof(theirs), #theirs)
#define SAME_PLACE(mine, member, theirs, other)                                                              \
    static_assert(offsetof(ours::mine, member) == offsetof(theirs, other), #theirs "." #other)
#define SAME_NUMBER(mine, theirs)                                                                            \
    static_assert(static_cast<int>(ours::mine) == static_cast<int>(theirs), #theirs)

static_assert(ours::plugin_api == NIXL_PLUGIN_API_VERSION);

SAME_NUMBER(mem_dram, DRAM_SEG);
SAME_NUMBER(mem_vram, VRAM_SEG);
SAME_NUMBER(mem_block, BLK_SEG);
SAME_NUMBER(mem_object, OBJ_SEG);
SAME_NUMBER(mem_file, FILE_SEG);
SAME_NUMBER(op_read, NIXL_READ);
SAME_NUMBER(op_write, NIXL_WRITE);
SAME_NUMBER(in_prog, NIXL_IN_PROG);
SAME_NUMBER(success, NIXL_SUCCESS);
SAME_NUMBER(not_posted, NIXL_ERR_NOT_POSTED);
SAME_NUMBER(invalid_param, NIXL_ERR_INVALID_PARAM);
SAME_NUMBER(backend_failed, NIXL_ERR_BACKEND);
SAME_NUMBER(not_found, NIXL_ERR_NOT_FOUND);
SAME_NUMBER(mismatch, NIXL_ERR_MISMATCH);
SAME_NUMBER(not_allowed, NIXL_ERR_NOT_ALLOWED);
SAME_NUMBER(repost_active, NIXL_ERR_REPOST_ACTIVE);
SAME_NUMBER(unknown, NIXL_ERR_UNKNOWN);
SAME_NUMBER(not_supported, NIXL_ERR_NOT_SUPPORTED);
SAME_NUMBER(remote_disconnect, NIXL_ERR_REMOTE_DISCONNECT);
SAME_NUMBER(canceled, NIXL_ERR_CANCELED);
SAME_NUMBER(no_telemetry, NIXL_ERR_NO_TELEMETRY);
SAME_NUMBER(CostMethod::by_backend, nixl_cost_t::ANALYTICAL_BACKEND);

SAME_SIZE(MemType, nixl_mem_t);
SAME_SIZE(XferOp, nixl_xfer_op_t);
SAME_SIZE(Status, nixl_status_t);
SAME_SIZE(CostMethod, nixl_cost_t);
SAME_SIZE(SyncMode, nixl_thread_sync_t);
SAME_SIZE(Params, nixl_b_params_t);
SAME_SIZE(MemList, nixl_mem_list_t);
SAME_SIZE(QueryAnswer, nixl_query_resp_t);
SAME_SIZE(Notifs, notif_list_t);
SAME_SIZE(MemView, nixlMemViewH);

SAME_SIZE(BasicDesc, nixlBasicDesc);
SAME_PLACE(BasicDesc, addr, nixlBasicDesc, addr);
SAME_PLACE(BasicDesc, len, nixlBasicDesc, len);
SAME_PLACE(BasicDesc, dev_id, nixlBasicDesc, devId);
SAME_SIZE(BlobDesc, nixlBlobDesc);
SAME_PLACE(BlobDesc, meta_info, nixlBlobDesc, metaInfo);
SAME_SIZE(MetaDesc, nixlMetaDesc);
SAME_PLACE(MetaDesc, md, nixlMetaDesc, metadataP);
SAME_SIZE(MetaList, nixl_meta_dlist_t);
SAME_SIZE(RegList, nixl_reg_dlist_t);
SAME_SIZE(BackendMD, nixlBackendMD);
SAME_SIZE(BackendReq, nixlBackendReqH);

SAME_SIZE(OptArgs, nixlBackendOptionalArgs);
SAME_PLACE(OptArgs, notif, nixlBackendOptionalArgs, notifMsg);
SAME_PLACE(OptArgs, has_notif, nixlBackendOptionalArgs, hasNotif);
SAME_PLACE(OptArgs, custom, nixlBackendOptionalArgs, customParam);

SAME_PLACE(InitParams, local_agent, nixlBackendInitParams, localAgent);
SAME_PLACE(InitParams, type, nixlBackendInitParams, type);
SAME_PLACE(InitParams, custom, nixlBackendInitParams, customParams);
SAME_PLACE(InitParams, progress_thread, nixlBackendInitParams, enableProgTh);
SAME_PLACE(InitParams, progress_delay_us, nixlBackendInitParams, pthrDelay);
SAME_PLACE(InitParams, sync, nixlBackendInitParams, syncMode);
SAME_PLACE(InitParams, telemetry, nixlBackendInitParams, enableTelemetry_);

SAME_SIZE(Plugin, nixlBackendPlugin);
SAME_PLACE(Plugin, api, nixlBackendPlugin, api_version);
SAME_PLACE(Plugin, create_engine, nixlBackendPlugin, create_engine);
SAME_PLACE(Plugin, destroy_engine, nixlBackendPlugin, destroy_engine);
SAME_PLACE(Plugin, name, nixlBackendPlugin, get_plugin_name);
SAME_PLACE(Plugin, version, nixlBackendPlugin, get_plugin_version);
SAME_PLACE(Plugin, options, nixlBackendPlugin, get_backend_options);
SAME_PLACE(Plugin, mems, nixlBackendPlugin, get_backend_mems);

SAME_SIZE(BackendEngine, nixlBackendEngine);

static int differences;

static void same_slot(const char *name, long mine, long theirs)
{
    if (mine == theirs)
        return;
    std::printf("%s: place %ld here, %ld in NIXL\n", name, mine, theirs);
    differences++;
}

#define SAME_SLOT(name) same_slot(#name, slot(&ours::BackendEngine::name), slot(&nixlBackendEngine::name))

int main()
{
    SAME_SLOT(supportsRemote);
    SAME_SLOT(supportsLocal);
    SAME_SLOT(supportsNotif);
    SAME_SLOT(getSupportedMems);
    SAME_SLOT(registerMem);
    SAME_SLOT(deregisterMem);
    SAME_SLOT(connect);
    SAME_SLOT(disconnect);
    SAME_SLOT(unloadMD);
    SAME_SLOT(prepXfer);
    SAME_SLOT(postXfer);
    SAME_SLOT(checkXfer);
    SAME_SLOT(releaseReqH);
    SAME_SLOT(releaseMemView);
    SAME_SLOT(getPublicData);
    SAME_SLOT(getConnInfo);
    SAME_SLOT(loadRemoteConnInfo);
    SAME_SLOT(loadRemoteMD);
    SAME_SLOT(loadLocalMD);
    SAME_SLOT(getNotifs);
    SAME_SLOT(genNotif);
    SAME_SLOT(queryMem);
    SAME_SLOT(estimateXferCost);
    return differences ? 1 : 0;
}
