/* SPDX-License-Identifier: Apache-2.0 */
/* json_check FILE PATH...: prints what stands at each place of a JSON file ("capabilities.read",
 * "parameters.0.name"), as compact JSON, one a line; "-" where there is nothing. Exits with 1 where FILE is
 * no JSON. */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static json_t *step(json_t *at, const char *name, size_t len)
{
    char *end;
    unsigned long place = strtoul(name, &end, 10);

    if (json_is_array(at))
        return end == name + len ? json_array_get(at, place) : NULL;
    char *copy = strndup(name, len);
    json_t *next = copy ? json_object_get(at, copy) : NULL;
    free(copy);
    return next;
}

static void print(json_t *root, const char *path)
{
    json_t *at = root;

    while (at && *path) {
        size_t len = strcspn(path, ".");
        at = step(at, path, len);
        path += len;
        path += *path == '.';
    }
    char *text = at ? json_dumps(at, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY) : NULL;
    puts(text ? text : "-");
    free(text);
}

int main(int argc, char **argv)
{
    json_error_t error;

    if (argc < 2)
        return 2;
    json_t *root = json_load_file(argv[1], JSON_REJECT_DUPLICATES, &error);
    if (!root) {
        fprintf(stderr, "%s:%d: %s\n", argv[1], error.line, error.text);
        return 1;
    }
    for (int i = 2; i < argc; i++)
        print(root, argv[i]);
    json_decref(root);
    return 0;
}
