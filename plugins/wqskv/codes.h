/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KVS_WQSKV_CODES_H
#define KVS_WQSKV_CODES_H

/* The status that a number of the library's stands for. */
int wqskv_status(int rc);

#endif
