// Alternate signal stacks. The first HandlerStack of a thread sets its stack.
#include "phi/common/process/handler_stack.h"

#include <cerrno>
#include <csignal>
#include <cstring>

#include "phi/common/errors.h"

namespace phi {
namespace {

// A signal frame with the registers of the largest processors has about 12 KB.
constexpr size_t kBytes = size_t{64} << 10;

}  // namespace

HandlerStack::HandlerStack() {
  stack_t now{};
  sigaltstack(nullptr, &now);
  if ((now.ss_flags & SS_DISABLE) == 0) return;
  memory_.reset(new std::byte[kBytes]);
  stack_t own{};
  own.ss_sp = memory_.get();
  own.ss_size = kBytes;
  PHI_CHECK(sigaltstack(&own, nullptr) == 0,
            errors::Unavailable("signals cannot be handled on an alternate stack: {}.",
                                std::strerror(errno)));
}

HandlerStack::~HandlerStack() {
  if (!memory_) return;
  stack_t none{};
  none.ss_flags = SS_DISABLE;
  sigaltstack(&none, nullptr);
}

}  // namespace phi
