// Accounts for host arrays and copies boxes from them.
#include "phi/core/storage/host_source.h"

#include <cstring>
#include <utility>

#include "phi/common/errors.h"
#include "phi/core/box_copy.h"
#include "phi/core/rank_context.h"

namespace phi {

HostSource::HostSource(const TensorMeta& meta, std::shared_ptr<const void> bytes)
    : meta_(meta), bytes_(std::move(bytes)), account_(RankContext::current().memory()) {
  PHI_CHECK(meta_.dims.known(),
            errors::InvalidArgument("a host array needs extents of 0 or more, got {}.",
                                    meta_.dims.to_string()));
  account_->add(Tier::kHost, static_cast<int64_t>(meta_.nbytes()));
}

HostSource::~HostSource() { account_->remove(Tier::kHost, static_cast<int64_t>(meta_.nbytes())); }

std::shared_ptr<const HostSource> HostSource::copy(const TensorMeta& meta, const void* bytes) {
  const size_t nbytes = meta.nbytes();
  const auto own = std::make_shared_for_overwrite<std::byte[]>(nbytes);
  if (nbytes > 0) std::memcpy(own.get(), bytes, nbytes);
  return std::make_shared<const HostSource>(meta, std::shared_ptr<const void>(own, own.get()));
}

void HostSource::read(const Box& box, DenseTensor* out) const {
  copy_box(bytes_.get(), Box::whole(meta_.dims), out->mutable_raw_data(), box, box,
           size_of(meta_.dtype));
}

}  // namespace phi
