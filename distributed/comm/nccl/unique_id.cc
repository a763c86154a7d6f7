// Sends unique ids over the host's groups.
#include "distributed/comm/nccl/unique_id.h"

namespace phi::distributed {

UniqueId share_unique_id(Group& control, const std::function<UniqueId()>& make) {
  UniqueId id{};
  if (control.position() == 0) id = make();
  control.broadcast(id.data(), static_cast<int64_t>(id.size()), DataType::UINT8, /*root=*/0);
  return id;
}

}  // namespace phi::distributed
