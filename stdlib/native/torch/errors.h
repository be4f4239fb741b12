// libtorch's exceptions as errors of Tally: its message without the names of
// its C++ files, and the nearest kind.
#pragma once

#include "stdlib/native/torch/tensor.h"

namespace {

// A status that the VM has raised already, on its way through C++. It has no
// text: the VM keeps the message.
struct raised {
  tally_status status;
};

// Throws unless the status is OK. For use within guarded alone, which turns it
// into a status again.
void check(tally_status status) {
  if (status != TALLY_OK)
    throw raised{status};
}

// Raises an error of this kind for the function of that name, and returns the
// kind. The place in libtorch's sources, which some messages end with, means
// nothing to a script.
tally_status raise_text(tally_vm *vm, tally_status kind, const char *name,
                        std::string text) {
  text = text.substr(0, text.find("\nException raised from"));
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return tally_raise(vm, kind, "torch.%s: %s", name, text.c_str());
}

// Handles made while it is alive go with it, on every path; [keep] ends it
// early and hands *out, which is one of them, to the caller.
class frame {
  tally_vm *vm;
  tally_frame begun;
  bool ended = false;

 public:
  explicit frame(tally_vm *v) : vm(v), begun(tally_begin(v)) {}
  frame(const frame &) = delete;
  frame &operator=(const frame &) = delete;
  tally_status keep(tally_status status, tally_value *out) {
    ended = true;
    tally_end(vm, begun, status == TALLY_OK, out);
    return status;
  }
  ~frame() {
    if (!ended)
      tally_end(vm, begun, 0, nullptr);
  }
};

// Runs [f], which returns a status or throws. Nothing gets past it: an
// exception in the VM's own C frames would skip what they have to undo. A
// failure of libtorch's that has no nearer kind is of kind host.
template <class F>
tally_status caught(tally_vm *vm, const char *name, F f) {
  try {
    return f();
  } catch (const raised &e) {
    return e.status;
  } catch (const c10::Error &e) {
    tally_status kind =
        dynamic_cast<const c10::IndexError *>(&e)         ? TALLY_ERR_INDEX
        : dynamic_cast<const c10::TypeError *>(&e)        ? TALLY_ERR_TYPE
        : dynamic_cast<const c10::ValueError *>(&e)       ? TALLY_ERR_VALUE
        : dynamic_cast<const c10::OutOfMemoryError *>(&e) ? TALLY_ERR_MEMORY
                                                          : TALLY_ERR_HOST;
    return raise_text(vm, kind, name, e.what_without_backtrace());
  } catch (const std::bad_alloc &) {
    return raise_text(vm, TALLY_ERR_MEMORY, name, "no memory");
  } catch (const std::exception &e) {
    return raise_text(vm, TALLY_ERR_HOST, name, e.what());
  } catch (...) {
    return raise_text(vm, TALLY_ERR_HOST, name, "an exception");
  }
}

// The same with the VM as the one that new blocks are counted in.
template <class F>
tally_status guarded(vm_link *l, const char *name, F f) {
  entered call(l);
  return caught(l->vm, name, f);
}

}  // namespace
