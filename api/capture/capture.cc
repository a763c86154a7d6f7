// Runs a function on placeholders, in a dry world, with a recording that receives its calls and
// steps.
#include <optional>

#include "api/capture/program.h"
#include "api/capture/record.h"
#include "api/capture/stand_in.h"
#include "distributed/comm/dry/dry_world.h"
#include "phi/common/errors.h"
#include "phi/core/observer_scope.h"

namespace phi {
namespace {

using distributed::World;

// A dry world with the caller's rank and place, in which a recording can observe the rank.
class CaptureWorld {
 public:
  CaptureWorld(const World& outer, const Place& place)
      : world_(outer.rank(), outer.size()), scope_(world_) {
    world_.rank_context().set_place(place);
    // Draws are counted from 0: a run adds them to the generator's number of draws.
    Generator& generator = world_.rank_context().generator();
    generator.set_state({.seed = generator.state().seed});
  }
  ~CaptureWorld() { world_.rank_context().record_steps_to(nullptr); }
  CaptureWorld(const CaptureWorld&) = delete;
  CaptureWorld& operator=(const CaptureWorld&) = delete;

  std::shared_ptr<ir::Recording> listen(ir::ScanMode scans) {
    RankContext& context = world_.rank_context();
    auto recording = std::make_shared<ir::Recording>(context.memory(), scans);
    context.record_steps_to(recording.get());
    calls_.emplace(*recording, context);
    return recording;
  }

 private:
  distributed::DryWorld world_;
  World::Scope scope_;
  std::optional<ObserverScope> calls_;
};

Tensor input_like(const Tensor& x) {
  PHI_CHECK(x.defined(),
            errors::InvalidArgument(
                "an undefined tensor is passed as an input of a captured function; leave it out."));
  Tensor out = ir::stand_in(x, "capture");
  if (x.requires_grad()) out.set_requires_grad();
  return out;
}

}  // namespace

std::shared_ptr<ir::Recording> ir::record(const Program::Function& function,
                                          const TensorList& inputs, ScanMode scans) {
  const Place place = RankContext::current().place();
  CaptureWorld world(World::current(), place);
  auto recording = world.listen(scans);
  try {
    TensorList placeholders;
    for (const Tensor& x : inputs) {
      placeholders.push_back(input_like(x));
      recording->add_input(placeholders.back());
    }
    recording->finish(function(placeholders));
  } catch (...) {
    recording->abandon();
    throw;
  }
  return recording;
}

Program capture(const Program::Function& function, const TensorList& inputs) {
  PHI_CHECK(ir::Recording::current() == nullptr,
            errors::PreconditionNotMet("a function that is being captured captures another; "
                                       "call the inner one itself."));
  return Program(ir::record(function, inputs, ir::ScanMode::kBodies));
}

}  // namespace phi
