/* SPDX-License-Identifier: Apache-2.0 */
#include "about.h"
#include "sha256.h"
#include "wire.h"
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

json_t *about_file(const char *file)
{
    char hex[SHA256_HEX];
    uint64_t size = 0;
    if (!file || sha256_file(file, hex, &size) != 0)
        return json_null();
    const char *slash = strrchr(file, '/'), *name = slash ? slash + 1 : file;
    return json_pack("{s:o, s:I, s:s}", "name", wire_text(name, strlen(name)), "size", (json_int_t)size,
                     "sha256", hex);
}

/* The model, as the kernel tells it; null where it tells none, as on some architectures. */
static json_t *processor(void)
{
    char line[512];
    json_t *model = NULL;
    FILE *f = fopen("/proc/cpuinfo", "re");
    while (f && !model && fgets(line, sizeof(line), f)) {
        const char *colon = strchr(line, ':');
        if (colon && strncmp(line, "model name", 10) == 0) {
            colon += 1 + strspn(colon + 1, " \t");
            model = wire_text(colon, strcspn(colon, "\n"));
        }
    }
    if (f)
        fclose(f);
    return model ? model : json_null();
}

json_t *about_machine(void)
{
    struct utsname system = {0}; /* its nodename is nobody's business */
    cpu_set_t set;
    int cores =
        sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : (int)sysconf(_SC_NPROCESSORS_ONLN);
    char kernel[sizeof(system.sysname) + sizeof(system.release) + 2];
    uname(&system);
    snprintf(kernel, sizeof(kernel), "%s %s", system.sysname, system.release);
    return json_pack("{s:o, s:i, s:o, s:s}", "processor", processor(), "cores", cores, "kernel",
                     wire_text(kernel, strlen(kernel)), "architecture", system.machine);
}

json_t *about_now(void)
{
    char text[32];
    time_t now = time(NULL);
    struct tm tm;
    strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &tm));
    return json_string(text);
}
