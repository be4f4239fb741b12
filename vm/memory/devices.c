// Bytes on the host's devices (tally_options.devices). The VM never touches
// that memory: it counts what resources say of themselves, and keeps the
// limits.
//
//     device 0   the process's memory    live_bytes, ext_bytes, memory_limit
//     device 1…  vm->devices[0…]         each its own bytes, peak and limit
//
// What is counted there is also told apart by the type of its resources.
//
// Built for size.

#include "vm/events.h"
#include "vm/suggest.h"

// A name that is too long is cut, not within a character.
// Copied, as the host's array may be gone when tally_open has returned. The VM
// is zeros here, so that a name ends.
bool tl_devices_open(tl_vm *vm) {
  const tally_options *options = &vm->options;
  if (options->device_count > TALLY_MAX_DEVICES)
    return false;
  for (size_t i = 0; i <= options->device_count; i++) {
    vm->untyped[i] = (tl_type_count){.device = i, .next = vm->type_counts};
    vm->type_counts = &vm->untyped[i];
  }
  for (size_t i = 0; i < options->device_count; i++) {
    tl_device *d = &vm->devices[i];
    const char *name = options->devices[i].name;
    if (name != NULL)
      memcpy(d->name, name,
             (size_t)tl_clip(name, strlen(name), sizeof d->name - 1));
    d->limit = options->devices[i].limit;
  }
  return true;
}

// Of a device's memory the observer hears how much there is, and no block.
// Fails (kind memory) before anything has changed, and does not ask the cache
// of the process's memory for room, since that would free none there.
static bool account_device(tl_vm *vm, tl_device *d, size_t nbytes) {
  if (d->limit != 0 && (nbytes > d->limit || d->bytes > d->limit - nbytes))
    return tl_fail(vm, TALLY_ERR_MEMORY,
                   "no memory on %s: %zu bytes needed, %llu in use, the limit "
                   "is %zu",
                   d->name, nbytes, (unsigned long long)d->bytes, d->limit);
  d->bytes += nbytes;
  if (d->bytes > d->peak)
    d->peak = d->bytes;
  return true;
}

bool tl_account_on(tl_vm *vm, tl_type_count *count, const void *what,
                   size_t nbytes) {
  TL_CHECK(count->device <= vm->options.device_count);
  if (count->device == 0
          ? !tl_account_external(vm, what, nbytes)
          : !account_device(vm, &vm->devices[count->device - 1], nbytes))
    return false;
  count->nbytes += nbytes;
  if (vm->watch != NULL)
    vm->observer->foreign(vm, count);
  return true;
}

// What is taken back was counted before: a resource knows its device and its
// size from its birth on, whatever its type's hooks would say now.
void tl_unaccount_on(tl_vm *vm, tl_type_count *count, const void *what,
                     size_t nbytes) {
  if (count->device == 0) {
    tl_unaccount_external(vm, what, nbytes);
  } else {
    tl_device *d = &vm->devices[count->device - 1];
    TL_CHECK(d->bytes >= nbytes);
    d->bytes -= nbytes;
  }
  count->nbytes -= nbytes;
  if (vm->watch != NULL)
    vm->observer->foreign(vm, count);
}
