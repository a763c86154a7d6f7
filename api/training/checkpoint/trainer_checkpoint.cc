// Maps names and counters of a trainer to a checkpoint and back.
#include "api/training/checkpoint/trainer_checkpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "api/nn/checkpoint.h"
#include "api/tensor/checkpoint.h"
#include "api/tensor/local_shard.h"
#include "api/tensor/random_seed.h"
#include "distributed/checkpoint/collective_error.h"
#include "distributed/checkpoint/format/json.h"
#include "distributed/checkpoint/view.h"
#include "distributed/comm/world.h"
#include "phi/common/errors.h"
#include "phi/core/box_chunks.h"
#include "phi/core/rank_context.h"

namespace phi::training {

namespace checkpoint = distributed::checkpoint;
using checkpoint::Checkpoint;
using distributed::World;

namespace {

constexpr std::string_view kMaster = "optimizer.master.";
constexpr int64_t kChunkElements = 1 << 18;

// The checkpoint's name for a state. If a parameter has a float32 master, the master is its value:
// a checkpoint of a float32 job has no master, and one of a half-precision job has both.
std::string name_in(const Checkpoint& from, const std::string& name, DataType dtype) {
  if (name.starts_with(kMaster) && !from.contains(name)) return name.substr(kMaster.size());
  const std::string master = std::string(kMaster) + name;
  if (dtype == DataType::FLOAT32 && from.contains(master)) return master;
  return name;
}

// The checkpoint under the trainer's names, with the tensors that the trainer has no state for.
Checkpoint as_states(const Checkpoint& from, const nn::NamedTensors& states) {
  std::vector<checkpoint::ViewTensor> tensors;
  std::set<std::string_view> names;
  for (const auto& [name, now] : states) {
    names.insert(name);
    const std::string source = name_in(from, name, now.dtype());
    if (from.contains(source)) tensors.push_back({name, source});
  }
  for (const std::string& name : from.names()) {
    if (!names.contains(name) && !name.starts_with(nn::kOptimizerStates))
      tensors.push_back({name, name});
  }
  return checkpoint::view(from, tensors);
}

void check_fits(const Checkpoint& from, const nn::NamedTensors& states) {
  std::vector<checkpoint::ExpectedTensor> wanted;
  for (const auto& [name, now] : states) wanted.push_back({name, now.meta()});
  from.check(wanted);
}

const char* name_of(OptimizerKind kind) {
  switch (kind) {
    case OptimizerKind::kSgd:
      return "sgd";
    case OptimizerKind::kMomentum:
      return "momentum";
    case OptimizerKind::kAdamW:
      return "adamw";
  }
  return "unknown";
}

// States of two kinds of optimizers may have the same name and different meanings.
void check_kind(const checkpoint::JsonFile& json, OptimizerKind kind) {
  const std::string& saved = json.string(
      json.member(json.root(), "optimizer", "the trainer's counters"), "the kind of optimizer");
  PHI_CHECK(
      saved == name_of(kind),
      errors::InvalidArgument("'{}' has states of the optimizer {}, but this trainer uses {}; "
                              "resume with the same optimizer, or start from its weights alone.",
                              json.path(), saved, name_of(kind)));
}

checkpoint::JsonFile numbers_json(const Checkpoint& from) {
  const auto found = from.metadata().find(kTrainerKey);
  PHI_CHECK(found != from.metadata().end(),
            errors::InvalidArgument("'{}' has weights but no training state to resume from; start "
                                    "a new run from them (weights: of a job).",
                                    from.path()));
  return {from.path(), found->second};
}

const checkpoint::Json& number_of(const checkpoint::JsonFile& json, const char* name) {
  return json.member(json.root(), name, "the trainer's counters");
}
void read(const checkpoint::JsonFile& json, const char* name, int64_t* value) {
  *value = json.size(number_of(json, name), name);
}
void read(const checkpoint::JsonFile& json, const char* name, double* value) {
  *value = json.number(number_of(json, name), name);
}

void read_through(const checkpoint::Checkpoint& from, const std::string& name, DataType dtype,
                  const Box& box) {
  std::vector<std::byte> chunk_bytes(static_cast<size_t>(std::min(kChunkElements, box.numel())) *
                                     size_of(dtype));
  for_each_chunk(box, kChunkElements,
                 [&](const Box& chunk) { from.read(name, chunk, dtype, chunk_bytes.data()); });
}

// Reads states at once, so that damage is detected here and not in a later step.
void read_now(const Checkpoint& from, const nn::NamedTensors& states) {
  const bool keeps_deferred = RankContext::current().keeps_deferred();
  for (const auto& [name, now] : states) {
    const LocalShard here = local_shard(now);
    if (!here.array) continue;
    if (keeps_deferred) {
      read_through(from, name, now.dtype(), here.box);
    } else {
      here.array->storage()->materialise();
    }
  }
}

}  // namespace

namespace {

// The generator state of the rank that saved the checkpoint; nothing in older versions'
// checkpoints.
std::optional<RngState> generator_in(const Checkpoint& from) {
  const checkpoint::JsonFile json = numbers_json(from);
  if (!json.root().contains("generator")) return std::nullopt;
  const auto& state = json.object(json.root()["generator"], "generator");
  const auto number = [&](const char* key) {
    return json.size(json.member(state, key, "the generator's state"), key);
  };
  return RngState{.seed = number("seed"), .draws = number("draws")};
}

}  // namespace

checkpoint::SaveOptions options_of(const Trainer& trainer, checkpoint::SaveOptions options) {
  const TrainerCounters counters = trainer.counters();
  checkpoint::Json json = {
      {"optimizer", name_of(trainer.train_step().options().optimizer.kind)},
      {"generator", {{"seed", rng_state().seed}, {"draws", rng_state().draws}}}};
  for_each_trainer_counter([&](const auto& number) { json[number.name] = counters.*number.value; });
  options.metadata[kTrainerKey] = json.dump();
  options.must_be_finite = true;
  return options;
}

TrainerCounters counters_in(const Checkpoint& from) {
  const checkpoint::JsonFile json = numbers_json(from);
  TrainerCounters counters;
  for_each_trainer_counter([&](const auto& number) {
    if (number.is_optional && !json.root().contains(number.name)) return;
    read(json, number.name, &(counters.*number.value));
  });
  return counters;
}

void save(const std::string& folder, const Trainer& trainer, checkpoint::SaveOptions options) {
  checkpoint::save(folder, trainer.states(), options_of(trainer, std::move(options)));
}

void check_loads(const Checkpoint& from, const Trainer& trainer) {
  counters_in(from);
  generator_in(from);
  check_kind(numbers_json(from), trainer.train_step().options().optimizer.kind);
  const auto wanted = trainer.states();
  check_fits(as_states(from, wanted), wanted);
}

// Resharding a state may read its part, and without deferred transfer it reads the whole state
// earlier. Both happen where ranks compare results. The generator's state is set after all ranks
// have found the checkpoint sound, so that all ranks have the same.
std::optional<Error> load_or_error(const Checkpoint& from, Trainer* trainer) {
  std::optional<RngState> generator;
  const auto fault = checkpoint::run_on_all_ranks(World::current(), [&] {
    const Checkpoint states = as_states(from, trainer->states());
    trainer->restore(counters_in(from), [&](const std::string& name, const Tensor& now) {
      return checkpoint::deferred(states, name, now.dtype());
    });
    read_now(states, trainer->states());
    generator = generator_in(from);
  });
  if (!fault && generator) set_rng_state(*generator);
  return fault;
}

void load(const Checkpoint& from, Trainer* trainer) {
  auto fault = checkpoint::run_on_all_ranks(World::current(), [&] { check_loads(from, *trainer); });
  if (!fault) fault = load_or_error(from, trainer);
  if (fault) throw Error(*fault);
}

}  // namespace phi::training
