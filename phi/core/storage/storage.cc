// Allocation, accounting and the state changes of storages.
#include "phi/core/storage/storage.h"

#include <atomic>
#include <mutex>
#include <new>
#include <unordered_map>
#include <utility>

#include "phi/common/errors.h"
#include "phi/common/process/yield_point.h"
#include "phi/core/dense_tensor.h"
#include "phi/core/device/device.h"
#include "phi/core/device/host_array.h"
#include "phi/core/rank_context.h"
#include "phi/core/storage/cow_alias.h"
#include "phi/core/storage/memory_ledger.h"
#include "phi/core/storage/spin_lock_guard.h"
#include "phi/core/storage/storage_from_blob.h"
#include "phi/core/storage/storage_order.h"
#include "phi/core/trace/trace.h"

namespace phi {
namespace {

constexpr size_t kStorageAlignment = Storage::kAlignment;

// Size of the object rounded up to the alignment, so that the bytes after it are aligned too.
template <typename Object>
constexpr size_t kHeader =
    (sizeof(Object) + kStorageAlignment - 1) / kStorageAlignment* kStorageAlignment;

void note_held(const MemoryAccount& account, const Storage* storage, size_t nbytes,
               bool is_inline) {
  MemoryLedger::added(account, storage, static_cast<int64_t>(nbytes),
                      (is_inline ? kHeader<Storage> : 0) + nbytes);
}

// Each thread reserves ids in blocks, so that making a storage rarely touches a shared cache line.
// Blocks are large, because the order of ids of two blocks is unknown (is_known_to_follow).
constexpr uint64_t kIdBlock = uint64_t{1} << 32;

uint64_t next_id() {
  static std::atomic<uint64_t> blocks{0};
  thread_local uint64_t next = 0;
  thread_local uint64_t end = 0;
  if (next == end) {
    next = blocks.fetch_add(1, std::memory_order_relaxed) * kIdBlock + 1;
    end = next + kIdBlock - 1;
  }
  return next++;
}

void check_allocated(const std::byte* memory, size_t nbytes, const Place& place) {
  PHI_CHECK(
      memory != nullptr,
      errors::ResourceExhausted(
          "cannot allocate {} bytes on {}; tensors of this rank occupy {} bytes. {}", nbytes,
          place.to_string(), memory_stats(place).current, Device::of(place).describe_memory()));
}

// ": weights 4096, messages 128"
std::string held_text(const MemoryAccount& account) {
  const std::string holders = MemoryLedger::describe(account);
  return holders.empty() ? "" : ": " + holders;
}

void check_room(const MemoryAccount& account, size_t nbytes, const Place& place) {
  PHI_CHECK(account.has_room(place.kind, static_cast<int64_t>(nbytes)),
            errors::ResourceExhausted(
                "{} bytes{} do not fit on the device: it is limited to {} bytes, and tensors of "
                "rank {} occupy {}{}. Raise the limit (memory.device of a job, or --device_limit), "
                "or let a captured program swap out what it does not need yet.",
                nbytes, OpScope::current() ? fmt::format(" of {}", OpScope::current()) : "",
                account.device_limit(), RankContext::current().rank(), memory_stats(place).current,
                held_text(account)));
}

// Owners of the bytes of borrowed storages (storage_from_blob). A table, because few storages have
// an owner and the others should not carry a pointer for it.
class Owners {
 public:
  static Owners& all() {
    static auto& instance = *new Owners;
    return instance;
  }
  void keep(const Storage* storage, std::shared_ptr<const void> owner) {
    const std::lock_guard lock(mutex_);
    owners_.emplace(storage, std::move(owner));
  }
  /// The caller releases the owner after the lock is released, because the owner's destructor is
  /// unknown code.
  std::shared_ptr<const void> take(const Storage* storage) {
    const std::lock_guard lock(mutex_);
    const auto node = owners_.extract(storage);
    return node ? std::move(node.mapped()) : nullptr;
  }

 private:
  std::mutex mutex_;
  std::unordered_map<const Storage*, std::shared_ptr<const void>> owners_;
};

}  // namespace

const char* name_of(StorageState state) {
  switch (state) {
    case StorageState::kResident:
      return "resident";
    case StorageState::kPlaceholder:
      return "placeholder";
    case StorageState::kDeferred:
      return "deferred";
    case StorageState::kSwapped:
      return "swapped";
  }
  return "unknown";
}

bool is_known_to_follow(uint64_t id, uint64_t earlier) {
  return id > earlier && (id - 1) / kIdBlock == (earlier - 1) / kIdBlock;
}

Storage::Storage(StorageState state, size_t nbytes, const Place& place,
                 const IntrusivePtr<MemoryAccount>& account)
    : nbytes_(nbytes), id_(next_id()), state_(state), place_(place), account_(account) {}

Storage* Storage::make(StorageState state, size_t nbytes, const Place& place, size_t inline_bytes) {
  const auto& account = RankContext::current().memory();
  const size_t block_bytes = kHeader<Storage> + inline_bytes;
  BlockCache& cache = inline_bytes > 0 ? account->blocks() : account->objects();
  std::byte* block = cache.allocate(block_bytes);
  check_allocated(block, block_bytes, CPUPlace());
  return new (block) Storage(state, nbytes, place, account);
}

IntrusivePtr<Storage> Storage::allocate(size_t nbytes, const Place& place) {
  const Device& device = Device::of(place);
  if (RankContext::current().is_dry()) [[unlikely]] {
    Storage* storage = make(StorageState::kPlaceholder, nbytes, place, 0);
    // As in a real run, a small storage is no owner of aliases.
    storage->inline_bytes_ = nbytes <= cow_alias::limit() && (device.is_host() || nbytes == 0);
    storage->plan();
    return storage;
  }
  if (nbytes <= cow_alias::limit() && (device.is_host() || nbytes == 0)) {
    check_room(*RankContext::current().memory(), nbytes, place);
    Storage* storage = make(StorageState::kResident, nbytes, place, nbytes);
    storage->inline_bytes_ = true;
    // On a device an empty storage has no address: that of the host block would be wrong there.
    if (device.is_host()) {
      storage->data_.store(reinterpret_cast<std::byte*>(storage) + kHeader<Storage>,
                           std::memory_order_relaxed);
    }
    storage->account_->add(place.kind, static_cast<int64_t>(nbytes));
    note_held(*storage->account_, storage, nbytes, /*is_inline=*/true);
    return storage;
  }
  return allocate_separately(nbytes, place);
}

IntrusivePtr<Storage> Storage::allocate_separately(size_t nbytes, const Place& place) {
  check_room(*RankContext::current().memory(), nbytes, place);
  // The storage becomes resident after the allocation, so that its destructor subtracts nothing
  // from the account if the allocation fails.
  IntrusivePtr<Storage> storage(make(StorageState::kPlaceholder, nbytes, place, 0));
  Device& device = Device::of(place);
  if (nbytes > 0 || device.is_host()) {
    std::byte* const bytes = device.allocate(*storage->account_, nbytes);
    check_allocated(bytes, nbytes, place);
    storage->data_.store(bytes, std::memory_order_relaxed);
  }
  yield_point("storage.allocate.uncounted");
  storage->state_.store(StorageState::kResident, std::memory_order_relaxed);
  storage->account_->add(place.kind, static_cast<int64_t>(nbytes));
  note_held(*storage->account_, storage.get(), nbytes, /*is_inline=*/false);
  return storage;
}

IntrusivePtr<Storage> Storage::placeholder(const Place& place, const Absence& absence) {
  Storage* storage = make(StorageState::kPlaceholder, 0, place, 0);
  storage->absence_ = absence;
  return storage;
}

IntrusivePtr<Storage> Storage::from_source(const Place& place,
                                           std::shared_ptr<const Source> source) {
  Device::of(place);  // throws if there is no such device
  Storage* storage = make(source->state(), source->meta().nbytes(), place, 0);
  storage->source_ = std::move(source);
  return storage;
}

IntrusivePtr<Storage> Storage::planned_from_source(const Place& place,
                                                   std::shared_ptr<const Source> source) {
  IntrusivePtr<Storage> storage = from_source(place, std::move(source));
  storage->plan();
  return storage;
}

std::shared_ptr<const Storage::Source> Storage::source() const {
  if (has_bytes() || state() == StorageState::kPlaceholder) return nullptr;
  yield_point("storage.source.unlocked");
  const SpinLockGuard held(busy_);
  yield_point("storage.source.locked");
  return source_;
}

IntrusivePtr<Storage> Storage::borrow(std::byte* data, size_t nbytes, const Place& place) {
  Storage* storage = make(StorageState::kResident, nbytes, place, 0);
  storage->data_.store(data, std::memory_order_relaxed);
  storage->borrowed_.store(true, std::memory_order_relaxed);
  return storage;
}

IntrusivePtr<Storage> storage_from_blob(std::byte* data, size_t nbytes, const Place& place,
                                        std::shared_ptr<const void> owner) {
  IntrusivePtr<Storage> storage = Storage::borrow(data, nbytes, place);
  Owners::all().keep(storage.get(), std::move(owner));
  return storage;
}

void Storage::swap_out(std::shared_ptr<const Source> source) {
  yield_point("storage.swap_out.unlocked");
  const bool was_alias = leave_owner();
  const SpinLockGuard held(busy_);
  PHI_CHECK(state() != StorageState::kPlaceholder && !inline_bytes_ && owns_bytes(),
            errors::PreconditionNotMet("storage {} of {} bytes cannot be swapped out: it is {}.",
                                       id_, nbytes_, name_of(state())));
  lock_and_detach_aliases();
  if (has_bytes() && !was_alias) give_back_bytes();
  yield_point("storage.swap_out.without_bytes");
  source_ = std::move(source);
  yield_point("storage.swap_out.unpublished");
  state_.store(source_->state(), std::memory_order_release);
}

void Storage::plan() {
  const auto& current = RankContext::current().memory();
  if (is_planned()) {
    if (&charged() == current.get()) return;
    // The account of the rank or capture that planned it. It stays planned, because other ranks may
    // ask meanwhile.
    uncharge_plan();
  }
  absence_ = {.op = OpScope::current(),
              .reason = "a dry run computes no values",
              .remedy = "Run the job on real processes to get its values."};
  if (RankContext::current().recorder()) {
    absence_.reason = "a program is being captured, and no values are computed";
    absence_.remedy = "Return it from the captured function, and read the result of running it.";
  }
  // As the bytes of a real run are charged to the rank that brings them here.
  guest_ = current != account_ ? current : nullptr;
  charged().plan(static_cast<int64_t>(nbytes_));
  note_held(charged(), this, nbytes_, inline_bytes_);
  planned_.store(true, std::memory_order_release);
}

void Storage::end_plan() {
  if (!planned_.exchange(false, std::memory_order_acq_rel)) return;
  if (owns_bytes()) uncharge_plan();
}

void Storage::uncharge_plan() {
  charged().end_plan(static_cast<int64_t>(nbytes_));
  MemoryLedger::removed(charged(), this);
  guest_ = nullptr;
}

void Storage::materialise() {
  if (has_bytes()) return;
  yield_point("storage.materialise.unlocked");
  const SpinLockGuard held(busy_);
  yield_point("storage.materialise.unchecked");
  if (has_bytes()) return;  // another thread was first
  PHI_CHECK(source_, errors::PreconditionNotMet(
                         "storage {} is a placeholder; it has no bytes to materialise.", id_));
  if (RankContext::current().is_dry()) {
    PHI_CHECK(
        RankContext::current().recorder() == nullptr,
        errors::PreconditionNotMet("the value of storage {} is read while a program is captured, "
                                   "when tensors have no values; read it outside the capture, or "
                                   "turn the code that depends on it into an operator.",
                                   id_));
    return plan();
  }
  // Reads into separate memory, so that no thread sees incomplete values and an error changes
  // nothing.
  const auto fresh = allocate_separately(nbytes_, place_);
  DenseTensor whole(source_->meta(), fresh);
  bring_box(*source_, Box::whole(whole.dims()), &whole);
  yield_point("storage.materialise.read");
  const IntrusivePtr<MemoryAccount> planned_under = guest_ ? guest_ : account_;
  if (is_planned()) MemoryLedger::removed(*planned_under, this);
  take_bytes(*fresh);
  if (planned_.exchange(false, std::memory_order_acq_rel)) {
    planned_under->end_plan(static_cast<int64_t>(nbytes_));
  }
  yield_point("storage.materialise.published");
  source_ = nullptr;
}

void Storage::take_bytes(Storage& other) {
  std::byte* const bytes = other.data_.exchange(nullptr, std::memory_order_relaxed);
  data_.store(bytes, std::memory_order_release);
  other.state_.store(StorageState::kPlaceholder, std::memory_order_relaxed);
  guest_ = other.account_ != account_ ? other.account_ : nullptr;
  MemoryLedger::moved(*other.account_, &other, this);
  yield_point("storage.take_bytes.unpublished");
  state_.store(StorageState::kResident, std::memory_order_release);
}

void Storage::give_back_bytes() {
  if (!owns_bytes()) return;
  charged().remove(place_.kind, static_cast<int64_t>(nbytes_));
  MemoryLedger::removed(charged(), this);
  yield_point("storage.give_back.uncounted");
  if (!inline_bytes_) {
    std::byte* const bytes = data_.exchange(nullptr, std::memory_order_relaxed);
    if (bytes != nullptr) Device::of(place_).free(charged(), bytes, nbytes_);
  }
  guest_ = nullptr;
}

void Storage::destroy(Storage* storage) {
  yield_point("storage.destroy");
  const bool was_alias = storage->leave_owner();
  const auto owner = !storage->owns_bytes() ? Owners::all().take(storage) : nullptr;
  if (storage->has_bytes() && !was_alias) storage->give_back_bytes();
  storage->end_plan();
  const bool has_inline_bytes = storage->inline_bytes_ && storage->has_bytes();
  const size_t inline_bytes = has_inline_bytes ? storage->nbytes_ : 0;
  // Keeps the account alive: this may be its last storage, and it must still free the block.
  const IntrusivePtr<MemoryAccount> account = std::move(storage->account_);
  storage->~Storage();
  BlockCache& cache = inline_bytes > 0 ? account->blocks() : account->objects();
  cache.free(reinterpret_cast<std::byte*>(storage), kHeader<Storage> + inline_bytes);
}

void bring_box(const Storage::Source& source, const Box& box, DenseTensor* out) {
  HostArray written(*out, HostArray::kWrite);
  DenseTensor on_host = written.array();
  source.read(box, &on_host);
  written.finish();
  const auto tier = source.tier();
  if (!tier) return;
  const int64_t bytes = source.stored_bytes(box);
  if (bytes > 0) count_transfer(*tier, Tier::kDevice, bytes);
}

}  // namespace phi
