// Launches and discards captured graphs with messages.
#include "distributed/comm/nccl/captured_graphs.h"

#include <mutex>
#include <utility>
#include <vector>

#include "phi/common/errors.h"

namespace phi::distributed {

struct CapturedGraphs::State {
  std::mutex mutex;
  bool is_over = false;
  std::vector<LaunchGraph*> all;

  void check() const {
    PHI_CHECK(!is_over,
              errors::PreconditionNotMet("a captured program contains messages between GPUs that "
                                         "are no longer connected; capture the program again."));
  }
};

class CapturedGraphs::CapturedGraph final : public LaunchGraph {
 public:
  CapturedGraph(std::shared_ptr<State> state, std::unique_ptr<LaunchGraph> written,
                LaunchWrapper launch_wrapper)
      : state_(std::move(state)),
        written_(std::move(written)),
        launch_wrapper_(std::move(launch_wrapper)) {
    const std::lock_guard lock(state_->mutex);
    state_->all.push_back(written_.get());
  }
  ~CapturedGraph() override {
    const std::lock_guard lock(state_->mutex);
    std::erase(state_->all, written_.get());
    written_ = nullptr;
  }
  CapturedGraph(const CapturedGraph&) = delete;
  CapturedGraph& operator=(const CapturedGraph&) = delete;

  void launch() override {
    {
      const std::lock_guard lock(state_->mutex);
      state_->check();  // `launch_wrapper_` is invalid after the world's end
    }
    launch_wrapper_([this] {
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
  std::unique_ptr<LaunchGraph> written_;
  LaunchWrapper launch_wrapper_;
};

CapturedGraphs::CapturedGraphs() : state_(std::make_shared<State>()) {}
CapturedGraphs::~CapturedGraphs() { discard_all(); }

std::unique_ptr<LaunchGraph> CapturedGraphs::add(std::unique_ptr<LaunchGraph> written,
                                                 LaunchWrapper launch_wrapper) {
  return std::make_unique<CapturedGraph>(state_, std::move(written), std::move(launch_wrapper));
}

void CapturedGraphs::discard_all() {
  const std::lock_guard lock(state_->mutex);
  state_->is_over = true;
  for (LaunchGraph* record : state_->all) record->discard();
}

}  // namespace phi::distributed
