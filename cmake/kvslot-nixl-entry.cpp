// SPDX-License-Identifier: Apache-2.0
// The entry of a NIXL plugin, compiled once for each by kvslot_add_nixl_plugin(): KVSLOT_NIXL_NAME is the
// plugin's name, KVSLOT_NIXL_BACKEND the backend's. Without the latter the parameter `backend` says what an
// engine opens.
#ifndef KVSLOT_NIXL_BACKEND
#define KVSLOT_NIXL_BACKEND nullptr
#endif

extern "C" void *kvslot_nixl_plugin(const char *name, const char *backend) noexcept; // of libkvslot-nixl.a

extern "C" __attribute__((visibility("default"))) void *nixl_plugin_init(void);
extern "C" __attribute__((visibility("default"))) void *nixl_plugin_init(void)
{
    return kvslot_nixl_plugin(KVSLOT_NIXL_NAME, KVSLOT_NIXL_BACKEND);
}

// Nothing to do: engines end with the host's destroy_engine, and the plugin stays loaded.
extern "C" __attribute__((visibility("default"))) void nixl_plugin_fini(void);
extern "C" __attribute__((visibility("default"))) void nixl_plugin_fini(void) {}
