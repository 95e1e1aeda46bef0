/* SPDX-License-Identifier: Apache-2.0 */
/* What the emulator has and the real library does not: a sign that it is one, and what tests steer it with.
 */
#ifndef WDS_EMULATOR_CONTROL_H
#define WDS_EMULATOR_CONTROL_H

#include <stddef.h>

#define WDS_EMULATOR_SHARED 2u /* its values are in a file: other processes see them, and they stay */

#ifdef __cplusplus
extern "C" {
#endif

/* Never 0; with WDS_EMULATOR_SHARED where that is so. */
__attribute__((visibility("default"))) unsigned wds_emulator_kind(void);
/* Carries out on this thread what the rules hold and again have kept back, calls back, and answers how many
 * calls. */
__attribute__((visibility("default"))) size_t wds_emulator_let_go(void);
/* How many requests and second calls are kept back. */
__attribute__((visibility("default"))) size_t wds_emulator_kept(void);
/* How many requests were ever taken: put and get that answered 0. */
__attribute__((visibility("default"))) size_t wds_emulator_taken(void);

#ifdef __cplusplus
}
#endif

#endif
