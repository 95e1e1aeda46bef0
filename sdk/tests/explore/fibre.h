/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks that take turns, on one real thread. */
#ifndef KVS_TESTS_EXPLORE_FIBRE_H
#define KVS_TESTS_EXPLORE_FIBRE_H

struct fibre;

/* Ready to run main(arg), which does not return; a fibre of an earlier run may be given again. */
struct fibre *fibre_start(int number, void (*main)(void *arg), void *arg);
/* NULL: the program's own stack. From one that ends there is no way back. */
void fibre_switch(struct fibre *from, struct fibre *to);
void fibre_end(struct fibre *from, struct fibre *to);

#endif
