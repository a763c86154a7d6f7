// Binds dry worlds: the calling thread acts as one rank of a job of any size and allocates no
// tensor bytes.
#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "api/tensor/placeholder.h"
#include "distributed/comm/dry/dry_world.h"
#include "phi/common/errors.h"
#include "phi/core/rank_context.h"
#include "python/src/base/dtype.h"
#include "python/src/tensor/tensor_object.h"
#include "python/src/training/training.h"

namespace phi::python {

namespace nb = nanobind;
using distributed::World;

namespace {

class DryRun {
 public:
  DryRun(int64_t world_size, int64_t rank) : world_size_(world_size), rank_(rank) {
    PHI_CHECK(
        world_size >= 1 && rank >= 0 && rank < world_size,
        errors::InvalidArgument("dry_run simulates one rank of a job: expected world_size of at "
                                "least 1 and rank from 0 to world_size - 1; got {} and {}.",
                                world_size, rank));
  }
  ~DryRun() {
    // The scope can be left only on the thread that entered it; on another thread it is leaked.
    if (!scope_ || thread_ == std::this_thread::get_id()) return;
    static_cast<void>(scope_.release());
    static_cast<void>(world_.release());
  }
  DryRun(const DryRun&) = delete;
  DryRun& operator=(const DryRun&) = delete;

  void enter() {
    PHI_CHECK(!scope_, errors::PreconditionNotMet("this dry run is already entered."));
    if (!world_) world_ = std::make_unique<distributed::DryWorld>(rank_, world_size_);
    scope_ = std::make_unique<World::Scope>(*world_);
    thread_ = std::this_thread::get_id();
  }

  void leave() {
    if (!scope_) return;
    PHI_CHECK(
        thread_ == std::this_thread::get_id(),
        errors::PreconditionNotMet("a dry run must be exited on the thread that entered it."));
    scope_.reset();
  }

  World& world() {
    PHI_CHECK(world_, errors::PreconditionNotMet("this dry run was not entered."));
    return *world_;
  }

  nb::dict report() {
    RankContext& context = world().rank_context();
    const Counters& counters = context.counters();
    nb::dict dict;
    dict["world_size"] = world_size_;
    dict["rank"] = rank_;
    dict["ops_launched"] = counters.ops_launched;
    dict["ops_clipped"] = counters.ops_clipped;
    dict["reshard_steps"] = counters.reshard_steps;
    dict["bytes_sent"] = counters.bytes_sent;
    dict["bytes_received"] = counters.bytes_received;
    dict["planned_bytes"] = context.memory()->planned().current;
    dict["planned_peak_bytes"] = context.memory()->planned().peak;
    return dict;
  }

 private:
  int64_t world_size_;
  int64_t rank_;
  std::unique_ptr<distributed::DryWorld> world_;
  std::unique_ptr<World::Scope> scope_;
  std::thread::id thread_;
};

Tensor make_placeholder(const std::vector<int64_t>& shape, nb::handle dtype,
                        const std::optional<distributed::ProcessMesh>& mesh,
                        const std::vector<distributed::Placement>& placements) {
  const DataType type = dtype_from(dtype.ptr(), {"placeholder", "dtype"});
  if (mesh) return distributed::placeholder(shape, type, *mesh, placements);
  return phi::placeholder(shape, type, CPUPlace());
}

}  // namespace

void bind_dry_worlds(nb::module_& module) {
  nb::class_<DryRun>(module, "DryRun",
                     "dry_run(world_size, rank): a context in which this thread is that rank and "
                     "computes nothing.")
      .def(nb::init<int64_t, int64_t>(), nb::kw_only(), nb::arg("world_size"), nb::arg("rank") = 0)
      .def("__enter__",
           [](nb::object self) {
             nb::cast<DryRun&>(self).enter();
             return self;
           })
      .def("__exit__",
           [](DryRun& self, nb::args) {
             self.leave();
             return false;
           })
      .def("report", &DryRun::report,
           "Return counters of the rank so far.\n\n"
           "They are operators launched and clipped, reshard steps, bytes sent and received, and "
           "the current\n"
           "and peak tensor bytes of a real run.");
  module.def(
      "placeholder", &make_placeholder, nb::arg("shape"), nb::arg("dtype") = "float32",
      nb::arg("mesh").none() = nb::none(),
      nb::arg("placements") = std::vector<distributed::Placement>(),
      "Return a tensor with a shape and a dtype but without storage, for dry runs and captures.\n\n"
      "Elsewhere, an operator that reads one raises an error that names the argument.");
}

}  // namespace phi::python
