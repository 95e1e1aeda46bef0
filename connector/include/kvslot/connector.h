/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file connector.h
 * @brief For coordinators: builds the kv_transfer_params of prefill and decode requests.
 *
 * A coordinator sends a request to a prefill pod, then one to a decode pod. A connector makes the
 * JSON object `kv_transfer_params` that goes into each:
 *
 *     kvs_connector *c;
 *     struct kvs_error err;
 *     char *params;
 *     size_t len;
 *     int handoff;
 *     if (kvs_connector_build("kv-nixl", NULL, 0, &c, &err) != KVS_OK)
 *         errx(1, "%s", err.text);
 *     if (kvs_connector_prefill(c, &params, &len, &err) != KVS_OK)
 *         errx(1, "%s", err.text);
 *     ...                          the prefill request is sent, with params, and answered
 *     kvs_connector_text_free(params);
 *     if (kvs_connector_decode(c, answer, answer_len, &params, &len, &handoff, &err) != KVS_OK)
 *         errx(1, "%s", err.text);
 *     if (handoff == KVS_HANDOFF_MISSING)
 *         warnx("the decode pod will compute everything again");
 *     ...                          the decode request is sent, with params
 *     kvs_connector_text_free(params);
 *     kvs_connector_free(c);
 *
 * The library is libkvslot-connector, CMake target kvslot::connector. Statuses, struct kvs_error and
 * the log are those of <kvslot/kvslot.h>, and what that says of `err` and of out parameters holds here.
 *
 * Connectors, by name
 *
 *  - kv-shared-storage (the default, ""): a store that both pods see. Prefill and decode say which
 *    side they are; what the prefill answered is not looked at.
 *  - kv-nixl: decode carries every member that the prefill answered.
 *  - kv-sglang: the same, and prefill names a bootstrap_port and a fresh bootstrap_room. Parameters:
 *    `bootstrap_port` (1 to 65535, 8998 by default; environment variable SGLANG_BOOTSTRAP_PORT, read
 *    when the connector is built) and `room` (uuid, the default: a random UUID as text; int: a random
 *    number in [0, 2^63)).
 *  - ec-shared-storage (the default, "") and ec-nixl: the ec_transfer_params of an encoder cache, see
 *    kvs_ec_connector_build().
 *
 * All of them, one's own too, have the parameter `max_input` (1MiB by default, at most 1GiB): the
 * most bytes of an input.
 *
 * JSON in and out
 *
 *  - Texts are UTF-8 and have a length; a NUL inside an input is an error as any other wrong byte is.
 *    Outputs have no white space, and end in a NUL that their length does not count.
 *  - Values pass through unchanged. A number keeps its text, so that integers of any size stay
 *    exact, and so do 1e400, -0 and 1.50. A string keeps its characters, a lone surrogate its escape;
 *    other escapes are written in one form.
 *  - Of members with one name the last counts, at every level, and the output has one. Members are
 *    in the order of their names' bytes.
 *  - An input may nest KVS_CONNECTOR_DEPTH levels of objects and arrays, the outermost one counted.
 *  - No input is changed.
 *
 * Threads
 *
 *  - Connectors are not changed by calls: any number of threads may share one. A kvs_ec_request
 *    belongs to one thread at a time.
 *
 * @since 0.1, as all that stands here
 */
#ifndef KVSLOT_CONNECTOR_H
#define KVSLOT_CONNECTOR_H

#include <kvslot/kvslot.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A built connector. Opaque. */
typedef struct kvs_connector kvs_connector;
/** A built connector of the EC family. Opaque. */
typedef struct kvs_ec_connector kvs_ec_connector;
/** What the encoders answered for one request. Opaque. */
typedef struct kvs_ec_request kvs_ec_request;
/** Where one's own connector leaves its object. Opaque. */
typedef struct kvs_connector_answer kvs_connector_answer;

/** Most levels of objects and arrays in an input. */
#define KVS_CONNECTOR_DEPTH 128

/** The families of connectors. */
enum kvs_connector_family {
    KVS_CONNECTOR_KV = 0, /**< kv_transfer_params */
    KVS_CONNECTOR_EC = 1, /**< ec_transfer_params */
};

/** What the prefill gave to hand over. */
enum kvs_handoff {
    KVS_HANDOFF_UNUSED = 0,  /**< the connector does not look at it */
    KVS_HANDOFF_GIVEN = 1,   /**< an object with a member at least */
    KVS_HANDOFF_MISSING = 2, /**< nothing: the decode pod will compute everything again */
};

/* ---- KV connectors ---- */

/**
 * @brief Builds a connector.
 *
 * @param[in]  name       a connector's name, case-sensitive; "": kv-shared-storage
 * @param[in]  params     nparams values; NULL where nparams is 0. Each parameter once
 * @param[in]  nparams    how many
 * @param[out] connector  the caller's, to be given back with kvs_connector_free()
 * @param[out] err        may be NULL
 * @par Threads
 * Any. Environment variables are read: no other thread may change them meanwhile. The build function
 * of one's own connector runs inside.
 * @return
 *  - KVS_OK. A malformed SGLANG_BOOTSTRAP_PORT is one line in the log, which names the value (the same
 *    value is not named twice in a row), and the default.
 *  - KVS_NOT_FOUND: there is no such connector; the text is `unknown kv_connector: "NAME"`.
 *  - KVS_INVALID_PARAM: an unknown, malformed or doubly given parameter, or a NULL pointer.
 *  - KVS_NO_MEMORY: of this process.
 *  - else what the build function of one's own connector says.
 * @since 0.1
 */
KVS_EXPORT int kvs_connector_build(const char *name, const struct kvs_param_value *params, size_t nparams,
                                   kvs_connector **connector, struct kvs_error *err);

/**
 * @brief Gives a connector back.
 *
 * @param[in] connector  gone afterwards; NULL: nothing happens. Its texts stay valid
 * @par Threads
 * Any, when no other call uses it.
 * @since 0.1
 */
KVS_EXPORT void kvs_connector_free(kvs_connector *connector);

/**
 * @brief A connector's name.
 *
 * @param[in] connector  the connector
 * @par Threads
 * Any.
 * @return "kv-nixl"; valid as long as the connector. "" for no valid handle.
 * @since 0.1
 */
KVS_EXPORT const char *kvs_connector_name(const kvs_connector *connector);

/**
 * @brief The kv_transfer_params of a prefill request.
 *
 * Two results of kv-sglang never have the same room.
 *
 * @param[in]  connector  the connector
 * @param[out] json       a JSON object, the caller's, to be freed with kvs_connector_text_free()
 * @param[out] len        its bytes; may be NULL
 * @param[out] err        may be NULL
 * @par Threads
 * Any, and any number at once.
 * @return
 *  - KVS_OK
 *  - KVS_INVALID_PARAM: no valid handle, or json is NULL.
 *  - KVS_IO: the system gives no random numbers.
 *  - KVS_NO_MEMORY: of this process.
 *  - KVS_BACKEND: one's own connector left no JSON object; else what its function says.
 * @since 0.1
 */
KVS_EXPORT int kvs_connector_prefill(const kvs_connector *connector, char **json, size_t *len,
                                     struct kvs_error *err);

/**
 * @brief The kv_transfer_params of a decode request.
 *
 * @param[in]  connector  the connector
 * @param[in]  input      the kv_transfer_params of the prefill's answer; NULL, empty, white space or
 *                        the JSON null where it had none. A JSON value that is no object counts as
 *                        none, with a warning in the log. kv-shared-storage does not look at it.
 * @param[in]  input_len  its bytes
 * @param[out] json       a JSON object, the caller's, to be freed with kvs_connector_text_free()
 * @param[out] len        its bytes; may be NULL
 * @param[out] handoff    enum kvs_handoff; 0 on failure; may be NULL
 * @param[out] err        may be NULL
 * @par Threads
 * Any, and any number at once.
 * @return
 *  - KVS_OK, also where there was nothing to hand over: that is KVS_HANDOFF_MISSING in handoff.
 *  - KVS_INVALID_PARAM: the input is no JSON (the text says why, and near which byte), or no UTF-8;
 *    no valid handle; json is NULL, or input is and input_len is not 0.
 *  - KVS_TOO_LARGE: the input has more bytes than `max_input`, or nests deeper than
 *    KVS_CONNECTOR_DEPTH.
 *  - KVS_NO_MEMORY: of this process.
 *  - KVS_BACKEND: one's own connector left no JSON object; else what its function says.
 * @since 0.1
 */
KVS_EXPORT int kvs_connector_decode(const kvs_connector *connector, const char *input, size_t input_len,
                                    char **json, size_t *len, int *handoff, struct kvs_error *err);

/**
 * @brief Frees a text that a function of this header handed over.
 *
 * @param[in] json  the text, gone afterwards; NULL: nothing happens
 * @par Threads
 * Any.
 * @since 0.1
 */
KVS_EXPORT void kvs_connector_text_free(char *json);

/* ---- EC connectors ---- */

/**
 * @brief Builds a connector of the EC family.
 *
 * ec-nixl: the result is one object, mm_hash to descriptor, of all that the encoders answered.
 * ec-shared-storage keeps nothing, and the result is {}: the field is then left out of the request.
 *
 * @param[in]  name       a connector's name, case-sensitive; "": ec-shared-storage
 * @param[in]  params     nparams values; NULL where nparams is 0. Each parameter once
 * @param[in]  nparams    how many
 * @param[out] connector  the caller's, to be given back with kvs_ec_connector_free()
 * @param[out] err        may be NULL
 * @par Threads
 * Any.
 * @return
 *  - KVS_OK
 *  - KVS_NOT_FOUND: there is no such connector; the text is `unknown ec_connector: "NAME"`.
 *  - KVS_INVALID_PARAM: an unknown, malformed or doubly given parameter, or a NULL pointer.
 *  - KVS_NO_MEMORY: of this process.
 * @since 0.1
 */
KVS_EXPORT int kvs_ec_connector_build(const char *name, const struct kvs_param_value *params, size_t nparams,
                                      kvs_ec_connector **connector, struct kvs_error *err);

/**
 * @brief Gives a connector of the EC family back.
 *
 * @param[in] connector  gone afterwards; NULL: nothing happens. Its requests stay valid
 * @par Threads
 * Any, when no other call uses it.
 * @since 0.1
 */
KVS_EXPORT void kvs_ec_connector_free(kvs_ec_connector *connector);

/**
 * @brief The name of a connector of the EC family.
 *
 * @param[in] connector  the connector
 * @par Threads
 * Any.
 * @return "ec-nixl"; static memory. "" for no valid handle.
 * @since 0.1
 */
KVS_EXPORT const char *kvs_ec_connector_name(const kvs_ec_connector *connector);

/**
 * @brief Begins to gather what the encoders answer for one request.
 *
 * @param[in]  connector  the connector
 * @param[out] request    the caller's, to be given back with kvs_ec_request_end()
 * @param[out] err        may be NULL
 * @par Threads
 * Any, and any number at once.
 * @return
 *  - KVS_OK
 *  - KVS_INVALID_PARAM: no valid handle, or request is NULL.
 *  - KVS_NO_MEMORY: of this process.
 * @since 0.1
 */
KVS_EXPORT int kvs_ec_request_begin(const kvs_ec_connector *connector, kvs_ec_request **request,
                                    struct kvs_error *err);

/**
 * @brief Adds what one encoder answered.
 *
 * @param[in]  request  the request; as it was where the answer is an error
 * @param[in]  input    the ec_transfer_params of the encoder's answer: an object, mm_hash to
 *                      descriptor. An empty one is left out, with a warning in the log; so is NULL,
 *                      an empty text, and any JSON value that is no object. Stays the caller's.
 *                      ec-shared-storage does not look at it.
 * @param[in]  len      its bytes
 * @param[out] err      may be NULL
 * @par Threads
 * Any, one call on the request at a time.
 * @return
 *  - KVS_OK
 *  - KVS_INVALID_PARAM: the input is no JSON, or no UTF-8; no valid handle; input is NULL and len is
 *    not 0.
 *  - KVS_TOO_LARGE: the input has more bytes than `max_input`, or nests deeper than
 *    KVS_CONNECTOR_DEPTH.
 *  - KVS_NO_MEMORY: of this process.
 * @since 0.1
 */
KVS_EXPORT int kvs_ec_request_merge(kvs_ec_request *request, const char *input, size_t len,
                                    struct kvs_error *err);

/**
 * @brief Adds what several encoders answered, from one JSON array of their answers.
 *
 * @param[in]  request  the request; as it was where the answer is an error
 * @param[in]  input    the array, each element as the input of kvs_ec_request_merge(). Stays the
 *                      caller's. ec-shared-storage does not look at it.
 * @param[in]  len      its bytes, of which `max_input` is the limit
 * @param[out] err      may be NULL
 * @par Threads
 * Any, one call on the request at a time.
 * @return
 *  - KVS_OK
 *  - KVS_INVALID_PARAM: the input is no JSON array; else as kvs_ec_request_merge().
 *  - KVS_TOO_LARGE, KVS_NO_MEMORY: as kvs_ec_request_merge().
 * @since 0.1
 */
KVS_EXPORT int kvs_ec_request_merge_all(kvs_ec_request *request, const char *input, size_t len,
                                        struct kvs_error *err);

/**
 * @brief The ec_transfer_params of a prefill request.
 *
 * One flat object of all that was added. A descriptor that is null is left out. An mm_hash that
 * several encoders answered is there once, where their descriptors are equal: as JSON values, numbers
 * by their worth.
 *
 * @param[in]  request  the request, which is not changed: more can be added, and asked for again
 * @param[out] json     a JSON object, the caller's, to be freed with kvs_connector_text_free();
 *                      {} where nothing was kept
 * @param[out] len      its bytes; may be NULL
 * @param[out] err      may be NULL
 * @par Threads
 * Any, one call on the request at a time.
 * @return
 *  - KVS_OK
 *  - KVS_MISMATCH: two encoders answered different descriptors for one mm_hash, which the text names.
 *  - KVS_INVALID_PARAM: no valid handle, or json is NULL.
 *  - KVS_NO_MEMORY: of this process.
 * @since 0.1
 */
KVS_EXPORT int kvs_ec_request_prefill(const kvs_ec_request *request, char **json, size_t *len,
                                      struct kvs_error *err);

/**
 * @brief Gives a request back.
 *
 * @param[in] request  gone afterwards; NULL: nothing happens. Its texts stay valid
 * @par Threads
 * Any, when no other call uses it.
 * @since 0.1
 */
KVS_EXPORT void kvs_ec_request_end(kvs_ec_request *request);

/* ---- Names ---- */

/** What there is to say about a connector. Only appended to. */
struct kvs_connector_info {
    uint32_t size;                  /**< bytes of this structure */
    uint32_t is_default;            /**< 1: "" is this one */
    const char *name;               /**< "kv-nixl" */
    const char *help;               /**< one line */
    const struct kvs_param *params; /**< its parameters, nparams of them (see <kvslot/backend.h>) */
    size_t nparams;
    size_t param_size; /**< bytes from one parameter to the next */
};

/**
 * @brief Lists the connectors of a family, in the order of names.
 *
 * @param[in] family  enum kvs_connector_family
 * @param[in] each    called for each: `arg`, and the connector. All of it is static memory, or that of
 *                    whoever registered it, but the structure, which is gone after it returns. What
 *                    it answers other than 0 ends the list. It may call this library.
 * @param[in] arg     for each; stays the caller's
 * @par Threads
 * Any; each runs on the thread that calls.
 * @return
 *  - KVS_OK: all were listed.
 *  - KVS_INVALID_PARAM: there is no such family, or each is NULL.
 *  - else what each answered.
 * @since 0.1
 */
KVS_EXPORT int kvs_connector_list(int family, int (*each)(void *arg, const struct kvs_connector_info *info),
                                  void *arg);

/* ---- One's own connectors ---- */

/**
 * @brief A KV connector of one's own.
 *
 * Required: size, name, prefill, decode. Zero what is not needed. A function answers KVS_OK or an
 * error, and may then leave a sentence in err, which is never NULL. prefill and decode are called by
 * any number of threads at once.
 *
 * @since 0.1
 */
struct kvs_connector_own {
    uint32_t size;                  /**< sizeof(struct kvs_connector_own) */
    uint32_t reserved;              /**< 0 */
    const char *name;               /**< [a-z][a-z0-9_-]*, up to 63 characters, not taken */
    const char *help;               /**< one line, or NULL */
    const struct kvs_param *params; /**< its parameters, nparams of them; not `max_input` */
    size_t nparams;
    size_t param_size; /**< sizeof(struct kvs_param); 0 where there are none */
    /** NULL: there is nothing to build. Gets the parameters that were given, each declared and well
     *  formed, and leaves in *state what the other functions get. */
    int (*build)(const struct kvs_connector_own *own, const struct kvs_param_value *params, size_t nparams,
                 void **state, struct kvs_error *err);
    /** NULL: there is nothing to free. */
    void (*destroy)(void *state);
    /** Leaves a JSON object with kvs_connector_answer_set(). */
    int (*prefill)(void *state, kvs_connector_answer *answer, struct kvs_error *err);
    /** Gets the prefill's object as kv-nixl would hand it on, `len` bytes and a NUL; NULL where there
     *  is nothing to hand over. Leaves a JSON object with kvs_connector_answer_set(). */
    int (*decode)(void *state, const char *input, size_t len, kvs_connector_answer *answer,
                  struct kvs_error *err);
};

/**
 * @brief Makes a KV connector of one's own known, for kvs_connector_build().
 *
 * Registering the same one again is fine.
 *
 * @param[in]  own  the connector; stays the caller's, and has to be valid and unchanged for the rest
 *                  of the process, with all that it points to
 * @param[out] err  may be NULL
 * @par Threads
 * Any.
 * @return
 *  - KVS_OK
 *  - KVS_INVALID_PARAM: it is NULL or incomplete, has another size than this library's, a malformed
 *    name, or one that is taken, or a parameter `max_input`.
 *  - KVS_NO_MEMORY: of this process.
 * @since 0.1
 */
KVS_EXPORT int kvs_connector_register(const struct kvs_connector_own *own, struct kvs_error *err);

/**
 * @brief Leaves the object that prefill or decode of one's own connector makes.
 *
 * It is checked, and brought into the form of all outputs, after the function has returned.
 *
 * @param[in] answer  what the function was given
 * @param[in] json    a JSON object in UTF-8, copied; takes the place of one that was left before
 * @param[in] len     its bytes
 * @par Threads
 * The one that the function runs on.
 * @return
 *  - KVS_OK
 *  - KVS_INVALID_PARAM: answer or json is NULL.
 *  - KVS_NO_MEMORY: of this process.
 * @since 0.1
 */
KVS_EXPORT int kvs_connector_answer_set(kvs_connector_answer *answer, const char *json, size_t len);

#ifdef __cplusplus
}
#endif
#endif
