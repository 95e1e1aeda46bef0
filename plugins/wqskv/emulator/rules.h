// SPDX-License-Identifier: Apache-2.0
// What the emulator does out of the ordinary, from the environment variable WQSKV_EMULATOR (see
// ../README.md).
#ifndef WDS_EMULATOR_RULES_H
#define WDS_EMULATOR_RULES_H

#include <optional>
#include <string>
#include <vector>

namespace wds
{

// What becomes of one request.
struct Plan {
    std::optional<int> refuse; // the call answers this, and nothing is done
    std::optional<int> lie;    // the same, and it calls back all the same
    std::optional<int> code;   // nothing is done, and this is how it ends
    std::optional<int> spoil;  // get: rubbish in the buffer, and this is how it ends
    std::optional<int> twice;  // a second call at once, with this
    std::optional<int> again;  // a second call when let go, with this
    bool at_once = false;      // done by the calling thread, inside the call
    bool early = false;        // done by a thread of ours, and the call waits for it
    bool lose = false;         // done, and never called back
    bool hold = false;         // done when let go
    int delay_ms = 0;
};

class Rules
{
  public:
    // Of the environment; read once a process. What is no rule is told on standard error.
    static const Rules &get();
    Plan plan(bool put, const std::string &key) const;
    const std::string &file() const
    {
        return file_;
    }
    bool bad() const
    {
        return bad_;
    }
    int init_rc() const
    {
        return init_rc_;
    }
    bool init_holds() const
    {
        return init_holds_;
    }

  private:
    struct Rule {
        char op; // 'p', 'g', or 0 for both
        std::string action, glob;
        int number;
    };
    explicit Rules(const char *text);
    bool read(const std::string &word);

    std::vector<Rule> rules_;
    std::string file_;
    int init_rc_ = 0;
    bool init_holds_ = false, bad_ = false;
};

} // namespace wds

#endif
