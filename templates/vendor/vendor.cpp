/* SPDX-License-Identifier: Apache-2.0 */
#include "vendor.h"

#include <condition_variable>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <new>
#include <thread>

namespace vendor
{
namespace
{

/* Never destroyed: other clients may outlive the end of main. */
struct Values {
    std::mutex lock; /* guards bytes */
    std::map<std::string, std::string> bytes;
};

Values &values()
{
    static Values *all = new Values;
    return *all;
}

std::size_t size_of(const Pieces &pieces)
{
    std::size_t size = 0;
    for (const iovec &piece : pieces)
        size += piece.iov_len;
    return size;
}

int do_put(const std::string &key, const Pieces &from)
{
    std::string value;
    value.reserve(size_of(from));
    for (const iovec &piece : from)
        value.append(static_cast<const char *>(piece.iov_base), piece.iov_len);
    std::lock_guard<std::mutex> guard(values().lock);
    values().bytes[key].swap(value);
    return OK;
}

int do_get(const std::string &key, const Pieces *to, std::uint64_t *size)
{
    std::lock_guard<std::mutex> guard(values().lock);
    auto found = values().bytes.find(key);
    if (found == values().bytes.end())
        return NO_KEY;
    *size = found->second.size();
    if (!to || size_of(*to) != *size)
        return OK;
    const char *at = found->second.data();
    for (const iovec &piece : *to) {
        std::memcpy(piece.iov_base, at, piece.iov_len);
        at += piece.iov_len;
    }
    return OK;
}

int do_remove(const std::string &key)
{
    std::lock_guard<std::mutex> guard(values().lock);
    return values().bytes.erase(key) > 0 ? OK : NO_KEY;
}

} // namespace

struct Client::Impl {
    struct Request {
        std::function<int()> work;
        Callback callback;
        void *argument;
    };
    std::mutex lock; /* guards requests and closing */
    std::condition_variable more;
    std::deque<Request> requests;
    bool closing = false;
    std::thread thread;

    int take(std::function<int()> work, Callback callback, void *argument)
    {
        std::lock_guard<std::mutex> guard(lock);
        if (closing)
            return CLOSING;
        requests.push_back({std::move(work), callback, argument});
        more.notify_one();
        return OK;
    }

    void run()
    {
        for (;;) {
            std::unique_lock<std::mutex> guard(lock);
            more.wait(guard, [this] { return closing || !requests.empty(); });
            if (requests.empty())
                return;
            Request request = std::move(requests.front());
            requests.pop_front();
            guard.unlock();
            int error;
            try {
                error = request.work();
            } catch (const std::bad_alloc &) {
                error = NO_ROOM;
            }
            request.callback(error, request.argument);
        }
    }
};

Client::Client() : impl(new Impl)
{
    impl->thread = std::thread([this] { impl->run(); });
}

Client::~Client()
{
    {
        std::lock_guard<std::mutex> guard(impl->lock);
        impl->closing = true;
        impl->more.notify_one();
    }
    impl->thread.join();
}

int Client::put(const std::string &key, const Pieces &from, Callback callback, void *argument)
{
    return impl->take([&key, &from] { return do_put(key, from); }, callback, argument);
}

int Client::get(const std::string &key, const Pieces &to, std::uint64_t *size, Callback callback,
                void *argument)
{
    return impl->take([&key, &to, size] { return do_get(key, &to, size); }, callback, argument);
}

int Client::stat(const std::string &key, std::uint64_t *size, Callback callback, void *argument)
{
    return impl->take([&key, size] { return do_get(key, nullptr, size); }, callback, argument);
}

int Client::remove(const std::string &key, Callback callback, void *argument)
{
    return impl->take([&key] { return do_remove(key); }, callback, argument);
}

} // namespace vendor
