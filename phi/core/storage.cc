// Allocation, accounting and the state changes of storages.
#include "phi/core/storage.h"

#include <atomic>
#include <new>
#include <utility>

#include "phi/common/errors.h"
#include "phi/core/dense_tensor.h"
#include "phi/core/rank_context.h"
#include "phi/core/trace.h"

namespace phi {
namespace {

constexpr size_t kAlignment = 64;
// Up to this size the bytes share one allocation with the storage object.
constexpr size_t kInlineLimit = 4096;

// Bytes behind the object keep the block's alignment.
template <typename Object>
constexpr size_t kHeader = (sizeof(Object) + kAlignment - 1) / kAlignment* kAlignment;

uint64_t next_id() {
  // Each thread takes ids in blocks, so that making a storage touches no shared cache line.
  constexpr uint64_t kBlock = 1 << 16;
  static std::atomic<uint64_t> blocks{0};
  thread_local uint64_t next = 0;
  thread_local uint64_t end = 0;
  if (next == end) {
    next = blocks.fetch_add(1, std::memory_order_relaxed) * kBlock + 1;
    end = next + kBlock - 1;
  }
  return next++;
}

std::byte* allocate_bytes(MemoryAccount& account, size_t nbytes) {
  std::byte* memory = account.blocks().allocate(nbytes);
  PHI_CHECK(memory != nullptr,
            errors::ResourceExhausted(
                "cannot allocate {} bytes on cpu; tensors of this rank hold {} bytes.", nbytes,
                memory_stats(CPUPlace()).current));
  return memory;
}

void check_place(const Place& place) {
  PHI_CHECK(place.kind == DeviceKind::CPU,
            errors::Unimplemented("this build has no allocator for place {}; use CPUPlace().",
                                  place.to_string()));
}

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

Storage::Storage(StorageState state, size_t nbytes, const Place& place,
                 const IntrusivePtr<MemoryAccount>& account)
    : nbytes_(nbytes), id_(next_id()), state_(state), place_(place), account_(account) {}

Storage* Storage::make(StorageState state, size_t nbytes, const Place& place, size_t inline_bytes) {
  const auto& account = RankContext::current().memory();
  std::byte* block = allocate_bytes(*account, kHeader<Storage> + inline_bytes);
  return new (block) Storage(state, nbytes, place, account);
}

IntrusivePtr<Storage> Storage::allocate(size_t nbytes, const Place& place) {
  check_place(place);
  if (RankContext::current().is_dry()) [[unlikely]] {
    Storage* storage = make(StorageState::kPlaceholder, nbytes, place, 0);
    storage->plan();
    return storage;
  }
  if (nbytes <= kInlineLimit) {
    Storage* storage = make(StorageState::kResident, nbytes, place, nbytes);
    storage->inline_bytes_ = true;
    storage->data_ = reinterpret_cast<std::byte*>(storage) + kHeader<Storage>;
    storage->account_->add(place.kind, static_cast<int64_t>(nbytes));
    return storage;
  }
  // Not resident until the bytes are there, so that a failure leaves nothing to take off the
  // account.
  IntrusivePtr<Storage> storage(make(StorageState::kPlaceholder, nbytes, place, 0));
  storage->data_ = allocate_bytes(*storage->account_, nbytes);
  storage->state_ = StorageState::kResident;
  storage->account_->add(place.kind, static_cast<int64_t>(nbytes));
  return storage;
}

IntrusivePtr<Storage> Storage::placeholder(const Place& place, const Absence& absence) {
  Storage* storage = make(StorageState::kPlaceholder, 0, place, 0);
  storage->absence_ = absence;
  return storage;
}

IntrusivePtr<Storage> Storage::from_source(const Place& place,
                                           std::shared_ptr<const Source> source) {
  check_place(place);
  Storage* storage = make(source->state(), source->meta().nbytes(), place, 0);
  storage->source_ = std::move(source);
  return storage;
}

void Storage::plan() {
  state_ = StorageState::kPlaceholder;
  planned_ = true;
  absence_ = {.op = OpScope::current(),
              .reason = "nothing is computed in a dry run",
              .remedy = "Run the job on real processes to get its values."};
  if (RankContext::current().recorder()) {
    absence_.reason = "a program is being captured, and nothing is computed";
    absence_.remedy = "Return it from the captured function, and read what running it gives.";
  }
  account_->plan(static_cast<int64_t>(nbytes_));
}

void Storage::materialise() {
  if (state_ == StorageState::kResident) return;
  PHI_CHECK(source_, errors::PreconditionNotMet(
                         "storage {} is a placeholder; it has no bytes to bring here.", id_));
  if (RankContext::current().is_dry()) {
    PHI_CHECK(RankContext::current().recorder() == nullptr,
              errors::PreconditionNotMet("the value of storage {} is asked for while a program is "
                                         "captured, when nothing has a value; read it outside, or "
                                         "make what depends on it an operator.",
                                         id_));
    source_ = nullptr;
    return plan();
  }
  const auto& account = RankContext::current().memory();
  data_ = allocate_bytes(*account, nbytes_);
  if (account != account_) guest_ = account;
  charged().add(place_.kind, static_cast<int64_t>(nbytes_));
  state_ = StorageState::kResident;
  try {
    DenseTensor whole(source_->meta(), this);
    source_->read(Box::whole(whole.dims()), &whole);
  } catch (
      ...) {  // as before, so that nobody takes the bytes for values, and it can be tried again
    state_ = source_->state();
    give_back_bytes();
    throw;
  }
  source_ = nullptr;
}

void Storage::give_back_bytes() {
  charged().remove(place_.kind, static_cast<int64_t>(nbytes_));
  if (!inline_bytes_) charged().blocks().free(std::exchange(data_, nullptr), nbytes_);
  guest_ = nullptr;
}

void Storage::destroy(Storage* storage) {
  if (storage->has_bytes()) storage->give_back_bytes();
  if (storage->planned_) storage->account_->end_plan(static_cast<int64_t>(storage->nbytes_));
  const size_t block = kHeader<Storage> + (storage->inline_bytes_ ? storage->nbytes_ : 0);
  // The account may end with its last storage, whose block it must still take.
  const IntrusivePtr<MemoryAccount> account = std::move(storage->account_);
  storage->~Storage();
  account->blocks().free(reinterpret_cast<std::byte*>(storage), block);
}

}  // namespace phi
