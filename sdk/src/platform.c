/* SPDX-License-Identifier: Apache-2.0 */
#include "platform.h"
#include "err.h"

#include <dirent.h>
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__x86_64__)
#define THIS_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define THIS_MACHINE EM_AARCH64
#elif defined(__riscv)
#define THIS_MACHINE EM_RISCV
#elif defined(__powerpc64__)
#define THIS_MACHINE EM_PPC64
#elif defined(__s390x__)
#define THIS_MACHINE EM_S390
#endif

bool kvs_library_folder(char folder[PATH_MAX])
{
    static const char here = 0; /* an address in this library */
    Dl_info info;
    if (dladdr(&here, &info) == 0 || !info.dli_fname)
        return false;
    /* A program found through PATH has no folder in its name. */
    const char *file = strchr(info.dli_fname, '/') ? info.dli_fname : "/proc/self/exe";
    char *real = realpath(file, NULL);
    char *slash = real ? strrchr(real, '/') : NULL;
    if (slash) {
        *(slash == real ? slash + 1 : slash) = '\0';
        memcpy(folder, real, strlen(real) + 1);
    }
    free(real);
    return slash != NULL;
}

bool kvs_privileged(void)
{
    return geteuid() == 0 || getauxval(AT_SECURE) != 0;
}

/* Sticky or not: whoever may add a file to a folder may be first to take a name. */
static int check_mode(const char *path, const char *what, struct kvs_error *err)
{
    struct stat st;
    if (stat(path, &st) != 0)
        return kvs_err_set(err, KVS_ACCESS, "%s '%s' cannot be looked at: %m", what, path);
    const char *who = st.st_mode & S_IWOTH                       ? "everybody (o+w)"
                      : (st.st_mode & S_IWGRP) && st.st_gid != 0 ? "its group (g+w)"
                                                                 : NULL;
    if (!who)
        return KVS_OK;
    return kvs_err_set(
        err, KVS_ACCESS,
        "%s '%s' is writable by %s, mode %04o: nothing is loaded from there as root or set-uid", what, path,
        who, (unsigned)(st.st_mode & 07777));
}

int kvs_check_writers(const char *path, struct kvs_error *err)
{
    char folder[PATH_MAX];
    size_t len = (size_t)(strrchr(path, '/') - path);
    if (len == 0)
        len = 1;
    memcpy(folder, path, len);
    folder[len] = '\0';
    int rc = check_mode(folder, "folder", err);
    return rc == KVS_OK ? check_mode(path, "file", err) : rc;
}

static int no_object(const char *path, const char *why, struct kvs_error *err)
{
    return kvs_err_set(err, KVS_INVALID_PARAM, "'%s' %s", path, why);
}

/* All that the program headers point to lies inside the file. */
static bool segments_inside(int fd, const ElfW(Ehdr) * head, uint64_t size)
{
    for (unsigned i = 0; i < head->e_phnum; i++) {
        ElfW(Phdr) segment;
        uint64_t at, end;
        if (__builtin_add_overflow(head->e_phoff, (uint64_t)i * head->e_phentsize, &at) || at > size)
            return false;
        if (pread(fd, &segment, sizeof segment, (off_t)at) != (ssize_t)sizeof segment)
            return false;
        if (segment.p_type == PT_LOAD &&
            (__builtin_add_overflow(segment.p_offset, segment.p_filesz, &end) || end > size))
            return false;
    }
    return true;
}

static int check_fd(int fd, const char *path, struct kvs_error *err)
{
    struct stat st;
    ElfW(Ehdr) head;
    if (fstat(fd, &st) != 0)
        return kvs_err_set(err, KVS_IO, "'%s' cannot be looked at: %m", path);
    if (S_ISDIR(st.st_mode))
        return no_object(path, "is a folder, not a plugin", err);
    if (!S_ISREG(st.st_mode))
        return no_object(path, "is no regular file, so no plugin", err);
    ssize_t n = pread(fd, &head, sizeof head, 0);
    if (n < SELFMAG || memcmp(head.e_ident, ELFMAG, SELFMAG) != 0)
        return no_object(path, "is not a shared object", err);
    if (n < (ssize_t)sizeof head)
        return no_object(path, "is a shared object that was cut short", err);
    if (head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_type != ET_DYN ||
        head.e_phentsize != sizeof(ElfW(Phdr)))
        return no_object(path, "is not a 64-bit shared object", err);
#ifdef THIS_MACHINE
    if (head.e_machine != THIS_MACHINE)
        return no_object(path, "is a shared object for another kind of machine", err);
#endif
    if (!segments_inside(fd, &head, (uint64_t)st.st_size))
        return no_object(path, "is a shared object that was cut short", err);
    return KVS_OK;
}

int kvs_check_object(const char *path, struct kvs_error *err)
{
    /* Not blocking, since it may be a FIFO. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
        return kvs_err_set(err, KVS_NOT_FOUND, "there is no file '%s'", path);
    if (fd < 0)
        return kvs_err_set(err, errno == EACCES ? KVS_ACCESS : KVS_INVALID_PARAM, "'%s' cannot be opened: %m",
                           path);
    int rc = check_fd(fd, path, err);
    close(fd);
    return rc;
}

void kvs_each_file(const char *folder, void (*each)(void *arg, const char *name), void *arg)
{
    DIR *dir = opendir(folder);
    if (!dir)
        return;
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;)
        each(arg, entry->d_name);
    closedir(dir);
}

void kvs_platform_large_pages(void *at, size_t len)
{
#if defined(MADV_HUGEPAGE)
    (void)madvise(at, len, MADV_HUGEPAGE);
#else
    (void)at;
    (void)len;
#endif
}
