// A host in C++17: values are released by a destructor, errors are exceptions.

#include <iostream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tally.h"

class Vm {
 public:
  Vm() { check(tally_open(nullptr, &vm_)); }
  ~Vm() { tally_close(vm_); }
  Vm(const Vm &) = delete;
  Vm &operator=(const Vm &) = delete;
  tally_vm *get() const { return vm_; }
  void check(tally_status status) const {
    if (status != TALLY_OK)
      throw std::runtime_error(std::string(tally_error(vm_)->kind) + ": " +
                               tally_error(vm_)->message);
  }

 private:
  tally_vm *vm_ = nullptr;
};

class Value {
 public:
  Value(const Vm &vm, tally_value v) : vm_(&vm), v_(v) {}
  Value(Value &&other) noexcept
      : vm_(other.vm_), v_(std::exchange(other.v_, tally_value{})) {}
  Value(const Value &other)
      : vm_(other.vm_), v_(tally_retain(other.vm_->get(), other.v_)) {}
  Value &operator=(Value other) {
    std::swap(v_, other.v_);
    return *this;
  }
  ~Value() { tally_release(vm_->get(), v_); }

  tally_value borrow() const { return v_; }
  // For a call that takes it: what this held is gone.
  tally_value take() { return tally_take(std::exchange(v_, tally_value{})); }
  std::string text() const {
    tally_value shown{};
    const char *text = nullptr;
    vm_->check(tally_format(vm_->get(), v_, &shown));
    Value owner(*vm_, shown);
    vm_->check(tally_to_string(vm_->get(), shown, &text, nullptr));
    return text;
  }

 private:
  const Vm *vm_;
  tally_value v_;
};

// A vector's items as an array, not copied: the vector lives as long as it.
static Value wrap(const Vm &vm, std::vector<double> items) {
  auto *kept = new std::vector<double>(std::move(items));
  std::string type = std::to_string(kept->size()) + " * float64";
  tally_buffer buffer{};
  buffer.data = kept->data();
  buffer.type = type.c_str();
  buffer.nbytes = kept->size() * sizeof(double);
  buffer.context = kept;
  buffer.release = [](void *context, void *) {
    delete static_cast<std::vector<double> *>(context);
    std::cout << "the vector is gone\n";
  };
  tally_value v{};
  tally_status status = tally_from_buffer(vm.get(), &buffer, &v);
  if (status != TALLY_OK) delete kept;
  vm.check(status);
  return Value(vm, v);
}

static Value call(const Vm &vm, const char *name, tally_value argument) {
  tally_value out{};
  vm.check(tally_call(vm.get(), name, 1, &argument, &out));
  return Value(vm, out);
}

int main() {
  try {
    Vm vm;
    vm.check(tally_eval(vm.get(), "fn scale(x) = x / max(x)", nullptr));
    Value x = wrap(vm, {1, 2, 4});
    std::cout << call(vm, "scale", x.borrow()).text() << '\n';
    std::cout << call(vm, "scale", x.take()).text() << '\n';
    call(vm, "nosuch", tally_value{});
  } catch (const std::exception &e) {
    std::cout << e.what() << '\n';
  }
}
