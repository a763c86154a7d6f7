// Allocation, accounting and the state changes of storages.
#include "phi/core/storage.h"

#include <atomic>
#include <cstdlib>
#include <new>
#include <utility>

#include "phi/common/errors.h"
#include "phi/core/dense_tensor.h"
#include "phi/core/rank_context.h"

namespace phi {
namespace {

constexpr size_t kAlignment = 64;
// Up to this size the bytes share one allocation with the storage object.
constexpr size_t kInlineLimit = 4096;

constexpr size_t round_up(size_t n) { return (n + kAlignment - 1) / kAlignment * kAlignment; }

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

std::byte* allocate_bytes(size_t nbytes) {
  void* memory = std::aligned_alloc(kAlignment, round_up(std::max<size_t>(nbytes, 1)));
  PHI_CHECK(memory != nullptr,
            errors::ResourceExhausted(
                "cannot allocate {} bytes on cpu; tensors of this rank hold {} bytes.", nbytes,
                memory_stats(CPUPlace()).current));
  return static_cast<std::byte*>(memory);
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

Storage::Storage(StorageState state, size_t nbytes, const Place& place)
    : nbytes_(nbytes), id_(next_id()), state_(state), place_(place) {}

IntrusivePtr<Storage> Storage::allocate(size_t nbytes, const Place& place) {
  check_place(place);
  constexpr size_t kHeader = round_up(sizeof(Storage));
  const bool inline_bytes = nbytes <= kInlineLimit;
  std::byte* block = allocate_bytes(inline_bytes ? kHeader + nbytes : sizeof(Storage));
  auto* storage = new (block) Storage(StorageState::kResident, nbytes, place);
  IntrusivePtr<Storage> owner(storage);  // frees the block if the bytes cannot be had
  storage->inline_bytes_ = inline_bytes;
  storage->data_ = inline_bytes ? block + kHeader : allocate_bytes(nbytes);
  storage->account_ = RankContext::current().memory();
  storage->account_->add(place.kind, static_cast<int64_t>(nbytes));
  return owner;
}

IntrusivePtr<Storage> Storage::placeholder(const Place& place, const Absence& absence) {
  auto* storage =
      new (allocate_bytes(sizeof(Storage))) Storage(StorageState::kPlaceholder, 0, place);
  storage->absence_ = absence;
  return storage;
}

IntrusivePtr<Storage> Storage::from_source(const Place& place,
                                           std::shared_ptr<const Source> source) {
  check_place(place);
  auto* storage = new (allocate_bytes(sizeof(Storage)))
      Storage(source->state(), source->meta().nbytes(), place);
  storage->source_ = std::move(source);
  return storage;
}

void Storage::materialise() {
  if (state_ == StorageState::kResident) return;
  PHI_CHECK(source_, errors::PreconditionNotMet(
                         "storage {} is a placeholder; it has no bytes to bring here.", id_));
  data_ = allocate_bytes(nbytes_);
  account_ = RankContext::current().memory();
  account_->add(place_.kind, static_cast<int64_t>(nbytes_));
  state_ = StorageState::kResident;
  try {
    DenseTensor whole(source_->meta(), this);
    source_->read(Box::whole(whole.dims()), &whole);
  } catch (
      ...) {  // as before, so that nobody takes the bytes for values, and it can be tried again
    state_ = source_->state();
    account_->remove(place_.kind, static_cast<int64_t>(nbytes_));
    account_ = nullptr;
    std::free(std::exchange(data_, nullptr));
    throw;
  }
  source_ = nullptr;
}

void Storage::destroy(Storage* storage) {
  if (storage->account_) {
    storage->account_->remove(storage->place_.kind, static_cast<int64_t>(storage->nbytes_));
  }
  if (storage->data_ && !storage->inline_bytes_) std::free(storage->data_);
  storage->~Storage();
  std::free(storage);
}

}  // namespace phi
