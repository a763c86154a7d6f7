// Binds explanations of what calls move and why, and checks of calls. The user's functions run on
// the thread of their rank, with the GIL; their exceptions propagate.
#include "api/explain/explain.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <functional>
#include <optional>
#include <string>

#include "api/explain/check_numbers.h"
#include "api/explain/check_ops.h"
#include "api/explain/show.h"
#include "phi/common/errors.h"
#include "python/src/base/errors.h"
#include "python/src/tensor/tensor_object.h"
#include "python/src/training/training.h"

namespace phi::python {

namespace nb = nanobind;

namespace {

// Returns a function that calls `function` with the GIL; its caller does not hold the GIL.
std::function<void()> call_explained(nb::handle function) {
  return [function] {
    const nb::gil_scoped_acquire lock;
    function();
  };
}

nb::dict dict_of(const MovedBytes& bytes) {
  nb::dict dict;
  dict["sent"] = bytes.sent;
  dict["received"] = bytes.received;
  dict["nanoseconds"] = bytes.nanoseconds;
  return dict;
}

void bind_explanation(nb::module_& module) {
  nb::class_<Explanation>(
      module, "Explanation",
      "Calls of one rank, with their placements, reshards and reasons. str() formats a table.")
      .def_ro("rank", &Explanation::rank)
      .def_ro("world_size", &Explanation::world_size)
      .def("__str__", &Explanation::to_string)
      .def("__repr__", &Explanation::to_string)
      .def("to_json", &Explanation::to_json,
           "Return all calls as JSON, in the format of `autophi run --explain=FILE`.")
      .def("worst_moves", &Explanation::worst_moves, nb::arg("count") = 5,
           "Return texts that describe the `count` reshards with the most bytes.")
      .def_prop_ro("num_calls", [](const Explanation& self) { return self.calls.size(); })
      .def_prop_ro("num_moves", &Explanation::num_moves,
                   "Number of reshards that sent, received, sliced or copied data on this rank.")
      .def_prop_ro("bytes_sent", [](const Explanation& self) { return self.moved().sent; })
      .def_prop_ro("bytes_received", [](const Explanation& self) { return self.moved().received; })
      .def_prop_ro(
          "moved", [](const Explanation& self) { return dict_of(self.moved()); },
          "{'sent', 'received', 'nanoseconds'}: totals of all reshards and kernels.")
      .def(
          "all_ranks",
          [](const Explanation& self) {
            const GilRelease others;
            return explain_all_ranks(self);
          },
          "Return one text for all ranks of the job.\n\n"
          "Ranks with the same calls share a table. Collective.");
}

// Raises AssertionError if more is moved than allowed. Exceptions of the function propagate
// unchanged.
void expect_moves_of(nb::callable function, std::optional<int64_t> bytes,
                     std::optional<int64_t> reshards, const TensorNames& names) {
  bool has_run = false;
  GilRelease others;
  try {
    phi::expect_moves(
        [&, run = call_explained(function)] {
          run();
          has_run = true;
        },
        {.bytes_at_most = bytes, .reshards_at_most = reshards}, names);
  } catch (const Error& error) {
    if (!has_run || error.code() != ErrorCode::kPreconditionNotMet) throw;
    others.end();
    raise(PyExc_AssertionError, error.what());
  }
}

}  // namespace

void bind_explanations(nb::module_& module) {
  bind_explanation(module);
  const auto no_names = [] { return nb::arg("names") = TensorNames(); };
  module.def(
      "explain",
      [](nb::callable function, const TensorNames& names) {
        const GilRelease others;
        return phi::explain(call_explained(function), names);
      },
      nb::arg("function"), no_names(),
      "Run function() once and return its calls on this rank: placements, reshards, bytes, "
      "reasons.\n\n"
      "`names`: (name, tensor) pairs, as returned by Module.named_parameters().");
  module.def("expect_moves", &expect_moves_of, nb::arg("function"), nb::kw_only(),
             nb::arg("bytes_at_most").none() = nb::none(),
             nb::arg("reshards_at_most").none() = nb::none(), no_names(),
             "Run function() once and check the data that its calls move.\n\n"
             "AssertionError, the same on all ranks, if any rank exceeds a limit. The error lists "
             "the largest\n"
             "reshards and their reasons. Collective.");
  module.def(
      "check_ops",
      [](nb::callable function, const TensorNames& names) {
        const GilRelease others;
        return phi::check_ops(call_explained(function), names);
      },
      nb::arg("function"), no_names(),
      "Run function() once and repeat each distributed call in one process.\n\n"
      "Returns the number of calls compared. RuntimeError at the first call whose result differs.");
  module.def(
      "check_numbers",
      [](nb::callable function, int64_t step) {
        const GilRelease others;
        phi::check_numbers(call_explained(function), step);
      },
      nb::arg("function"), nb::arg("step") = 0,
      "Run function() once and check that all results are finite.\n\n"
      "FloatingPointError for the first operator, on any rank, that returns a non-finite number.\n"
      "Collective.");
}

}  // namespace phi::python
