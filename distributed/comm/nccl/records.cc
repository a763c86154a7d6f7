// Launches and discards captured graphs with messages.
#include "distributed/comm/nccl/records.h"

#include <mutex>
#include <utility>
#include <vector>

#include "phi/common/errors.h"

namespace phi::distributed {

struct Records::State {
  std::mutex mutex;
  bool is_over = false;
  std::vector<LaunchRecord*> all;

  void check() const {
    PHI_CHECK(!is_over, errors::PreconditionNotMet(
                            "steps of a captured program were written down with messages between "
                            "GPUs, which are no longer connected; capture the program again."));
  }
};

class Records::Record final : public LaunchRecord {
 public:
  Record(std::shared_ptr<State> state, std::unique_ptr<LaunchRecord> written, Put put)
      : state_(std::move(state)), written_(std::move(written)), put_(std::move(put)) {
    const std::lock_guard lock(state_->mutex);
    state_->all.push_back(written_.get());
  }
  ~Record() override {
    const std::lock_guard lock(state_->mutex);
    std::erase(state_->all, written_.get());
    written_ = nullptr;
  }
  Record(const Record&) = delete;
  Record& operator=(const Record&) = delete;

  void launch() override {
    {
      const std::lock_guard lock(state_->mutex);
      state_->check();  // `put_` is invalid after the world's end
    }
    put_([this] {
      const std::lock_guard lock(state_->mutex);
      state_->check();
      written_->launch();
    });
  }
  void discard() override {
    const std::lock_guard lock(state_->mutex);
    written_->discard();
  }

 private:
  std::shared_ptr<State> state_;
  std::unique_ptr<LaunchRecord> written_;
  Put put_;
};

Records::Records() : state_(std::make_shared<State>()) {}
Records::~Records() { discard_all(); }

std::unique_ptr<LaunchRecord> Records::add(std::unique_ptr<LaunchRecord> written, Put put) {
  return std::make_unique<Record>(state_, std::move(written), std::move(put));
}

void Records::discard_all() {
  const std::lock_guard lock(state_->mutex);
  state_->is_over = true;
  for (LaunchRecord* record : state_->all) record->discard();
}

}  // namespace phi::distributed
