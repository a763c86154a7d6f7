// Copy-on-write aliases: storages that share an owner's bytes until either is written
// to.
//
// An owner has a list of its aliases, and each alias has a pointer to its owner. An alias of an
// alias is linked to the first owner directly, so that both aliases are independent. All of them
// belong to one memory account, whose lock guards lists and pointers. The account outlives the
// storages, so an alias may be destroyed while its owner is about to copy its bytes.
#include "phi/core/storage/cow_alias.h"

#include <atomic>
#include <memory>
#include <utility>

#include "phi/common/process/yield_point.h"
#include "phi/core/device/device.h"
#include "phi/core/rank_context.h"
#include "phi/core/storage/memory_ledger.h"
#include "phi/core/storage/spin_lock_guard.h"
#include "phi/core/storage/storage.h"

namespace phi {

namespace cow_alias {
namespace {
std::atomic<bool> everything{false};
}  // namespace

size_t limit() { return everything.load(std::memory_order_relaxed) ? 0 : Storage::kInlineLimit; }
size_t alignment() { return everything.load(std::memory_order_relaxed) ? 1 : Storage::kAlignment; }
void alias_everything() { everything.store(true, std::memory_order_relaxed); }
}  // namespace cow_alias

struct Storage::AliasLink {
  IntrusivePtr<Storage> owner;
  Storage& alias;
  AliasLink* next = nullptr;  // in the owner's list
  AliasLink* previous = nullptr;
  bool is_linked = false;  // the bytes are the owner's

  void detach();
  void detach_planned();
};

Storage::AliasLink* Storage::own_link() const {
  AliasLink* const first = alias_links_.load(std::memory_order_relaxed);
  return first != nullptr && &first->alias == this ? first : nullptr;
}

std::unique_ptr<Storage::AliasLink> Storage::take_link() {
  std::unique_ptr<AliasLink> own(own_link());
  if (own) alias_links_.store(nullptr, std::memory_order_release);
  return own;
}

void Storage::link(AliasLink& alias) {
  alias.is_linked = true;
  alias.next = alias_links_.load(std::memory_order_relaxed);
  if (alias.next != nullptr) alias.next->previous = &alias;
  alias_links_.store(&alias, std::memory_order_release);
}

void Storage::unlink(AliasLink& alias) {
  alias.is_linked = false;
  if (alias.next != nullptr) alias.next->previous = alias.previous;
  if (alias.previous != nullptr) {
    alias.previous->next = alias.next;
  } else {
    alias_links_.store(alias.next, std::memory_order_release);
  }
}

// Of a dry run: gives the alias planned bytes of its own, or those of its owner.
void Storage::AliasLink::detach_planned() {
  owner->unlink(*this);
  if (owner->use_count() == 1 && owner->nbytes_ == alias.nbytes_) {
    owner->planned_.store(false, std::memory_order_relaxed);
    MemoryLedger::moved(*owner->account_, owner.get(), &alias);
  } else {
    alias.account_->plan(static_cast<int64_t>(alias.nbytes_));
    MemoryLedger::added(*alias.account_, &alias, static_cast<int64_t>(alias.nbytes_),
                        alias.nbytes_);
  }
  alias.borrowed_.store(false, std::memory_order_relaxed);
}

// Publishes the new address after the bytes are copied, because other threads may read the alias
// meanwhile. If this alias is the last reference to an owner of its size, it takes over the
// owner's bytes without a copy.
void Storage::AliasLink::detach() {
  if (alias.is_planned()) return detach_planned();
  if (owner->use_count() == 1 && owner->nbytes_ == alias.nbytes_ && !owner->guest_) {
    owner->unlink(*this);
    alias.take_bytes(*owner);
    alias.borrowed_.store(false, std::memory_order_relaxed);
    return;
  }
  const auto fresh = allocate_separately(alias.nbytes_, alias.place_);
  copy_bytes(fresh->data(), alias.place_, alias.data(), alias.place_, alias.nbytes_);
  yield_point("storage.alias.copied");
  alias.take_bytes(*fresh);
  alias.borrowed_.store(false, std::memory_order_relaxed);
  owner->unlink(*this);
}

bool Storage::fix_address() {
  if (const AliasLink* const own = own_link())
    return own->is_linked && own->owner->is_aliased_base_;
  if (inline_bytes_ || !owns_bytes() || guest_) return false;
  IntrusivePtr<Storage> keeper(make(StorageState::kPlaceholder, nbytes_, place_, 0));
  keeper->is_aliased_base_ = true;
  while (AliasLink* const alias = alias_links_.load(std::memory_order_relaxed)) {
    unlink(*alias);
    keeper->link(*alias);
    alias->owner = keeper;
  }
  auto* const own = new AliasLink{.owner = keeper, .alias = *this};
  MemoryLedger::moved(*account_, this, keeper.get());
  if (is_planned()) {
    keeper->planned_.store(true, std::memory_order_relaxed);
  } else {
    keeper->data_.store(data(), std::memory_order_relaxed);
    keeper->state_.store(StorageState::kResident, std::memory_order_release);
  }
  borrowed_.store(true, std::memory_order_relaxed);
  alias_links_.store(own, std::memory_order_release);
  keeper->link(*own);
  return true;
}

IntrusivePtr<Storage> Storage::make_alias(size_t offset, size_t nbytes, bool keeps_address) {
  const RankContext& rank = RankContext::current();
  const bool is_here = rank.is_dry() ? is_planned() && rank.recorder() == nullptr : has_bytes();
  if (!is_here || !was_made_under(*rank.memory())) return nullptr;
  if (nbytes == 0) return allocate(0, place_);
  IntrusivePtr<Storage> alias(make(StorageState::kPlaceholder, nbytes, place_, 0));
  yield_point("storage.make_alias.unlocked");
  const SpinLockGuard held(account_->alias_lock());
  // Before fix_address, which a refusal would not undo.
  const auto address = reinterpret_cast<uintptr_t>(data()) + offset;
  if (address % cow_alias::alignment() != 0) return nullptr;
  if (exposed_.load(std::memory_order_relaxed) || (keeps_address && !fix_address())) return nullptr;
  const AliasLink* const own = own_link();
  Storage& owner = own != nullptr && own->is_linked ? *own->owner : *this;
  // After keep_bytes, alias_links_ still points to the old owner's link and cannot hold a list of
  // aliases.
  const bool keeps = own != nullptr && !own->is_linked;
  if (keeps || owner.inline_bytes_ || !owner.owns_bytes()) return nullptr;
  if (owner.exposed_.load(std::memory_order_relaxed)) return nullptr;
  auto* const link = new AliasLink{.owner = &owner, .alias = *alias};
  alias->borrowed_.store(true, std::memory_order_relaxed);
  alias->alias_links_.store(link, std::memory_order_relaxed);
  if (is_planned()) {
    alias->absence_ = absence_;
    alias->planned_.store(true, std::memory_order_release);
  } else {
    alias->data_.store(data() + offset, std::memory_order_relaxed);
    alias->state_.store(StorageState::kResident, std::memory_order_release);
  }
  owner.link(*link);
  return alias;
}

void Storage::detach_aliases() {
  while (AliasLink* const first = alias_links_.load(std::memory_order_relaxed)) {
    first->detach();
    const std::unique_ptr<AliasLink> done = first->alias.take_link();
  }
}

void Storage::lock_and_detach_aliases() {
  const SpinLockGuard held(account_->alias_lock());
  detach_aliases();
}

void Storage::take_own_bytes() {
  yield_point("storage.take_own_bytes.unlocked");
  const SpinLockGuard held(account_->alias_lock());
  AliasLink* const own = own_link();
  if (own == nullptr || !own->is_linked || own->owner->is_aliased_base_) return;
  // The reference to the owner stays, because other threads may be reading the owner's bytes.
  own->detach();
}

bool Storage::leave_owner() {
  if (alias_links_.load(std::memory_order_acquire) == nullptr) return false;
  yield_point("storage.leave_owner.unlocked");
  std::unique_ptr<AliasLink> own;  // may destroy the owner, after the lock is released
  const SpinLockGuard held(account_->alias_lock());
  own = take_link();
  if (!own || !own->is_linked) return false;
  own->owner->unlink(*own);
  data_.store(nullptr, std::memory_order_relaxed);
  planned_.store(false, std::memory_order_relaxed);
  borrowed_.store(false, std::memory_order_relaxed);
  return true;
}

void Storage::settle() {
  // A capture writes nothing, and a dry run only plans to write to what it has planned.
  const RankContext& rank = RankContext::current();
  if (rank.is_dry() && (rank.recorder() != nullptr || !is_planned())) return;
  yield_point("storage.settle.unlocked");
  std::unique_ptr<AliasLink> own;
  const SpinLockGuard held(account_->alias_lock());
  if (AliasLink* const alias = own_link()) {
    if (alias->is_linked) alias->detach();
    own = take_link();
  } else {
    detach_aliases();
  }
}

}  // namespace phi
