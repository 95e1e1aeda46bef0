/* SPDX-License-Identifier: Apache-2.0 */
/* The defects of rogue.c, and honest stores that can do less than others; one plugin is built for each. */
#ifndef KVSLOT_ROGUE_DEFECTS_H
#define KVSLOT_ROGUE_DEFECTS_H

enum defect {
    NO_DEFECT,
    LOST_WRITE,       /* WRITE is OK and stores nothing */
    STALE_READ,       /* WRITE of a key that exists is OK and changes nothing */
    WRITE_ONCE_OK,    /* a write-once store that answers OK instead of EXISTS */
    SOURCE_WRITTEN,   /* writes into the caller's source */
    SHORT_READ,       /* moves one byte too few and says OK */
    NO_SIZE_CHECK,    /* a READ of another length is OK */
    MISSING_IS_OK,    /* READ of an absent key is OK */
    MISSING_IS_ERROR, /* READ of an absent key is BACKEND */
    EMPTY_IS_ABSENT,  /* an empty value is NOT_FOUND */
    BUFFER_TOUCHED,   /* NOT_FOUND after writing into the buffer */
    WRITES_PAST_END,
    WRITES_BEFORE,
    OFFSET_IGNORED, /* a ranged READ begins at 0 */
    KEY_CUT_AT_NUL,
    KEY_CUT_AT_64,
    QUERY_LIES, /* QUERY of an absent key is OK */
    WRONG_QUERY_SIZE,
    REMOVE_LIES, /* REMOVE is OK and the key stays */
    LIST_IGNORES_PREFIX,
    CRASH_ON_EMPTY, /* SIGSEGV */
    SIGBUS_ON_LARGE,
    CRASH_AT_EXIT,              /* SIGSEGV after everything has passed */
    CRASHES_AFTER_WRITE,        /* at the first READ; notes all keys in a file, which outlives the process */
    CRASHES_AFTER_WRITE_LISTED, /* the same with list, from that file */
    EXITS_QUIETLY,              /* exit code 0 in the middle of a case */
    EXITS_WITH_7,
    HANG,
    HANG_IGNORING_TERM,
    LEAKS_DESCRIPTOR,
    LEAKS_SECRET, /* prints its password, and puts it into an error's text */
    LEAVES_CHILD, /* a process that goes on */
    PRINTS_MUCH,  /* 20 MB at each open; and a wrong QUERY size */
    OPEN_FAILS,
    HONEST_WRITE_ONCE, /* no defect: writes once, and says so */
    HONEST_MINIMAL,    /* no defect: READ and WRITE once, and nothing else */
    HONEST_NO_QUERY,   /* no defect: the SDK emulates QUERY */
    HONEST_SMALL, /* no defect: small limits, serial, memory must be registered, keys in another memory type
                   */
    FIRST_ASYNC,  /* from here on the async shape */
    ASYNC_NO_DEFECT = FIRST_ASYNC,
    COMPLETES_TWICE,
    COMPLETES_EARLY, /* a READ is OK before its data is there */
    NEVER_COMPLETES,
    COMPLETES_AGAIN,   /* an io that it would rather have later ends AGAIN */
    READS_TOKEN_EARLY, /* gives its library the token that an io has before the post */
    RESTS_TOO_EARLY,   /* ends the rest of a batch that its library still has */
};

#endif
