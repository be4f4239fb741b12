// The native module torch: libtorch inside Tally. Its functions are found at
// run time (ops.h), so that this file is the same for each version of libtorch.
//
//     import torch
//     w = torch.requires_grad_(torch.randn((3, 2)))
//     loss = torch.sum(torch.tanh(torch.tensor([[1.0, 2.0, 3.0]]) @ w))
//     g = torch.grad(loss, w)
//
// Built by `make torch`, with C++, and by nothing else: Tally needs none of it.

#include <memory>
#include <sstream>

#include "stdlib/native/torch/ops.h"

#include <torch/csrc/autograd/autograd.h>

namespace {

// --- Hooks of tensors -------------------------------------------------------

// What ends with a tensor may be a whole graph, whose blocks find their VM by
// themselves. Nothing is allocated for a VM meanwhile.
void end_tensor(void *, void *object) {
  handle *h = static_cast<handle *>(object);
  vm_link *before = current;
  current = nullptr;
  delete h;
  current = before;
}

// In bytes, of the handle alone: the blocks behind it are counted by
// themselves, once for all tensors that share them.
size_t size_of_handle(void *, void *) {
  return sizeof(handle);
}

// The function of that name, called with these values in its first slots.
// False: there is none, or it has fewer.
bool call_named(vm_link *l, const char *name, size_t count,
                const tally_value *args, tally_value *out,
                tally_status *status) {
  auto &functions = read_library().functions;
  auto found = functions.find(name);
  if (found == functions.end() || found->second.slots.size() < count)
    return false;
  tally_value slots[MAX_SLOTS];
  for (size_t i = 0; i < MAX_SLOTS; i++)
    if (i < count)
      slots[i] = args[i];
    else
      check(tally_from_none(l->vm, &slots[i]));
  *status = call_op(l, found->second, slots, out);
  return true;
}

// Small tensors with their items, large ones by their type.
tally_status show(tally_vm *vm, void *, void *object, tally_value *out) {
  handle *h = static_cast<handle *>(object);
  return guarded(h->owner, "tensor", [&] {
    std::string text = "tensor(" + type_of(h->t) + ")";
    if (h->t.numel() <= 1000 && h->t.layout() == at::kStrided &&
        !h->t.is_meta()) {
      tally_value array, shown;
      const char *items;
      at::NoGradGuard no_grad;
      check(to_array(h->owner, h->t, false, &array));
      tally_status status = tally_format(vm, array, &shown);
      tally_release(vm, array);
      check(status);
      check(tally_to_string(vm, shown, &items, nullptr));
      text = std::string("tensor(") + items + ", " +
             name_of(h->t.scalar_type()) + ")";
      tally_release(vm, shown);
    }
    return tally_from_string(vm, text.c_str(), text.size(), out);
  });
}

// A shape as Tally has shapes: a list of integers. *out returns owned.
tally_status list_of_sizes(tally_vm *vm, at::IntArrayRef sizes,
                           tally_value *out) {
  std::vector<tally_value> items(sizes.size());
  for (size_t i = 0; i < items.size(); i++)
    check(tally_from_int(vm, sizes[i], &items[i]));
  return tally_from_list(vm, items.size(), items.data(), out);
}

// x.name. What is not here is declined: operators are functions, not methods.
tally_status attribute(tally_vm *vm, void *, void *object, const char *name,
                       tally_value *out) {
  handle *h = static_cast<handle *>(object);
  at::Tensor &t = h->t;
  return guarded(h->owner, name, [&] {
    std::string n = name;
    std::ostringstream text;
    if (n == "shape")
      return list_of_sizes(vm, t.sizes(), out);
    if (n == "ndim")
      return tally_from_int(vm, t.dim(), out);
    if (n == "size")
      return tally_from_int(vm, t.numel(), out);
    if (n == "nbytes")
      return tally_from_int(vm, t.numel() * (int64_t)t.element_size(), out);
    if (n == "requires_grad")
      return tally_from_bool(vm, t.requires_grad(), out);
    if (n == "is_leaf")
      return tally_from_bool(vm, t.is_leaf(), out);
    if (n == "grad")
      return from_tensor(h->owner, t.grad(), out);
    if (n == "T")
      return from_tensor(h->owner, t.numpy_T(), out);
    if (n == "dtype")
      text << name_of(t.scalar_type());
    else if (n == "device")
      text << t.device();
    else if (n == "layout")
      text << t.layout();
    else
      return TALLY_OK;  // declined
    return tally_from_string(vm, text.str().c_str(), text.str().size(), out);
  });
}

// A bound of a slice: a record's field, perhaps none. Throws where it is no
// integer. The field's handle goes
// with the frame of the call (item).
c10::optional<int64_t> bound_of(tally_vm *vm, tally_value slice,
                                const char *key) {
  tally_value v;
  int64_t i;
  check(tally_field(vm, slice, key, &v));
  if (look(vm, v).of == G_NONE)
    return c10::nullopt;
  check(tally_to_int(vm, v, &i));
  return i;
}

// An index of x[…] as libtorch's own front end has it. Lists and ranges choose
// items, as they do in arrays.
at::indexing::TensorIndex index_of(vm_link *l, tally_value v) {
  given g = look(l->vm, v);
  if (g.of == G_NONE)
    return at::indexing::None;
  if (g.of == G_TEXT)
    return at::indexing::Ellipsis;
  if (g.of == G_BOOL)
    return scalar_of(l->vm, g).toBool();
  if (g.of == G_INT)
    return scalar_of(l->vm, g).toLong();
  if (g.of == G_OTHER && strcmp(tally_type(l->vm, v), "record") == 0) {
    auto start = bound_of(l->vm, v, "start"), stop = bound_of(l->vm, v, "stop");
    return at::indexing::Slice(start, stop, bound_of(l->vm, v, "step"));
  }
  if (g.of == G_TENSOR || g.of == G_ARRAY)
    return tensor_of(l, g);
  TORCH_CHECK_TYPE(g.of == G_LIST || g.of == G_RANGE,
                   "a tensor is not indexed by ", tally_type(l->vm, v));
  std::vector<int64_t> places;
  for (auto item : items_of(l->vm, v))
    places.push_back(scalar_of(l->vm, look(l->vm, item)).toLong());
  return at::tensor(places);
}

// What is between the brackets, for libtorch. Needs a frame of handles.
std::vector<at::indexing::TensorIndex> indices_of(vm_link *l, size_t count,
                                                  const tally_value *indices) {
  std::vector<at::indexing::TensorIndex> index;
  for (size_t i = 0; i < count; i++) index.push_back(index_of(l, indices[i]));
  return index;
}

// x[i, a:b, ...]: a view where integers and slices allow it, else a copy.
tally_status item(tally_vm *vm, void *, void *object, size_t count,
                  const tally_value *indices, tally_value *out) {
  handle *h = static_cast<handle *>(object);
  return guarded(h->owner, "tensor", [&] {
    frame handles(vm);
    auto index = indices_of(h->owner, count, indices);
    return handles.keep(from_tensor(h->owner, h->t.index(index), out), out);
  });
}

// x[i, a:b, ...] = v. In place where nobody else could see it, in the script or
// in libtorch, and *out then stays as it is; else on a copy, which *out returns
// owned. The value comes to the tensor's dtype, and a kind that would lose a
// part (a float in integers) throws. Places that a tensor chooses are read
// first: one that is out of range is found before anything is written.
tally_status put(tally_vm *vm, void *, void *object, int alone, size_t count,
                 const tally_value *indices, tally_value value,
                 tally_value *out) {
  handle *h = static_cast<handle *>(object);
  return guarded(h->owner, "tensor", [&] {
    frame handles(vm);
    auto index = indices_of(h->owner, count, indices);
    given g = look(vm, value);
    TORCH_CHECK_TYPE(item_cost(TENSOR, g.of) < NO,
                     "an item is set to a number, an array or a tensor, not ",
                     tally_type(vm, value));
    at::Tensor v = tensor_of(h->owner, g);
    TORCH_CHECK_TYPE(c10::canCast(v.scalar_type(), h->t.scalar_type()),
                     "an item of ", name_of(h->t.scalar_type()), " cannot be ",
                     name_of(v.scalar_type()));
    v = v.to(h->t.options());
    if (!alone || !is_alone(h->t)) {
      at::Tensor copy = to_write(at::Tensor(h->t));
      copy.index_put_(index, v);
      return handles.keep(from_tensor(h->owner, std::move(copy), out), out);
    }
    for (auto &i : index)
      if (i.is_tensor()) {
        h->t.index(index);
        break;
      }
    h->t.index_put_(index, v);
    forget_grad(h->t);
    return TALLY_OK;
  });
}

// for row in x: views along the first axis.
tally_status has_row(tally_vm *, void *, void *object, size_t at, int *more) {
  handle *h = static_cast<handle *>(object);
  return guarded(h->owner, "tensor", [&] {
    TORCH_CHECK_TYPE(h->t.dim() > 0, "a tensor without axes has no items");
    *more = at < static_cast<size_t>(h->t.size(0));
    return TALLY_OK;
  });
}

tally_status row(tally_vm *, void *, void *object, size_t at,
                 tally_value *out) {
  handle *h = static_cast<handle *>(object);
  return guarded(h->owner, "tensor", [&] {
    return from_tensor(h->owner, h->t.select(0, static_cast<int64_t>(at)), out);
  });
}

// The operators that libtorch calls otherwise than Tally's functions.
const struct sign {
  const char *op;
  size_t count;
  const char *name;
} signs[] = {{"+", 2, "add"},
             {"-", 2, "sub"},
             {"*", 2, "mul"},
             {"/", 2, "div"},
             {"//", 2, "floor_divide"},
             {"%", 2, "remainder"},
             {"**", 2, "pow"},
             {"@", 2, "matmul"},
             {"<", 2, "lt"},
             {"<=", 2, "le"},
             {">", 2, "gt"},
             {">=", 2, "ge"},
             {"==", 2, "eq"},
             {"!=", 2, "ne"},
             {"&", 2, "bitwise_and"},
             {"|", 2, "bitwise_or"},
             {"^", 2, "bitwise_xor"},
             {"-", 1, "neg"},
             {"+", 1, "positive"},
             {"~", 1, "bitwise_not"}};

// An operator, or a function of Tally's such as sqrt, whose name libtorch has,
// too. Where libtorch has none, the VM says that there is no such operator.
tally_status operate(tally_vm *vm, void *, const char *sign, size_t count,
                     const tally_value *operands, tally_value *out) {
  void *object = nullptr;
  for (size_t i = 0; i < count && object == nullptr; i++)
    if (tally_to_resource(vm, operands[i], &tensor_type, &object) != TALLY_OK)
      object = nullptr;
  if (object == nullptr)
    return TALLY_OK;
  const char *name = sign;
  for (auto &s : signs)
    if (s.count == count && strcmp(s.op, sign) == 0)
      name = s.name;
  vm_link *l = static_cast<handle *>(object)->owner;
  return guarded(l, name, [&] {
    tally_status status = TALLY_OK;  // declined, where there is none
    // A number on the left is a tensor to libtorch's functions.
    if (count == 2 && look(vm, operands[0]).of != G_TENSOR) {
      tally_value first;
      check(from_tensor(l, tensor_of(l, look(vm, operands[0])), &first));
      tally_value both[] = {first, operands[1]};
      call_named(l, name, 2, both, out, &status);
      tally_release(vm, first);
      return status;
    }
    call_named(l, name, count, operands, out, &status);
    return status;
  });
}

const tally_resource tensor_type = [] {
  tally_resource t = {};
  t.size = sizeof t;
  t.name = "torch.tensor";
  t.doc = "A tensor of libtorch's.";
  t.release = end_tensor;
  t.nbytes = size_of_handle;
  t.repr = show;
  t.attribute = attribute;
  t.index = item;
  t.put = put;
  t.operate = operate;
  t.more = has_row;
  t.next = row;
  return t;
}();

// --- Functions --------------------------------------------------------------

// Which VM a function of the module was called in. Borrowed from the module's
// context, which lives as long as the VM does.
vm_link *link_of(void *context) {
  return static_cast<bound *>(context)->link;
}

// The one function behind all of libtorch's.
tally_status call_function(tally_vm *, void *context, size_t,
                           const tally_value *args, tally_value *out) {
  bound *b = static_cast<bound *>(context);
  return guarded(b->link, b->f->name.c_str(),
                 [&] { return call_op(b->link, *b->f, args, out); });
}

// tensor(x). The array lives as long as the storage that reads it.
tally_status make_tensor(tally_vm *vm, void *context, size_t,
                         const tally_value *args, tally_value *out) {
  vm_link *l = link_of(context);
  return guarded(l, "tensor", [&] {
    given g = look(vm, args[0]);
    TORCH_CHECK_TYPE(
        g.of >= G_TENSOR && g.of <= G_ARRAY && g.of != G_TEXT && g.of != G_LIST,
        "x must be an array or a number, not ", tally_type(vm, args[0]));
    at::Tensor t = tensor_of(l, g);
    if (t.dim() == 0)
      t.unsafeGetTensorImpl()->set_wrapped_number(false);
    return from_tensor(l, t, out);
  });
}

// The tensor is taken: at its last use the array may be written.
tally_status make_array(tally_vm *vm, void *context, size_t,
                        const tally_value *args, tally_value *out) {
  vm_link *l = link_of(context);
  return guarded(l, "array", [&] {
    given g = look(vm, args[0]);
    TORCH_CHECK_TYPE(g.of == G_TENSOR, "t must be a tensor, not ",
                     tally_type(vm, args[0]));
    at::Tensor t = tensor_of(l, g);
    tally_release(vm, args[0]);
    bool alone =
        is_alone(t) && !t.requires_grad() && t.is_non_overlapping_and_dense();
    return to_array(l, std::move(t), alone, out);
  });
}

// A tensor, or a list of them, as a vector that shares them with the script.
// Needs a frame of handles around it, which gives the items back.
std::vector<at::Tensor> tensors_of(vm_link *l, tally_value v) {
  given g = look(l->vm, v);
  std::vector<at::Tensor> out;
  if (g.of != G_LIST)
    return {tensor_of(l, g)};
  for (auto i : items_of(l->vm, v)) out.push_back(tensor_of(l, look(l->vm, i)));
  return out;
}

// grad(y, x, gradient, create_graph): x a tensor or a list, and so the result.
tally_status grad(tally_vm *vm, void *context, size_t, const tally_value *args,
                  tally_value *out) {
  vm_link *l = link_of(context);
  tally_frame frame = tally_begin(vm);
  tally_status status = guarded(l, "grad", [&] {
    bool more = scalar_of(vm, look(vm, args[3])).toBool();
    std::vector<at::Tensor> seeds;
    if (look(vm, args[2]).of != G_NONE)
      seeds = tensors_of(l, args[2]);
    auto grads =
        torch::autograd::grad(tensors_of(l, args[0]), tensors_of(l, args[1]),
                              seeds, more, more, true);
    if (look(vm, args[1]).of != G_LIST)
      return from_tensor(l, grads[0], out);
    return unbox(l, c10::IValue(grads), out);
  });
  tally_end(vm, frame, status == TALLY_OK, out);
  return status;
}

// backward(y, gradient): writes the grad of leaves, and returns none. The graph
// is given up behind it, as grad does. Handles of lists' items go with the
// frame.
tally_status backward(tally_vm *vm, void *context, size_t,
                      const tally_value *args, tally_value *) {
  vm_link *l = link_of(context);
  tally_frame frame = tally_begin(vm);
  tally_status status = guarded(l, "backward", [&] {
    std::vector<at::Tensor> seeds;
    if (look(vm, args[1]).of != G_NONE)
      seeds = tensors_of(l, args[1]);
    torch::autograd::backward(tensors_of(l, args[0]), seeds);
    return TALLY_OK;
  });
  tally_end(vm, frame, 0, nullptr);
  return status;
}

// The switch is of the thread, so it is put back on every path, errors too.
// f alone holds what it was given, so that it may write it in place.
tally_status no_grad(tally_vm *vm, void *context, size_t,
                     const tally_value *args, tally_value *out) {
  tally_frame frame = tally_begin(vm);
  tally_status status = guarded(link_of(context), "no_grad", [&] {
    at::NoGradGuard guard;
    auto rest = items_of(vm, args[1]);
    tally_release(vm, args[1]);
    for (auto &v : rest) v = tally_take(v);
    return tally_apply(vm, args[0], rest.size(), rest.data(), out);
  });
  tally_end(vm, frame, status == TALLY_OK, out);
  return status;
}

// libtorch has one source of random numbers, for all VMs of the process.
tally_status seed(tally_vm *vm, void *context, size_t, const tally_value *args,
                  tally_value *) {
  return guarded(link_of(context), "manual_seed", [&] {
    int64_t n;
    check(tally_to_int(vm, args[0], &n));
    at::manual_seed((uint64_t)n);
    return TALLY_OK;
  });
}

// report(): a record; the reasons are keys, as the schemas name the types.
tally_status report(tally_vm *vm, void *context, size_t, const tally_value *,
                    tally_value *out) {
  vm_link *l = link_of(context);
  tally_frame frame = tally_begin(vm);
  tally_status status = guarded(l, "report", [&] {
    const library &all = read_library();
    std::map<std::string, int64_t> reasons;
    for (auto &left : all.left) reasons[left.why]++;
    std::vector<const char *> whys;
    std::vector<tally_value> counts;
    for (auto &r : reasons) {
      whys.push_back(r.first.c_str());
      counts.push_back({0, 0});
      check(tally_from_int(vm, r.second, &counts.back()));
    }
    static const char *const keys[] = {"listed", "bound", "names", "left_out"};
    tally_value v[4];
    check(tally_from_int(vm, (int64_t)all.listed, &v[0]));
    check(tally_from_int(vm, (int64_t)all.bound, &v[1]));
    check(tally_from_int(vm, (int64_t)all.functions.size(), &v[2]));
    check(
        tally_from_record(vm, whys.size(), whys.data(), counts.data(), &v[3]));
    return tally_from_record(vm, 4, keys, v, out);
  });
  tally_end(vm, frame, status == TALLY_OK, out);
  return status;
}

// A function that is this file's own, as its row in tally.h will have it. Bit i
// of [takes] says that argument i is taken.
struct own_function {
  const char *name, *params, *doc;
  tally_function *call;
  uint64_t takes;
} own[] = {
    {"tensor", "x",
     "An array as a tensor that reads its memory, or a number as one without\n"
     "an axis.",
     make_tensor, 0},
    {"array", "t",
     "A tensor as an array over its memory, or one without an axis as a\n"
     "number. Of what is not dense or on another device a copy is made, and\n"
     "of bfloat16 one of float32.",
     make_array, 1},
    {"grad", "y, x, gradient = none, create_graph = false",
     "The derivatives of y, a tensor without an axis, by x, a tensor or a\n"
     "list of them; none of what y does not depend on.",
     grad, 0},
    {"backward", "y, gradient = none",
     "Adds the derivatives of y to the grad of each leaf that it was made of.",
     backward, 0},
    {"no_grad", "f, ...args",
     "What f(args) returns, called without recording derivatives. A tensor\n"
     "among them that nobody else has is written in place.",
     no_grad, 2},
    {"manual_seed", "n", "Begins the random numbers anew.", seed, 0},
    {"report", "",
     "How many of libtorch's operators are listed and bound, under how many\n"
     "names, and why the others are left out.",
     report, 0}};

// --- The module -------------------------------------------------------------

// The VM closes: blocks that live on are of no VM.
void end_session(void *, void *object) {
  vm_link *l = static_cast<vm_link *>(object);
  {
    std::lock_guard<std::mutex> guard(l->lock);
    take_back(l);
    tally_unaccount(l->vm, 0, l, l->counted);
    l->vm = nullptr;
  }
  drop_link(l);
}

const tally_resource session_type = [] {
  tally_resource t = {};
  t.size = sizeof t;
  t.name = "torch.session";
  t.release = end_session;
  return t;
}();

// The rows of a VM's module: those of this file first, which hide operators of
// the same name. Their texts are static or the library's; their contexts point
// into the link, whose functions are complete before the first is taken.
std::vector<tally_native> rows_of(vm_link *l) {
  const library &all = read_library();
  std::vector<tally_native> rows;
  std::vector<const op *> ops(std::size(own), nullptr);
  auto add = [&](const char *name, const char *params, const char *doc,
                 tally_function *call, uint64_t takes) {
    tally_native row = {};
    row.name = name;
    row.params = params;
    row.doc = doc;
    row.call = call;
    row.takes = takes;
    row.needs = TALLY_MAY_FILES | TALLY_MAY_LIBRARIES;
    rows.push_back(row);
  };
  for (auto &f : own) add(f.name, f.params, f.doc, f.call, f.takes);
  for (auto &entry : all.functions) {
    const op &f = entry.second;
    bool hidden = false;
    for (auto &o : own) hidden = hidden || f.name == o.name;
    if (hidden)
      continue;
    add(f.name.c_str(), f.params.c_str(), f.doc.c_str(), call_function,
        f.takes);
    ops.push_back(&f);
  }
  for (auto f : ops) l->functions.push_back({l, f});
  for (size_t i = 0; i < rows.size(); i++) rows[i].context = &l->functions[i];
  return rows;
}

// Makes the VM's link, which a global keeps until the VM closes, and adds the
// module. Throws what libtorch does where it cannot be asked for its operators.
tally_status open_module(tally_vm *vm) {
  std::unique_ptr<vm_link, void (*)(vm_link *)> link(new vm_link, drop_link);
  link->vm = vm;
  link->thread = pthread_self();
  std::vector<tally_native> rows = rows_of(link.get());
  tally_value session;
  check(tally_from_resource(vm, &session_type, link.get(), &session));
  link.release();
  check(tally_move_global(vm, "_torch", session));
  tally_module module = {};
  module.size = sizeof module;
  module.name = "torch";
  module.doc = "libtorch: tensors, their operators and derivatives.";
  module.functions = rows.data();
  module.function_count = rows.size();
  module.function_size = sizeof(tally_native);
  return tally_add_module(vm, &module);
}

}  // namespace

// What `import torch` calls. The allocator is set once in the process, before
// any tensor is made, and counts for the VM whose function runs.
extern "C" TALLY_API tally_status tally_open_torch(tally_vm *vm) {
  static counted_allocator allocator;
  static std::once_flag once;
  return caught(vm, "open", [&] {
    std::call_once(once, [] { c10::SetCPUAllocator(&allocator, 1); });
    return open_module(vm);
  });
}
