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
  PHI_CHECK(number >= 0, errors::InvalidArgument("{}: argument '{}' is {}; it is from 0 to 2**63 - "
                                                 "1.",
                                                 argument.function, argument.name, number));
  return number;
}

void set_state(nb::handle state) {
  if (!PyTuple_Check(state.ptr()) || PyTuple_GET_SIZE(state.ptr()) != 2) {
    refuse({"set_rng_state", "state"}, "what get_rng_state() gives, (seed, draws)", state.ptr());
  }
  set_rng_state({.seed = number_from(state[0], {"set_rng_state", "seed"}),
                 .draws = number_from(state[1], {"set_rng_state", "draws"})});
}

class MicroBatch {
 public:
  explicit MicroBatch(nb::handle number)
      : number_(number_from(number, {"micro_batch", "number"})) {}

  void enter() {
    PHI_CHECK(!drawing_, errors::PreconditionNotMet("this micro-batch is entered already."));
    Generator& generator = RankContext::current().generator();
    thread_ = std::this_thread::get_id();
    drawing_.emplace(generator,
                     state_in_pass(generator.state().seed, static_cast<uint64_t>(number_)));
  }
  void leave() {
    PHI_CHECK(thread_ == std::this_thread::get_id(),
              errors::PreconditionNotMet("a micro-batch is left on the thread that entered it."));
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
      "What random operators draw from now on where their seed is left out: a new seed in each\n"
      "call, the same on every rank and mesh. Every rank gives the same number; a process that\n"
      "seeds nothing begins as by seed(0). An explicit seed, 0 too, draws the same in every call.");
  module.def(
      "get_rng_state",
      [] {
        const RngState state = rng_state();
        return std::pair(state.seed, state.draws);
      },
      "(seed, draws): set_rng_state of it goes on from here.");
  module.def("set_rng_state", &set_state, nb::arg("state").none(),
             "Goes on where get_rng_state() was called.");
}

void bind_micro_batch(nb::module_& training) {
  nb::class_<MicroBatch>(
      training, "micro_batch",
      "micro_batch(number): within, draws are those of a Trainer's micro-batch of this number,\n"
      "which counts from 0 over all steps.")
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
