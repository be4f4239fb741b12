// Mappings of memory: what memory.c makes large blocks of. Begins on a huge
// page's boundary, and asks the system for huge pages, since touching small
// ones for the first time costs more than the arithmetic on them.
//
// Built for size.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1  // for madvise, mremap and anonymous mappings
#endif

#include "vm/memory/pages.h"

#include <stdlib.h>
#if defined(__unix__) || defined(__APPLE__)
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#endif
#ifdef __APPLE__
#include <mach/mach.h>
#endif

#ifdef MAP_ANONYMOUS

// Maps more than is needed and gives back both ends, so that what is left
// begins on a huge page's boundary.
//
//     raw            begin                        end            raw + whole
//      │ given back   │ nbytes                     │ given back   │
//                     └ a multiple of TL_HUGE_PAGE
char *tl_pages_map(size_t nbytes) {
  size_t whole = nbytes + TL_HUGE_PAGE;
  char *raw = mmap(NULL, whole, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (raw == MAP_FAILED)
    return NULL;
  char *begin = tl_align_up(raw, TL_HUGE_PAGE), *end = begin + nbytes;
  if (begin > raw)
    munmap(raw, (size_t)(begin - raw));
  if (raw + whole > end)
    munmap(end, (size_t)(raw + whole - end));
#ifdef MADV_HUGEPAGE
  madvise(begin, nbytes, MADV_HUGEPAGE);
#endif
  return begin;
}

// A part of a mapping may be given back by itself, so nothing records where it
// began.
void tl_pages_unmap(char *begin, size_t nbytes) {
  munmap(begin, nbytes);
}

// A shorter mapping gives its end back. A longer one is mapped elsewhere, and
// the old pages are moved to its beginning, which copies nothing.
char *tl_pages_remap(char *begin, size_t old_nbytes, size_t nbytes) {
  if (nbytes <= old_nbytes) {
    if (nbytes < old_nbytes)
      munmap(begin + nbytes, old_nbytes - nbytes);
    return begin;
  }
#ifdef MREMAP_FIXED
  char *moved = tl_pages_map(nbytes);
  if (moved == NULL)
    return NULL;
  if (mremap(begin, old_nbytes, old_nbytes, MREMAP_MAYMOVE | MREMAP_FIXED,
             moved) != MAP_FAILED)
    return moved;
  munmap(moved, nbytes);
#endif
  return NULL;
}

#else

char *tl_pages_map(size_t nbytes) {
  (void)nbytes;
  return NULL;
}

void tl_pages_unmap(char *begin, size_t nbytes) {
  (void)begin;
  (void)nbytes;
}

char *tl_pages_remap(char *begin, size_t old_nbytes, size_t nbytes) {
  (void)begin;
  (void)old_nbytes;
  (void)nbytes;
  return NULL;
}

#endif

// --- The process ------------------------------------------------------------

#if defined(__linux__)
// The second number of that file, in pages.
size_t tl_pages_resident(void) {
  char text[128];
  int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  ssize_t n = file < 0 ? 0 : read(file, text, sizeof text - 1);
  if (file >= 0)
    close(file);
  text[n > 0 ? n : 0] = '\0';
  char *at = text;
  strtoull(at, &at, 10);
  return (size_t)strtoull(at, NULL, 10) * (size_t)sysconf(_SC_PAGESIZE);
}
#elif defined(__APPLE__)
size_t tl_pages_resident(void) {
  mach_task_basic_info_data_t info;
  mach_msg_type_number_t count = MACH_TASK_BASIC_INFO_COUNT;
  return task_info(mach_task_self(), MACH_TASK_BASIC_INFO, (task_info_t)&info,
                   &count) == KERN_SUCCESS
             ? (size_t)info.resident_size
             : 0;
}
#else
size_t tl_pages_resident(void) {
  return 0;
}
#endif
