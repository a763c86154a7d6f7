// Finds the last write to each buffer and merges buffers of aliases.
#include "api/capture/execution/drop_aliases.h"

#include <utility>
#include <vector>

#include "phi/core/copy_step.h"

namespace phi::ir {
namespace {

// A buffer's bytes after merging begin `offset` bytes into `buffer`.
struct Location {
  BufferId buffer;
  size_t offset;
};

class Aliases {
 public:
  Aliases(const FlatProgram& program, const std::function<bool(BufferId)>& is_port)
      : is_port_(is_port), last_write_(program.buffers.size(), -1) {
    for (size_t buffer = 0; buffer < program.buffers.size(); ++buffer) {
      locations_.push_back({buffer_id(buffer), 0});
    }
    for (size_t number = 0; number < program.steps.size(); ++number) {
      for (const BufferUse& use : program.steps[number].uses) {
        if (use.buffer == kNoBuffer || !use.writes()) continue;
        last_write(use.buffer) = static_cast<int64_t>(number);
      }
    }
  }

  // Merges the buffers of step `number` if it is an alias that is not needed.
  bool merges(const RecordedStep& step, int64_t number) {
    if (dynamic_cast<const AliasStep*>(step.step.get()) == nullptr) return false;
    const Location from = located(step.uses[0]);
    const BufferId to = step.uses[1].buffer;
    if (is_port_(to)) return false;
    if (last_write(from.buffer) >= number || last_write(to) > number) return false;
    locations_[index_of(to)] = from;
    return true;
  }

  void apply(RecordedStep& step) const {
    for (BufferUse& use : step.uses) {
      if (use.buffer == kNoBuffer) continue;
      const Location location = located(use);
      use.buffer = location.buffer;
      use.offset = location.offset;
    }
  }

 private:
  int64_t& last_write(BufferId buffer) { return last_write_[index_of(buffer)]; }
  // Merges are applied in the order of the steps, so one lookup is enough.
  Location located(const BufferUse& use) const {
    const Location& whole = locations_[index_of(use.buffer)];
    return {whole.buffer, whole.offset + use.offset};
  }

  const std::function<bool(BufferId)>& is_port_;
  std::vector<int64_t> last_write_;  // by buffer: the number of a step, or -1
  std::vector<Location> locations_;  // by buffer
};

}  // namespace

void drop_aliases(FlatProgram& program, const std::function<bool(BufferId)>& is_port) {
  Aliases aliases(program, is_port);
  std::vector<RecordedStep> left;
  TracedOps shown;  // of removed steps
  for (size_t number = 0; number < program.steps.size(); ++number) {
    RecordedStep& step = program.steps[number];
    shown.insert(shown.end(), step.before.begin(), step.before.end());
    if (aliases.merges(step, static_cast<int64_t>(number))) continue;
    aliases.apply(step);
    step.before = std::exchange(shown, {});
    left.push_back(std::move(step));
  }
  program.trailing_ops.insert(program.trailing_ops.begin(), shown.begin(), shown.end());
  program.steps = std::move(left);
}

}  // namespace phi::ir
