// Plans the arrays of a launch and reports its estimated work.
#include "api/call/planned_launch.h"

#include "api/call/call_events.h"
#include "phi/common/errors.h"
#include "phi/core/rank_context.h"

namespace phi::detail {

void check_shapes_known(const OpDef& op, StoredArgs& args) {
  args.visit([&](const DenseTensor& array, Access access) {
    PHI_CHECK(access != Access::kWrite || array.defined(),
              errors::Unimplemented("the output shape of {} depends on data, which is not "
                                    "available in a dry run or a captured program.",
                                    op.name));
  });
}

void plan_launch(const OpDef& op, StoredArgs& args) {
  args.visit([](const DenseTensor& array, Access access) {
    if (access == Access::kShape || !array.defined()) return;
    if (array.storage()->source()) array.storage()->materialise();
    if (access == Access::kWrite) array.storage()->before_write();
  });
  const Observers& observers = RankContext::current().observers();
  if (observers.any_events()) {
    observers.notify(&Observer::on_planned_launch, PlannedLaunch{op.name, args.cost()});
  }
}

}  // namespace phi::detail
