// A tensor as a value of Tally's, and the memory behind it.
//
//     script's variable ─▶ handle ─▶ at::Tensor ─▶ storage ─▶ counted block
//                                       ▲                        │
//     autograd's graph ─────────────────┘           link ◀───────┘
//
// Whose turn a tensor's end is, libtorch's own counts say. A handle's size is
// not asked of the tensor, since views and the graph share storages: each block
// that libtorch allocates while a VM's function runs is counted in that VM,
// under its limit, until it is freed (counted_allocator).
//
// Value semantics need one question only (is_alone): whether anybody else could
// see what is written into a tensor.
#pragma once

#include <pthread.h>
#include <string.h>

#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include <ATen/ATen.h>
#include <ATen/TensorIndexing.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/impl/alloc_cpu.h>

#include "tally.h"

namespace {

struct op;

// A function of a VM's module: its context.
struct bound {
  struct vm_link *link;
  const op *f;
};

// Before each block: as long as a line of the cache, so that the block is
// aligned as libtorch's own are.
struct alignas(64) block_head {
  struct vm_link *owner;  // NULL: counted nowhere
  size_t nbytes;
  block_head *next;  // of those that other threads left
};

// A VM as blocks and handles see it. Freed with the last of them, for a block
// may outlive the VM (in an array that another library holds).
struct vm_link {
  tally_vm *vm;  // NULL: closed
  pthread_t thread;
  std::atomic<int64_t> owners{1};
  size_t counted = 0;  // bytes, of the blocks that are alive
  std::mutex lock;
  // What other threads are done with: freed by the VM's own thread (take_back).
  block_head *left = nullptr;
  std::vector<bound> functions;
};

// Each block, array and VM gives its own share up; from any thread.
void drop_link(vm_link *l) {
  if (l->owners.fetch_sub(1) == 1)
    delete l;
}

// The VM whose function runs on this thread; NULL: allocations are nobody's.
thread_local vm_link *current = nullptr;

// Ends a block on the VM's own thread, under the link's lock.
void end_block(vm_link *l, block_head *head) {
  tally_unaccount(l->vm, 0, head + 1, head->nbytes);
  l->counted -= head->nbytes;
  c10::free_cpu(head);
}

// Ends what other threads are done with, also under the lock. The VM's own
// share keeps the link.
void take_back(vm_link *l) {
  while (l->left != nullptr) {
    block_head *head = l->left;
    l->left = head->next;
    end_block(l, head);
    drop_link(l);
  }
}

// Names the VM for the time of a call. On every path the one before is put
// back: calls nest by way of no_grad.
struct entered {
  vm_link *before;
  explicit entered(vm_link *l) : before(current) {
    std::lock_guard<std::mutex> guard(l->lock);
    current = l;
    take_back(l);
  }
  ~entered() {
    current = before;
  }
};

// --- Memory -----------------------------------------------------------------

// The deleter of counted blocks, from any thread; nothing in it can fail. The
// VM is gone, or it is this thread's, or its thread frees the block later: a VM
// is used by one thread alone.
void free_block(void *data) {
  if (data == nullptr)
    return;
  block_head *head = static_cast<block_head *>(data) - 1;
  vm_link *l = head->owner;
  if (l == nullptr)
    return c10::free_cpu(head);
  {
    std::lock_guard<std::mutex> guard(l->lock);
    if (l->vm == nullptr) {
      c10::free_cpu(head);
    } else if (pthread_equal(l->thread, pthread_self())) {
      end_block(l, head);
    } else {
      head->next = l->left;
      l->left = head;
      return;
    }
  }
  drop_link(l);
}

// libtorch's allocator for the processor's memory, with a count.
struct counted_allocator final : c10::Allocator {
  // Throws OutOfMemoryError at the VM's limit; nothing is kept then. What other
  // threads are done with is freed first, so that it does not count against the
  // limit. No bytes at all have no block.
  c10::DataPtr allocate(size_t nbytes) const override {
    if (nbytes == 0)
      return {nullptr, nullptr, &free_block, c10::kCPU};
    auto *head =
        static_cast<block_head *>(c10::alloc_cpu(nbytes + sizeof(block_head)));
    void *data = head + 1;
    *head = {nullptr, nbytes, nullptr};
    vm_link *l = current;
    if (l != nullptr) {
      {
        std::lock_guard<std::mutex> guard(l->lock);
        take_back(l);
      }
      if (tally_account(l->vm, 0, data, nbytes) != TALLY_OK) {
        c10::free_cpu(head);
        TORCH_CHECK_WITH(OutOfMemoryError, false, tally_error(l->vm)->message);
      }
      std::lock_guard<std::mutex> guard(l->lock);
      l->owners++;
      l->counted += nbytes;
      head->owner = l;
    }
    return {data, data, &free_block, c10::kCPU};
  }
  c10::DeleterFnPtr raw_deleter() const override {
    return &free_block;
  }
};

// --- Values -----------------------------------------------------------------

// The object of a tensor's value: one reference to the tensor, and the VM that
// the value is of, borrowed, since no value outlives its VM.
struct handle {
  at::Tensor t;
  vm_link *owner;
};

extern const tally_resource tensor_type;

// A tensor as a value, which takes it; *out returns owned. A tensor that is not
// there is none. On failure the tensor goes.
tally_status from_tensor(vm_link *l, at::Tensor t, tally_value *out) {
  if (!t.defined())
    return tally_from_none(l->vm, out);
  handle *h = new handle{std::move(t), l};
  tally_status status = tally_from_resource(l->vm, &tensor_type, h, out);
  if (status != TALLY_OK)
    delete h;
  return status;
}

// An array of Tally's that a tensor reads: released with its storage. The array
// is a handle of its own, and the VM's link is shared, since the storage may
// outlive the VM.
struct lent_array {
  vm_link *owner;
  tally_value array;
  pthread_t thread;
};

// On another thread than the VM's nothing may be released: the array stays
// until the VM is closed.
void end_lent(void *context) {
  lent_array *a = static_cast<lent_array *>(context);
  if (a->owner->vm != nullptr && pthread_equal(a->thread, pthread_self()))
    tally_release(a->owner->vm, a->array);
  drop_link(a->owner);
  delete a;
}

// Whether the memory is Tally's, which libtorch may not write.
bool is_lent(const at::Tensor &t) {
  return t.has_storage() && t.storage().data_ptr().get_deleter() == &end_lent;
}

// Whether nobody would see it if the tensor were written: no other handle, view
// or part of autograd's graph has it. A leaf that records is never written, as
// what it is must not depend on who else looks.
bool is_alone(const at::Tensor &t) {
  bool records = t.requires_grad() && t.is_leaf() && at::GradMode::is_enabled();
  return t.use_count() == 1 && t.has_storage() &&
         t.storage().use_count() == 1 && !is_lent(t) && !records;
}

// A tensor that was written has no grad. Asked in its inner part, since the
// tensor itself warns of every question about one that is no leaf.
void forget_grad(const at::Tensor &t) {
  if (t.unsafeGetTensorImpl()->grad().defined())
    t.unsafeGetTensorImpl()->mutable_grad().reset();
}

// The tensor, or a copy of it where somebody else could see the write. Takes
// the caller's reference, which has to be the last one for the tensor itself to
// come back. Its grad stays with the old value in either case.
at::Tensor to_write(at::Tensor t) {
  if (!t.defined())
    return t;
  if (is_alone(t)) {
    forget_grad(t);
    return t;
  }
  at::Tensor copy = t.clone();
  if (t.requires_grad() && t.is_leaf() && !at::GradMode::is_enabled())
    copy.set_requires_grad(true);
  return copy;
}

// The dtypes that both have, as Tally calls them.
const struct dtype_name {
  const char *name;
  at::ScalarType type;
} dtype_names[] = {{"float32", at::kFloat},
                   {"float64", at::kDouble},
                   {"int64", at::kLong},
                   {"int32", at::kInt},
                   {"int16", at::kShort},
                   {"int8", at::kChar},
                   {"uint8", at::kByte},
                   {"bool", at::kBool},
                   {"complex64", at::kComplexFloat},
                   {"complex128", at::kComplexDouble},
                   {"float16", at::kHalf},
                   {"bfloat16", at::kBFloat16}};

// What Tally calls the dtype, static; one that Tally lacks has libtorch's name.
const char *name_of(at::ScalarType type) {
  for (auto &d : dtype_names)
    if (d.type == type)
      return d.name;
  return c10::toString(type);
}

// The row of the dtype that Tally calls so; NULL: there is none of that name.
const dtype_name *dtype_called(const char *name) {
  for (auto &d : dtype_names)
    if (strcmp(d.name, name) == 0)
      return &d;
  return nullptr;
}

// "60000 * 784 * float32"
std::string type_of(const at::Tensor &t) {
  std::string text;
  for (int64_t n : t.sizes()) text += std::to_string(n) + " * ";
  return text + name_of(t.scalar_type());
}

// A tensor over an array's memory. Borrows v, and holds it. Throws where there
// is no such dtype in libtorch.
at::Tensor from_array(vm_link *l, tally_value v) {
  tally_array a;
  TORCH_CHECK_TYPE(tally_to_buffer(l->vm, v, &a) == TALLY_OK,
                   "a tensor is made of numbers: got ", tally_type(l->vm, v));
  const dtype_name *d = dtype_called(a.dtype);
  TORCH_CHECK_TYPE(d != nullptr, "torch has no dtype ", a.dtype);
  int64_t itemsize = (int64_t)c10::elementSize(d->type), last = 0;
  std::vector<int64_t> steps;
  bool fits = true;
  for (int i = 0; i < a.ndim; i++) {
    fits = fits && a.strides[i] >= 0 && a.strides[i] % itemsize == 0;
    steps.push_back(a.strides[i] / itemsize);
    last += (a.shape[i] - 1) * steps.back();
  }
  at::IntArrayRef shape(a.shape, (size_t)a.ndim);
  // libtorch has no steps backwards: these items are copied.
  if (!fits) {
    std::vector<int64_t> turned(a.shape, a.shape + a.ndim);
    at::Tensor t = at::empty(turned, d->type);
    char *to = static_cast<char *>(t.data_ptr());
    std::vector<int64_t> at_item((size_t)a.ndim, 0);
    for (size_t i = 0; i < a.size; i++, to += itemsize) {
      const char *from = static_cast<const char *>(a.data);
      for (int k = 0; k < a.ndim; k++) from += at_item[k] * a.strides[k];
      memcpy(to, from, (size_t)itemsize);
      for (int k = a.ndim; k-- > 0 && ++at_item[k] == a.shape[k];)
        at_item[k] = 0;
    }
    return t;
  }
  size_t nbytes = a.size == 0 ? 0 : (size_t)((last + 1) * itemsize);
  auto *lent = new lent_array{l, tally_retain(l->vm, v), l->thread};
  l->owners++;
  at::DataPtr data(a.data, lent, &end_lent, c10::kCPU);
  at::Storage storage(c10::Storage::use_byte_size_t(), nbytes, std::move(data),
                      nullptr, false);
  at::Tensor t = at::detail::make_tensor<c10::TensorImpl>(
      std::move(storage), c10::DispatchKeySet(c10::DispatchKey::CPU),
      c10::scalarTypeToTypeMeta(d->type));
  t.unsafeGetTensorImpl()->set_sizes_and_strides(shape, steps);
  return t;
}

// The end of an array over a tensor's memory: the tensor's reference is given
// up, and with the last one its storage.
void end_shown(void *context, void *data) {
  (void)data;
  delete static_cast<at::Tensor *>(context);
}

// An array over a tensor's memory, which it keeps; a tensor without an axis
// becomes a number. Copied are tensors elsewhere than in the processor's
// memory, sparse ones, conjugates that are not computed yet, and bfloat16,
// which becomes float32. [alone]: the array may be written. *out returns owned;
// throws (kind type) for a dtype that Tally lacks.
tally_status to_array(vm_link *l, at::Tensor t, bool alone, tally_value *out) {
  if (t.layout() != at::kStrided || !t.device().is_cpu())
    t = t.to_dense().cpu();
  t = t.detach().resolve_conj().resolve_neg();
  if (t.dim() == 0) {
    if (c10::isComplexType(t.scalar_type())) {
      auto z = t.item().toComplexDouble();
      return tally_from_complex(l->vm, z.real(), z.imag(), out);
    }
    if (t.scalar_type() == at::kBool)
      return tally_from_bool(l->vm, t.item().toBool(), out);
    if (c10::isFloatingType(t.scalar_type()))
      return tally_from_float(l->vm, t.item().toDouble(), out);
    return tally_from_int(l->vm, t.item().toLong(), out);
  }
  if (t.scalar_type() == at::kBFloat16)
    t = t.to(at::kFloat);
  TORCH_CHECK_TYPE(dtype_called(name_of(t.scalar_type())) != nullptr,
                   "no array has the dtype ", t.scalar_type());
  std::string type = type_of(t);
  std::vector<int64_t> strides;
  int64_t itemsize = (int64_t)t.element_size();
  for (int64_t s : t.strides()) strides.push_back(s * itemsize);
  static char nothing;
  tally_buffer buffer = {};
  buffer.size = sizeof buffer;
  buffer.data = t.numel() == 0 ? &nothing : t.data_ptr();
  buffer.type = type.c_str();
  buffer.strides = t.numel() == 0 ? nullptr : strides.data();
  buffer.read_only = !alone;
  buffer.nbytes = t.numel() == 0 ? 0
                                 : t.storage().nbytes() -
                                       (size_t)(t.storage_offset() * itemsize);
  buffer.release = end_shown;
  auto *held = new at::Tensor(std::move(t));
  buffer.context = held;
  tally_status status = tally_from_buffer(l->vm, &buffer, out);
  if (status != TALLY_OK)
    delete held;
  return status;
}

}  // namespace
