// Plans the arrays of a launch and reports its estimated work.
#include "api/call/planned_launch.h"

#include "api/call/call_events.h"
#include "phi/common/errors.h"
#include "phi/core/kernel_library.h"
#include "phi/core/rank_context.h"
#include "phi/core/storage/memory_ledger.h"

namespace phi::detail {
namespace {

void plan_array(const DenseTensor& array, Access access) {
  if (access == Access::kShape || !array.defined()) return;
  if (array.storage()->source()) array.storage()->materialise();
  if (access == Access::kWrite) array.storage()->before_write();
}

// Matmuls and what contains them count flops. In 16 bits they widen or pack their operands.
bool may_need_scratch(const OpDef& op, DataType dtype) {
  return op.flops != nullptr && is_floating(dtype) && size_of(dtype) == 2;
}

}  // namespace

void check_shapes_known(const OpDef& op, const KernelArrays& arrays) {
  for (const KernelArray& x : arrays) {
    PHI_CHECK(!x.is_written || x.array->defined(),
              errors::Unimplemented("the output shape of {} depends on data, which is not "
                                    "available in a dry run or a captured program.",
                                    op.name));
  }
}

void plan_arrays(const OpDef& op, const KernelArrays& arrays) {
  for (const KernelArray& x : arrays) {
    const bool is_unread = !x.is_written && op.is_unread(x.position);
    plan_array(*x.array, is_unread      ? Access::kShape
                         : x.is_written ? Access::kWrite
                                        : Access::kRead);
  }
}

void plan_launch(const OpDef& op, StoredArgs& args) {
  args.visit(plan_array);
  report_planned(op, args);
}

void report_planned(const OpDef& op, StoredArgs& args) {
  const Observers& observers = RankContext::current().observers();
  if (observers.any_events())
    observers.notify(&Observer::on_planned_launch, PlannedLaunch{op.name, args.cost()});
}

Kernel::Erased scratch_statement(const OpDef& op, DataType dtype) {
  PlannedScratch* const scratch = MemoryLedger::scratch_of(*RankContext::current().memory());
  if (scratch == nullptr) return nullptr;
  if (!op.kernel.libraries().empty()) wait_for_kernel_libraries();
  const Kernel::Erased statement = op.kernel.find_scratch(dtype);
  if (statement == nullptr && may_need_scratch(op, dtype)) scratch->note_unstated(op.name);
  return statement;
}

}  // namespace phi::detail
