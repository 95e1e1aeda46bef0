/* SPDX-License-Identifier: Apache-2.0 */
/* run_conform TARGET [SKIP] [expect=FILE]: the suite against a target; exit code 0 for a pass in which no
 * core case is missing, or, where cases are skipped, for a run in which nothing failed. */
#include <kvslot/testkit.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    struct kvs_conform_config cfg;
    struct kvs_conform_summary sum = {.size = sizeof(sum)};
    struct kvs_error err = {0};
    if (argc < 2 || argc > 4) {
        fprintf(stderr, "run_conform TARGET [SKIP] [expect=FILE]\n");
        return 2;
    }
    kvs_conform_config_init(&cfg);
    cfg.target = argv[1];
    for (int i = 2; i < argc; i++)
        *(strncmp(argv[i], "expect=", 7) == 0 ? &cfg.expect_file : &cfg.skip) = argv[i];
    if (cfg.expect_file)
        cfg.expect_file += 7;
    cfg.jobs = 2;
    cfg.timeout_multiplier = KVSLOT_TIMEOUT_MULTIPLIER;
    cfg.json_file = "conform.json";
    cfg.out = stdout;
    int rc = kvs_conform_run(&cfg, &sum, &err);
    if (rc != KVS_OK)
        fprintf(stderr, "run_conform: %s\n", err.text);
    return rc == KVS_OK && (cfg.skip || sum.verdict == KVS_CONFORM_VERDICT_PASS) ? 0 : 1;
}
