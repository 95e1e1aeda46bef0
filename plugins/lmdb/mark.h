/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A mark beside the data file, for as long as some process has the environment open with sync=none: a small
 * file with the number of the machine's present start. One of an earlier start says that the machine went
 * down with pages that never reached the disk, so that the data file may have anything in it, and reading it
 * may end the process.
 */
#ifndef KVS_LMDB_MARK_H
#define KVS_LMDB_MARK_H

#include "env.h"

#define MARK_NAME "not-synced"

/* Looks at the mark before data.mdb is opened. With sync=none it makes the environment anew where it has to
 * be (*fd: the mark, which stands from then on); otherwise that is an error. */
int mark_open(const char *path, const struct env_config *config, int *fd, struct env_text *text);
/* Gives the mark back; `flushed`: all that was written has reached the disk. fd -1: there is none. */
void mark_close(const char *path, int fd, bool flushed);

#endif
