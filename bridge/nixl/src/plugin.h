/* SPDX-License-Identifier: Apache-2.0 */
/* What a plugin's entry, which is compiled for each plugin, needs of the adapter. */
#ifndef KVSLOT_NIXL_PLUGIN_H
#define KVSLOT_NIXL_PLUGIN_H

/* What nixl_plugin_init() answers; it lives as long as the process. `name` and `backend` have to as well. A
 * NULL backend: the parameter `backend` says what an engine opens. */
extern "C" void *kvslot_nixl_plugin(const char *name, const char *backend) noexcept;

#endif
