// The interface of save.h; the implementation is in saving/.
#include "distributed/checkpoint/save.h"

#include <utility>

#include "distributed/checkpoint/saving/saving.h"

namespace phi::distributed::checkpoint {

PendingSave::PendingSave(std::unique_ptr<Saving> saving) : saving_(std::move(saving)) {}
PendingSave::~PendingSave() = default;
PendingSave::PendingSave(PendingSave&&) noexcept = default;
PendingSave& PendingSave::operator=(PendingSave&&) noexcept = default;

bool PendingSave::done() const { return saving_->done(); }
bool PendingSave::poll() { return saving_->poll(); }
void PendingSave::wait() { saving_->wait(); }
const std::string& PendingSave::folder() const { return saving_->folder(); }

void save(const std::string& folder, std::span<const NamedTensor> tensors,
          const SaveOptions& options) {
  Saving(folder, tensors, options, Saving::Mode::kForeground);
}

PendingSave start_save(const std::string& folder, std::span<const NamedTensor> tensors,
                       const SaveOptions& options) {
  return PendingSave(std::make_unique<Saving>(folder, tensors, options, Saving::Mode::kBackground));
}

}  // namespace phi::distributed::checkpoint
