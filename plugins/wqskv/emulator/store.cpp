// SPDX-License-Identifier: Apache-2.0
#include "store.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace wds
{
namespace
{

constexpr std::uint64_t whole = 0x7764732d656d7531; // in a record that was written to its end

struct Header {
    std::uint64_t magic, len;
    std::uint32_t pool, key_len;
};

int write_all(int fd, const void *data, std::size_t len, std::uint64_t at)
{
    const char *from = static_cast<const char *>(data);
    while (len > 0) {
        ssize_t n = pwrite(fd, from, len, static_cast<off_t>(at));
        if (n < 0 && errno != EINTR)
            return -errno;
        n = n < 0 ? 0 : n;
        from += n;
        at += static_cast<std::uint64_t>(n);
        len -= static_cast<std::size_t>(n);
    }
    return 0;
}

// 1: all of it; 0: the file is shorter
int read_all(int fd, void *data, std::size_t len, std::uint64_t at)
{
    char *to = static_cast<char *>(data);
    while (len > 0) {
        ssize_t n = pread(fd, to, len, static_cast<off_t>(at));
        if (n == 0)
            return 0;
        if (n < 0 && errno != EINTR)
            return -errno;
        n = n < 0 ? 0 : n;
        to += n;
        at += static_cast<std::uint64_t>(n);
        len -= static_cast<std::size_t>(n);
    }
    return 1;
}

// Between processes; threads have the store's mutex.
class FileLock
{
  public:
    FileLock(int fd, int how) : fd_(fd)
    {
        while (fd_ >= 0 && flock(fd_, how) != 0 && errno == EINTR)
            ;
    }
    FileLock(const FileLock &) = delete;
    FileLock &operator=(const FileLock &) = delete;
    ~FileLock()
    {
        if (fd_ >= 0)
            flock(fd_, LOCK_UN);
    }

  private:
    int fd_;
};

} // namespace

int Store::open(const std::string &file, unsigned pool, std::uint64_t limit)
{
    std::lock_guard<std::mutex> guard(lock_);
    pool_ = pool;
    limit_ = limit;
    if (file.empty())
        return 0;
    fd_ = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    return fd_ < 0 ? -errno : 0;
}

// Takes in what other processes have appended. The file is locked, so that nobody changes it meanwhile.
int Store::catch_up()
{
    struct stat st;
    if (fstat(fd_, &st) != 0)
        return -errno;
    std::uint64_t size = static_cast<std::uint64_t>(st.st_size);
    if (size <= end_)
        return 0;
    void *map = mmap(nullptr, size, PROT_READ, MAP_SHARED, fd_, 0);
    if (map == MAP_FAILED)
        return -errno;
    const char *from = static_cast<const char *>(map);
    Header header;
    while (size - end_ >= sizeof header) {
        std::memcpy(&header, from + end_, sizeof header);
        std::uint64_t at = end_ + sizeof header + header.key_len;
        if (header.magic != whole || at > size || header.len > size - at)
            break;
        std::string key(from + end_ + sizeof header, header.key_len);
        values_[{header.pool, std::move(key)}] = Value{nullptr, at, header.len};
        bytes_ += header.len;
        end_ = at + header.len;
    }
    munmap(map, size);
    return 0;
}

// A record that a process did not write to its end lacks its magic, and is written over.
int Store::append(const Key &key, const std::string &value)
{
    Header header = {0, value.size(), key.first, static_cast<std::uint32_t>(key.second.size())};
    std::uint64_t at = end_ + sizeof header + key.second.size();
    int rc = write_all(fd_, &header, sizeof header, end_);
    if (rc == 0)
        rc = write_all(fd_, key.second.data(), key.second.size(), end_ + sizeof header);
    if (rc == 0)
        rc = write_all(fd_, value.data(), value.size(), at);
    if (rc == 0 && ftruncate(fd_, static_cast<off_t>(at + value.size())) != 0)
        rc = -errno;
    header.magic = whole;
    if (rc == 0)
        rc = write_all(fd_, &header, sizeof header, end_);
    if (rc != 0)
        return rc;
    values_[key] = Value{nullptr, at, value.size()};
    end_ = at + value.size();
    return 0;
}

int Store::put_locked(const Key &key, std::string &value)
{
    if (values_.count(key) != 0)
        return -EEXIST;
    if (value.size() > limit_ - (bytes_ < limit_ ? bytes_ : limit_))
        return -ENOSPC;
    std::uint64_t len = value.size();
    if (fd_ >= 0) {
        int rc = append(key, value);
        if (rc != 0)
            return rc;
    } else {
        values_[key] = Value{std::make_shared<const std::string>(std::move(value)), 0, len};
    }
    bytes_ += len;
    return 0;
}

int Store::put(const std::string &key, std::string value)
{
    std::lock_guard<std::mutex> guard(lock_);
    FileLock file(fd_, LOCK_EX);
    int rc = fd_ >= 0 ? catch_up() : 0;
    return rc != 0 ? rc : put_locked({pool_, key}, value);
}

int Store::get(const std::string &key, std::string &value)
{
    std::shared_ptr<const std::string> bytes;
    {
        std::lock_guard<std::mutex> guard(lock_);
        FileLock file(fd_, LOCK_SH);
        int rc = fd_ >= 0 ? catch_up() : 0;
        if (rc != 0)
            return rc;
        auto found = values_.find({pool_, key});
        if (found == values_.end())
            return -ENOENT;
        bytes = found->second.bytes;
        if (!bytes) {
            value.resize(found->second.len);
            rc = read_all(fd_, value.data(), value.size(), found->second.at);
            return rc < 0 ? rc : rc == 0 ? -EIO : 0;
        }
    }
    value = *bytes;
    return 0;
}

} // namespace wds
