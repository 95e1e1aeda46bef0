/* SPDX-License-Identifier: Apache-2.0 */
/* What the calls for one key register for themselves, where the store holds their memory when the time is up.
 */
#include "engine.h"
#include "engine_test.h"
#include "toy.h"

#include <semaphore.h>

static struct kvs_backend table;
static sem_t entered, may_go;

/* A store that sits on its READs and WRITEs. */
static void sit(void *eng, void *worker, const struct kvs_batch *batch, struct kvs_io *io)
{
    (void)eng;
    (void)worker;
    (void)io;
    if (batch->op >= KVS_QUERY)
        return;
    sem_post(&entered);
    while (sem_wait(&may_go) != 0)
        ;
}

static size_t registrations(kvs_engine *e)
{
    kvs_mutex_lock(&e->mem_lock);
    size_t n = e->mems.count;
    kvs_mutex_unlock(&e->mem_lock);
    return n;
}

/* How often the backend was told of one: '+', or of its end: '-'. */
static unsigned told(char sign)
{
    unsigned n = 0;
    pthread_mutex_lock(&toy.lock);
    for (const char *at = toy.log; *at; at++)
        n += *at == sign;
    pthread_mutex_unlock(&toy.lock);
    return n;
}

/* The registration is there as long as the store may use the memory, and no longer: not until the engine's
 * end. KVS-REQ-379 KVS-REQ-282 KVS-REQ-562 */
static void test_out_of_time(void **state)
{
    static char value[100];
    (void)state;
    toy_reset();
    table = toy_table("toy-registered");
    table.flags |= KVS_F_NEEDS_REGISTRATION;
    assert_int_equal(kvs_backend_register(&table, NULL), KVS_OK);
    sem_init(&entered, 0, 0);
    sem_init(&may_go, 0, 0);
    toy_set("k", 'v', 100);
    toy.before = sit;
    kvs_engine *e = open_engine("toy-registered:?timeout=20ms&cancel_grace=1ms");
    for (int put = 0; put < 2; put++) {
        bool inside = false;
        do { /* on a busy machine no worker may get to it in time, or one that has it is still on its way */
            void *data;
            uint64_t len;
            int rc = put ? kvs_put(e, "k", 1, value, sizeof value, NULL)
                         : kvs_get_alloc(e, "k", 1, 100, &data, &len, NULL);
            expect_rc(rc, KVS_TIMEOUT);
            eventually((inside = sem_trywait(&entered) == 0) ||
                       (registrations(e) == 0 && told('+') == told('-')));
        } while (!inside);
        assert_int_equal(registrations(e), 1);
        assert_int_equal(told('+') - told('-'), 1);
        sem_post(&may_go);
        eventually(registrations(e) == 0 && told('+') == told('-'));
    }
    assert_int_equal(kvs_engine_close(e, LONG, NULL), KVS_OK);
    sem_destroy(&entered);
    sem_destroy(&may_go);
    toy_reset();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_out_of_time)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
