// SPDX-License-Identifier: Apache-2.0
// The calls of the library, and its threads.
#include "control.h"
#include "kv_interface.h"
#include "rules.h"
#include "store.h"

#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <pthread.h>
#include <sched.h>
#include <thread>

namespace
{

// Key and iov by reference, as the real library has them: what a caller frees too early shows.
struct Request {
    bool put;
    const std::string &key;
    const std::vector<iovec> &iov;
    std::size_t len;
    KVCacheCallback cb;
    void *arg;
    wds::Plan plan;
    std::promise<void> *done; // of a caller that waits; or null
};

struct Library;

struct Worker {
    Library *library;
    std::mutex lock; // guards requests
    std::condition_variable more;
    std::deque<Request> requests;
};

// Never destroyed: the threads run until the process is gone, as the real library's do.
struct Library {
    KVCacheOptions options;
    wds::Store store;
    std::vector<std::unique_ptr<Worker>> workers; // made by init, before any request
    std::atomic<unsigned> next{0};
    std::atomic<std::size_t> taken{0};
    std::mutex lock; // guards the two below
    std::deque<Request> held;
    std::deque<std::function<void()>> calls;
};

std::atomic<bool> initialised{false};
std::atomic<Library *> library{nullptr};

// What an init that is held waits for; never destroyed, since it may wait until the process is gone.
std::promise<void> &init_held()
{
    static auto *held = new std::promise<void>;
    return *held;
}

std::string gather(const std::vector<iovec> &iov)
{
    std::string value;
    for (const iovec &piece : iov)
        value.append(static_cast<const char *>(piece.iov_base), piece.iov_len);
    return value;
}

// As much as fits: the library does not tell that a value was longer or shorter.
void scatter(const std::vector<iovec> &iov, const std::string &value, std::size_t len)
{
    std::size_t left = std::min(len, value.size()), at = 0;
    for (const iovec &piece : iov) {
        std::size_t n = std::min(left, piece.iov_len);
        if (n > 0)
            std::memcpy(piece.iov_base, value.data() + at, n);
        at += n;
        left -= n;
    }
}

int carry_out(Library &lib, const Request &r)
{
    if (r.plan.code)
        return *r.plan.code;
    if (r.plan.spoil) {
        if (!r.put)
            scatter(r.iov, std::string(r.len, '\xee'), r.len);
        return *r.plan.spoil;
    }
    if (r.put)
        return lib.store.put(r.key, gather(r.iov));
    std::string value;
    int rc = lib.store.get(r.key, value);
    if (rc == 0)
        scatter(r.iov, value, r.len);
    return rc;
}

// Nothing of the caller's is touched after the call back.
std::size_t finish(Library &lib, const Request &request)
{
    Request r = request;
    if (r.plan.delay_ms > 0)
        std::this_thread::sleep_for(std::chrono::milliseconds(r.plan.delay_ms));
    int rc = carry_out(lib, r);
    if (lib.options.debug_log)
        std::fprintf(stderr, "wds emulator: %s of %zu bytes: %d\n", r.put ? "put" : "get", r.key.size(), rc);
    if (r.plan.lose)
        return 0;
    r.cb(rc, r.arg);
    if (r.plan.twice)
        r.cb(*r.plan.twice, r.arg);
    if (r.plan.again) {
        std::lock_guard<std::mutex> guard(lib.lock);
        lib.calls.push_back([cb = r.cb, arg = r.arg, code = *r.plan.again] { cb(code, arg); });
    }
    return 1;
}

void run(Library &lib, Worker &own)
{
    bool poll = lib.options.thread_mode == KVCACHE_THREAD_POLL;
    for (;;) {
        std::unique_lock<std::mutex> guard(own.lock);
        if (own.requests.empty() && poll) {
            guard.unlock();
            std::this_thread::sleep_for(std::chrono::microseconds(50));
            continue;
        }
        own.more.wait(guard, [&] { return !own.requests.empty(); });
        Request r = own.requests.front();
        own.requests.pop_front();
        guard.unlock();
        finish(lib, r);
        if (r.done)
            r.done->set_value();
    }
}

void *run_worker(void *arg)
{
    auto *worker = static_cast<Worker *>(arg);
    run(*worker->library, *worker);
    return nullptr;
}

void give(Library &lib, const Request &r)
{
    std::size_t n = lib.workers.size();
    std::size_t which = lib.options.use_round_robin ? lib.next++ : std::hash<std::string>()(r.key);
    Worker &worker = *lib.workers[which % n];
    std::lock_guard<std::mutex> guard(worker.lock);
    worker.requests.push_back(r);
    worker.more.notify_one();
}

int take(bool put, const std::string &key, const std::vector<iovec> &iov, std::size_t len, KVCacheCallback cb,
         void *arg)
{
    Library *lib = library.load();
    if (!lib || !cb)
        return -EINVAL;
    Request r = {put, key, iov, len, cb, arg, wds::Rules::get().plan(put, key), nullptr};
    if (r.plan.refuse)
        return *r.plan.refuse;
    if (r.plan.lie) {
        cb(0, arg);
        return *r.plan.lie;
    }
    lib->taken++;
    if (r.plan.hold) {
        std::lock_guard<std::mutex> guard(lib->lock);
        lib->held.push_back(r);
    } else if (r.plan.at_once) {
        finish(*lib, r);
    } else if (r.plan.early) {
        std::promise<void> done;
        r.done = &done;
        give(*lib, r);
        done.get_future().wait();
    } else {
        give(*lib, r);
    }
    return 0;
}

// The program's signals are not for our threads; each is bound to one of the processors that were named.
bool start_all(Library &lib)
{
    bool ok = true;
    for (int i = 0; i < lib.options.thread_num && ok; i++) {
        Worker &worker = *lib.workers.emplace_back(std::make_unique<Worker>());
        worker.library = &lib;
        pthread_t
            thread; // std::thread would leave its state behind in a forked child, which leak checkers tell
        if (pthread_create(&thread, nullptr, run_worker, &worker) != 0)
            return false;
        if (const auto &cpus = lib.options.bind_cpus; !cpus.empty()) {
            cpu_set_t set;
            CPU_ZERO(&set);
            CPU_SET(static_cast<std::size_t>(cpus[static_cast<std::size_t>(i) % cpus.size()]), &set);
            ok = pthread_setaffinity_np(thread, sizeof set, &set) == 0;
        }
        pthread_detach(thread);
    }
    return ok;
}

bool start(Library &lib)
{
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    bool ok = start_all(lib);
    pthread_sigmask(SIG_SETMASK, &old, nullptr);
    return ok;
}

} // namespace

int wds_kvcache_init(KVCacheOptions options)
{
    const wds::Rules &rules = wds::Rules::get();
    if (initialised.exchange(true))
        return -EALREADY;
    if (rules.init_holds())
        init_held().get_future().wait();
    if (rules.bad() || options.thread_num < 1 || options.thread_num > 1024)
        return -EINVAL;
    if (rules.init_rc() != 0)
        return rules.init_rc();
    auto *lib = new Library;
    lib->options = std::move(options);
    int rc = lib->store.open(rules.file(), lib->options.poolid, std::uint64_t{lib->options.mem_size} << 20);
    if (rc == 0 && !start(*lib))
        rc = -EINVAL;
    if (rc == 0)
        library = lib;
    return rc;
}

int wds_kvcache_put(const std::string &key, const std::vector<iovec> &iov, KVCacheCallback cb, void *arg)
{
    return take(true, key, iov, 0, cb, arg);
}

int wds_kvcache_get_vec(const std::string &key, const std::vector<iovec> &iov, std::size_t len,
                        KVCacheCallback cb, void *arg)
{
    return take(false, key, iov, len, cb, arg);
}

unsigned wds_emulator_kind(void)
{
    return 1u | (wds::Rules::get().file().empty() ? 0 : WDS_EMULATOR_SHARED);
}

std::size_t wds_emulator_let_go(void)
{
    static std::once_flag once;
    std::call_once(once, [] { init_held().set_value(); });
    Library *lib = library.load();
    if (!lib)
        return 0;
    std::unique_lock<std::mutex> guard(lib->lock);
    std::deque<Request> held = std::move(lib->held);
    std::deque<std::function<void()>> calls = std::move(lib->calls);
    lib->held.clear();
    lib->calls.clear();
    guard.unlock();
    std::size_t n = calls.size();
    for (const auto &call : calls)
        call();
    for (const Request &r : held)
        n += finish(*lib, r);
    return n;
}

std::size_t wds_emulator_kept(void)
{
    Library *lib = library.load();
    if (!lib)
        return 0;
    std::lock_guard<std::mutex> guard(lib->lock);
    return lib->held.size() + lib->calls.size();
}

std::size_t wds_emulator_taken(void)
{
    Library *lib = library.load();
    return lib ? lib->taken.load() : 0;
}
