// Single copy: a message within a machine is copied once, from the sender's memory to the
// receiver's, by the kernel (process_vm_readv). A seccomp filter, a container without SYS_PTRACE,
// or Yama can forbid it. MPI then copies twice, through fragments in shared memory.
#pragma once

namespace phi::distributed {

/// Call it before MPI_Init. Open MPI checks Yama only, and prints a line for each message if
/// something else forbids the copy. This configures Open MPI not to use it then, unless the user
/// has configured it.
void leave_out_forbidden_single_copy();

/// Call it after MPI_Init. Returns whether this rank's MPI copies messages within the machine once.
bool messages_are_copied_once();

}  // namespace phi::distributed
