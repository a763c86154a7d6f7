// Binds seeding of the generator, its state, and draws of a numbered micro-batch.
#include "python/src/tensor/random_seed.h"

#include <nanobind/stl/pair.h>

#include <optional>
#include <thread>
#include <utility>

#include "api/tensor/random_seed.h"
#include "phi/common/errors.h"
#include "phi/core/rank_context.h"
#include "python/src/base/convert.h"

namespace phi::python {

namespace nb = nanobind;

namespace {

int64_t number_from(nb::handle value, const Argument& argument) {
  const auto number = converted<int64_t>(value.ptr(), argument);
  PHI_CHECK(number >= 0, errors::InvalidArgument(
                             "{}: argument '{}' is {}; expected a value from 0 to 2**63 - 1.",
                             argument.function, argument.name, number));
  return number;
}

void set_state(nb::handle state) {
  if (!PyTuple_Check(state.ptr()) || PyTuple_GET_SIZE(state.ptr()) != 2) {
    refuse({"set_rng_state", "state"}, "a state returned by get_rng_state(), (seed, draws)",
           state.ptr());
  }
  set_rng_state({.seed = number_from(state[0], {"set_rng_state", "seed"}),
                 .draws = number_from(state[1], {"set_rng_state", "draws"})});
}

class MicroBatch {
 public:
  explicit MicroBatch(nb::handle number)
      : number_(number_from(number, {"micro_batch", "number"})) {}

  void enter() {
    PHI_CHECK(!drawing_, errors::PreconditionNotMet("this micro-batch is already entered."));
    Generator& generator = RankContext::current().generator();
    thread_ = std::this_thread::get_id();
    drawing_.emplace(generator,
                     state_in_pass(generator.state().seed, static_cast<uint64_t>(number_)));
  }
  void leave() {
    PHI_CHECK(
        thread_ == std::this_thread::get_id(),
        errors::PreconditionNotMet("a micro-batch must be exited on the thread that entered it."));
    drawing_.reset();
  }

 private:
  int64_t number_;
  std::thread::id thread_;
  std::optional<Generator::Scope> drawing_;
};

}  // namespace

void bind_random_seed(nb::module_& module) {
  module.def(
      "seed",
      [](nb::handle number) {
        phi::seed(number_from(number, {"seed", "number"}));
      },
      nb::arg("number").none(),
      "Set the seed of random operators that are called without a seed.\n\n"
      "Each such call uses a new seed, the same on every rank and mesh. Pass the same number on "
      "every\n"
      "rank. The default is seed(0). An explicit seed, including 0, draws the same numbers in "
      "every call.");
  module.def(
      "get_rng_state",
      [] {
        const RngState state = rng_state();
        return std::pair(state.seed, state.draws);
      },
      "Return the generator state (seed, draws). Pass it to set_rng_state to continue from here.");
  module.def("set_rng_state", &set_state, nb::arg("state").none(),
             "Restore a state that get_rng_state() returned.");
}

void bind_micro_batch(nb::module_& training) {
  nb::class_<MicroBatch>(
      training, "micro_batch",
      "micro_batch(number): a context with the random numbers of a Trainer's micro-batch.\n\n"
      "`number` counts micro-batches from 0 over all steps.")
      .def(nb::init<nb::handle>(), nb::arg("number").none())
      .def("__enter__",
           [](nb::object self) {
             nb::cast<MicroBatch&>(self).enter();
             return self;
           })
      .def("__exit__", [](MicroBatch& self, nb::args) {
        self.leave();
        return false;
      });
}

}  // namespace phi::python
