// SPDX-License-Identifier: Apache-2.0
#include "rules.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fnmatch.h>
#include <sstream>

namespace wds
{
namespace
{

bool whole_number(const std::string &text, int &out)
{
    char *end = nullptr;
    errno = 0;
    long value = std::strtol(text.c_str(), &end, 10);
    out = static_cast<int>(value);
    return !text.empty() && *end == '\0' && errno == 0 && value == out;
}

} // namespace

const Rules &Rules::get()
{
    // Never destroyed: threads of ours use it until the process is gone.
    static const Rules *rules = new Rules(std::getenv("WQSKV_EMULATOR"));
    return *rules;
}

Rules::Rules(const char *text)
{
    std::istringstream words(text ? text : "");
    for (std::string word; words >> word;) {
        if (read(word))
            continue;
        std::fprintf(stderr, "wds emulator: WQSKV_EMULATOR has '%s', which is no rule\n", word.c_str());
        bad_ = true;
    }
}

// ACTION[=NUMBER][@GLOB], or file=PATH
bool Rules::read(const std::string &word)
{
    static const std::array<const char *, 11> actions = {"refuse", "lie",   "code", "spoil", "twice", "again",
                                                         "inline", "early", "lose", "hold",  "delay"};
    if (word.rfind("file=", 0) == 0) {
        file_ = word.substr(5);
        return !file_.empty();
    }
    Rule rule = {0, word, "*", 0};
    if (std::size_t at = rule.action.find('@'); at != std::string::npos) {
        rule.glob = rule.action.substr(at + 1);
        rule.action.resize(at);
    }
    if (std::size_t at = rule.action.find('='); at != std::string::npos) {
        if (!whole_number(rule.action.substr(at + 1), rule.number))
            return false;
        rule.action.resize(at);
    }
    if (rule.action == "init" || rule.action == "init_hold") {
        init_rc_ = rule.action == "init" ? rule.number : init_rc_;
        init_holds_ = init_holds_ || rule.action == "init_hold";
        return true;
    }
    if (rule.action.rfind("put.", 0) == 0 || rule.action.rfind("get.", 0) == 0) {
        rule.op = rule.action[0];
        rule.action.erase(0, 4);
    }
    if (std::find(actions.begin(), actions.end(), rule.action) == actions.end())
        return false;
    rules_.push_back(rule);
    return true;
}

Plan Rules::plan(bool put, const std::string &key) const
{
    Plan plan;
    for (const Rule &rule : rules_) {
        if ((rule.op != 0 && (rule.op == 'p') != put) || fnmatch(rule.glob.c_str(), key.c_str(), 0) != 0)
            continue;
        if (rule.action == "refuse")
            plan.refuse = rule.number;
        else if (rule.action == "lie")
            plan.lie = rule.number;
        else if (rule.action == "code")
            plan.code = rule.number;
        else if (rule.action == "spoil")
            plan.spoil = rule.number;
        else if (rule.action == "twice")
            plan.twice = rule.number;
        else if (rule.action == "again")
            plan.again = rule.number;
        else if (rule.action == "delay")
            plan.delay_ms = rule.number;
        plan.at_once = plan.at_once || rule.action == "inline";
        plan.early = plan.early || rule.action == "early";
        plan.lose = plan.lose || rule.action == "lose";
        plan.hold = plan.hold || rule.action == "hold";
    }
    return plan;
}

} // namespace wds
