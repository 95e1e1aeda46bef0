/* SPDX-License-Identifier: Apache-2.0 */
/* What a process does to itself and to others. */
#include "rogue.h"
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

_Noreturn void rogue_hang(void)
{
    for (;;)
        pause();
}

/* The address is volatile, else an optimising compiler sees through it and warns. */
void rogue_crash(void)
{
    static int *volatile const nowhere = (int *)(uintptr_t)8;
    *nowhere = 1;
}

static void *crash(void *arg)
{
    sigset_t none;
    (void)arg;
    sigemptyset(&none);
    pthread_sigmask(SIG_SETMASK, &none, NULL); /* as in a thread that a library has started in open */
    rogue_crash();
    return NULL;
}

void rogue_crash_on_thread(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, crash, NULL) == 0)
        pthread_join(thread, NULL);
}

void rogue_touch_missing_page(void)
{
    int fd = memfd_create("rogue", MFD_CLOEXEC);
    volatile char *page = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
    (void)*page; /* behind the end of the file */
}

static void note_process(pid_t pid)
{
    char text[16];
    rogue_note("process", text, (size_t)snprintf(text, sizeof(text), "%d", (int)pid));
}

/* A process that outlives its parent and holds the parent's output open; or notes this one. */
void rogue_leave_child(void)
{
    pid_t pid = rogue_defect == ROGUE_leaves_child ? fork() : getpid();
    if (pid == 0)
        rogue_hang();
    note_process(pid);
}

void rogue_print_much(void)
{
    char line[1024];
    memset(line, 'n', sizeof(line));
    puts("the first line of much");
    for (int i = 0; i < 20000; i++)
        fwrite(line, 1, sizeof(line), stdout);
    puts("\nthe last line of much");
    fflush(stdout);
}

bool rogue_file_holds(const char *file, const char *text)
{
    char buf[65536];
    FILE *f = fopen(file, "r");
    size_t n = f ? fread(buf, 1, sizeof(buf), f) : 0;
    if (f)
        fclose(f);
    return memmem(buf, n, text, strlen(text)) != NULL;
}

void rogue_note(const char *what, const void *key, size_t len)
{
    FILE *f = rogue_notes[0] ? fopen(rogue_notes, "a") : NULL;
    if (!f)
        return;
    fprintf(f, "%s %.*s\n", what, (int)len, (const char *)key);
    fclose(f);
}

bool rogue_third_time(void)
{
    unsigned lines = 0;
    rogue_note("written", "", 0);
    FILE *f = fopen(rogue_notes, "r");
    for (int c; f && (c = getc(f)) != EOF;)
        lines += c == '\n';
    if (f)
        fclose(f);
    return lines % 3 == 0;
}

int rogue_list_notes(int (*each)(void *arg, const void *key, size_t len, uint64_t size), void *arg)
{
    char line[256];
    int rc = KVS_OK;
    FILE *f = fopen(rogue_notes, "r");
    while (f && rc == KVS_OK && fgets(line, sizeof(line), f))
        if (strncmp(line, "written ", 8) == 0)
            rc = each(arg, line + 8, strcspn(line + 8, "\n"), KVS_SIZE_UNKNOWN);
    if (f)
        fclose(f);
    return rc;
}

static void *idle(void *arg)
{
    (void)arg;
    rogue_hang();
}

void rogue_leak_descriptor(void)
{
    if (open("/dev/null", O_RDONLY | O_CLOEXEC) < 0)
        rogue_crash();
}

void rogue_leak_thread(void)
{
    pthread_t thread;
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, 128 << 10);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    pthread_create(&thread, &attr, idle, NULL);
    pthread_attr_destroy(&attr);
}

void rogue_leak_by(unsigned op)
{
    static const struct leaking {
        enum defect descriptor, memory, thread;
    } by[] = {
        [KVS_READ] = {ROGUE_read_leaks_fd, ROGUE_read_leaks_memory, ROGUE_read_leaks_thread},
        [KVS_WRITE] = {ROGUE_write_leaks_fd, ROGUE_write_leaks_memory, ROGUE_write_leaks_thread},
        [KVS_QUERY] = {ROGUE_query_leaks_fd, ROGUE_query_leaks_memory, ROGUE_query_leaks_thread},
        [KVS_REMOVE] = {ROGUE_remove_leaks_fd, ROGUE_remove_leaks_memory, ROGUE_remove_leaks_thread},
        [ROGUE_LIST] = {ROGUE_list_leaks_fd, ROGUE_list_leaks_memory, ROGUE_list_leaks_thread},
    };
    void *volatile lost = NULL;
    if (rogue_defect == by[op].descriptor)
        rogue_leak_descriptor();
    else if (rogue_defect == by[op].memory)
        lost = malloc(4096);
    else if (rogue_defect == by[op].thread)
        rogue_leak_thread();
    (void)lost;
}
