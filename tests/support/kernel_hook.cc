// Jumps for x86-64: they change no register that an argument may be in, so that one of them fits
// kernels of every signature.
#include "support/kernel_hook.h"

#include <sys/mman.h>

#include <array>
#include <cstring>
#include <stdexcept>

namespace phi::testing {
namespace {

// In the program's own block of thread-local memory: as far from the thread pointer on every
// thread.
thread_local int64_t runs = 0;

int32_t offset_from_thread_pointer(const void* address) {
  const char* thread_pointer = nullptr;
  asm("mov %%fs:0, %0" : "=r"(thread_pointer));
  return static_cast<int32_t>(static_cast<const char*>(address) - thread_pointer);
}

//   64 48 ff 04 25 <offset>   inc qword fs:[offset]
//   49 bb <function>          mov r11, function
//   41 ff e3                  jmp r11
constexpr size_t kJumpBytes = 32;  // 22, at places where a function may begin
using Jump = std::array<uint8_t, kJumpBytes>;

Jump jump_to(Kernel::Erased function, int32_t offset) {
  Jump jump = {0x64, 0x48, 0xff, 0x04, 0x25, 0, 0, 0, 0, 0x49, 0xbb};
  jump[19] = 0x41;
  jump[20] = 0xff;
  jump[21] = 0xe3;
  std::memcpy(&jump[5], &offset, sizeof offset);
  std::memcpy(&jump[11], &function, sizeof function);
  return jump;
}

}  // namespace

KernelHook::KernelHook() {
  for (const std::string& name : Kernel::names()) {
    for (int t = 1; t < kNumDataTypes; ++t) {
      Kernel& kernel = Kernel::named(name);
      const auto dtype = static_cast<DataType>(t);
      const Kernel::Erased function = kernel.find(DeviceKind::CPU, dtype);
      if (function) hooked_.push_back({&kernel, dtype, function});
    }
  }
  code_bytes_ = hooked_.size() * kJumpBytes;
  code_ = mmap(nullptr, code_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (code_ == MAP_FAILED) throw std::runtime_error("no memory for jumps");
  const int32_t offset = offset_from_thread_pointer(&runs);
  auto* jumps = static_cast<Jump*>(code_);
  for (size_t i = 0; i < hooked_.size(); ++i) jumps[i] = jump_to(hooked_[i].function, offset);
  if (mprotect(code_, code_bytes_, PROT_READ | PROT_EXEC) != 0) {
    throw std::runtime_error("this system does not run code that is generated at run time");
  }
  for (size_t i = 0; i < hooked_.size(); ++i) {
    hooked_[i].kernel->add(DeviceKind::CPU, hooked_[i].dtype,
                           reinterpret_cast<Kernel::Erased>(&jumps[i]));
  }
}

KernelHook::~KernelHook() {
  for (const Hooked& hooked : hooked_) {
    hooked.kernel->add(DeviceKind::CPU, hooked.dtype, hooked.function);
  }
  munmap(code_, code_bytes_);
}

int64_t KernelHook::runs_here() { return runs; }

}  // namespace phi::testing
