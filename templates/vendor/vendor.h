/* SPDX-License-Identifier: Apache-2.0 */
/* A stand-in for your vendor's library: C++, answers by calling back from a thread of its own, and uses
 * what it is given by reference until then. It keeps values in the memory of the process. Only shim.cpp
 * includes it, and you delete it, with vendor.cpp, once nothing calls it any more. */
#ifndef VENDOR_H
#define VENDOR_H

#include <cstdint>
#include <memory>
#include <string>
#include <sys/uio.h>
#include <vector>

namespace vendor
{

enum Error { OK = 0, NO_KEY = 17, NO_ROOM = 23, CLOSING = 42 };

using Callback = void (*)(int error, void *argument);
using Pieces = std::vector<iovec>;

/* Each call answers OK, and calls back once, or an error, and never does. key, pieces and size are in use
 * until it calls back. All clients of a process have the same values. */
class Client
{
  public:
    Client(); /* throws where no thread can be started */
    ~Client();
    int put(const std::string &key, const Pieces &from, Callback callback, void *argument);
    /* Copies nothing where the value has not just the size of the pieces. */
    int get(const std::string &key, const Pieces &to, std::uint64_t *size, Callback callback, void *argument);
    int stat(const std::string &key, std::uint64_t *size, Callback callback, void *argument);
    int remove(const std::string &key, Callback callback, void *argument);

  private:
    struct Impl;
    std::unique_ptr<Impl> impl;
};

} // namespace vendor

#endif
