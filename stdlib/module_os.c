// The module os: folders and names of files.

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stdlib/arguments.h"
#include "stdlib/families.h"
#include "stdlib/shared.h"
#include "stdlib/text.h"
#include "vm/io.h"
#include "vm/values/list.h"
#include "vm/values/record.h"
#include "vm/vm.h"

static bool os_fail(tl_vm *vm, const char *function, const char *path) {
  char text[128];
  return tl_fail(vm, TALLY_ERR_IO, "%s: \"%s\": %s", function, path,
                 tl_io_reason(errno, text, sizeof text));
}

static bool path_of(tl_vm *vm, const char *function, tl_slot s,
                    const char **path) {
  return tl_require(vm, TALLY_MAY_FILES, function) &&
         tl_arg_path(vm, function, s, path);
}

static bool list_names(tl_vm *vm, DIR *directory, tl_list **list) {
  for (struct dirent *entry; (errno = 0, entry = readdir(directory));) {
    const char *name = entry->d_name;
    size_t at, nbytes = strlen(name);
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
      continue;
    if (!tl_poll(vm, 1))
      return false;
    if (!tl_utf8_check(name, nbytes, &at))
      return tl_fail(vm, TALLY_ERR_VALUE,
                     "os.list: a file's name is no UTF-8 text: malformed at "
                     "byte %zu",
                     at);
    if (!tl_list_push_text(vm, list, name, nbytes))
      return false;
  }
  return errno == 0 || os_fail(vm, "os.list", "a folder");
}

static bool list_folder(tl_vm *vm, tl_slot *args, tl_slot *out) {
  const char *path;
  if (!path_of(vm, "os.list", args[0], &path))
    return false;
  DIR *directory = opendir(path);
  if (!directory)
    return os_fail(vm, "os.list", path);
  tl_list *list = tl_list_new(vm, 0);
  bool ok = list && list_names(vm, directory, &list);
  closedir(directory);
  tl_slot names;
  if (!tl_list_give(vm, list, ok, &names))
    return false;
  ok = tl_list_sort(vm, &names, false, tl_none(), out);
  if (tl_is_owned(names))
    tl_drop(vm, names);
  return ok;
}

static bool set(tl_vm *vm, tl_record **record, const char *name,
                tl_slot value) {
  return tl_record_set_name(vm, record, name, &value);
}

static bool status(tl_vm *vm, tl_slot *args, tl_slot *out) {
  const char *path;
  struct stat about;
  if (!path_of(vm, "os.status", args[0], &path))
    return false;
  *out = tl_none();
  if (stat(path, &about) != 0)
    return errno == ENOENT || errno == ENOTDIR ||
           os_fail(vm, "os.status", path);
  tl_record *record = tl_record_new(vm, 3);
  bool ok =
      record && set(vm, &record, "size", tl_weak_int((int64_t)about.st_size)) &&
      set(vm, &record, "modified", tl_weak_float((double)about.st_mtime)) &&
      set(vm, &record, "is_folder", tl_bool(S_ISDIR(about.st_mode)));
  if (ok)
    *out = tl_own_record(record);
  else if (record)
    tl_drop(vm, tl_own_record(record));
  return ok;
}

static bool make_folder(tl_vm *vm, tl_slot *args, tl_slot *out) {
  const char *path;
  struct stat about;
  *out = tl_none();
  if (!path_of(vm, "os.make_folder", args[0], &path))
    return false;
  if (mkdir(path, 0777) == 0)
    return true;
  int error = errno;
  if (error == EEXIST && stat(path, &about) == 0 && S_ISDIR(about.st_mode))
    return true;
  errno = error;
  return os_fail(vm, "os.make_folder", path);
}

static bool remove_path(tl_vm *vm, tl_slot *args, tl_slot *out) {
  const char *path;
  *out = tl_none();
  return path_of(vm, "os.remove", args[0], &path) &&
         (remove(path) == 0 || os_fail(vm, "os.remove", path));
}

static bool rename_path(tl_vm *vm, tl_slot *args, tl_slot *out) {
  const char *from, *to;
  *out = tl_none();
  return path_of(vm, "os.rename", args[0], &from) &&
         path_of(vm, "os.rename", args[1], &to) &&
         (rename(from, to) == 0 || os_fail(vm, "os.rename", from));
}

static bool folder_named(tl_vm *vm, const char *function, const char *path,
                         tl_slot *out) {
  size_t at;
  if (!tl_utf8_check(path, strlen(path), &at))
    return tl_fail(vm, TALLY_ERR_VALUE, "%s: its name is no UTF-8 text",
                   function);
  tl_string *string = tl_string_from(vm, path);
  if (string)
    *out = tl_own_string(string);
  return string != NULL;
}

static bool working_folder(tl_vm *vm, tl_slot *args, tl_slot *out) {
  char path[4096];
  (void)args;
  if (!tl_require(vm, TALLY_MAY_FILES, "os.working_folder"))
    return false;
  if (!getcwd(path, sizeof path))
    return os_fail(vm, "os.working_folder", ".");
  return folder_named(vm, "os.working_folder", path, out);
}

// Where POSIX says that programs shall put files for a while.
static bool temporary_folder(tl_vm *vm, tl_slot *args, tl_slot *out) {
  (void)args;
  if (!tl_require(vm, TALLY_MAY_FILES, "os.temporary_folder"))
    return false;
  const char *path = getenv("TMPDIR");
  if (path == NULL || path[0] == 0)
    path = "/tmp";
  return folder_named(vm, "os.temporary_folder", path, out);
}

const tl_builtin tl_os_files_module[] = {
    {"list", "path = \".\"", list_folder, TL_FILES | TL_EFFECT,
     TL_DOC(
         "The names in a folder, in order: a list of strings. A folder that cannot\n"
         "be read, or is none, is an io error, a name that is no UTF-8 a value\n"
         "error.\n"
         "    os.list(\"data\")\n")},
    {"status", "path", status, TL_FILES | TL_EFFECT,
     TL_DOC(
         "What is known of a file: a record of size (bytes), modified (seconds, as\n"
         "time.now has them) and is_folder; none where there is no such file.\n"
         "One that may not be looked at is an io error, an empty name a value\n"
         "error.\n"
         "    os.status(\"data.csv\")\n")},
    {"make_folder", "path", make_folder, TL_FILES | TL_EFFECT,
     TL_DOC(
         "Makes a folder of that name, a string, unless it is there; the folder\n"
         "that it is to stand in must be. What cannot be made is an io error.\n"
         "    os.make_folder(\"results\")\n")},
    {"remove", "path", remove_path, TL_FILES | TL_EFFECT,
     TL_DOC(
         "Removes the file or empty folder of that name, a string; one that is\n"
         "not there is an io error.\n"
         "    os.remove(\"old.csv\")\n")},
    {"rename", "path, to", rename_path, TL_FILES | TL_EFFECT,
     TL_DOC(
         "Gives a file or folder another name, in place of what has it; both are\n"
         "strings. What cannot be renamed is an io error.\n"
         "    os.rename(\"new.csv\", \"data.csv\")\n")},
    {"temporary_folder", "", temporary_folder, TL_FILES | TL_EFFECT,
     TL_DOC(
         "The folder for files that are not to stay, a string: what the\n"
         "environment's TMPDIR says, or /tmp. A name that is no UTF-8 text is a value\n"
         "error.\n"
         "    os.temporary_folder()\n")},
    {"working_folder", "", working_folder, TL_FILES | TL_EFFECT,
     TL_DOC(
         "The folder that names of files without a / at their front start from, a\n"
         "string. One that is gone is an io error.\n"
         "    os.working_folder()\n")},
    {NULL, NULL, NULL, 0, NULL},
};
