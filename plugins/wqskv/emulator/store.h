// SPDX-License-Identifier: Apache-2.0
// The emulator's values: write once, pools kept apart, in memory or in a file that processes share.
#ifndef WDS_EMULATOR_STORE_H
#define WDS_EMULATOR_STORE_H

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace wds
{

class Store
{
  public:
    // 0 or a negative errno. limit: bytes of all values.
    int open(const std::string &file, unsigned pool, std::uint64_t limit);
    int put(const std::string &key, std::string value);
    int get(const std::string &key, std::string &value);

  private:
    using Key = std::pair<unsigned, std::string>;
    // In memory: the value. In the file: where it is.
    struct Value {
        std::shared_ptr<const std::string> bytes;
        std::uint64_t at = 0, len = 0;
    };
    int put_locked(const Key &key, std::string &value);
    int append(const Key &key, const std::string &value);
    int catch_up();

    std::mutex lock_; // guards all below
    std::map<Key, Value> values_;
    std::uint64_t bytes_ = 0, limit_ = 0;
    std::uint64_t end_ = 0; // of the records that were read
    unsigned pool_ = 0;
    int fd_ = -1;
};

} // namespace wds

#endif
