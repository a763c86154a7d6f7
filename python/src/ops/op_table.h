// OpEntry: the description of an operator for the Python binding. Generated code has one entry per
// operator; loaded libraries add more.
#pragma once

#include <Python.h>

#include <span>
#include <vector>

namespace phi::python {

class Frame;

struct OpArgument {
  const char* name;
  const char* by_default;  // a Python expression; null: the argument is required
};

struct OpEntry {
  const char* name;
  const char* op;  // the operator whose kernel runs; empty if the function calls other operators
  std::span<const OpArgument> arguments;
  PyObject* (*call)(Frame& frame);
  const char* doc;
  bool is_method;  // also a method of Tensor
  bool may_wait;   // may wait for other ranks even if its tensors are plain
};

/// The entries of this library's operators. Defined by generated code.
std::vector<std::span<const OpEntry>> op_entries();

}  // namespace phi::python
