// Tests on a child process whether single copy is permitted.
#include "distributed/comm/mpi/single_copy.h"

#include <mpi.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>

namespace phi::distributed {
namespace {

constexpr const char* kMechanism = "btl_vader_single_copy_mechanism";

bool can_read_of_a_child() {
  uint64_t here = 0;
  const pid_t child = fork();
  if (child < 0) return false;
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (true) pause();
  }
  // The child has a copy of the variable at the same address.
  const iovec piece{&here, sizeof(here)};
  const bool read = process_vm_readv(child, &piece, 1, &piece, 1, 0) == sizeof(here);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  return read;
}

bool single_copy_is_allowed() {
  static const bool allowed = can_read_of_a_child();
  return allowed;
}

// The name of an enumeration value.
std::optional<std::string> name_in(MPI_T_enum names, int value) {
  int count = 0, length = 0;
  if (MPI_T_enum_get_info(names, &count, nullptr, &length) != MPI_SUCCESS) return std::nullopt;
  for (int i = 0; i < count; ++i) {
    char text[64];
    int item = 0;
    length = sizeof(text);
    if (MPI_T_enum_get_item(names, i, &item, text, &length) == MPI_SUCCESS && item == value)
      return text;
  }
  return std::nullopt;
}

// The mechanism that Open MPI has selected ("cma", "none"); empty if it has no such setting.
std::optional<std::string> chosen_mechanism() {
  int index = 0, provided = 0;
  std::optional<std::string> name;
  if (MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) != MPI_SUCCESS) return name;
  if (MPI_T_cvar_get_index(kMechanism, &index) == MPI_SUCCESS) {
    MPI_T_enum names = MPI_T_ENUM_NULL;
    MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
    int value = 0, count = 0, ignored = 0;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    const bool known = MPI_T_cvar_get_info(index, nullptr, &ignored, &ignored, &type, &names,
                                           nullptr, &ignored, &ignored, &ignored) == MPI_SUCCESS &&
                       type == MPI_INT && names != MPI_T_ENUM_NULL &&
                       MPI_T_cvar_handle_alloc(index, nullptr, &handle, &count) == MPI_SUCCESS;
    if (known && MPI_T_cvar_read(handle, &value) == MPI_SUCCESS) name = name_in(names, value);
    if (known) MPI_T_cvar_handle_free(&handle);
  }
  MPI_T_finalize();
  return name;
}

}  // namespace

void leave_out_forbidden_single_copy() {
  constexpr int kKeepWhatIsSet = 0;
  if (!single_copy_is_allowed()) {
    setenv((std::string("OMPI_MCA_") + kMechanism).c_str(), "none", kKeepWhatIsSet);
  }
}

bool messages_are_copied_once() {
  const auto mechanism = chosen_mechanism();
  if (!single_copy_is_allowed()) return mechanism == "xpmem" || mechanism == "knem";
  return mechanism != "none" && mechanism != "emulated";
}

}  // namespace phi::distributed
