// Copy-on-write aliases ("leases"): storages that share a lender's bytes until either is written
// to.
//
// A lender has a list of its leases, and each lease has a pointer to its lender. A lease of a lease
// is linked to the first lender directly, so that both leases are independent. All of them belong
// to one memory account, whose lock guards lists and pointers. The account outlives the storages,
// so a lease may be destroyed while its lender is about to copy its bytes.
#include <atomic>
#include <memory>
#include <utility>

#include "phi/common/process/yield_point.h"
#include "phi/core/device/device.h"
#include "phi/core/rank_context.h"
#include "phi/core/storage/held.h"
#include "phi/core/storage/lending.h"
#include "phi/core/storage/storage.h"

namespace phi {

namespace lending {
namespace {
std::atomic<bool> everything{false};
}  // namespace

size_t limit() { return everything.load(std::memory_order_relaxed) ? 0 : Storage::kInlineLimit; }
size_t alignment() { return everything.load(std::memory_order_relaxed) ? 1 : Storage::kAlignment; }
void lend_everything() { everything.store(true, std::memory_order_relaxed); }
}  // namespace lending

struct Storage::Lease {
  IntrusivePtr<Storage> lender;
  Storage& lease;
  Lease* next = nullptr;  // in the lender's list
  Lease* previous = nullptr;
  bool is_linked = false;  // the bytes are the lender's

  void take_bytes_apart();
};

Storage::Lease* Storage::own_lease() const {
  Lease* const first = lending_.load(std::memory_order_relaxed);
  return first != nullptr && &first->lease == this ? first : nullptr;
}

std::unique_ptr<Storage::Lease> Storage::take_lease() {
  std::unique_ptr<Lease> own(own_lease());
  if (own) lending_.store(nullptr, std::memory_order_release);
  return own;
}

void Storage::link(Lease& lease) {
  lease.is_linked = true;
  lease.next = lending_.load(std::memory_order_relaxed);
  if (lease.next != nullptr) lease.next->previous = &lease;
  lending_.store(&lease, std::memory_order_release);
}

void Storage::unlink(Lease& lease) {
  lease.is_linked = false;
  if (lease.next != nullptr) lease.next->previous = lease.previous;
  if (lease.previous != nullptr) {
    lease.previous->next = lease.next;
  } else {
    lending_.store(lease.next, std::memory_order_release);
  }
}

// Publishes the new address after the bytes are copied, because other threads may read the lease
// meanwhile. If this lease is the last reference to a lender of its size, it takes over the
// lender's bytes without a copy.
void Storage::Lease::take_bytes_apart() {
  if (lender->use_count() == 1 && lender->nbytes_ == lease.nbytes_ && !lender->guest_) {
    lender->unlink(*this);
    lease.take_bytes(*lender);
    lease.borrowed_.store(false, std::memory_order_relaxed);
    return;
  }
  const auto fresh = allocate_apart(lease.nbytes_, lease.place_);
  copy_bytes(fresh->data(), lease.place_, lease.data(), lease.place_, lease.nbytes_);
  yield_point("storage.lease.copied");
  lease.take_bytes(*fresh);
  lease.borrowed_.store(false, std::memory_order_relaxed);
  lender->unlink(*this);
}

bool Storage::fix_address() {
  if (const Lease* const own = own_lease()) return own->is_linked && own->lender->only_lends_;
  if (inline_bytes_ || !owns_bytes() || guest_) return false;
  IntrusivePtr<Storage> keeper(make(StorageState::kPlaceholder, nbytes_, place_, 0));
  keeper->only_lends_ = true;
  while (Lease* const lease = lending_.load(std::memory_order_relaxed)) {
    unlink(*lease);
    keeper->link(*lease);
    lease->lender = keeper;
  }
  auto* const own = new Lease{.lender = keeper, .lease = *this};
  keeper->data_.store(data(), std::memory_order_relaxed);
  keeper->state_.store(StorageState::kResident, std::memory_order_release);
  borrowed_.store(true, std::memory_order_relaxed);
  lending_.store(own, std::memory_order_release);
  keeper->link(*own);
  return true;
}

IntrusivePtr<Storage> Storage::lend(size_t offset, size_t nbytes, bool keeps_address) {
  const RankContext& rank = RankContext::current();
  if (rank.is_dry() || !has_bytes() || !was_made_under(*rank.memory())) return nullptr;
  if (nbytes == 0) return allocate(0, place_);
  IntrusivePtr<Storage> lease(make(StorageState::kPlaceholder, nbytes, place_, 0));
  yield_point("storage.lend.unlocked");
  const Held held(account_->leases());
  // Before fix_address, which a refusal would not undo.
  if (reinterpret_cast<uintptr_t>(data() + offset) % lending::alignment() != 0) return nullptr;
  if (exposed_.load(std::memory_order_relaxed) || (keeps_address && !fix_address())) return nullptr;
  const Lease* const own = own_lease();
  Storage& lender = own != nullptr && own->is_linked ? *own->lender : *this;
  // After keep_bytes, lending_ still points to the old lender's link and cannot hold a list of
  // leases.
  const bool keeps = own != nullptr && !own->is_linked;
  if (keeps || lender.inline_bytes_ || !lender.owns_bytes()) return nullptr;
  if (lender.exposed_.load(std::memory_order_relaxed)) return nullptr;
  auto* const link = new Lease{.lender = &lender, .lease = *lease};
  lease->data_.store(data() + offset, std::memory_order_relaxed);
  lease->borrowed_.store(true, std::memory_order_relaxed);
  lease->lending_.store(link, std::memory_order_relaxed);
  lease->state_.store(StorageState::kResident, std::memory_order_release);
  lender.link(*link);
  return lease;
}

void Storage::settle_leases() {
  while (Lease* const first = lending_.load(std::memory_order_relaxed)) {
    first->take_bytes_apart();
    const std::unique_ptr<Lease> done = first->lease.take_lease();
  }
}

void Storage::part_from_leases() {
  const Held held(account_->leases());
  settle_leases();
}

void Storage::take_own_bytes() {
  yield_point("storage.take_own_bytes.unlocked");
  const Held held(account_->leases());
  Lease* const own = own_lease();
  if (own == nullptr || !own->is_linked || own->lender->only_lends_) return;
  // The reference to the lender stays, because other threads may be reading the lender's bytes.
  own->take_bytes_apart();
}

bool Storage::leave_lender() {
  if (lending_.load(std::memory_order_acquire) == nullptr) return false;
  yield_point("storage.leave_lender.unlocked");
  std::unique_ptr<Lease> own;  // may destroy the lender, after the lock is released
  const Held held(account_->leases());
  own = take_lease();
  if (!own || !own->is_linked) return false;
  own->lender->unlink(*own);
  data_.store(nullptr, std::memory_order_relaxed);
  borrowed_.store(false, std::memory_order_relaxed);
  return true;
}

void Storage::settle() {
  if (RankContext::current().is_dry()) return;  // nothing is written
  yield_point("storage.settle.unlocked");
  std::unique_ptr<Lease> own;
  const Held held(account_->leases());
  if (Lease* const lease = own_lease()) {
    if (lease->is_linked) lease->take_bytes_apart();
    own = take_lease();
  } else {
    settle_leases();
  }
}

}  // namespace phi
