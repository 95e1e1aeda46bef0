/* SPDX-License-Identifier: Apache-2.0 */
/* driver [--runs N] [--seed S] [--keep FILE] FILE-OR-FOLDER...: runs the fuzz target on each file, and on N
 * mutations of them. What is run is kept in FILE until it has passed: after a crash it is the input. */
#include "../tests/random.h"

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_FILES = 1000, MOST_BYTES = 1 << 16 };

static struct input {
    uint8_t *data;
    size_t size;
} inputs[MOST_FILES];
static size_t ninputs;
static const char *keep = "fuzz-input";

static int fail(const char *what, const char *why)
{
    fprintf(stderr, "%s: %s\n", what, why);
    exit(2);
}

static void load(const char *path)
{
    FILE *file = fopen(path, "rb");
    struct input *in = &inputs[ninputs];
    if (!file || ninputs == MOST_FILES)
        fail(path, file ? "too many files" : "it cannot be read");
    in->data = malloc(MOST_BYTES);
    if (!in->data)
        fail(path, "out of memory");
    in->size = fread(in->data, 1, MOST_BYTES, file);
    fclose(file);
    ninputs++;
}

/* In the order of names, so that a seed means the same everywhere. */
static void load_all(const char *path)
{
    struct dirent **names;
    char name[4096];
    struct stat st;
    if (stat(path, &st) != 0)
        fail(path, "it is not there");
    if (!S_ISDIR(st.st_mode)) {
        load(path);
        return;
    }
    int n = scandir(path, &names, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        snprintf(name, sizeof name, "%s/%s", path, names[i]->d_name);
        if (names[i]->d_name[0] != '.')
            load(name);
        free(names[i]);
    }
    free(names);
}

static void run(const uint8_t *data, size_t size)
{
    static FILE *kept;
    if (!kept && !(kept = fopen(keep, "wb")))
        fail(keep, "it cannot be written");
    rewind(kept);
    if (fwrite(data, 1, size, kept) != size || fflush(kept) != 0)
        fail(keep, "it cannot be written");
    LLVMFuzzerTestOneInput(data, size);
    /* Shorter than the one before: what was behind it goes. */
    if (freopen(keep, "wb", kept) == NULL)
        fail(keep, "it cannot be written");
}

static size_t insert(uint8_t *data, size_t size, size_t at, const void *what, size_t len)
{
    if (size + len > MOST_BYTES)
        return size;
    memmove(data + at + len, data + at, size - at);
    memcpy(data + at, what, len);
    return size + len;
}

static size_t mutate(uint8_t *data, size_t size)
{
    static const char *const words[] = {"{",
                                        "}",
                                        "[",
                                        "]",
                                        ",",
                                        ":",
                                        "\"",
                                        "\\",
                                        "\\u0000",
                                        "\\ud83d",
                                        "\\ude00",
                                        "\\",
                                        "null",
                                        "true",
                                        "false",
                                        "1e400",
                                        "-0",
                                        "18446744073709551616",
                                        "\"\":",
                                        "\"a\":1,",
                                        "\xed\xa0\x80",
                                        "\xf0\x9f\x98\x80",
                                        "\xc0",
                                        "\xef\xbb\xbf",
                                        "0",
                                        "e",
                                        ".",
                                        "-",
                                        " ",
                                        "\n",
                                        "\"do_remote_decode\":",
                                        "[[[[[[[[",
                                        "/*"};
    size_t at = below(size + 1), len, from;
    uint8_t byte = (uint8_t)draw(), part[64];
    switch (below(6)) {
    case 0:
        if (at < size)
            data[at] = byte;
        return size;
    case 1:
        if (at < size)
            data[at] ^= (uint8_t)(1u << below(8));
        return size;
    case 2: {
        const char *word = words[below(sizeof words / sizeof words[0])];
        return insert(data, size, at, word, strlen(word));
    }
    case 3: /* cut a piece out */
        len = below(size - at + 1);
        memmove(data + at, data + at + len, size - at - len);
        return size - len;
    case 4: /* a piece once more */
        from = below(size + 1);
        len = size - from < sizeof part ? size - from : sizeof part;
        memcpy(part, data + from, len);
        return insert(data, size, at, part, len);
    default: /* the end of another */
    {
        const struct input *other = &inputs[below(ninputs)];
        from = below(other->size + 1);
        len = other->size - from;
        if (at + len > MOST_BYTES)
            return size;
        memcpy(data + at, other->data + from, len);
        return at + len;
    }
    }
}

int main(int argc, char **argv)
{
    static uint8_t data[MOST_BYTES];
    unsigned long runs = 0;
    uint64_t seed = (uint64_t)time(NULL);
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--runs") == 0 && i + 1 < argc)
            runs = strtoul(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--seed") == 0 && i + 1 < argc)
            seed = strtoull(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--keep") == 0 && i + 1 < argc)
            keep = argv[++i];
        else
            load_all(argv[i]);
    }
    if (ninputs == 0)
        fail("usage", "fuzz_connector [--runs N] [--seed S] [--keep FILE] FILE-OR-FOLDER...");
    printf("%zu files, %lu mutations; again with --seed %llu --runs %lu; what crashes stays in '%s'\n",
           ninputs, runs, (unsigned long long)seed, runs, keep);
    fflush(stdout);
    for (size_t i = 0; i < ninputs; i++)
        run(inputs[i].data, inputs[i].size);
    random_state = seed;
    for (unsigned long i = 0; i < runs; i++) {
        const struct input *in = &inputs[below(ninputs)];
        size_t size = in->size;
        memcpy(data, in->data, size);
        for (size_t n = 1 + below(6); n > 0; n--)
            size = mutate(data, size);
        run(data, size);
    }
    remove(keep);
    return 0;
}
