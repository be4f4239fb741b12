// The module os: folders and names of files.
//
// Errors of the system are of kind io and name the path:
//
//   os.list: "data": No such file or directory
//
// Names that are no UTF-8 are an error, since a string could not hold them.

#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700  // realpath
#endif

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stdlib/families.h"
#include "stdlib/text.h"
#include "vm/bytecode/function.h"
#include "vm/io.h"
#include "vm/values/record.h"

// Fails (kind io) with the system's reason for [path].
static bool os_fail(tl_vm *vm, const char *function, const char *path) {
  char text[128];
  return tl_fail(vm, TALLY_ERR_IO, "%s: \"%s\": %s", function, path,
                 tl_io_reason(errno, text, sizeof text));
}

// Appends the names in a folder, opened from [path], but . and .. to *list, and
// with [skips] none that is no UTF-8. False after tl_fail.
static bool list_names(tl_vm *vm, const char *path, DIR *directory, bool skips,
                       tl_list **list) {
  // readdir says the end and an error alike by NULL: errno tells them apart.
  for (struct dirent *entry; (errno = 0, entry = readdir(directory));) {
    const char *name = entry->d_name;
    size_t at, nbytes = strlen(name);
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
      continue;
    // A folder on a slow disk or network may take long.
    if (!tl_poll(vm, 1))
      return false;
    bool is_text = tl_utf8_check(name, nbytes, &at);
    if (!is_text && !skips)
      return tl_fail(vm, TALLY_ERR_VALUE,
                     "os.list: a file's name is no UTF-8 text: malformed at "
                     "byte %zu",
                     at);
    if (is_text && !tl_list_push_text(vm, list, name, nbytes))
      return false;
  }
  return errno == 0 || os_fail(vm, "os.list", path);
}

// os.list(path, skip_malformed): sorted, because the system's order is not the
// same twice.
static bool list_folder(tl_vm *vm, tl_slot *args, tl_slot *out) {
  const char *path = tl_is_none(args[0]) ? "." : tl_file_path(args[0]);
  DIR *directory = opendir(path);
  if (!directory)
    return os_fail(vm, "os.list", path);
  tl_list *list = tl_list_new(vm, 0);
  bool ok = list && list_names(vm, path, directory, args[1].i != 0, &list);
  closedir(directory);
  // The list is owned by names until the sort takes it.
  tl_slot names;
  if (!tl_list_give(vm, list, ok, &names))
    return false;
  return tl_drop_after(vm, tl_list_sort(vm, &names, false, tl_none(), out),
                       &names);
}

// os.status(path): none where there is no such file, as that is what most
// callers ask.
static bool status(tl_vm *vm, tl_slot *args, tl_slot *out) {
  const char *path = tl_file_path(args[0]);
  struct stat about;
  *out = tl_none();
  if (stat(path, &about) != 0)
    return errno == ENOENT || errno == ENOTDIR ||
           os_fail(vm, "os.status", path);
  // A record, so that more fields can be added without breaking scripts.
  tl_record *record = tl_record_new(vm, 3);
  tl_record_put_int(vm, &record, "size", (uint64_t)about.st_size);
  tl_record_put(vm, &record, "modified", tl_weak_float((double)about.st_mtime));
  tl_record_put(vm, &record, "is_folder", tl_bool(S_ISDIR(about.st_mode)));
  return tl_record_put_end(record, out);
}

// os.make_folder(path). A folder that is there is no failure, a file of that
// name is.
static bool make_folder(tl_vm *vm, tl_slot *args, tl_slot *out) {
  const char *path = tl_file_path(args[0]);
  struct stat about;
  *out = tl_none();
  if (mkdir(path, 0777) == 0)
    return true;
  // stat may change errno, and the first reason is the one to report.
  int error = errno;
  if (error == EEXIST && stat(path, &about) == 0 && S_ISDIR(about.st_mode))
    return true;
  errno = error;
  return os_fail(vm, "os.make_folder", path);
}

// os.remove(path): files, and folders that are empty.
static bool remove_path(tl_vm *vm, tl_slot *args, tl_slot *out) {
  const char *path = tl_file_path(args[0]);
  *out = tl_none();
  return remove(path) == 0 || os_fail(vm, "os.remove", path);
}

// os.rename(path, to).
static bool rename_path(tl_vm *vm, tl_slot *args, tl_slot *out) {
  const char *from = tl_file_path(args[0]);
  *out = tl_none();
  return rename(from, tl_file_path(args[1])) == 0 ||
         os_fail(vm, "os.rename", from);
}

// A folder's path as a string; it must be UTF-8.
static bool folder_named(tl_vm *vm, const char *function, const char *path,
                         tl_slot *out) {
  size_t at;
  if (!tl_utf8_check(path, strlen(path), &at))
    return tl_fail(vm, TALLY_ERR_VALUE, "%s: its name is no UTF-8 text",
                   function);
  return tl_string_give(tl_string_from(vm, path), out);
}

// os.working_folder().
static bool working_folder(tl_vm *vm, tl_slot *args, tl_slot *out) {
  char path[4096];
  if (!getcwd(path, sizeof path))
    return os_fail(vm, "os.working_folder", ".");
  return folder_named(vm, "os.working_folder", path, out);
}

// os.temporary_folder(): TMPDIR, where POSIX says that programs put files for
// a while.
static bool temporary_folder(tl_vm *vm, tl_slot *args, tl_slot *out) {
  const char *path = getenv("TMPDIR");
  if (path == NULL || path[0] == 0)
    path = "/tmp";
  return folder_named(vm, "os.temporary_folder", path, out);
}

// os.script_folder(): the folder of the calling code's file, made absolute.
static bool script_folder(tl_vm *vm, tl_slot *args, tl_slot *out) {
  // The frame is that of the code that calls: a module's functions find their
  // own folder.
  const tl_frame *frame = vm->frame;
  const char *file = frame == NULL ? "" : frame->function->unit->file->text;
  const char *slash = strrchr(file, '/');
  // The root stays "/", a name without a folder is ".".
  size_t nbytes = slash == NULL   ? 1
                  : slash == file ? 1
                                  : (size_t)(slash - file);
  tl_string *name = tl_string_new(vm, slash == NULL ? "." : file, nbytes);
  if (name == NULL)
    return false;
  // Absolute, so that a later change of the working folder does not matter.
  char *path = realpath(name->text, NULL);
  bool ok = path != NULL ? folder_named(vm, "os.script_folder", path, out)
                         : os_fail(vm, "os.script_folder", name->text);
  free(path);
  tl_drop(vm, tl_own_string(name));
  return ok;
}

// Every row needs the capability of files and has effects: what a folder holds
// may change between two calls.
const tl_builtin tl_os_files_module[] = {
    /// The names in a folder, in order: a list of strings. A folder that cannot
    /// be read, or is none, is an io error, a name that is no UTF-8 a value
    /// error, or left out with skip_malformed.
    ///     os.list("data")
    {"list", "path = \".\", skip_malformed: false", list_folder,
     TL_FILES | TL_EFFECT, .types = "Pb"},
    /// What is known of a file: a record of size (bytes), modified (seconds, as
    /// time.now has them) and is_folder; none where there is no such file.
    /// One that may not be looked at is an io error, an empty name a value
    /// error.
    ///     os.status("data.csv")
    {"status", "path", status, TL_FILES | TL_EFFECT, .types = "p"},
    /// Makes a folder of that name, a string, unless it is there; the folder
    /// that it is to stand in must be. What cannot be made is an io error.
    ///     os.make_folder("results")
    {"make_folder", "path", make_folder, TL_FILES | TL_EFFECT, .types = "p"},
    /// Removes the file or empty folder of that name, a string; one that is
    /// not there is an io error.
    ///     os.remove("old.csv")
    {"remove", "path", remove_path, TL_FILES | TL_EFFECT, .types = "p"},
    /// Gives a file or folder another name, in place of what has it; both are
    /// strings. What cannot be renamed is an io error.
    ///     os.rename("new.csv", "data.csv")
    {"rename", "path, to", rename_path, TL_FILES | TL_EFFECT, .types = "pp"},
    /// The folder for files that are not to stay, a string: what the
    /// environment's TMPDIR says, or /tmp. A name that is no UTF-8 text is a value
    /// error.
    ///     os.temporary_folder()
    {"temporary_folder", "", temporary_folder, TL_FILES | TL_EFFECT},
    /// The folder of the file of code that calls this, a string with a / at its
    /// front: data beside a script, or beside a module, is found by it wherever
    /// the script is started from. At the prompt it is the working folder. One
    /// that is gone is an io error.
    ///     path = os.script_folder() + "/data.csv"
    {"script_folder", "", script_folder, TL_FILES | TL_EFFECT},
    /// The folder that names of files without a / at their front start from, a
    /// string. One that is gone is an io error.
    ///     os.working_folder()
    {"working_folder", "", working_folder, TL_FILES | TL_EFFECT},
    {.name = NULL},
};
