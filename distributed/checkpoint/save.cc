// The interface of save.h; the implementation is in saving/.
#include "distributed/checkpoint/save.h"

#include <utility>

#include "distributed/checkpoint/saving/collective_save.h"

namespace phi::distributed::checkpoint {

PendingSave::PendingSave(std::unique_ptr<CollectiveSave> saving) : saving_(std::move(saving)) {}
PendingSave::~PendingSave() = default;
PendingSave::PendingSave(PendingSave&&) noexcept = default;
PendingSave& PendingSave::operator=(PendingSave&&) noexcept = default;

bool PendingSave::done() const { return saving_->done(); }
bool PendingSave::poll() { return saving_->poll(); }
void PendingSave::wait() { saving_->wait(); }
const std::string& PendingSave::folder() const { return saving_->folder(); }

void save(const std::string& folder, std::span<const NamedTensor> tensors,
          const SaveOptions& options) {
  CollectiveSave(folder, tensors, options, CollectiveSave::Mode::kForeground);
}

PendingSave start_save(const std::string& folder, std::span<const NamedTensor> tensors,
                       const SaveOptions& options) {
  return PendingSave(std::make_unique<CollectiveSave>(folder, tensors, options,
                                                      CollectiveSave::Mode::kBackground));
}

}  // namespace phi::distributed::checkpoint
