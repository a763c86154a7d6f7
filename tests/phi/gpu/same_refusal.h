// What both devices refuse, with one text: the GPU says it where the host waits.
#pragma once

#include <functional>
#include <string>

#include "tests/phi/gpu/both_devices.h"

namespace phi::testing {

/// The text of what a call refuses.
inline std::string refused(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing";
}

inline void expect_same_refusal(const Arrays& in, const std::vector<TensorMeta>& outputs,
                                const KernelCall& call) {
  const std::string expected = refused([&] { left_on_cpu(in, outputs, call); });
  EXPECT_NE(expected, "nothing");
  EXPECT_EQ(refused([&] { left_on_gpu(in, outputs, call); }), expected);
}

}  // namespace phi::testing
