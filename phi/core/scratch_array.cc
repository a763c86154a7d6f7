// Arrays whose bytes no account counts as a tensor's.
#include "phi/core/scratch_array.h"

#include <memory>

#include "phi/common/errors.h"
#include "phi/core/device/device.h"
#include "phi/core/rank_context.h"
#include "phi/core/storage/storage_from_blob.h"

namespace phi {

DenseTensor scratch_array(const TensorMeta& meta, const Place& place) {
  const size_t nbytes = meta.nbytes();
  const RankContext& rank = RankContext::current();
  if (rank.is_dry() || nbytes == 0) return {meta, Storage::borrow(nullptr, nbytes, place)};
  Device& device = Device::of(place);
  std::byte* const bytes = device.allocate(*rank.memory(), nbytes);
  PHI_CHECK(bytes != nullptr, errors::ResourceExhausted(
                                  "a kernel cannot allocate {} bytes of scratch memory on {}. {}",
                                  nbytes, place.to_string(), device.describe_memory()));
  const auto give_back = [account = rank.memory(), &device, nbytes](std::byte* memory) {
    device.free(*account, memory, nbytes);
  };
  return {meta,
          storage_from_blob(bytes, nbytes, place, std::shared_ptr<std::byte>(bytes, give_back))};
}

}  // namespace phi
