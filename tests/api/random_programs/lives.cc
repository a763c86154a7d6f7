// Runs, the user's doings between them, and witnesses of what the function writes to.
#include "lives.h"

#include <fmt/core.h>

#include <cstdlib>
#include <string_view>

#include "api/autograd/grad_node.h"

namespace phi::testing::programs {
namespace {

constexpr int64_t kPlenty = int64_t{1} << 30;

// The number behind `text` in a message.
int64_t number_behind(std::string_view message, std::string_view text) {
  const size_t at = message.find(text);
  PHI_CHECK(at != std::string_view::npos,
            errors::Internal("'{}' does not say '{}'.", message, text));
  return std::strtoll(message.data() + at + text.size(), nullptr, 10);
}

ProgramMemory memory_of(const Case& test, int64_t device) {
  ProgramMemory memory;
  memory.limits = {.device_bytes = device, .host_bytes = kPlenty};
  if (test.uses_disk) memory.limits = {device, /*host_bytes=*/16 << 10, /*disk_bytes=*/kPlenty};
  return memory;
}

// The least that the error for too little asks for.
int64_t least_device_bytes(const Case& test, const std::function<Program()>& captured) {
  const Program program = captured();
  program.limit_memory(memory_of(test, 0));
  try {
    program.arena_bytes();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kResourceExhausted) throw;
    return number_behind(error.what(), "The least device limit that works is ");
  }
  return kPlenty;  // there is nothing to be placed
}

class Life {
 public:
  Life(const Case& test, const Site::Meshes* meshes, Way way, bool graphs)
      : test_(test),
        meshes_(meshes),
        way_(way),
        graphs_(graphs),
        site_(meshes ? Site(*meshes) : Site()) {
    for (size_t i = 0; i < test.parameters.size(); ++i) {
      const int number = static_cast<int>(i);
      parameters_.push_back(make_given(test, test.parameters[i], kParameters + number, 0, meshes));
    }
  }

  Record live() {
    for (int run = 0; run < kRuns; ++run) {
      if (run > 0) be_user(run);
      const TensorList inputs = make_inputs(run);
      if (way_ != Way::kCalled && !program_) {
        program_.emplace(make_program(inputs));
        program_->use_graphs(graphs_);
      }
      TensorList watched = parameters_;
      watched.insert(watched.end(), inputs.begin(), inputs.end());
      const std::vector<SavedTensor> witnesses = saved_of(watched);
      const TensorList results =
          program_ ? program_->run(inputs) : test_.function(site_, inputs, parameters_);
      look_at("result", run, results);
      look_at("input", run, inputs);
      look_at("parameter", run, parameters_);
      ask(witnesses, run);
    }
    return std::move(record_);
  }

 private:
  static constexpr int kParameters = 100;

  TensorList make_inputs(int run) const {
    TensorList inputs;
    for (size_t i = 0; i < test_.inputs.size(); ++i) {
      inputs.push_back(make_given(test_, test_.inputs[i], static_cast<int>(i), run, meshes_));
    }
    return inputs;
  }

  Program make_program(const TensorList& inputs) {
    const auto captured = [&] {
      return capture([&](const TensorList& in) { return test_.function(site_, in, parameters_); },
                     inputs);
    };
    if (way_ != Way::kLimited) return captured();
    const int64_t least = least_device_bytes(test_, captured);
    Program program = captured();
    program.limit_memory(memory_of(test_, least));
    program.arena_bytes();  // planned now, while everything lies as it did for `least`
    return program;
  }

  void be_user(int run) {
    const NoGrad no_grad;
    for (size_t i = 0; i < parameters_.size(); ++i) {
      const Given& given = test_.parameters[i];
      Tensor& parameter = parameters_[i];
      if (given.meanwhile == Meanwhile::kScales) scale_(parameter, 0.75);
      if (given.meanwhile != Meanwhile::kReplaces) continue;
      parameter.replace(make_given(test_, given, kParameters + static_cast<int>(i), run, meshes_));
    }
  }

  // What graphs that were recorded before the run keep of the tensors.
  static std::vector<SavedTensor> saved_of(const TensorList& watched) {
    std::vector<SavedTensor> saved;
    for (const Tensor& x : watched) saved.emplace_back(x.detach());
    return saved;
  }

  // Of what the function wrote to the value is not there any more, on every rank alike.
  void ask(const std::vector<SavedTensor>& witnesses, int run) {
    for (size_t i = 0; i < witnesses.size(); ++i) {
      std::string outcome = "it is as it was";
      try {
        witnesses[i].get();
      } catch (const Error& error) {
        if (error.code() != ErrorCode::kPreconditionNotMet) throw;
        outcome = "it was written to";
      }
      record_.push_back(entry_of(fmt::format("witness {} of run {}", i, run), std::move(outcome)));
    }
  }

  void look_at(const char* what, int run, const TensorList& tensors) {
    for (size_t i = 0; i < tensors.size(); ++i) {
      record_.push_back(entry_of(fmt::format("{} {} of run {}", what, i, run), tensors[i]));
    }
  }

  const Case& test_;
  const Site::Meshes* meshes_;
  Way way_;
  bool graphs_;
  Site site_;
  TensorList parameters_;
  std::optional<Program> program_;
  Record record_;
};

}  // namespace

Tensor make_given(const Case& test, const Given& given, int number, int run,
                  const Site::Meshes* meshes) {
  const auto seed = static_cast<uint64_t>(1 + number + 1000 * run);
  Tensor x = deferred_gaussian(given.shape, 0.0f, 0.8f, seed, test.dtype);
  if (meshes && !given.layout.is_plain()) {
    const auto& mesh = meshes->at(static_cast<size_t>(given.layout.mesh));
    x = distributed::shard_tensor(x, mesh, given.layout.placements);
  } else if (number % 2 == 0) {
    x.dense().raw_data();  // every other one is on the device from the start
  }
  if (given.needs_grad) x.set_requires_grad();
  return x;
}

Record live(const Case& test, const Site::Meshes* meshes, Way way, bool graphs) {
  return Life(test, meshes, way, graphs).live();
}

}  // namespace phi::testing::programs
