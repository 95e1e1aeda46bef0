/* SPDX-License-Identifier: Apache-2.0 */
#include "list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Keys are copied out a page at a time: a transaction that stayed open while the caller looks at them would
 * keep the map from growing and old values from being freed. A key that comes or goes between two pages may
 * be seen or not. */
#define PAGE_KEYS 256
#define KEY_ROOM  512

struct page {
    size_t count;
    struct {
        uint64_t size;
        size_t len;
        unsigned char key[KEY_ROOM];
    } keys[PAGE_KEYS];
};

/* Puts the cursor on the first key of the next page: behind the last key of this one, or at the prefix. */
static int start(MDB_cursor *cursor, const struct page *page, const struct list_request *request,
                 MDB_val *key, MDB_val *value)
{
    unsigned char from[KEY_ROOM];
    size_t len = request->len;
    if (page->count != 0) {
        len = page->keys[page->count - 1].len;
        memcpy(from, page->keys[page->count - 1].key, len);
    } else if (len != 0) {
        memcpy(from, request->prefix, len);
    } else {
        return mdb_cursor_get(cursor, key, value, MDB_FIRST);
    }
    *key = (MDB_val){.mv_size = len, .mv_data = from};
    int rc = mdb_cursor_get(cursor, key, value, MDB_SET_RANGE);
    if (rc == 0 && page->count != 0 && key->mv_size == len && memcmp(key->mv_data, from, len) == 0)
        rc = mdb_cursor_get(cursor, key, value, MDB_NEXT);
    return rc;
}

/* Fills the page with the keys that follow what is in it. Empty: there are no more. */
static int next_page(struct env *env, const struct env_db *db, const struct list_request *request,
                     struct page *page)
{
    MDB_txn *txn;
    MDB_cursor *cursor;
    MDB_val key, value;
    int rc = txn_begin_read(env, &txn);
    if (rc != 0)
        return rc;
    rc = mdb_cursor_open(txn, db->dbi, &cursor);
    if (rc != 0) {
        txn_end_read(env, txn);
        return rc;
    }
    rc = start(cursor, page, request, &key, &value);
    page->count = 0;
    while (rc == 0 && page->count < PAGE_KEYS) {
        bool match = key.mv_size >= request->len &&
                     (request->len == 0 || memcmp(key.mv_data, request->prefix, request->len) == 0);
        if (!match || key.mv_size > KEY_ROOM)
            break; /* keys are in order: no further one has the prefix */
        page->keys[page->count].size = value.mv_size;
        page->keys[page->count].len = key.mv_size;
        memcpy(page->keys[page->count].key, key.mv_data, key.mv_size);
        page->count++;
        rc = mdb_cursor_get(cursor, &key, &value, MDB_NEXT);
    }
    mdb_cursor_close(cursor);
    txn_end_read(env, txn);
    return rc == MDB_NOTFOUND ? 0 : rc;
}

static int show_page(const struct page *page, const struct list_request *request)
{
    for (size_t i = 0; i < page->count; i++) {
        if (request->deadline_ns != 0 && request->now_ns() >= request->deadline_ns)
            return KVS_TIMEOUT;
        int answer = request->each(request->arg, page->keys[i].key, page->keys[i].len, page->keys[i].size);
        if (answer != 0)
            return answer;
    }
    return KVS_OK;
}

int list_keys(struct env *env, const struct env_db *db, const struct list_request *request, int *result)
{
    *result = KVS_OK;
    if (request->len >= KEY_ROOM)
        return 0; /* no key is as long as that */
    struct page *page = malloc(sizeof(*page));
    if (page == NULL)
        return ENOMEM;
    page->count = 0;
    int rc;
    do {
        rc = next_page(env, db, request, page);
        if (rc == 0)
            *result = show_page(page, request);
    } while (rc == 0 && *result == KVS_OK && page->count == PAGE_KEYS);
    free(page);
    return rc;
}
