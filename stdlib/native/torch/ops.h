// Every operator that libtorch's dispatcher has, as a function of Tally's. What
// there is, and what it takes and gives, libtorch says itself, as schemas:
//
//     aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor
//     aten::add.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor
//
//     torch.add(self, other = none, alpha = none, out = none)
//
// The overloads of a name are one function, whose parameters (slots) are those
// of all of them: first by position, then those that go by name alone. A call
// takes the overload that the arguments fit best (choose), and runs it on a
// stack of boxed values. An argument that an operator writes, (a!), is taken
// from the script and copied if somebody else has it (to_write).
#pragma once

#include <algorithm>

#include "stdlib/native/torch/errors.h"

namespace {

enum { MAX_SLOTS = 16 };

// What an argument of an operator is made of.
enum kind {
  TENSOR,
  SCALAR,
  INT,
  FLOAT,
  BOOL,
  TEXT,
  DTYPE,
  DEVICE,
  LAYOUT,
  FORMAT,
  NEVER
};

// An argument of an overload.
struct argument {
  kind of;
  bool is_list, item_optional;  // T[], T?[]
  bool optional;                // T?
  bool writes;                  // (a!)
  bool silent;                  // written, too, but the schema does not say it
  int repeats;                  // int[2]: one number stands for two; 0: no
  int by_name, by_position;     // slots; -1: none
  const c10::Argument *schema;
};

// One schema of a name, and how to call it. The dispatcher owns what the handle
// refers to, for as long as the process lives.
struct overload {
  c10::OperatorHandle handle;
  std::vector<argument> arguments;
};

// A function of the module: all overloads of one name. [params] and [doc] are
// what tally.h's row points at, so it must not move once rows were made; bit i
// of [takes] says that slot i is taken from the script.
struct op {
  std::string name, params, doc;
  std::vector<std::string> slots;
  std::vector<overload> overloads;
  uint64_t takes = 0;
};

// Why an overload is not bound.
struct left_out {
  std::string name, why;
};

// All that the dispatcher has, read once. [listed] and [bound] count overloads;
// what is in [left] has no function, and report() says why.
struct library {
  std::map<std::string, op> functions;
  std::vector<left_out> left;
  size_t listed = 0, bound = 0;
};

// --- Reading the schemas ----------------------------------------------------

// What values fit a type, by its name in a schema. NEVER: a script has no such
// value; an argument of it can only be left out, where it has a default.
kind kind_of(const c10::TypePtr &type) {
  static const std::map<std::string, kind> kinds = {
      {"Tensor", TENSOR}, {"Scalar", SCALAR},      {"int", INT},
      {"SymInt", INT},    {"float", FLOAT},        {"bool", BOOL},
      {"str", TEXT},      {"Device", DEVICE},      {"ScalarType", DTYPE},
      {"Layout", LAYOUT}, {"MemoryFormat", FORMAT}};
  auto found = kinds.find(type->str());
  return found == kinds.end() ? NEVER : found->second;
}

// What a schema says of an argument; its slots are found by lay_out, when all
// overloads of the name are known.
//
//   Tensor?[] indices      TENSOR, is_list, item_optional
//   int[2] stride=1        INT, is_list, repeats 2
//   Tensor(a!) self        TENSOR, writes
//
// The schema has to outlive the result, as the dispatcher's do.
argument read_argument(const c10::Argument &a) {
  argument out = {NEVER, false, false, false, false, false, 0, -1, -1, &a};
  c10::TypePtr type = a.real_type();
  if (auto o = type->cast<c10::OptionalType>()) {
    out.optional = true;
    type = o->getElementType();
  }
  if (auto l = type->cast<c10::ListType>()) {
    out.is_list = true;
    type = l->getElementType();
    if (auto o = type->cast<c10::OptionalType>()) {
      out.item_optional = true;
      type = o->getElementType();
    }
  }
  out.of = kind_of(type);
  out.repeats = a.N() ? *a.N() : 0;
  out.writes = a.alias_info() != nullptr && a.alias_info()->isWrite();
  return out;
}

// Batch norms write the statistics that they are given, in training, and their
// schemas do not say so. Their derivatives only read them.
void read_silent(overload &o) {
  if (o.handle.operator_name().name.find("backward") != std::string::npos)
    return;
  for (auto &a : o.arguments)
    if (a.schema->name() == "running_mean" || a.schema->name() == "running_var")
      a.writes = a.silent = true;
}

// A word of libtorch's as one of Tally's.
std::string word(std::string name) {
  static const char *const keywords[] = {
      "fn",       "if",     "else", "while", "for",    "in",  "break",
      "continue", "return", "try",  "catch", "import", "as",  "global",
      "and",      "or",     "not",  "true",  "false",  "none"};
  for (auto k : keywords)
    if (name == k)
      return name + "_";
  return name;
}

// The place of a parameter; -1: the function has none of that name.
int slot_named(const op &f, const std::string &name) {
  auto at = std::find(f.slots.begin(), f.slots.end(), name);
  return at == f.slots.end() ? -1 : (int)(at - f.slots.begin());
}

// The slots of a function, and where each overload's arguments are in them.
void lay_out(op &f, library &all) {
  size_t most = 0;
  for (auto &o : f.overloads) {
    size_t n = 0;
    for (auto &a : o.arguments) n += !a.schema->kwarg_only();
    most = std::max(most, n);
  }
  for (size_t i = 0; i < most && i < MAX_SLOTS; i++)
    for (auto &o : f.overloads) {
      if (i >= o.arguments.size() || o.arguments[i].schema->kwarg_only())
        continue;
      std::string name = word(o.arguments[i].schema->name());
      if (slot_named(f, name) >= 0)
        continue;
      f.slots.push_back(name);
      break;
    }
  size_t positions = f.slots.size();
  for (auto &o : f.overloads)
    for (auto &a : o.arguments)
      if (f.slots.size() < MAX_SLOTS &&
          slot_named(f, word(a.schema->name())) < 0)
        f.slots.push_back(word(a.schema->name()));
  std::vector<overload> kept;
  for (auto &o : f.overloads) {
    bool fits = true;
    std::vector<bool> named(MAX_SLOTS);
    for (auto &a : o.arguments) {
      a.by_name = slot_named(f, word(a.schema->name()));
      if (a.by_name >= 0)
        named[(size_t)a.by_name] = true;
    }
    for (size_t i = 0; i < o.arguments.size(); i++) {
      argument &a = o.arguments[i];
      // A position is another argument's if that has its name.
      if (!a.schema->kwarg_only() && i < positions && !named[i])
        a.by_position = (int)i;
      fits = fits && (a.by_name >= 0 || a.by_position >= 0 ||
                      a.schema->default_value() || a.optional);
      for (int slot : {a.by_name, a.by_position})
        if (a.writes && slot >= 0)
          f.takes |= (uint64_t)1 << slot;
    }
    if (fits)
      kept.push_back(o);
    else
      all.left.push_back(
          {toString(o.handle.operator_name()), "more than 16 parameters"});
  }
  f.overloads = kept;
}

// What `tally doc` says, and the parameters as tally.h writes them. All are
// optional there, since each overload needs others; choose refuses a call that
// lacks one.
void describe(op &f) {
  for (auto &s : f.slots)
    f.params += (f.params.empty() ? "" : ", ") + s + " = none";
  f.doc = "libtorch's " + f.name + ", in these forms:\n";
  bool silent = false;
  for (auto &o : f.overloads) {
    std::ostringstream text;
    text << o.handle.schema();
    f.doc += text.str() + "\n";
    silent = silent || std::any_of(o.arguments.begin(), o.arguments.end(),
                                   [](auto &a) { return a.silent; });
  }
  if (silent)
    f.doc += "In training the statistics that it brought up to date follow.\n";
}

// Reads all of the dispatcher, once in a process.
const library &read_library() {
  static const library all = [] {
    library l;
    auto &dispatcher = c10::Dispatcher::singleton();
    auto names = dispatcher.getAllOpNames();
    std::sort(names.begin(), names.end(),
              [](auto &a, auto &b) { return toString(a) < toString(b); });
    for (auto &n : names) {
      auto handle = dispatcher.findSchema(n);
      if (!handle)
        continue;
      l.listed++;
      overload o = {*handle, {}};
      std::string why;
      for (auto &a : handle->schema().arguments()) {
        o.arguments.push_back(read_argument(a));
        auto &last = o.arguments.back();
        if (last.of == NEVER && !last.optional && !a.default_value())
          why = "an argument of type " + a.real_type()->str();
      }
      if (!why.empty()) {
        l.left.push_back({toString(n), why});
        continue;
      }
      size_t colon = n.name.find("::");
      std::string space = n.name.substr(0, colon);
      std::string name = n.name.substr(colon + 2);
      if (space != "aten")
        name = space + "_" + name;
      read_silent(o);
      op &f = l.functions[name];
      f.name = name;
      f.overloads.push_back(o);
    }
    for (auto it = l.functions.begin(); it != l.functions.end();) {
      lay_out(it->second, l);
      describe(it->second);
      l.bound += it->second.overloads.size();
      it = it->second.overloads.empty() ? l.functions.erase(it) : ++it;
    }
    return l;
  }();
  return all;
}

// --- Arguments --------------------------------------------------------------

// What an argument of a call is. [type] is as tally_type says.
enum given_kind {
  G_NONE,
  G_TENSOR,
  G_BOOL,
  G_INT,
  G_FLOAT,
  G_COMPLEX,
  G_TEXT,
  G_LIST,
  G_ARRAY,
  G_RANGE,
  G_TYPE,
  G_OTHER
};

// A value of a call with its kind, which was asked for once. Borrows the value.
struct given {
  tally_value v;
  given_kind of;
};

// Borrows v. The type's text is the only question that fits all values; it is
// valid until the next one, so that only the kind is kept.
given look(tally_vm *vm, tally_value v) {
  const char *t = tally_type(vm, v);
  given_kind of = G_OTHER;
  if (strcmp(t, "none") == 0)
    of = G_NONE;
  else if (strcmp(t, "torch.tensor") == 0)
    of = G_TENSOR;
  else if (strstr(t, " * ") != NULL)
    of = G_ARRAY;
  else if (strcmp(t, "bool") == 0)
    of = G_BOOL;
  else if (strncmp(t, "int", 3) == 0 || strncmp(t, "uint", 4) == 0)
    of = G_INT;
  else if (strncmp(t, "float", 5) == 0)
    of = G_FLOAT;
  else if (strncmp(t, "complex", 7) == 0)
    of = G_COMPLEX;
  else if (strcmp(t, "string") == 0)
    of = G_TEXT;
  else if (strcmp(t, "list") == 0)
    of = G_LIST;
  else if (strcmp(t, "range") == 0)
    of = G_RANGE;
  else if (strcmp(t, "type") == 0)
    of = G_TYPE;
  return {v, of};
}

// The cost of a conversion: 0 for what fits, NO for what does not.
enum { NO = 1000 };

// Of a single value. An exact fit costs nothing, so that overloads for numbers
// win over those for tensors where a number is given; a number becomes a tensor
// only where no other form is left.
int item_cost(kind of, given_kind g) {
  switch (of) {
    case TENSOR:
      return g == G_TENSOR                   ? 0
             : g == G_ARRAY                  ? 2
             : g >= G_BOOL && g <= G_COMPLEX ? 5
                                             : NO;
    case SCALAR:
      return g >= G_BOOL && g <= G_COMPLEX ? 0 : NO;
    case INT:
      return g == G_INT ? 0 : NO;
    case FLOAT:
      return g == G_FLOAT ? 0 : g == G_INT ? 1 : NO;
    case BOOL:
      return g == G_BOOL ? 0 : NO;
    case DTYPE:
      return g == G_TYPE ? 0 : g == G_TEXT ? 1 : NO;
    case TEXT:
      return g == G_TEXT ? 1 : NO;
    case DEVICE:
    case LAYOUT:
    case FORMAT:
      return g == G_TEXT ? 0 : NO;
    default:
      return NO;
  }
}

// The items of a list, array or range, in handles of their own: each is to be
// released, or ends with the caller's frame of handles. Throws on failure.
std::vector<tally_value> items_of(tally_vm *vm, tally_value v) {
  std::vector<tally_value> items(tally_length(vm, v));
  for (size_t i = 0; i < items.size(); i++)
    check(tally_item(vm, v, i, &items[i]));
  return items;
}

// Of any argument, lists too: those are as costly as their items together, and
// a single number may stand for int[2].
int cost(tally_vm *vm, const argument &a, const given &g) {
  if (!a.is_list)
    return item_cost(a.of, g.of);
  if (a.repeats > 0 && item_cost(a.of, g.of) < NO)
    return 1;
  if (g.of == G_ARRAY || g.of == G_RANGE)
    return a.of == INT || a.of == FLOAT || a.of == SCALAR ? 1 : NO;
  if (g.of != G_LIST)
    return NO;
  int sum = 0;
  frame handles(vm);
  for (auto v : items_of(vm, g.v)) {
    given item = look(vm, v);
    sum += item.of == G_NONE && a.item_optional ? 0 : item_cost(a.of, item.of);
    if (sum >= NO)
      break;
  }
  return std::min(sum, (int)NO);
}

// The text of a string, or of a type of Tally's (float32) its name: a copy, for
// the value may go first. Throws where the value is neither.
std::string text_of(tally_vm *vm, const given &g) {
  const char *text;
  size_t n;
  if (g.of == G_TYPE) {
    tally_value shown;
    check(tally_format(vm, g.v, &shown));
    check(tally_to_string(vm, shown, &text, &n));
    std::string copy(text, n);
    tally_release(vm, shown);
    return copy;
  }
  check(tally_to_string(vm, g.v, &text, &n));
  return std::string(text, n);
}

// A number as libtorch's functions take it beside tensors; of a kind that is
// none, an error of kind type was raised.
at::Scalar scalar_of(tally_vm *vm, const given &g) {
  int b = 0;
  int64_t i = 0;
  double re = 0, im = 0;
  if (g.of == G_BOOL)
    return check(tally_to_bool(vm, g.v, &b)), at::Scalar(b != 0);
  if (g.of == G_INT)
    return check(tally_to_int(vm, g.v, &i)), at::Scalar(i);
  if (g.of == G_FLOAT)
    return check(tally_to_float(vm, g.v, &re)), at::Scalar(re);
  check(tally_to_complex(vm, g.v, &re, &im));
  return at::Scalar(c10::complex<double>(re, im));
}

// The tensor of a value that item_cost lets pass: its own, one over an array's
// memory, or a number. Shares the tensor with the script, which is counted.
at::Tensor tensor_of(vm_link *l, const given &g) {
  if (g.of == G_TENSOR) {
    void *object;
    check(tally_to_resource(l->vm, g.v, &tensor_type, &object));
    return static_cast<handle *>(object)->t;
  }
  if (g.of == G_ARRAY)
    return from_array(l, g.v);
  // A number takes part in promotion as one, as in an expression of libtorch's.
  at::Tensor t = at::scalar_tensor(scalar_of(l->vm, g),
                                   g.of == G_FLOAT  ? at::kDouble
                                   : g.of == G_INT  ? at::kLong
                                   : g.of == G_BOOL ? at::kBool
                                                    : at::kComplexDouble);
  t.unsafeGetTensorImpl()->set_wrapped_number(true);
  return t;
}

// libtorch has numbers for layouts and memory formats, scripts have their
// names.
int64_t number_called(const std::string &what, const std::string &text) {
  static const std::map<std::string, int64_t> numbers = {
      {"strided", (int64_t)at::kStrided},
      {"sparse_coo", (int64_t)at::kSparse},
      {"sparse_csr", (int64_t)at::kSparseCsr},
      {"contiguous", (int64_t)at::MemoryFormat::Contiguous},
      {"preserve", (int64_t)at::MemoryFormat::Preserve},
      {"channels_last", (int64_t)at::MemoryFormat::ChannelsLast}};
  auto found = numbers.find(text);
  TORCH_CHECK_VALUE(found != numbers.end(), "no ", what, " is called ", text);
  return found->second;
}

// A single value as libtorch's boxes have it. Borrows the value; a tensor is
// shared with the script. Throws where it does not fit or has no such name.
c10::IValue box_item(vm_link *l, kind of, const given &g) {
  switch (of) {
    case TENSOR:
      return tensor_of(l, g);
    case SCALAR:
      return scalar_of(l->vm, g);
    case INT:
      return scalar_of(l->vm, g).toLong();
    case FLOAT:
      return scalar_of(l->vm, g).toDouble();
    case BOOL:
      return scalar_of(l->vm, g).toBool();
    case TEXT:
      return text_of(l->vm, g);
    case DTYPE: {
      std::string name = text_of(l->vm, g);
      const dtype_name *d = dtype_called(name.c_str());
      TORCH_CHECK_VALUE(d != nullptr, "torch has no dtype ", name);
      return (int64_t)d->type;
    }
    case DEVICE:
      return c10::Device(text_of(l->vm, g));
    default:
      return number_called(of == LAYOUT ? "layout" : "memory format",
                           text_of(l->vm, g));
  }
}

// Lists have the type of their items in their box, so each kind of item needs a
// list of its own.
template <class T, class F>
c10::IValue list_of(const std::vector<given> &items, F f) {
  c10::List<T> out;
  for (auto &g : items) out.push_back(f(g));
  return out;
}

// A list's items, which were looked at already, in a box of the argument's
// type; items of no kind that is named below are read as text.
c10::IValue box_list(vm_link *l, const argument &a,
                     const std::vector<given> &items) {
  auto boxed = [&](const given &g) { return box_item(l, a.of, g); };
  switch (a.of) {
    case TENSOR:
      if (a.item_optional)
        return list_of<c10::optional<at::Tensor>>(
            items, [&](const given &g) -> c10::optional<at::Tensor> {
              if (g.of == G_NONE)
                return c10::nullopt;
              return tensor_of(l, g);
            });
      return list_of<at::Tensor>(
          items, [&](const given &g) { return tensor_of(l, g); });
    case INT:
      return list_of<int64_t>(items,
                              [&](const given &g) { return boxed(g).toInt(); });
    case FLOAT:
      return list_of<double>(
          items, [&](const given &g) { return boxed(g).toDouble(); });
    case BOOL:
      return list_of<bool>(items,
                           [&](const given &g) { return boxed(g).toBool(); });
    case SCALAR:
      return list_of<at::Scalar>(
          items, [&](const given &g) { return scalar_of(l->vm, g); });
    default:
      return list_of<std::string>(
          items, [&](const given &g) { return text_of(l->vm, g); });
  }
}

// An argument in its box. What the call [writes], a tensor or a list of them,
// is released in the script first, so that libtorch's counts tell whether
// anybody else has it; the box then has what to_write gives.
c10::IValue box(vm_link *l, const argument &a, const given &g, bool writes) {
  tally_vm *vm = l->vm;
  if (!a.is_list) {
    c10::IValue out = box_item(l, a.of, g);
    if (!writes)
      return out;
    at::Tensor t = std::move(out).toTensor();
    tally_release(vm, g.v);
    return to_write(std::move(t));
  }
  if (a.repeats > 0 && item_cost(a.of, g.of) < NO)
    return box_list(l, a, std::vector<given>((size_t)a.repeats, g));
  c10::IValue out;
  {
    frame handles(vm);
    std::vector<given> items;
    for (auto v : items_of(vm, g.v)) items.push_back(look(vm, v));
    out = box_list(l, a, items);
  }
  if (!writes)
    return out;
  tally_release(vm, g.v);
  std::vector<at::Tensor> tensors = out.toTensorVector();
  out = c10::IValue();
  c10::List<at::Tensor> written;
  for (auto &t : tensors) written.push_back(to_write(std::move(t)));
  return written;
}

// --- Calls ------------------------------------------------------------------

// The given value for an argument, by its name first, and marks its slot as
// used. NULL: it has its default. None counts as not given.
const given *value_for(const argument &a, const given *values, bool *used) {
  for (int slot : {a.by_name, a.by_position})
    if (slot >= 0 && values[slot].of != G_NONE) {
      used[slot] = true;
      return &values[slot];
    }
  return nullptr;
}

// What a call costs in this form; NO: it does not fit, as an argument is of the
// wrong kind, or missing, or a value was given that this form does not know.
int total_cost(tally_vm *vm, const op &f, const overload &o,
               const given *values) {
  bool used[MAX_SLOTS] = {};
  int sum = 0;
  for (auto &a : o.arguments) {
    const given *g = value_for(a, values, used);
    if (g != nullptr)
      sum += a.of == NEVER ? (int)NO : cost(vm, a, *g);
    else if (!a.schema->default_value() && !a.optional)
      sum += NO;
    if (sum >= NO)
      return NO;
  }
  for (size_t i = 0; i < f.slots.size(); i++)
    if (values[i].of != G_NONE && !used[i])
      return NO;
  return sum;
}

// The form that costs least; of several the first by its name. Kind type where
// none fits, with what was given and all that there is.
const overload &choose(tally_vm *vm, const op &f, const given *values) {
  const overload *best = nullptr;
  int least = NO;
  if (f.overloads.size() == 1 && total_cost(vm, f, f.overloads[0], values) < NO)
    return f.overloads[0];
  for (auto &o : f.overloads) {
    int c = total_cost(vm, f, o, values);
    if (c < least) {
      least = c;
      best = &o;
    }
  }
  if (best != nullptr)
    return *best;
  std::string got;
  for (size_t i = 0; i < f.slots.size(); i++)
    if (values[i].of != G_NONE)
      got += (got.empty() ? "" : ", ") + f.slots[i] + ": " +
             tally_type(vm, values[i].v);
  std::ostringstream forms;
  for (auto &o : f.overloads) forms << "\n  " << o.handle.schema();
  TORCH_CHECK_TYPE(false, "no form takes (", got, "):", forms.str());
}

tally_status unbox(vm_link *l, const c10::IValue &v, tally_value *out);

// A list of what is in a list or tuple, or on a stack; *out returns owned. The
// handles of the items go with a frame of their own.
template <class Items>
tally_status unbox_all(vm_link *l, const Items &items, tally_value *out) {
  frame handles(l->vm);
  std::vector<tally_value> values;
  for (const c10::IValue &v : items) {
    values.push_back({0, 0});
    check(unbox(l, v, &values.back()));
  }
  return handles.keep(tally_from_list(l->vm, values.size(), values.data(), out),
                      out);
}

// A result as a value; *out returns owned. Tuples become lists, and what Tally
// has no value for becomes the text that libtorch prints.
tally_status unbox(vm_link *l, const c10::IValue &v, tally_value *out) {
  if (v.isTensor())
    return from_tensor(l, v.toTensor(), out);
  if (v.isNone())
    return tally_from_none(l->vm, out);
  if (v.isBool())
    return tally_from_bool(l->vm, v.toBool(), out);
  if (v.isInt())
    return tally_from_int(l->vm, v.toInt(), out);
  if (v.isDouble())
    return tally_from_float(l->vm, v.toDouble(), out);
  if (v.isComplexDouble()) {
    auto z = v.toComplexDouble();
    return tally_from_complex(l->vm, z.real(), z.imag(), out);
  }
  if (v.isTuple())
    return unbox_all(l, v.toTupleRef().elements().vec(), out);
  if (v.isList())
    return unbox_all(l, v.toListRef().vec(), out);
  std::ostringstream text;
  text << v;
  return tally_from_string(l->vm, text.str().c_str(), text.str().size(), out);
}

// Whether a batch norm trains: only then it writes statistics. All that have no
// argument that says so do.
bool trains(const overload &o, const given *values, tally_vm *vm) {
  bool used[MAX_SLOTS];
  for (auto &a : o.arguments)
    if (a.schema->name() == "training" || a.schema->name() == "use_input_stats")
      if (auto g = value_for(a, values, used))
        return scalar_of(vm, *g).toBool();
  return true;
}

// Calls a function with one value for each slot, none where it is not given.
// What was written is the result where libtorch gives none, and follows it
// where the schema is silent. *out returns owned: one result as itself, several
// as a list. Throws what choose, box and libtorch do.
tally_status call_op(vm_link *l, const op &f, const tally_value *args,
                     tally_value *out) {
  given values[MAX_SLOTS];
  for (size_t i = 0; i < f.slots.size(); i++) values[i] = look(l->vm, args[i]);
  const overload &o = choose(l->vm, f, values);
  std::vector<c10::IValue> stack;
  std::vector<c10::IValue> written, silent;
  bool used[MAX_SLOTS];
  for (auto &a : o.arguments) {
    const given *g = value_for(a, values, used);
    bool writes = a.writes && (!a.silent || trains(o, values, l->vm));
    if (g != nullptr)
      stack.push_back(box(l, a, *g, writes));
    else
      stack.push_back(a.schema->default_value() ? *a.schema->default_value()
                                                : c10::IValue());
    // libtorch drops its arguments before it gives references to those that it
    // wrote (of several results), so they have to live on here.
    if (writes && (g != nullptr || !a.silent))
      (a.silent ? silent : written).push_back(stack.back());
  }
  o.handle.callBoxed(stack);
  if (stack.empty())
    stack = std::move(written);
  stack.insert(stack.end(), silent.begin(), silent.end());
  return stack.size() == 1 ? unbox(l, stack[0], out) : unbox_all(l, stack, out);
}

}  // namespace
