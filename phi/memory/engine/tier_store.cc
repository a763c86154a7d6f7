// Copies between arena, host blocks and swap file.
#include "phi/memory/engine/tier_store.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <utility>

#include "phi/common/errors.h"
#include "phi/common/process/yield_point.h"

namespace phi::memory {
namespace {

void copy(std::span<std::byte> to, const std::byte* from) {
  if (!to.empty()) std::memcpy(to.data(), from, to.size());
}

}  // namespace

TierStore::TierStore(const SwapPlan& plan, const Place& place, const std::string& disk_folder,
                     std::shared_ptr<IoEngine> io_engine)
    : plan_(plan),
      arena_(static_cast<size_t>(plan.arena_bytes), place),
      copy_queues_(arena_.device().copy_queues()),
      host_(plan.limits.host_bytes, arena_.device()),
      blocks_(plan.buffers.size()),
      extents_(plan.buffers.size()) {
  if (plan.staging_bytes == 0) return;
  staging_ = host_.take(plan.staging_bytes);
  file_ = SwapFile::create(
      {.folder = disk_folder, .limit = plan.limits.disk_bytes, .engine = std::move(io_engine)});
}

TierStore::~TierStore() {
  if (!copy_queues_) return;
  for (const auto way : {CopyQueues::kToDevice, CopyQueues::kFromDevice}) {
    try {
      copy_queues_->end_of(way)->wait();
    } catch (const std::exception&) {
      // The device has failed. Its next user receives the error; a destructor must not throw.
    }
  }
}

QueueEventPtr TierStore::run(const SwapAction& action,
                             std::span<const QueueEventPtr> dependencies) {
  const SwapBufferId b = action.buffer;
  if (action.kind == SwapAction::Kind::kDrop) {
    end_copy(b, action.from);
    return nullptr;
  }
  QueueEventPtr end;
  if (copy_queues_ && action.from != Tier::kDisk && action.to != Tier::kDisk) {
    end = run_on_queues(action, dependencies);
  } else {
    for (const QueueEventPtr& event : dependencies) event->wait();
    run_here(action);
  }
  yield_point("tier_store.run.copied");
  if (action.release_source) end_copy(b, action.from);
  return end;
}

QueueEventPtr TierStore::run_on_queues(const SwapAction& action,
                                       std::span<const QueueEventPtr> dependencies) {
  const SwapBufferId b = action.buffer;
  const auto way = action.to == Tier::kDevice ? CopyQueues::kToDevice : CopyQueues::kFromDevice;
  for (const QueueEventPtr& event : dependencies) copy_queues_->after(way, *event);
  if (action.from == action.to) {
    arena_.move(action.to_offset, action.from_offset, nbytes(b));
    return copy_queues_->end_of(way);
  }
  if (way == CopyQueues::kFromDevice) take_block(b);
  // The last copy that uses this block, of this value or of the block's previous owner.
  if (const QueueEventPtr used = used_until(b)) copy_queues_->after(way, *used);
  if (way == CopyQueues::kFromDevice) {
    copy_queues_->to_host(block(b).data(), arena() + action.from_offset, nbytes(b));
  } else {
    copy_queues_->from_host(arena() + action.to_offset, block(b).data(), nbytes(b));
  }
  QueueEventPtr end = copy_queues_->end_of(way);
  set_used_until(b, end);
  return end;
}

void TierStore::run_here(const SwapAction& action) {
  const SwapBufferId b = action.buffer;
  const auto is = [&](Tier from, Tier to) { return action.from == from && action.to == to; };
  if (is(Tier::kDevice, Tier::kDevice)) {
    arena_.move(action.to_offset, action.from_offset, nbytes(b));
  } else if (is(Tier::kDevice, Tier::kHost)) {
    take_block(b);
    arena_.read(action.from_offset, on_host(b));
  } else if (is(Tier::kHost, Tier::kDevice)) {
    arena_.write(action.to_offset, on_host(b));
  } else if (is(Tier::kHost, Tier::kDisk)) {
    host_to_disk(b);
  } else if (is(Tier::kDisk, Tier::kHost)) {
    disk_to_host(b);
  } else if (is(Tier::kDevice, Tier::kDisk)) {
    fill_disk(b, Tier::kDevice, [&](int64_t offset, std::span<std::byte> out) {
      read_arena(action.from_offset + offset, out);
    });
  } else {
    read_disk(b, Tier::kDevice, [&](int64_t offset, std::span<const std::byte> piece) {
      write_arena(action.to_offset + offset, piece);
    });
  }
}

void TierStore::read_arena(int64_t offset, std::span<std::byte> out) {
  if (!copy_queues_) return arena_.read(offset, out);
  copy_queues_->to_host(out.data(), arena() + offset, out.size());
  copy_queues_->end_of(CopyQueues::kFromDevice)->wait();
}

void TierStore::write_arena(int64_t offset, std::span<const std::byte> value) {
  if (!copy_queues_) return arena_.write(offset, value);
  copy_queues_->from_host(arena() + offset, value.data(), value.size());
  copy_queues_->end_of(CopyQueues::kToDevice)->wait();
}

void TierStore::take_block(SwapBufferId buffer) {
  block(buffer) = host_.take(plan_.buffers[static_cast<size_t>(buffer)].nbytes);
}

QueueEventPtr TierStore::used_until(SwapBufferId buffer) {
  const std::lock_guard lock(uses_mutex_);
  return block(buffer).used_until();
}

void TierStore::set_used_until(SwapBufferId buffer, const QueueEventPtr& event) {
  const std::lock_guard lock(uses_mutex_);
  block(buffer).set_used_until(event);
}

void TierStore::wait_for_copies_of(SwapBufferId buffer) {
  if (const QueueEventPtr used = used_until(buffer)) used->wait();
}

void TierStore::take_extent(SwapBufferId buffer) {
  if (extent(buffer).nbytes == 0)
    extent(buffer) = file_->allocate(std::max<size_t>(nbytes(buffer), 1));
}

void TierStore::end_copy(SwapBufferId buffer, Tier tier) {
  if (tier == Tier::kHost) {
    host_.give_back(std::exchange(block(buffer), {}));
  } else {
    file_->release(std::exchange(extent(buffer), {}));
  }
}

void TierStore::forget(SwapBufferId buffer) {
  if (block(buffer).size() > 0) end_copy(buffer, Tier::kHost);
  if (extent(buffer).nbytes > 0) end_copy(buffer, Tier::kDisk);
}

void TierStore::host_to_disk(SwapBufferId buffer) {
  take_extent(buffer);
  wait_for_copies_of(buffer);
  // The disk is written in whole pages.
  std::memset(block(buffer).data() + nbytes(buffer), 0, block(buffer).size() - nbytes(buffer));
  file_->write(extent(buffer), {block(buffer).data(), block(buffer).size()}).wait();
}

void TierStore::disk_to_host(SwapBufferId buffer) {
  take_block(buffer);
  wait_for_copies_of(buffer);
  file_->read(extent(buffer), {block(buffer).data(), block(buffer).size()}).wait();
}

void TierStore::fill_disk(SwapBufferId buffer, Tier from, const FillFunction& fill) {
  take_extent(buffer);
  const size_t total = nbytes(buffer), piece = staging_.size() / 2;
  std::array<Ticket, 2> writes;
  size_t turn = 0;
  for (size_t offset = 0; offset < extent(buffer).nbytes; offset += piece, turn ^= 1) {
    writes[turn].wait();
    std::byte* half = staging_.data() + turn * piece;
    const size_t length = std::min(piece, extent(buffer).nbytes - offset);
    const size_t given = std::min(length, total - std::min(total, offset));
    if (given > 0) fill(static_cast<int64_t>(offset), {half, given});
    std::memset(half + given, 0, length - given);
    writes[turn] = file_->write(extent(buffer), {half, length}, offset, from);
  }
  for (Ticket& write : writes) write.wait();
}

void TierStore::read_disk(SwapBufferId buffer, Tier to, const PieceConsumer& take) {
  const size_t piece = staging_.size() / 2, whole = extent(buffer).nbytes, total = nbytes(buffer);
  std::array<Ticket, 2> reads;
  const auto begin = [&](size_t offset, size_t turn) {
    if (offset >= whole) return;
    const std::span half{staging_.data() + turn * piece, std::min(piece, whole - offset)};
    reads[turn] = file_->read(extent(buffer), half, offset, to);
  };
  begin(0, 0);
  size_t turn = 0;
  for (size_t offset = 0; offset < total; offset += piece, turn ^= 1) {
    begin(offset + piece, turn ^ 1);
    reads[turn].wait();
    take(static_cast<int64_t>(offset),
         {staging_.data() + turn * piece, std::min(piece, total - offset)});
  }
  for (Ticket& read : reads) read.wait();
}

void TierStore::put(SwapBufferId buffer, const SwapResidence& at, const FillFunction& fill) {
  if (at.device_offset < 0) return put_below(buffer, at, fill);
  const size_t n = nbytes(buffer);
  std::byte* value = arena_.data() + at.device_offset;
  std::vector<std::byte> own;
  if (!arena_.device().is_host()) {
    own.resize(n);
    value = own.data();
  }
  if (n > 0) fill(0, {value, n});
  if (!own.empty()) arena_.write(at.device_offset, own);
  put_below(buffer, at,
            [&](int64_t offset, std::span<std::byte> out) { copy(out, value + offset); });
}

// Stores the copies on host and disk. The disk copy is written from the host copy if there is one.
void TierStore::put_below(SwapBufferId buffer, const SwapResidence& at, const FillFunction& fill) {
  if (at.host) {
    if (block(buffer).size() == 0) take_block(buffer);
    wait_for_copies_of(buffer);
    if (nbytes(buffer) > 0) fill(0, on_host(buffer));
  }
  if (!at.disk) return;
  if (!at.host) return fill_disk(buffer, Tier::kHost, fill);
  fill_disk(buffer, Tier::kHost, [&](int64_t offset, std::span<std::byte> out) {
    copy(out, block(buffer).data() + offset);
  });
}

void TierStore::get(SwapBufferId buffer, const SwapResidence& at, std::span<std::byte> out) {
  if (at.device_offset >= 0) {
    arena_.read(at.device_offset, out);
  } else if (at.host) {
    wait_for_copies_of(buffer);
    copy(out, block(buffer).data());
  } else {
    read_disk(buffer, Tier::kHost, [&](int64_t offset, std::span<const std::byte> piece) {
      copy(out.subspan(static_cast<size_t>(offset), piece.size()), piece.data());
    });
  }
}

std::array<int64_t, kNumTiers> TierStore::peak_bytes() const {
  return {plan_.arena_bytes, host_.peak_bytes(), file_ ? file_->stats().peak : 0};
}

}  // namespace phi::memory
