// What the binding knows of each operator: generated code has a row for each, and libraries that
// are loaded bring more.
#pragma once

#include <Python.h>

#include <span>
#include <vector>

namespace phi::python {

class Frame;

struct OpArgument {
  const char* name;
  const char* by_default;  // in the words of Python; null: it must be given
};

struct OpEntry {
  const char* name;
  const char* op;  // whose kernel runs, empty where others are called
  std::span<const OpArgument> arguments;
  PyObject* (*call)(Frame& frame);
  const char* doc;
  bool is_method;  // of Tensor too
  bool may_wait;   // for other ranks, though its tensors are plain
};

/// Of the operators of this library. Defined by generated code.
std::vector<std::span<const OpEntry>> op_entries();

}  // namespace phi::python
