// GroupCalls: the calls of a group as host code makes them, on whatever device its arrays lie.
//
//   const GroupCalls group(communicator, communicator.everyone());
//   group.all_reduce(values.data(), count, DataType::FLOAT32, ReduceKind::kSum);
#pragma once

#include <numeric>
#include <span>
#include <vector>

#include "distributed/comm/communicator.h"
#include "phi/core/device/host_array.h"

namespace phi::distributed::testing {

/// Arrays that are read go to the device before the call, and those that are written come back.
class GroupCalls {
 public:
  GroupCalls(Communicator& communicator, Group& group)
      : device_(communicator.device()), group_(group) {}
  explicit GroupCalls(Communicator& communicator)
      : GroupCalls(communicator, communicator.everyone()) {}

  Group& group() const { return group_; }
  int64_t size() const { return group_.size(); }
  int64_t position() const { return group_.position(); }
  std::span<const int64_t> ranks() const { return group_.ranks(); }
  void barrier() const { group_.barrier(); }

  void all_reduce(void* data, int64_t count, DataType dtype, ReduceKind kind) const {
    const There there(device_, data, bytes(count, dtype));
    group_.all_reduce(there.data(), count, dtype, kind);
    there.bring(data);
  }
  void all_reduce(const void* in, void* out, int64_t count, DataType dtype, ReduceKind kind) const {
    const There from(device_, in, bytes(count, dtype)), to(device_, out, bytes(count, dtype));
    group_.all_reduce(from.data(), to.data(), count, dtype, kind);
    to.bring(out);
  }
  void all_gather(const void* in, void* out, int64_t count, DataType dtype) const {
    all_gather_v(in, out, std::vector<int64_t>(ranks().size(), count), dtype);
  }
  void all_gather_v(const void* in, void* out, std::span<const int64_t> counts,
                    DataType dtype) const {
    const There from(device_, in, bytes(counts[position()], dtype));
    const There to(device_, out, bytes(sum(counts), dtype));
    group_.all_gather_v(from.data(), to.data(), counts, dtype);
    to.bring(out);
  }
  void all_to_all(const void* in, void* out, int64_t count, DataType dtype) const {
    const std::vector<int64_t> counts(ranks().size(), count);
    all_to_all_v(in, counts, out, counts, dtype);
  }
  void all_to_all_v(const void* in, std::span<const int64_t> send_counts, void* out,
                    std::span<const int64_t> recv_counts, DataType dtype) const {
    const There from(device_, in, bytes(sum(send_counts), dtype));
    const There to(device_, out, bytes(sum(recv_counts), dtype));
    group_.all_to_all_v(from.data(), send_counts, to.data(), recv_counts, dtype);
    to.bring(out);
  }
  void reduce_scatter(const void* in, void* out, int64_t count, DataType dtype,
                      ReduceKind kind) const {
    reduce_scatter_v(in, out, std::vector<int64_t>(ranks().size(), count), dtype, kind);
  }
  void reduce_scatter_v(const void* in, void* out, std::span<const int64_t> counts, DataType dtype,
                        ReduceKind kind) const {
    // Wrong counts are the group's to find.
    const bool fits = counts.size() == ranks().size();
    const There from(device_, in, fits ? bytes(sum(counts), dtype) : 0);
    const There to(device_, out, fits ? bytes(counts[position()], dtype) : 0);
    group_.reduce_scatter_v(from.data(), to.data(), counts, dtype, kind);
    to.bring(out);
  }
  void broadcast(void* data, int64_t count, DataType dtype, int64_t root) const {
    const There there(device_, data, bytes(count, dtype));
    group_.broadcast(there.data(), count, dtype, root);
    there.bring(data);
  }
  void exchange(std::span<const Send> sends, std::span<const Recv> recvs) const {
    std::vector<There> out, in;
    std::vector<Send> sent(sends.begin(), sends.end());
    std::vector<Recv> received(recvs.begin(), recvs.end());
    for (Send& send : sent) send.data = out.emplace_back(device_, send.data, send.bytes).data();
    for (Recv& recv : received) recv.data = in.emplace_back(device_, recv.data, recv.bytes).data();
    group_.exchange(sent, received);
    for (size_t i = 0; i < in.size(); ++i) in[i].bring(recvs[i].data);
  }

 private:
  // Memory of the host on the device: itself, if that is the host.
  class There {
   public:
    There(Device& device, const void* here, size_t nbytes)
        : device_(device),
          data_(static_cast<std::byte*>(const_cast<void*>(here))),
          nbytes_(nbytes) {
      if (device.is_host() || here == nullptr || nbytes == 0) return;
      memory_ = DeviceMemory(device, nbytes);
      data_ = memory_.data();
      device.copy_from_host(data_, here, nbytes);
    }
    std::byte* data() const { return data_; }
    void bring(void* here) const {
      if (memory_.data()) device_.copy_to_host(here, memory_.data(), nbytes_);
    }

   private:
    Device& device_;
    DeviceMemory memory_;
    std::byte* data_;
    size_t nbytes_;
  };

  static size_t bytes(int64_t count, DataType dtype) {
    return static_cast<size_t>(count) * size_of(dtype);
  }
  static int64_t sum(std::span<const int64_t> counts) {
    return std::accumulate(counts.begin(), counts.end(), int64_t{0});
  }

  Device& device_;
  Group& group_;
};

}  // namespace phi::distributed::testing
