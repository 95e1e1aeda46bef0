/* SPDX-License-Identifier: Apache-2.0 */
/* Rooms: where a prefill and its decode meet. No two may ever be the same. */
#ifndef KVS_CONNECTOR_ROOM_H
#define KVS_CONNECTOR_ROOM_H

#include <kvslot/kvslot.h>
#include <stdbool.h>

#define KVS_ROOM_SIZE 40

/* Writes a fresh random UUID (version 4), or with `number` a number in [0, 2^63) in decimal; ends in NUL. */
int kvs_room_make(char room[KVS_ROOM_SIZE], bool number, struct kvs_error *err);

#endif
