/* SPDX-License-Identifier: Apache-2.0 */
/* A lock for many readers or one writer, who goes before readers that come later: std::shared_mutex lets
 * threads that poll without end keep a writer out. Not to be taken twice by one thread. */
#ifndef KVSLOT_NIXL_RWLOCK_H
#define KVSLOT_NIXL_RWLOCK_H

#include <pthread.h>

#include <system_error>

namespace kvslot::nixl
{

class RwLock
{
  public:
    RwLock()
    {
        pthread_rwlockattr_t attr;
        pthread_rwlockattr_init(&attr);
        pthread_rwlockattr_setkind_np(&attr, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
        int rc = pthread_rwlock_init(&lock_, &attr);
        pthread_rwlockattr_destroy(&attr);
        if (rc != 0)
            throw std::system_error(rc, std::generic_category(), "pthread_rwlock_init");
    }
    ~RwLock()
    {
        pthread_rwlock_destroy(&lock_);
    }
    RwLock(const RwLock &) = delete;
    RwLock &operator=(const RwLock &) = delete;

    /* As std::unique_lock and std::shared_lock call it. */
    void lock() noexcept
    {
        pthread_rwlock_wrlock(&lock_);
    }
    void lock_shared() noexcept
    {
        pthread_rwlock_rdlock(&lock_);
    }
    void unlock() noexcept
    {
        pthread_rwlock_unlock(&lock_);
    }
    void unlock_shared() noexcept
    {
        pthread_rwlock_unlock(&lock_);
    }

  private:
    pthread_rwlock_t lock_;
};

} // namespace kvslot::nixl

#endif
