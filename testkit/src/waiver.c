/* SPDX-License-Identifier: Apache-2.0 */
#include "waiver.h"
#include "registry.h"
#include "say.h"
#include <stdio.h>
#include <time.h>

/* "2027-06-30", and a day that the calendar has. */
static bool is_date(const char *text)
{
    int year, month, day, end = 0;
    if (strlen(text) != 10 || sscanf(text, "%4d-%2d-%2d%n", &year, &month, &day, &end) != 3 || end != 10)
        return false;
    struct tm tm = {.tm_year = year - 1900, .tm_mon = month - 1, .tm_mday = day, .tm_hour = 12};
    time_t t = timegm(&tm);
    return t != (time_t)-1 && tm.tm_year == year - 1900 && tm.tm_mon == month - 1 && tm.tm_mday == day;
}

int waivers_check(const struct kvs_conform_waiver *waivers, size_t n, struct kvs_error *err)
{
    for (size_t i = 0; i < n; i++) {
        const struct kvs_conform_waiver *w = &waivers[i];
        if (!w->id || !registry_find(w->id))
            return say(err, KVS_INVALID_PARAM, "waiver %zu is for '%s', which is no case; the nearest is %s",
                       i, w->id ? w->id : "", registry_nearest(w->id ? w->id : ""));
        if (!w->reason || !w->reason[0])
            return say(err, KVS_INVALID_PARAM, "the waiver of %s gives no reason", w->id);
        if (!w->expires || !is_date(w->expires))
            return say(err, KVS_INVALID_PARAM,
                       "the waiver of %s expires on '%s', which is no date like 2027-06-30", w->id,
                       w->expires ? w->expires : "");
    }
    return KVS_OK;
}

bool waiver_expired(const struct kvs_conform_waiver *w)
{
    char today[16];
    struct tm tm;
    time_t now = time(NULL);
    strftime(today, sizeof(today), "%Y-%m-%d", gmtime_r(&now, &tm));
    return strcmp(today, w->expires) > 0; /* of this form texts are in the order of days */
}

const struct kvs_conform_waiver *waiver_of(const struct kvs_conform_waiver *waivers, size_t n, const char *id)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(waivers[i].id, id) == 0 && !waiver_expired(&waivers[i]))
            return &waivers[i];
    return NULL;
}
